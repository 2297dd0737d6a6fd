"""Memory that SQLite takes for pages: bounded for all memory files that a process has open, however many these are."""

from __future__ import annotations

from pathlib import Path

from aurora_memory.store import Store
from aurora_memory.store.reader import Reader


def limit(reader: Reader) -> int:
    return int(reader.rows("PRAGMA soft_heap_limit")[0][0])


async def test_all_memory_files_that_are_open_have_one_bound(tmp_path: Path) -> None:
    stores = [await Store.open(tmp_path / f"{name}.db") for name in ("one", "other")]
    try:
        limits = {await store.read(limit) for store in stores}
    finally:
        for store in stores:
            await store.close()
    assert len(limits) == 1
    assert 28 << 20 <= limits.pop() <= 64 << 20, "one memory with its record has room, three share"
