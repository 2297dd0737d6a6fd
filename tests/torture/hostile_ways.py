"""More workspaces made to harm (malicious repositories): refs, remotes and settings of git by which something runs or
hangs, files of builds and editors that lead out, agents of odd types, paths and sizes that no reader expects. One
function each, as in `hostile_workspaces`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

from tests.torture.hostile_workspaces import MARK, WORKSPACES, Trap, git, hostile, repository
from tests.wait_limits import HANG

__all__ = ["WORKSPACES"]
"""All of them: those of `hostile_workspaces` too."""

ZERO = "0" * 40


def _configured(root: Path, text: str) -> Path:
    folder = repository(root)
    with (folder / "config").open("a") as config:
        config.write(text)
    return folder


@hostile
def git_includes_by_condition(root: Path, trap: Trap) -> None:
    (root / "more").write_text(f"[core]\n\tfsmonitor = {trap.program}\n\thooksPath = {trap.outside}\n")
    conditions = ("onbranch:**", "gitdir/i:**", f"gitdir:{root}/", "hasconfig:remote.*.url:**")
    _configured(
        root,
        '[remote "origin"]\n\turl = https://x/y\n'
        + "".join(f'[includeIf "{each}"]\n\tpath = ../more\n' for each in conditions),
    )


@hostile
def git_commits_replaced(root: Path, trap: Trap) -> None:
    """The newest commit is replaced by one of somebody else's words, that one by the first again; grafts go round."""
    folder = repository(root)
    head = subprocess.run(
        ["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True, timeout=HANG
    ).stdout.strip()
    (folder / "refs" / "replace").mkdir()
    git(root, "commit", "--allow-empty", "-qm", "\x1b[31m replaced")
    other = (folder / "refs" / "heads" / "main").read_text().strip()
    (folder / "refs" / "replace" / head).write_text(other + "\n")
    (folder / "refs" / "replace" / other).write_text(head + "\n")
    (folder / "info" / "grafts").write_text(f"{head} {other}\n{other} {head}\n")


@hostile
def git_refs_that_look_like_options(root: Path, trap: Trap) -> None:
    folder = repository(root)
    head = (folder / "refs" / "heads" / "main").read_text()
    for name in (f"--output={trap.ran.name}", "-x", "--exec=x", "@{-1}", "a\u202eb", "é" * 80):
        (folder / "refs" / "heads" / name).write_text(head)
        (folder / "refs" / "tags" / name).write_text(head)
    (folder / "HEAD").write_text("ref: refs/heads/--exec=x\n")
    (folder / "FETCH_HEAD").write_text(f"{ZERO}\tnot-for-merge\tbranch '--upload-pack=x' of ext::{trap.program}\n")


@hostile
def git_refs_that_lead_out(root: Path, trap: Trap) -> None:
    """HEAD, and what it names, are links and names that leave the repository."""
    folder = repository(root)
    (folder / "HEAD").write_text(f"ref: ../../../{trap.outside.name}/.git/refs/heads/main\n")
    (folder / "refs" / "heads" / "other").symlink_to(trap.outside / "pipe")


@hostile
def git_remotes_that_run(root: Path, trap: Trap) -> None:
    it = trap.program
    _configured(
        root,
        f"[core]\n\talternateRefsCommand = {it}\n\talternateRefsPrefixes = x\n[protocol]\n\tallow = always\n"
        f'[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\turl = ext::{it} %s\n\tpromisor = true\n'
        f"\tvcs = {it}\n\tproxy = {it}\n[fetch]\n\tbundleURI = ext::{it}\n[bundle]\n\tversion = 1\n\tmode = all\n"
        f'[bundle "x"]\n\turi = file://{trap.outside}/pipe\n[uploadpack]\n\tpackObjectsHook = {it}\n'
        f"[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n\trecentObjectsHook = {it}\n",
    )


@hostile
def git_mailmap_without_end(root: Path, trap: Trap) -> None:
    os.mkfifo(root / "names")
    _configured(
        root,
        f"[mailmap]\n\tfile = {root}/names\n\tblob = HEAD:names\n[log]\n\tmailmap = true\n"
        f"[core]\n\tattributesFile = {trap.outside}/pipe\n[commit]\n\ttemplate = {trap.outside}/pipe\n"
        f"[blame]\n\tignoreRevsFile = {trap.outside}/pipe\n[diff]\n\torderFile = {trap.outside}/pipe\n",
    )
    (root / ".mailmap").symlink_to(trap.outside / "pipe")


@hostile
def git_commit_graph_garbage(root: Path, trap: Trap) -> None:
    info = repository(root) / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "commit-graph").write_bytes(b"CGPH\x01\x01\x04\x00" + bytes(range(256)) * 64)
    (info / "commit-graphs").mkdir()
    (info / "commit-graphs" / "commit-graph-chain").write_text(f"{'f' * 40}\n" * 2000)
    os.mkfifo(info / "packs")


@hostile
def git_shallow_is_a_pipe(root: Path, trap: Trap) -> None:
    folder = repository(root)
    for name in ("shallow", "MERGE_HEAD", "ORIG_HEAD", "info/sparse-checkout"):
        os.mkfifo(folder / name)


@hostile
def git_file_monitor_of_its_own(root: Path, trap: Trap) -> None:
    """A socket where git's own monitor would listen, on which nobody answers."""
    folder = _configured(root, "[core]\n\tfsmonitor = true\n\tuntrackedCache = true\n")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(folder)  # a socket's address is short
        try:
            listening.bind("fsmonitor--daemon.ipc")
            listening.listen()
        finally:
            os.chdir(here)


@hostile
def git_submodules_that_run(root: Path, trap: Trap) -> None:
    text = (
        f'[submodule "x"]\n\tpath = sub\n\turl = ext::{trap.program}\n\tupdate = !{trap.program}\n\tbranch = .\n'
        f'[submodule "../../{trap.outside.name}"]\n\tpath = ../{trap.outside.name}\n\turl = ./{trap.outside.name}\n'
    )
    (root / ".gitmodules").write_text(text)
    folder = _configured(root, text + "[submodule]\n\trecurse = true\n[status]\n\tsubmoduleSummary = true\n")
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text("gitdir: ../.git/modules/x\n")
    module = folder / "modules" / "x"
    module.mkdir(parents=True)
    (module / "HEAD").write_text("ref: refs/heads/main\n")
    (module / "config").write_text(f"[core]\n\tworktree = {trap.outside}\n\tfsmonitor = {trap.program}\n")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")


@hostile
def agents_of_odd_types(root: Path, trap: Trap) -> None:
    (root / ".aurora").mkdir()
    it = str(trap.program)
    odd = [
        {"id": ["x"], "command": {"run": it}},
        {"id": "x" * 100_000, "command": it},
        {"id": None, "command": [[it]], "env": {"LD_PRELOAD": it}, "cwd": str(trap.outside)},
        {"id": "\x1b[2J", "name": 7, "command": [it], "timeout": 1e308, "args": [{}]},
        {"id": "y", "url": f"file://{trap.outside}/pipe", "endpoint": f"unix:{it}", "type": "http"},
        *([[[]]] * 500),
        1e999,
        True,
    ]
    (root / ".aurora" / "agents.json").write_text(json.dumps({"agents": odd, "version": [], "mcpServers": {"x": odd}}))
    for place in (".claude/agents", ".github/agents", ".cursor/rules"):
        (root / place).mkdir(parents=True)
        front = f"name: [{it}]\ntools: !!python/name:os.system\nmodel: {{}}"
        (root / place / "x.md").write_text(f"---\n{front}\n---\n{it}\n")
        os.mkfifo(root / place / "pipe.md")
        (root / place / "out.md").symlink_to(trap.outside / "secret.py")


@hostile
def manifest_references_elsewhere(root: Path, trap: Trap) -> None:
    """Schemas that name pipes, files and addresses: nothing is fetched to check them."""
    listening = f"file://{trap.outside}/pipe"
    zero = {"$ref": "file:///dev/zero"}
    schema = {"$schema": listening, "$ref": listening, "$id": "http://127.0.0.1:9/", "allOf": [zero]}
    template = f"file://{trap.outside}/secret.py"
    action = {"type": "HTTP", "method": "GET", "urlTemplate": template, "parameterMapping": {"a": "/a"}}
    one = {"id": "a", "v": 1, "description": "x", "parameters": schema, "action": action}
    text = {"$schema": listening, "protocol": "AURA", "version": "1.0", "site": {"name": "x", "url": listening}}
    (root / "aura.json").write_text(json.dumps({**text, "resources": {}, "capabilities": {"a": one}}))
    (root / "x.schema.json").write_text(json.dumps(schema))
    (root / "openapi.yaml").write_text(f"openapi: 3.0.0\ninfo: {{title: x}}\npaths: {{/x: {{$ref: '{listening}'}}}}\n")


@hostile
def changes_elsewhere(root: Path, trap: Trap) -> None:
    """Folders of changes that are links out, one into itself."""
    folder = root / "openspec" / "changes"
    folder.mkdir(parents=True)
    (folder / "out").symlink_to(trap.outside)
    (folder / "round").symlink_to(folder)
    (folder / "real").mkdir()
    (folder / "real" / "tasks.md").symlink_to(trap.outside / "pipe")
    (folder / "archive").symlink_to(trap.outside)
    for name in ("specs", "tasks", ".specify"):
        (root / name).symlink_to(trap.outside)


@hostile
def builds_that_lead_out(root: Path, trap: Trap) -> None:
    """Every build's way of naming a folder beside this one."""
    out = f"../{trap.outside.name}"
    files = {
        "tsconfig.json": {
            "extends": [f"{out}/pipe", "./tsconfig.json"],
            "compilerOptions": {"paths": {"*": [f"{out}/*"]}},
        },
        "package.json": {"name": "x", "workspaces": [out, f"{out}/**"], "bin": str(trap.program)},
        "composer.json": {"autoload": {"psr-4": {"": out}, "files": [f"{out}/pipe"]}},
        "deno.json": {"imports": {"x": f"{out}/secret.py"}, "importMap": f"{out}/pipe"},
        ".code-workspace": {"folders": [{"path": out}]},
    }
    for name, said in files.items():
        (root / name).write_text(json.dumps(said))
    (root / "go.mod").write_text(f"module x\n\nreplace y => {out}\n")
    (root / "go.work").write_text(f"go 1.22\nuse {out}\n")
    (root / "Cargo.toml").write_text(f'[workspace]\nmembers = ["{out}"]\n[package]\nname = "x"\nbuild = "{out}/pipe"\n')
    (root / "pyproject.toml").write_text(
        f'[tool.setuptools.packages.find]\nwhere = ["{out}"]\n[build-system]\nrequires = []\n'
        f'build-backend = "x"\nbackend-path = ["{out}"]\n'
    )
    (root / "uses.ts").write_text(f'import {{ {MARK} }} from "{out}/secret";\nimport "../../../../../../dev/zero";\n')
    (root / "uses.py").write_text(f"from ...{trap.outside.name} import {MARK} as other\n")
    compiled = {"directory": out, "file": "pipe", "command": str(trap.program)}
    (root / "compile_commands.json").write_text(json.dumps([compiled]))


@hostile
def paths_too_long(root: Path, trap: Trap) -> None:
    """Deeper than a path may be long: only by names relative to the folder above can anybody go there."""
    here = Path.cwd()
    os.chdir(root)
    try:
        for _ in range(30):
            Path("x" * 200).mkdir()
            os.chdir("x" * 200)
            Path("deep.py").write_text("def deep_one(): pass\n")
            Path("y" * 252 + ".py").write_text("def wide_one(): pass\n")
    finally:
        os.chdir(here)


@hostile
def sparse_files(root: Path, trap: Trap) -> None:
    """Terabytes that take no room."""
    for name in ("big.py", "aura.json", "tasks.md", ".gitignore", "openapi.yaml", "x.schema.json"):
        with (root / name).open("wb") as file:
            file.truncate(1 << 40)


@hostile
def virtual_environments_of_its_own(root: Path, trap: Trap) -> None:
    """What an interpreter looks for beside itself and where it was started."""
    for name in ("pyvenv.cfg", "python311._pth", "orig-prefix.txt"):
        (root / name).write_text(f"home = {trap.outside}\ninclude-system-site-packages = true\nversion = 3.11\n")
    packages = root / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "x.pth").write_text(f"import os; exec({trap.python!r})\n")
    (packages / "aurora_server.py").write_text(trap.python)
    (root / ".venv" / "bin").mkdir()
    for name in ("python", "aurora", "git"):
        (root / ".venv" / "bin" / name).symlink_to(trap.program)
    for name in (".python-version", ".tool-versions", "mise.toml", ".nvmrc"):
        (root / name).write_text(f"python {trap.program}\n[env]\n_.source = '{trap.program}'\n")
    variables = f"LD_PRELOAD={trap.program} BASH_ENV={trap.program} GIT_DIR={trap.outside}/.git"
    (root / ".envrc").write_text(f"export {variables}\n")


@hostile
def editors_that_run_on_opening(root: Path, trap: Trap) -> None:
    it = str(trap.program)
    told = {
        ".vscode/tasks.json": {"tasks": [{"label": "x", "command": it, "runOptions": {"runOn": "folderOpen"}}]},
        ".vscode/mcp.json": {"servers": {"x": {"command": it}}},
        ".vscode/launch.json": {"configurations": [{"program": it, "preLaunchTask": "x"}]},
        ".zed/settings.json": {"lsp": {"aurora": {"binary": {"path": it}}}},
        ".helix/languages.toml": {"language-server": {"aurora": {"command": it}}},
        ".claude/settings.local.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": it}]}]}},
        ".gemini/settings.json": {"mcpServers": {"x": {"command": it}}},
        ".devcontainer/devcontainer.json": {"initializeCommand": it, "postCreateCommand": it},
    }
    for name, said in told.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(said))
    (root / ".nvim.lua").write_text(f"os.execute('{it}')\n")
    (root / ".exrc").write_text(f":!{it}\n")
    (root / ".dir-locals.el").write_text(f'((nil . ((eval . (shell-command "{it}")))))\n')


@hostile
def changes_of_headings(root: Path, trap: Trap) -> None:
    """What is told as changes, and would be a section for each line or two."""
    for number in range(30):
        folder = root / "openspec" / "changes" / f"change-{number}"
        (folder / "specs" / "auth").mkdir(parents=True)
        (folder / "proposal.md").write_text(f"# Change {number}\n\n## Why\n\nBecause.\n")
        (folder / "tasks.md").write_text("".join(f"## {n}. Group\n- [ ] {n}.1 Do thing {n}\n" for n in range(3000)))
        requirements = "".join(f"### Requirement: Thing {n}\nIt SHALL do thing {n}.\n" for n in range(1000))
        (folder / "specs" / "auth" / "spec.md").write_text(f"## ADDED Requirements\n{requirements}")
