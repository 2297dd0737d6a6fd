"""What is read from repositories, on real ones, also those nobody would make on purpose."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from aurora_indexer.files.gitdir import find_git_directory, shallow_commits
from aurora_indexer.git import commands
from aurora_indexer.git.line_moves import Hunk
from aurora_indexer.git.log_parser import ARGUMENTS
from aurora_indexer.git.worktree import edits, tracked_files
from aurora_indexer.workers.messages import content_hash
from tests.indexer.repository import run


def commit(folder: Path, subject: str, at: int, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", subject, at=at)
    return run(folder, "rev-parse", "HEAD")


def forever() -> float:
    return asyncio.get_running_loop().time() + 30


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    run(root, "init", "-q")
    return root


async def test_empty_missing_and_broken_repositories(tmp_path: Path, repository: Path) -> None:
    assert commands.head(tmp_path) is None
    assert commands.head(repository) is None
    assert await commands.root_commit(repository) is None
    (repository / ".git" / "HEAD").write_text("garbage")
    assert commands.head(repository) is None
    assert await commands.answer(repository, ["rev-parse", "HEAD"]) is None


async def test_without_a_git_program(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, "first", 1000, a_py="1")
    nowhere = {"PATH": str(tmp_path)}
    assert commands.head(repository, environment=nowhere) == head
    assert await commands.answer(repository, ["rev-parse", "HEAD"], environment=nowhere) is None
    assert await commands.root_commit(repository, environment=nowhere) is None


def test_head_detached_packed_and_on_odd_branches(repository: Path) -> None:
    first = commit(repository, "first", 1000, a_py="1")
    second = commit(repository, "second", 2000, a_py="2")
    assert commands.head(repository) == second
    run(repository, "checkout", "-q", "--detach", first)
    assert commands.head(repository) == first
    run(repository, "checkout", "-q", "-b", "feature/dots.and-more")
    run(repository, "pack-refs", "--all")
    assert not (repository / ".git/refs/heads/feature").exists()
    assert commands.head(repository) == first
    (repository / ".git" / "HEAD").write_text("ref: ../../../etc/passwd\n")
    assert commands.head(repository) is None


async def test_worktrees_and_submodules(repository: Path, tmp_path: Path) -> None:
    commit(repository, "first", 1000, a_py="1")
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    side = commit(tmp_path / "tree", "side", 3000, b_py="1")
    assert commands.head(tmp_path / "tree") == side != commands.head(repository)
    outer = tmp_path / "outer"
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "add", "-q", str(repository), "inner")
    commit(outer, "with a submodule", 4000)
    assert commands.head(outer / "inner") == commands.head(repository)
    assert set(await tracked_files(outer, "HEAD") or {}) == {b".gitmodules"}


async def test_shallow_clones_know_that_they_are(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, "first", 1000, a_py="1")
    second = commit(repository, "second", 2000, a_py="2")
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    boundary = find_git_directory(tmp_path / "shallow")
    assert boundary is not None
    assert shallow_commits(boundary) == {second}
    assert await commands.root_commit(tmp_path / "shallow") is None
    assert await commands.root_commit(repository) == first


async def test_nothing_a_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    commit(repository, "first", 1000, a_py="1")
    trap = tmp_path / "trap"
    sprung = tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{sprung}'\n")
    trap.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (repository / ".git" / "hooks" / hook).write_text(trap.read_text())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand", "core.editor"):
        run(repository, "config", key, str(trap))
    run(repository, "config", "log.showSignature", "true")
    run(repository, "config", "pager.log", str(trap))
    run(repository, "config", "diff.x.textconv", str(trap))
    run(repository, "config", "alias.log", f"!{trap}")
    for step in ("clean", "smudge", "process"):
        run(repository, "config", f"filter.x.{step}", str(trap))
    (repository / ".gitattributes").write_text("*.py diff=x filter=x\n")
    (repository / "a.py").write_text("edited")
    files = await tracked_files(repository, "HEAD")
    assert files is not None
    hunks, lost = await edits(repository, files, {"a.py": content_hash(b"edited")})
    async with commands.streaming(repository, [*ARGUMENTS, "HEAD"], deadline=forever()) as output:
        said = b"".join([piece async for piece in output.pieces()])
    await commands.root_commit(repository)
    commands.head(repository)
    assert (hunks, lost) == ({b"a.py": [Hunk(1, 1, 1)]}, set())
    assert b"+++ b/a.py" in said
    assert output.whole
    assert not sprung.exists()


async def test_the_users_global_ignore_file(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    assert await commands.excludes_file(environment=environment) is None
    default = tmp_path / ".config" / "git" / "ignore"
    default.parent.mkdir(parents=True)
    default.write_text("*.swp\n")
    assert await commands.excludes_file(environment=environment) == default
    (tmp_path / "mine").write_text("*.bak\n")
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert await commands.excludes_file(environment=environment) == tmp_path / "mine"


async def test_which_files_differ_from_what_is_committed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(repository, "config", "core.autocrlf", "false")
    names = ("same", "crlf", "edited", "saved", "gone", "folder", "more", "none")
    commit(repository, "first", 1000, **{f"{name}_py": "1\n2\n" for name in names})
    files = await tracked_files(repository, "HEAD")
    assert files is not None
    now = {"crlf": "1\r\n2\r\n", "edited": "1\n3\n", "saved": "1\n4\n", "more": "5\n2\n", "none": "1\n6\n"}
    for name, text in now.items():
        (repository / f"{name}.py").write_text(text, newline="")
    (repository / "gone.py").unlink()
    (repository / "folder.py").unlink()
    (repository / "folder.py").mkdir()
    indexed = {f"{name}.py": content_hash(now.get(name, "1\n2\n").encode()) for name in names if name != "none"}
    indexed["saved.py"] = content_hash(b"1\n2\n")
    hunks, lost = await edits(repository, files, indexed)
    assert hunks == {b"edited.py": [Hunk(1, 2, 1)], b"more.py": [Hunk(1, 1, 1)]}
    assert lost == {b"saved.py", b"gone.py", b"folder.py", b"none.py"}
    monkeypatch.setattr("aurora_indexer.git.worktree.MAX_EDITED", 1)
    hunks, lost = await edits(repository, files, indexed)
    assert (list(hunks), b"more.py" in lost) == ([b"edited.py"], True), "those that are too many wait"
    unknown = await edits(repository, {b"edited.py": b"1" * 40}, indexed)
    assert unknown == ({}, {b"edited.py"}), "nor is there anything to compare with that git does not have"


@pytest.mark.parametrize(
    ("name", "is_kept"),
    [
        *((name, True) for name in "PATH HOME XDG_CONFIG_HOME USERPROFILE SYSTEMROOT TMPDIR TEMP TMP Path".split()),
        *((name, False) for name in "GIT_DIR GIT_CONFIG_GLOBAL GIT_SSH_COMMAND LD_PRELOAD PAGER EDITOR".split()),
    ],
)
def test_git_is_told_where_it_and_the_users_settings_are_and_nothing_else(name: str, is_kept: bool) -> None:
    told = commands._clean({name: "/x", "LC_ALL": "de_DE"})
    assert (told.get(name) == "/x") is is_kept
    assert told["LC_ALL"] == "C", "its words are read"
    assert told["GIT_OPTIONAL_LOCKS"] == told["GIT_TERMINAL_PROMPT"] == "0", "it locks nothing and asks nobody"
