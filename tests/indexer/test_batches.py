"""When what the workers found is written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from aurora_indexer import batches
from aurora_indexer.batches import LAST_REPLIES, Batches
from aurora_indexer.files.skips import Skip
from aurora_indexer.workers.messages import FileSkipped, Parsed, ParseFailed, ReadStat, Reply, Unchanged
from aurora_memory.store import IndexedFile, file_reader
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store
from tests.wait_limits import HANG


async def test_before_the_last_replies_what_is_there_is_written(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    replies = [FileSkipped(Skip(f"{number}.py", "binary", "")) for number in range(LAST_REPLIES + 3)]
    taken = Batches(store, [], first_time=True, edited=False, expected=len(replies), clock=lambda: 0.0)
    try:
        for reply in replies[:3]:
            await taken.add(reply)
        async with asyncio.timeout(HANG):
            while len(await store.read(file_reader.skips)) < 3:
                await asyncio.sleep(0.01)
        for reply in replies[3:]:
            await taken.add(reply)
        assert len(await store.read(file_reader.skips)) == 3
        await taken.finish()
        assert len(await store.read(file_reader.skips)) == len(replies)
    finally:
        await store.close()


@pytest.mark.parametrize(("first_time", "written_early"), [(True, 0), (False, 2)])
async def test_what_changes_later_is_written_in_smaller_batches_than_a_first_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_time: bool, written_early: int
) -> None:
    monkeypatch.setattr(batches, "BATCH_CHUNKS", 4)
    monkeypatch.setattr(batches, "BATCH_CHANGED", 2)
    store = await new_store(tmp_path / "memory.db")
    written: list[int] = []

    async def write(files: Sequence[IndexedFile], *_: object, **__: object) -> None:
        written.append(sum(len(each.parsed.chunks) for each in files))

    monkeypatch.setattr(store, "write", write)
    taken = Batches(store, [], first_time=first_time, edited=False, clock=lambda: 0.0)
    try:
        for name in ("a", "b", "c"):
            await taken.add(
                Parsed(file(f"{name}.py", chunk(f"{name}.py", name)).parsed, ReadStat(size=7, mtime_ns=9, mark=3))
            )
        await asyncio.sleep(0)
        assert sum(written) == written_early
        await taken.finish()
        assert sum(written) == 3
    finally:
        await store.close()


async def test_what_becomes_of_each_reply(tmp_path: Path) -> None:
    """A file that went while it was looked at is removed; one of which nothing could be read is tried at each look."""
    read = ReadStat(size=7, mtime_ns=9, mark=3)
    parsed = Parsed(file("a.py", chunk("a.py", "one"), chunk("a.py", "two", line=20)).parsed, read)
    replies: list[Reply] = [
        parsed,
        FileSkipped(Skip("gone.py", "gone", "")),
        FileSkipped(Skip("blob.py", "binary", "NUL"), read),
        FileSkipped(Skip("closed.py", "unreadable", "Permission denied.")),
        ParseFailed("odd.py", "it broke", read),
        Unchanged("same.py", read),
    ]
    store = await new_store(tmp_path / "memory.db")
    await store.write([file(path, chunk(path, "old")) for path in ("gone.py", "same.py", "left.py")])
    taken = Batches(store, ["left.py"], first_time=False, edited=False, clock=lambda: 0.0)
    try:
        for reply in replies:
            await taken.add(reply)
        await taken.finish()
        counts = taken.parsed, taken.chunks, taken.removed, taken.skipped, taken.failed, taken.unchanged
        assert counts == (1, 2, 2, 2, 1, 1)
        indexed, skipped = await store.read(file_reader.files), await store.read(file_reader.skips)
        assert {path: (stat.size, stat.mtime_ns) for path, stat in indexed.items()} == {
            "a.py": (7, 9),
            "same.py": (7, 9),
        }
        assert {path: (why, detail, stat.size) for path, (why, detail, stat) in skipped.items()} == {
            "blob.py": ("binary", "NUL", 7),
            "closed.py": ("unreadable", "Permission denied.", -1),
            "odd.py": ("failed", "it broke", 7),
        }
    finally:
        await store.close()
