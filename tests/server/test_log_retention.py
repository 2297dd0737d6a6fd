"""The daemon keeps conversation logs in order, and memory forgets those that are deleted."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from aurora_memory.store import Store, conversation_log_index
from aurora_orchestration.conversations.log_reader import gone
from aurora_orchestration.conversations.log_writer import write_log
from aurora_orchestration.settings import ConversationSettings
from aurora_server.workspace.maintenance import LogRetention
from tests.orchestration.runs import run
from tests.patience import HANG

DAY = 86_400


async def test_what_is_due_is_done_at_the_start_and_memory_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    settings = ConversationSettings(path=str(folder))
    store = await Store.open(tmp_path / "memory.db")
    kept = []
    for days in (200, 20, 1):
        at = time.time() - days * DAY
        path = write_log(run(started_at=at, ended_at=at + 5), folder, settings)
        os.utime(path, (at, at))
        kept.append(path.relative_to(folder).as_posix())
        await store.index_log(kept[-1], path.read_text(), "aurora-1")
    told = asyncio.Event()

    async def forget(files: Sequence[str]) -> None:
        await store.forget_logs(files)
        told.set()

    upkeep = LogRetention(lambda: settings, forget)
    keeping = asyncio.create_task(upkeep.go_on())
    try:
        await asyncio.wait_for(told.wait(), HANG)
        assert await store.read(conversation_log_index.logs) == sorted(kept[1:])
        assert gone(folder, kept) == kept[:1], "the compressed one is still there"
        assert (folder / f"{kept[1]}.gz").exists() and (folder / kept[2]).exists()
        again = await upkeep.once()
        assert (again.deleted, again.compressed) == ((), ())
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})
        await store.close()
