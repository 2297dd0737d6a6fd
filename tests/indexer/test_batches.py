"""When what the workers found is written."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aurora_indexer.batches import LAST_REPLIES, Batches
from aurora_indexer.files.skips import Skip
from aurora_indexer.workers.messages import FileSkipped
from aurora_memory.store import Store, file_reader
from tests.wait_limits import HANG


async def test_before_the_last_replies_what_is_there_is_written(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    replies = [FileSkipped(Skip(f"{number}.py", "binary", "")) for number in range(LAST_REPLIES + 3)]
    batches = Batches(store, [], first_time=True, edited=False, expected=len(replies), clock=lambda: 0.0)
    try:
        for reply in replies[:3]:
            await batches.add(reply)
        async with asyncio.timeout(HANG):
            while len(await store.read(file_reader.skips)) < 3:
                await asyncio.sleep(0.01)
        for reply in replies[3:]:
            await batches.add(reply)
        assert len(await store.read(file_reader.skips)) == 3
        await batches.finish()
        assert len(await store.read(file_reader.skips)) == len(replies)
    finally:
        await store.close()
