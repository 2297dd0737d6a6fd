"""What is read from repositories, on real ones, also those nobody would make on purpose."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from aurora_indexer.gitlog import MAX_TIMES, LogReader

from aurora_indexer import git
from aurora_protocol.roots import find_root

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
}


def run(folder: Path, *arguments: str, at: int = 1_700_000_000) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**ENVIRONMENT, "GIT_COMMITTER_DATE": f"@{at} +0000", "GIT_AUTHOR_DATE": f"@{at} +0000"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def commit(folder: Path, subject: str, at: int, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", subject, at=at)
    return run(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    run(root, "init", "-q")
    return root


async def test_times_and_last_commit_of_each_file(repository: Path) -> None:
    commit(repository, "first", 1000, a_py="1", lib__b_py="1")
    last = commit(repository, "second: ünïcode", 2000, a_py="2")
    found = await git.history(repository)
    assert (found.commits, found.complete, found.problem) == (2, True, None)
    assert found.files["a.py"].times == (2000, 1000)
    assert last.startswith(found.files["a.py"].last_hash)
    assert found.files["a.py"].last_subject == "second: ünïcode"
    assert found.files["lib/b.py"].times == (1000,)


async def test_a_root_below_the_repository_sees_its_own_paths(repository: Path) -> None:
    commit(repository, "first", 1000, a_py="1", lib__b_py="1")
    commit(repository, "elsewhere", 2000, a_py="2")
    found = await git.history(repository / "lib")
    assert {path: file.times for path, file in found.files.items()} == {"b.py": (1000,)}
    assert git.head(repository / "lib") == run(repository, "rev-parse", "HEAD")


async def test_odd_paths_and_subjects(repository: Path) -> None:
    (repository / "ä b\n\tc.py").write_text("x")
    (repository / "d.py").write_text("x")
    commit(repository, 'quote " and \\ and \ttab', 1000)
    found = await git.history(repository)
    assert set(found.files) == {"ä b\n\tc.py", "d.py"}
    assert found.files["d.py"].last_subject == 'quote " and \\ and \ttab'


async def test_bounds_are_kept(repository: Path) -> None:
    for number in range(5):
        commit(repository, str(number), 1000 + number, a_py=str(number))
    found = await git.history(repository, max_commits=3)
    assert (found.commits, found.complete) == (3, False)
    assert found.files["a.py"].times == (1004, 1003, 1002)
    hurried = await git.history(repository, seconds=0.0)
    assert (hurried.complete, hurried.problem) == (False, None)


async def test_empty_missing_and_broken_repositories(tmp_path: Path, repository: Path) -> None:
    assert git.head(tmp_path) is None
    assert (await git.history(tmp_path)).problem == "Not a git repository."
    assert git.head(repository) is None
    assert (await git.history(repository)).problem == "There are no commits yet."
    assert await git.root_commit(repository) is None
    (repository / ".git" / "HEAD").write_text("garbage")
    assert git.head(repository) is None
    assert "failed" in ((await git.history(repository)).problem or "")


async def test_without_a_git_program(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, "first", 1000, a_py="1")
    nowhere = {"PATH": str(tmp_path)}
    assert git.head(repository, environment=nowhere) == head
    assert "cannot be run" in ((await git.history(repository, environment=nowhere)).problem or "")
    assert await git.root_commit(repository, environment=nowhere) is None


def test_head_detached_packed_and_on_odd_branches(repository: Path) -> None:
    first = commit(repository, "first", 1000, a_py="1")
    second = commit(repository, "second", 2000, a_py="2")
    assert git.head(repository) == second
    run(repository, "checkout", "-q", "--detach", first)
    assert git.head(repository) == first
    run(repository, "checkout", "-q", "-b", "feature/dots.and-more")
    run(repository, "pack-refs", "--all")
    assert not (repository / ".git/refs/heads/feature").exists()
    assert git.head(repository) == first
    (repository / ".git" / "HEAD").write_text("ref: ../../../etc/passwd\n")
    assert git.head(repository) is None


async def test_worktrees_and_submodules(repository: Path, tmp_path: Path) -> None:
    commit(repository, "first", 1000, a_py="1")
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    side = commit(tmp_path / "tree", "side", 3000, b_py="1")
    assert git.head(tmp_path / "tree") == side != git.head(repository)
    assert (await git.history(tmp_path / "tree")).files["b.py"].times == (3000,)
    outer = tmp_path / "outer"
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "add", "-q", str(repository), "inner")
    commit(outer, "with a submodule", 4000)
    assert git.head(outer / "inner") == git.head(repository)
    assert (await git.history(outer / "inner")).files["a.py"].times == (1000,)
    assert "inner/a.py" not in (await git.history(outer)).files


async def test_shallow_clones_know_that_they_are(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, "first", 1000, a_py="1")
    commit(repository, "second", 2000, a_py="2")
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    found = await git.history(tmp_path / "shallow")
    assert (found.commits, found.complete) == (1, False)
    assert await git.root_commit(tmp_path / "shallow") is None
    assert await git.root_commit(repository) == first


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
    (repository / ".gitattributes").write_text("*.py diff=x\n")
    found = await git.history(repository)
    await git.root_commit(repository)
    git.head(repository)
    assert found.files["a.py"].times == (1000,)
    assert not sprung.exists()


async def test_the_users_global_ignore_file(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    assert await git.excludes_file(environment=environment) is None
    default = tmp_path / ".config" / "git" / "ignore"
    default.parent.mkdir(parents=True)
    default.write_text("*.swp\n")
    assert await git.excludes_file(environment=environment) == default
    (tmp_path / "mine").write_text("*.bak\n")
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert await git.excludes_file(environment=environment) == tmp_path / "mine"


def test_the_log_may_be_cut_anywhere() -> None:
    log = b"\x0120\x00abc\x00two\x00\x00\na.py\x00b.py\x00\x0110\x00def\x00\x00\x00\na.py\x00"
    whole = LogReader()
    whole.feed(log)
    pieces = LogReader()
    for index in range(len(log)):
        pieces.feed(log[index : index + 1])
    assert pieces.files() == whole.files()
    assert whole.files()["a.py"].times == (20, 10)
    assert (whole.commits, whole.files()["b.py"].last_subject) == (2, "two")
    many = LogReader()
    many.feed(b"".join(b"\x01%d\x00h\x00s\x00\x00\na.py\x00" % number for number in range(200)))
    assert len(many.files()["a.py"].times) == MAX_TIMES


def test_the_nearest_marked_folder_is_the_root(tmp_path: Path) -> None:
    deep = tmp_path / "w" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text("gitdir: /elsewhere\n")
    assert find_root(deep) == tmp_path / "w"
    (tmp_path / "w" / "a" / ".aurora").mkdir()
    (deep / "file.py").write_text("")
    assert find_root(deep / "file.py") == tmp_path / "w" / "a"
    assert find_root(deep, aurora_home=tmp_path / "w" / "a" / ".aurora") == tmp_path / "w"
    alone = tmp_path / "alone"
    alone.mkdir()
    assert find_root(alone / "missing.py", aurora_home=tmp_path / ".aurora") == alone
