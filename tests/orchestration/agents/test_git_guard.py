"""What agents of an unattended run may do with git: everything on their branch, nothing beside it (AURORA §9.8)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.executors.git_guard import GitGuard, guard_of
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.settings import AgentSettings, HeadlessSettings
from tests.orchestration.agents.programs import TASK, program
from tests.orchestration.nobody import ask_nobody

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "PATH": os.environ["PATH"],
}


def git(root: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=root, env=environment or WHO, capture_output=True, text=True, check=environment is None
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `root` is a copy of."""
    place = tmp_path_factory.mktemp("made")
    root = place / "it's a tree"
    root.mkdir()
    git(place, "init", "--quiet", "--template=", "--bare", "remote.git")
    git(root, "init", "--quiet", "--template=", "-b", "main")
    (root / ".git/hooks").mkdir()
    git(root, "remote", "add", "origin", str(place / "remote.git"))
    (root / "a.txt").write_text("a\n")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    git(root, "checkout", "--quiet", "-b", "other")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "theirs")
    git(root, "checkout", "--quiet", "-b", "headless", "main")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "ours")
    return place


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A repository on branch headless, one commit ahead of main, with a remote and another branch `other`."""
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    root = tmp_path / "it's a tree"
    settings = root / ".git/config"
    settings.write_text(settings.read_text().replace(str(made), str(tmp_path)))
    return root


async def guarded(root: Path, **allowed: bool) -> GitGuard:
    guard = await guard_of(root, root.parent / "guard", replace(HeadlessSettings(), **allowed), trusted=True)
    assert guard is not None
    return guard


def refs(root: Path) -> dict[Path, str]:
    """HEAD and all refs, the remote's too, as git keeps them in files."""
    kept = (root / ".git", root.parent / "remote.git")
    files = (file for each in kept for file in (each / "HEAD", each / "packed-refs", *each.glob("refs/**/*")))
    return {file: file.read_text() for file in files if file.is_file()}


FORBIDDEN = [
    ("push", "origin", "headless"),
    ("push", "--no-verify", "origin", "headless"),
    ("merge", "other"),
    ("merge", "--no-verify", "--no-ff", "other"),
    ("pull", "--no-rebase", ".", "other"),
    ("checkout", "other"),
    ("checkout", "-b", "new"),
    ("checkout", "--detach"),
    ("switch", "main"),
    ("branch", "new"),
    ("branch", "-f", "main", "headless"),
    ("branch", "-D", "other"),
    ("update-ref", "refs/heads/main", "headless"),
    ("reset", "--hard", "other"),
    ("rebase", "other"),
]


@pytest.mark.parametrize(
    "options", [(), ("-c", "user.name=x"), ("--no-pager", "-C", "."), ("-c", "a.b=c", "-C", "below")], ids=" ".join
)
async def test_what_stands_before_a_command_does_not_hide_it(root: Path, options: tuple[str, ...]) -> None:
    (root / "below").mkdir()
    environment = (await guarded(root)).applied(WHO)
    before = refs(root)
    remote = str(root.parent / "remote.git")
    for arguments in (("send-pack", remote, "HEAD:refs/heads/stolen"), ("checkout", "other"), ("merge", "other")):
        done = git(root, *options, *arguments, environment=environment)
        assert (done.returncode, "aurora: refused" in done.stderr) == (1, True), (arguments, done.stderr)
    assert refs(root) == before
    (root / "below/b.txt").write_text("b\n")
    git(root, "add", ".")
    assert git(root, *options, "checkout", "--", ".", environment=environment).returncode == 0
    assert git(root, *options, "status", environment=environment).returncode == 0


@pytest.mark.parametrize("path", ["by name", "by full path"])
@pytest.mark.parametrize("arguments", FORBIDDEN, ids=" ".join)
async def test_what_leaves_the_branch_is_refused(root: Path, path: str, arguments: tuple[str, ...]) -> None:
    environment = (await guarded(root)).applied(WHO)
    if path == "by full path":
        environment["PATH"] = WHO["PATH"]
    before = refs(root)
    done = git(root, *arguments, environment=environment)
    assert done.returncode != 0
    assert "aurora" in done.stderr
    assert refs(root) == before
    assert not git(root, "status", "--porcelain").stdout


async def test_work_on_the_branch_goes_on_as_ever(root: Path) -> None:
    environment = (await guarded(root)).applied(WHO)
    (root / "a.txt").write_text("b\n")
    for arguments in (
        ("commit", "-a", "-m", "mine"),
        ("checkout", "HEAD~1", "--", "a.txt"),
        ("checkout", "HEAD", "a.txt"),
        ("checkout", "headless"),
        ("tag", "v1"),
        ("stash", "list"),
        ("reset", "--hard", "HEAD~1"),
        ("commit", "--allow-empty", "--amend", "-m", "better"),
        ("gc", "--quiet"),
        ("fetch", "origin"),
        ("worktree", "add", "--detach", str(root.parent / "beside")),
    ):
        done = git(root, *arguments, environment=environment)
        assert done.returncode == 0, (arguments, done.stderr)
    assert git(root, "log", "-1", "--format=%s").stdout == "better\n"


async def test_what_is_allowed_is_not_refused(root: Path) -> None:
    environment = (await guarded(root, allow_push=True, allow_merge=True, allow_checkout=True)).applied(WHO)
    for arguments in (("push", "origin", "headless"), ("merge", "--no-ff", "other"), ("checkout", "-b", "new")):
        done = git(root, *arguments, environment=environment)
        assert done.returncode == 0, (arguments, done.stderr)


async def test_other_repositories_are_not_touched(root: Path, tmp_path: Path) -> None:
    environment = (await guarded(root)).applied(WHO)
    other = tmp_path / "elsewhere"
    other.mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "its own.git")
    for arguments in (
        ("init", "--quiet", "-b", "main"),
        ("commit", "--quiet", "--allow-empty", "-m", "first"),
        ("checkout", "--quiet", "-b", "feature"),
        ("commit", "--quiet", "--allow-empty", "-m", "second"),
        ("checkout", "--quiet", "main"),
        ("merge", "--quiet", "feature"),
        ("push", str(tmp_path / "its own.git"), "main"),
    ):
        done = git(other, *arguments, environment=environment)
        assert done.returncode == 0, (arguments, done.stderr)


async def test_a_clone_cannot_push_to_the_repository_s_remotes_and_can_read_them(root: Path, tmp_path: Path) -> None:
    git(root, "push", "--quiet", "origin", "main")
    git(root, "remote", "set-url", "--push", "origin", "../remote.git")
    environment = (await guarded(root)).applied(WHO) | {"PATH": WHO["PATH"]}
    remote, clone = tmp_path / "remote.git", tmp_path / "a clone"
    before = refs(root)
    assert git(tmp_path, "clone", "--quiet", str(remote), clone.name, environment=environment).returncode == 0
    git(clone, "commit", "--quiet", "--allow-empty", "-m", "past it", environment=environment)
    for address in ("origin", str(remote), f"file://{remote}"):
        for options in ((), ("--no-verify",)):
            done = git(clone, "push", *options, address, "HEAD:refs/heads/main", environment=environment)
            assert (done.returncode == 0, "aurora-refused" in done.stderr) == (False, True), (address, done.stderr)
    assert git(clone, "fetch", "--quiet", "origin", environment=environment).returncode == 0
    assert git(root, "fetch", "--quiet", "origin", environment=environment).returncode == 0
    assert refs(root) == before
    free = (await guarded(root, allow_push=True)).applied(WHO)
    assert git(clone, "push", "origin", "HEAD:refs/heads/new", environment=free).returncode == 0


async def test_the_repository_s_own_hooks_go_on_running(root: Path) -> None:
    for name, text in (("commit-msg", 'grep -q TICKET "$1"'), ("reference-transaction", "cat >> seen.log")):
        hook = root / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{text}\n")
        hook.chmod(0o755)
    environment = (await guarded(root)).applied(WHO)
    assert git(root, "commit", "--allow-empty", "-m", "no", environment=environment).returncode != 0
    assert git(root, "commit", "--allow-empty", "-m", "TICKET-1", environment=environment).returncode == 0
    assert "refs/heads/headless" in (root / "seen.log").read_text()
    assert git(root, "branch", "new", environment=environment).returncode != 0


async def test_nothing_of_the_repository_is_written_and_the_folder_goes(root: Path) -> None:
    before = (root / ".git" / "config").read_bytes()
    guard = await guarded(root)
    assert (root / ".git" / "config").read_bytes() == before
    guard.remove()
    assert not guard.folder.exists()


async def test_without_a_branch_there_is_nothing_to_guard(root: Path, tmp_path: Path) -> None:
    git(root, "checkout", "--quiet", "--detach")
    for place in (root, tmp_path):
        assert await guard_of(place, tmp_path / "guard", HeadlessSettings(), trusted=True) is None


ROGUE = """
import json, subprocess, sys
sys.stdin.readline()
ends = []
for command in ("git push origin headless", "git checkout -b mine", "/usr/bin/env git merge other"):
    ends.append(subprocess.run(command.split(), capture_output=True).returncode)
print(json.dumps({"summary": "tried it all, see the data", "data": {"ends": ends}, "confidence": 0.9}))
"""


async def test_an_agent_s_process_has_the_guard_around_it(root: Path, tmp_path: Path) -> None:
    executors = Executors(
        root, tmp_path, AgentSettings(), os.environ, lambda: 0.0, trusted=True, guard=await guarded(root)
    )
    before = refs(root)
    response = await executors.run(program(tmp_path, ROGUE), TASK, llm=None, ask_user=ask_nobody)
    assert response.output is not None, response.error
    assert all(response.output.data["ends"]) and len(response.output.data["ends"]) == 3
    assert refs(root) == before
    assert response.metadata.exit_code == 0


async def test_an_agent_whose_own_configuration_of_git_is_none_is_not_run(root: Path) -> None:
    with pytest.raises(AgentError, match="GIT_CONFIG_COUNT"):
        (await guarded(root)).applied({**WHO, "GIT_CONFIG_COUNT": "many"})
