"""Killed copies: a copy of a memory file whose maker was killed is gone once the memory is opened again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aurora_memory.store import Store
from aurora_memory.store.killed_copies import forget_killed_copies

NAMES = (
    "m.db.v3.bak.{}-0",
    "m.db.new-{}-1",
    "m.db.new-{}-1-wal",
    ".m.db.{}.copy",
    ".m.db.{}.copy-shm",
    ".m.db.{}.adopting",
)
OTHERS = (
    "m.db.v3.bak",
    "m.db.damaged-20260101T000000Z",
    "m.db.adopted",
    "other.db.new-{}-1",
    ".m.dbx.{}.copy",
    "m.db.saved",
)


@pytest.fixture(scope="module")
def killed() -> int:
    """The id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def made(folder: Path, names: tuple[str, ...], process: int) -> set[Path]:
    places = {folder / each.format(process) for each in names}
    for each in places:
        each.write_bytes(b"half")
    return places


def test_what_the_killed_left_goes_and_what_is_kept_stays(tmp_path: Path, killed: int) -> None:
    left, kept = made(tmp_path, NAMES, killed), made(tmp_path, OTHERS, killed)
    assert set(forget_killed_copies(tmp_path / "m.db")) == left
    assert set(tmp_path.iterdir()) == kept
    assert forget_killed_copies(tmp_path / "none" / "m.db") == []


def test_who_lives_may_go_on_for_an_hour(tmp_path: Path) -> None:
    left = made(tmp_path, NAMES, os.getpid())
    assert forget_killed_copies(tmp_path / "m.db") == []
    for each in left:
        os.utime(each, (0, 0))
    assert set(forget_killed_copies(tmp_path / "m.db")) == left


async def test_a_memory_that_is_opened_again_has_nothing_beside_it(tmp_path: Path, killed: int) -> None:
    await (await Store.open(tmp_path / "m.db")).close()
    left = made(tmp_path, NAMES, killed)
    await (await Store.open(tmp_path / "m.db")).close()
    assert not left & set(tmp_path.iterdir())
