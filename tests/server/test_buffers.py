"""Buffers: what is parsed is kept for the next question, as much as is little."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest

from aurora_memory.store.reader_thread import ReaderThread
from aurora_server.workspace import buffers
from aurora_server.workspace.buffers import Buffers
from aurora_server.workspace.colleagues import Colleagues


@pytest.fixture
def opened(tmp_path: Path) -> Buffers:
    none = cast("ReaderThread", None), cast("Colleagues", None)  # an outline asks neither
    return Buffers(tmp_path, none[0], lambda path: path.relative_to(tmp_path).as_posix(), none[1])


async def test_many_large_buffers_are_not_all_kept(
    opened: Buffers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"def handler_{number}():\n    return {number}\n" for number in range(4)]
    monkeypatch.setattr(buffers, "KEPT_CHARACTERS", 3 * len(texts[0]))
    first = [(await opened.outline(tmp_path / f"{number}.py", text))[0] for number, text in enumerate(texts)]
    again = {number: (await opened.outline(tmp_path / f"{number}.py", texts[number]))[0] for number in (3, 2, 1, 0)}
    assert [again[number] is first[number] for number in range(4)] == [False, True, True, True], "the oldest went"


async def test_a_buffer_larger_than_all_that_is_kept_is_kept_alone(
    opened: Buffers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffers, "KEPT_CHARACTERS", 10)
    path, text = tmp_path / "large.py", "def handler():\n    return 1\n"
    assert (await opened.outline(path, text))[0] is (await opened.outline(path, text))[0]


async def test_what_is_no_file_has_no_text(opened: Buffers, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to(os.devnull)
    assert [await opened.usages(tmp_path / name, None) for name in ("pipe.py", "device.py", "gone.py")] == [[], [], []]
