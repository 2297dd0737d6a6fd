"""Questions that run in one go on the reader's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from aurora_memory.store import Store


async def test_who_is_cancelled_while_memory_answers_is_cancelled_and_the_reader_goes_on(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    begun, end = threading.Event(), threading.Event()

    async def long() -> str | None:
        begun.set()
        end.wait(30)
        return await store.read.fact("root")

    try:
        task = asyncio.create_task(store.read.at_once(long()))
        waiting = asyncio.create_task(store.read.at_once(long()))
        await asyncio.to_thread(begun.wait, 10)
        for each in (task, waiting):
            each.cancel()
            with pytest.raises(asyncio.CancelledError):
                await each
        end.set()
        assert await store.read.at_once(store.read.fact("root")) is None
    finally:
        end.set()
        await store.close()


class Pause:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def waiting() -> None:
    await Pause()


async def test_what_waits_for_others_is_refused(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    try:
        with pytest.raises(RuntimeError, match="only what memory answers"):
            await store.read.at_once(waiting())
    finally:
        await store.close()
