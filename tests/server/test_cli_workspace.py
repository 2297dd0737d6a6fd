"""Workspace of a command: which folder upward is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aurora_cli.workspace import find_workspace


def found(start: Path, *homes: Path) -> Path:
    return Path(find_workspace(str(start), tuple(map(str, homes))))


def test_the_nearest_marked_folder_is_the_workspace(tmp_path: Path) -> None:
    deep = tmp_path / "w" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text("gitdir: /elsewhere\n")
    assert found(deep) == tmp_path / "w"
    (tmp_path / "w" / "a" / ".aurora").mkdir()
    assert found(deep) == tmp_path / "w" / "a"
    assert found(deep, tmp_path / "w" / "a" / ".aurora") == tmp_path / "w"


def test_the_users_own_folder_marks_no_workspace_by_whatever_name_it_is_known(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    (home / "notes").mkdir(parents=True)
    (home / ".aurora").mkdir()
    (tmp_path / "linked").symlink_to(home)
    for known_as in (home / ".aurora", tmp_path / "linked" / ".aurora"):
        assert found(home / "notes", known_as) == home / "notes"
    assert found(home / "notes", tmp_path / "elsewhere") == home
    (home / ".git").mkdir()
    assert found(home / "notes", home / ".aurora") == home, "a repository is one, though AURORA's folder is in it"


def test_a_mark_that_leads_nowhere_marks_nothing(tmp_path: Path) -> None:
    inner = tmp_path / "w" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "w" / ".git").mkdir()
    (inner / ".git").symlink_to(tmp_path / "gone")
    assert found(inner) == tmp_path / "w"


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
    assert found(mine) == tmp_path / "shared"
    os.chown(placed, 65534, 65534, follow_symlinks=False)
    assert found(mine) == mine
    os.chown(tmp_path / "shared", 65534, 65534)
    assert found(mine) == tmp_path / "shared", "a repository of somebody else's is one"
