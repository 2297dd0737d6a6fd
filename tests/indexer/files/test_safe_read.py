"""How often a file is read from: once where its size is known, and to the end where that was wrong."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_indexer.files import safe_read
from aurora_indexer.files.safe_read import TooLarge, read_prefix, read_steady


def counted(monkeypatch: pytest.MonkeyPatch, grows: Path | None = None) -> list[int]:
    """The sizes of the reads from now on; before the first, `grows` becomes four bytes longer."""
    sizes: list[int] = []
    read = os.read

    def note(descriptor: int, size: int) -> bytes:
        if not sizes and grows is not None:
            with grows.open("ab") as file:
                file.write(b"more")
        sizes.append(size)
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", note)
    return sizes


@pytest.mark.parametrize("size", [0, 1, 3_000, (1 << 20) + 1])
def test_a_file_is_read_at_once_with_room_for_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * size)
    sizes = counted(monkeypatch)
    assert read_steady(str(file), 1 << 22)[0] == b"x" * size
    assert sizes == [size + 1]


def test_a_file_that_grows_meanwhile_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"some")
    counted(monkeypatch, grows=file)
    assert read_steady(str(file), 100)[0] == b"somemore"


def test_a_file_that_grows_past_the_limit_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"some")
    counted(monkeypatch, grows=file)
    with pytest.raises(TooLarge):
        read_steady(str(file), 4)


def test_a_prefix_ends_where_it_was_asked_to(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"0123456789")
    assert read_prefix(str(file), 4) == b"0123"
    assert read_prefix(str(file), 100) == b"0123456789"


@pytest.mark.parametrize(
    ("written", "read", "settled"),
    [
        pytest.param(5_000_000_007, 5_020_000_007, True, id="written two hundredths of a second before"),
        pytest.param(5_000_000_007, 5_019_999_999, False, id="less before: another write would leave the same times"),
        pytest.param(
            5_000_000_000, 5_020_000_000, False, id="where times are whole seconds another second says nothing"
        ),
        pytest.param(5_000_000_000, 7_000_000_000, True, id="but two"),
    ],
)
def test_a_file_is_taken_for_what_was_read_where_no_later_write_can_look_the_same(
    written: int, read: int, settled: bool
) -> None:
    status: Any = SimpleNamespace(st_ctime_ns=written, st_mtime_ns=1, st_ino=2, st_dev=3)
    assert safe_read.settled_mark(status, read) == (safe_read.file_mark(status) if settled else 0)
