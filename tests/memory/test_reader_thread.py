"""Functions that run in one go on the reader's thread."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from aurora_memory import StoreError
from aurora_memory.store import file_reader
from aurora_memory.store.reader import Reader
from tests.memory.stores import new_store
from tests.wait_limits import HANG


async def test_a_function_runs_off_the_event_loop_and_always_on_one_thread(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        idents = [await store.read(lambda reader: threading.get_ident()) for _ in range(3)]
        assert len(set(idents)) == 1 and idents[0] != threading.get_ident()
    finally:
        await store.close()


async def test_who_is_cancelled_while_memory_answers_is_cancelled_and_the_reader_goes_on(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    begun, end = threading.Event(), threading.Event()
    answered: list[str] = []

    def long(reader: Reader, name: str) -> str | None:
        begun.set()
        end.wait(HANG)
        answered.append(name)
        return file_reader.fact(reader, "root")

    try:
        task = asyncio.create_task(store.read(long, "begun"))
        waiting = asyncio.create_task(store.read(long, "waiting"))
        await asyncio.to_thread(begun.wait, HANG)
        for each in (task, waiting):
            each.cancel()
            with pytest.raises(asyncio.CancelledError):
                await each
        end.set()
        assert await store.read(file_reader.fact, "root") is None
        assert answered == ["begun"], "what nobody waits for any more is not begun"
    finally:
        end.set()
        await store.close()


async def test_what_a_function_raises_is_raised(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        with pytest.raises(StoreError, match="no such table"):
            await store.read(lambda reader: reader.rows("SELECT * FROM absent"))
    finally:
        await store.close()


async def test_who_asks_after_the_end_is_refused(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed meanwhile"):
        await store.read(file_reader.fact, "root")


async def test_who_asks_while_the_file_is_exchanged_waits_for_the_new_one(tmp_path: Path) -> None:
    store = await new_store(tmp_path / "memory.db")
    try:
        await store.remember("root", "here")
        writes = store.read.writes
        await store.read.leave()
        asked = asyncio.create_task(store.read(file_reader.fact, "root"))
        await asyncio.sleep(0)
        assert not asked.done()
        await store.read.open()
        assert await asked == "here"
        assert store.read.writes > writes, "nothing that was known of the old file counts"
    finally:
        await store.close()
