"""A repository's HEAD, read from files: which of several places says where a branch is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aurora_indexer.files.gitdir import GitDirectory, Head, find_git_directory, is_work_tree, named_work_tree, read_head

ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40


@pytest.fixture
def repository(tmp_path: Path) -> GitDirectory:
    """A work tree whose own git directory is not the common one."""
    common = tmp_path / "main" / ".git"
    own = common / "worktrees" / "side"
    for folder in (common / "refs/heads", own / "refs/heads", tmp_path / "side"):
        folder.mkdir(parents=True)
    (tmp_path / "side" / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(str(tmp_path / "side" / ".git"))
    (own / "HEAD").write_text("ref: refs/heads/side")
    return GitDirectory(tmp_path / "side", own, common)


def write(folder: Path, ref: str, commit: str) -> None:
    (folder / ref).parent.mkdir(parents=True, exist_ok=True)
    (folder / ref).write_text(commit)


def test_a_work_trees_own_ref_comes_before_the_shared_one_and_that_before_what_is_packed(
    repository: GitDirectory,
) -> None:
    ref = "refs/heads/side"
    assert read_head(repository) == Head(ref, None), "a branch without commits"
    write(repository.common, "packed-refs", f"{THREE} refs/heads/side-2\n{ONE} {ref}\n")
    assert read_head(repository) == Head(ref, ONE)
    write(repository.common, ref, TWO)
    assert read_head(repository) == Head(ref, TWO)
    write(repository.directory, ref, THREE)
    assert read_head(repository) == Head(ref, THREE)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        pytest.param(ONE, Head("", ONE), id="detached"),
        pytest.param("ref: refs/heads/.invalid", Head("", None, needs_git=True), id="where only git can tell"),
        pytest.param("ref: ../../etc/passwd", None, id="no path out of it"),
        pytest.param("ref: /etc/passwd", None, id="nor an absolute one"),
        pytest.param("garbage", None, id="nothing that is none"),
        pytest.param("ref: refs/heads/link", Head("refs/heads/link", TWO), id="through another ref"),
        pytest.param("ref: refs/heads/loop", None, id="not for ever"),
    ],
)
def test_what_head_is(repository: GitDirectory, head: str, found: Head | None) -> None:
    write(repository.directory, "HEAD", head)
    write(repository.common, "refs/heads/link", "ref: refs/heads/real")
    write(repository.common, "refs/heads/real", TWO)
    write(repository.common, "refs/heads/loop", "ref: refs/heads/loop")
    assert read_head(repository) == found


def test_a_folder_that_only_claims_to_be_a_work_tree_is_none(repository: GitDirectory, tmp_path: Path) -> None:
    known = find_git_directory(repository.work_tree)
    assert known is not None and known.directory == repository.directory and is_work_tree(known)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").write_text(f"gitdir: {repository.directory}")
    claimed = find_git_directory(tmp_path / "other")
    assert claimed is not None and not is_work_tree(claimed)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("[core]\n\tworktree = ../../sub\n", "../../sub"),
        ('[Core]\n  WorkTree = "a b"\n', "a b"),
        ("[core]\nworktree = a\nworktree = b\n", "b"),
        ("[other]\nworktree = a\n", None),
        ("[core]\nbare = true\n", None),
    ],
)
def test_which_work_tree_a_git_directory_names(tmp_path: Path, config: str, named: str | None) -> None:
    (tmp_path / "config").write_text(config)
    assert named_work_tree(tmp_path) == (tmp_path / named if named else None)


def test_a_pointer_ends_at_a_nul_as_it_does_for_git(repository: GitDirectory, tmp_path: Path) -> None:
    mark = tmp_path / "side" / ".git"
    whole = mark.read_bytes().strip()
    mark.write_bytes(whole + b"\0/etc\n")
    found = find_git_directory(repository.work_tree)
    assert found is not None and found.directory == repository.directory
    mark.write_bytes(b"gitdir: \0/etc\n" + b"\xff" * 1000)
    found = find_git_directory(repository.work_tree)
    assert found is not None and found.directory == tmp_path / "side", "the folder itself is named"
    mark.write_bytes(whole)
    for name in ("HEAD", "commondir", "gitdir"):
        (repository.directory / name).write_bytes(b"\0" + (repository.directory / name).read_bytes())
    assert read_head(repository) is None and not is_work_tree(repository)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_another_user_puts_into_a_folder_that_all_may_write_is_no_repository(tmp_path: Path, kind: str) -> None:
    """It could claim to be any, with that one's record of what was learned."""
    mine = tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    mark = tmp_path / "shared" / ".git"
    if kind == "folder":
        mark.mkdir()
    else:
        (tmp_path / "elsewhere").mkdir()
        mark.write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    found = find_git_directory(mine)
    assert found is not None and found.work_tree == tmp_path / "shared"
    os.chown(mark, 65534, 65534)
    above = find_git_directory(mine)
    assert above is None or above.work_tree not in (mine, tmp_path / "shared")
    os.chown(tmp_path / "shared", 65534, 65534)
    assert find_git_directory(mine) == found, "a repository of somebody else's is one"
