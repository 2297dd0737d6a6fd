"""Roots of workspaces: which folder around a path is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aurora_protocol.roots import find_root


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


def test_the_users_own_folder_marks_no_workspace_by_whatever_name_it_is_known(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    (home / "notes").mkdir(parents=True)
    (home / ".aurora").mkdir()
    (tmp_path / "linked").symlink_to(home)
    for known_as in (home / ".aurora", tmp_path / "linked" / ".aurora"):
        assert find_root(home / "notes", aurora_home=known_as) == home / "notes"
    assert find_root(home / "notes", aurora_home=tmp_path / "elsewhere") == home


def test_a_repository_is_a_workspace_though_the_users_own_folder_is_in_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".aurora").mkdir()
    assert find_root(tmp_path / "a.py", aurora_home=tmp_path / ".aurora") == tmp_path


def test_a_mark_that_leads_nowhere_marks_nothing_and_a_linked_folder_is_where_it_leads(tmp_path: Path) -> None:
    inner = tmp_path / "w" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "w" / ".git").mkdir()
    (inner / ".git").symlink_to(tmp_path / "gone")
    assert find_root(inner) == tmp_path / "w"
    (tmp_path / "linked").symlink_to(inner)
    assert find_root(tmp_path / "linked") == tmp_path / "w"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("mark", [".git", ".aurora"])
@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_another_user_puts_into_a_folder_that_all_may_write_marks_no_workspace(
    tmp_path: Path, mark: str, kind: str
) -> None:
    """Who works in `/tmp/mine` is not led to `/tmp`, its configuration and whatever lies there."""
    mine = tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    placed = tmp_path / "shared" / mark
    if kind == "folder":
        placed.mkdir()
    else:
        placed.symlink_to(mine)
    assert find_root(mine) == tmp_path / "shared"
    os.chown(placed, 65534, 65534, follow_symlinks=False)
    assert find_root(mine) == mine
    os.chown(tmp_path / "shared", 65534, 65534)
    assert find_root(mine) == tmp_path / "shared", "a repository of somebody else's is one"
