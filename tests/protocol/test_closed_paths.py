"""Closed paths: which folder or file keeps its own user out, and what opens it. By modes alone: root may enter all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aurora_protocol.closed_paths import closed_on_way, opening


@pytest.fixture(autouse=True)
def ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights as the owner of a file has them."""

    def access(path: Path, needed: int, *, effective_ids: bool) -> bool:
        for folder in Path(path).parents:
            if not (folder.exists() and folder.stat().st_mode & 0o100):
                return False
        return Path(path).exists() and Path(path).stat().st_mode >> 6 & needed == needed

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "supports_effective_ids", {access})


@pytest.mark.parametrize(
    ("name", "mode", "opened"),
    [
        pytest.param(".", 0o600, "u+rwx", id="the home"),
        pytest.param("logs", 0o000, "u+rwx", id="the folder"),
        pytest.param("logs", 0o500, "u+rwx", id="a folder in which nothing can be made"),
        pytest.param("logs", 0o300, "u+rwx", id="a folder that cannot be listed"),
        pytest.param("logs/a.log", 0o000, "u+rw", id="the file"),
        pytest.param("logs/a.log", 0o400, "u+rw", id="a file that cannot be written"),
    ],
)
def test_what_is_closed_is_named_with_what_opens_it(tmp_path: Path, name: str, mode: int, opened: str) -> None:
    log = tmp_path / "home" / "logs" / "a.log"
    log.parent.mkdir(parents=True)
    log.touch()
    assert closed_on_way(log) is None
    closed = tmp_path / "home" / name
    before = closed.stat().st_mode
    closed.chmod(mode)
    assert closed_on_way(log) == closed
    assert opening(closed) == f"run: chmod {opened} '{closed}'"
    closed.chmod(before)
    assert closed_on_way(log) is None


def test_what_is_not_there_is_not_closed(tmp_path: Path) -> None:
    assert closed_on_way(tmp_path / "logs" / "a.log") is None
    assert closed_on_way(tmp_path / "logs" / "conversations", folder=True) is None


def test_a_folder_of_logs_needs_more_than_those_on_the_way(tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "conversations"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o100)
    assert closed_on_way(folder, folder=True) is None
    folder.chmod(0o100)
    assert closed_on_way(folder, folder=True) == folder


def test_what_belongs_to_another_is_for_him_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert opening(tmp_path) == f"have user {tmp_path.stat().st_uid} let you write {tmp_path}"
