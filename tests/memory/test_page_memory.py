"""Memory that SQLite takes for pages: bounded for all memory files that a process has open, however many these are."""

from __future__ import annotations

from pathlib import Path

from aurora_memory.record.record_file import Record
from aurora_memory.store.connection import pragma_int
from aurora_memory.store.reader import Reader
from tests.memory.stores import new_store


def limit(reader: Reader) -> int:
    return int(reader.rows("PRAGMA soft_heap_limit")[0][0])


async def test_all_memory_files_that_are_open_have_one_bound(tmp_path: Path) -> None:
    stores = [await new_store(tmp_path / f"{name}.db") for name in ("one", "other")]
    try:
        limits = {await store.read(limit) for store in stores}
    finally:
        for store in stores:
            await store.close()
    assert len(limits) == 1
    assert 28 << 20 <= limits.pop() <= 64 << 20, "one memory with its record has room, three share"


async def test_a_memory_with_its_record_is_done_growing_after_a_few_pages(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "m.db")
    record = Record.open(tmp_path / "r.sqlite", "repository", "ada", "desk")
    try:
        kept = [
            await store.read(lambda reader: int(reader.rows("PRAGMA cache_size")[0][0])),
            await pragma_int(store._writer, "cache_size"),
            int(record._db.execute("PRAGMA cache_size").fetchone()[0]),
        ]
    finally:
        record.close()
        await store.close()
    assert max(kept) < 0, "in KB, whatever the size of a page"
    assert 4 << 10 <= -sum(kept) <= 8 << 10, "more is in the system's cache already, and grows for weeks"
