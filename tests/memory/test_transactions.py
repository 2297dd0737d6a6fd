"""Transactions of the one writer: whoever gives up in the middle of one leaves none open, and none unheard."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from aurora_memory import StoreError
from aurora_memory.store import Store, chunk_reader, row_sums, salvage
from aurora_memory.store.connection import pragma_int
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON
from tests.memory.stores import filled_store
from tests.memory.test_export import learned
from tests.shares import long
from tests.wait_limits import HANG

NORMAL, FULL = 1, 2
"""What SQLite calls `PRAGMA synchronous`."""

FILES = (file("shop.py", chunk("shop.py", "total", "sum the prices of the lines")),)


async def fill(store: Store) -> None:
    await store.write(FILES, first_time=True)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def held(store: Store) -> threading.Event:
    """Hold the writer's thread, until the event is set."""
    entered, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        assert go_on.wait(HANG)

    holding = asyncio.create_task(store._writer._execute(wait))
    assert await asyncio.to_thread(entered.wait, HANG) and not holding.done()
    return go_on


@pytest.mark.parametrize("steps", [0, 1, 2, 4, *map(long, (3, 5, 6, 7))])
async def test_who_gives_up_while_a_transaction_begins_leaves_none_open(store: Store, steps: int) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    go_on = await held(store)
    asking = asyncio.create_task(store.record_accesses([total.id], "success", NOON))
    for _ in range(steps):
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking], timeout=0.01)  # it waits for the thread to take back what began
    go_on.set()
    await asyncio.wait([asking])
    assert asking.cancelled()
    await store.record_accesses([total.id], "success", NOON + 1)
    assert [row[3] for row in learned(store.path)["accesses"]] == [NOON + 1]


@pytest.mark.parametrize("steps", [*range(0, 40, 4), *(long(steps) for steps in range(40) if steps % 4)])
async def test_who_gives_up_anywhere_in_a_write_leaves_all_of_it_or_nothing(store: Store, steps: int) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    asking = asyncio.create_task(store.record_accesses([total.id] * 3, "success", NOON))
    for _ in range(steps):
        await asyncio.sleep(0.0001 * (steps % 3))
    asking.cancel()
    await asyncio.wait([asking])
    await store.record_accesses([total.id], "success", NOON + 1)
    times = [row[3] for row in learned(store.path)["accesses"]]
    assert times in ([NOON + 1], [NOON] * 3 + [NOON + 1])


async def test_what_was_committed_is_heard_of_although_nobody_waits_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    heard = asyncio.Event()
    store.on_learned(heard.set)
    execute = store._writer.execute
    ending: asyncio.Future[threading.Event] = asyncio.get_running_loop().create_future()

    async def slow(sql: str) -> object:
        if sql == "COMMIT":
            ending.set_result(await held(store))
        return await execute(sql)

    monkeypatch.setattr(store._writer, "execute", slow)
    asking = asyncio.create_task(store.record_accesses([total.id], "success", NOON))
    go_on = await ending
    asking.cancel()
    await asyncio.wait([asking], timeout=0.01)
    monkeypatch.undo()
    assert not heard.is_set()
    before = store.read._reader.writes
    go_on.set()
    async with asyncio.timeout(HANG):
        await heard.wait()
    assert store.read._reader.writes == before + 1
    assert [row[3] for row in learned(store.path)["accesses"]] == [NOON]


async def test_who_leaves_when_told_keeps_nobody_else_from_hearing(store: Store) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    heard: list[str] = []

    def once() -> None:
        heard.append("once")
        leave()

    leave = store.on_learned(once)
    store.on_learned(lambda: heard.append("each time"))
    for at in (NOON, NOON + 1):
        await store.record_accesses([total.id], "success", at)
    assert heard == ["once", "each time", "each time"]


@pytest.mark.parametrize(("durable", "given_up"), [(True, False), (True, True), (False, False)])
async def test_only_what_is_learned_is_waited_for_until_it_is_on_the_disk(
    store: Store, durable: bool, given_up: bool
) -> None:
    async def synchronous() -> int:
        return await pragma_int(store._writer, "synchronous")

    modes = [await synchronous()]
    with suppress(asyncio.CancelledError):
        async with store._transaction(durable=durable) as db:
            modes.append(await pragma_int(db, "synchronous"))
            if given_up:
                raise asyncio.CancelledError
    modes.append(await synchronous())
    assert modes == [NORMAL, FULL if durable else NORMAL, NORMAL]


async def test_a_commit_that_fails_leaves_no_transaction_open(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    execute = store._writer.execute

    async def refused(sql: str) -> object:
        if sql == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return await execute(sql)

    with monkeypatch.context() as patch:
        patch.setattr(store._writer, "execute", refused)
        with pytest.raises(StoreError, match="no space"):
            await store.record_accesses([total.id], "success", NOON)
    await store.record_accesses([total.id], "success", NOON + 1)
    assert [row[3] for row in learned(store.path)["accesses"]] == [NOON + 1]


async def test_a_file_that_is_written_back_is_written_back_to_its_end(store: Store) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    await store.record_accesses([total.id], "success", NOON)
    store.path.unlink()
    asking = asyncio.create_task(store.write_back())
    await asyncio.sleep(0.001)
    asking.cancel()
    await asyncio.wait([asking])
    await store.record_accesses([total.id], "success", NOON + 1)
    assert [row[3] for row in learned(store.path)["accesses"]] == [NOON, NOON + 1]


async def test_a_damaged_file_is_exchanged_to_its_end_although_nobody_waits_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (total,) = await store.read(chunk_reader.by_name, "shop.py", "total")
    await store.record_accesses([total.id], "success", NOON)
    entered, go_on = threading.Event(), threading.Event()
    exchange = salvage.exchange

    def held_exchange(path: Path, fresh: Path, now: float) -> Path | None:
        entered.set()
        assert go_on.wait(HANG)
        return exchange(path, fresh, now)

    monkeypatch.setattr(salvage, "exchange", held_exchange)
    asking = asyncio.create_task(store.salvage(NOON))
    assert await asyncio.to_thread(entered.wait, HANG)
    asking.cancel()
    await asyncio.wait([asking])
    writing = asyncio.create_task(store.record_accesses([total.id], "success", NOON + 1))
    await asyncio.wait([writing], timeout=0.01)  # its turn comes after the exchange
    go_on.set()
    await writing
    assert [row[3] for row in learned(store.path)["accesses"]] == [NOON, NOON + 1]


async def test_what_fails_while_sums_are_made_already_leaves_the_triggers_at_work(store: Store) -> None:
    with pytest.raises(StoreError):
        async with store._transaction() as db, row_sums.with_sums(db, [1]):
            await db.execute("INSERT INTO chunks (id) VALUES (1)")
    await store.write([file("other.py", chunk("other.py", "more", "what comes after"))])
    async with store._transaction() as db:
        await db.execute("UPDATE chunks SET ordinal = 7")
        await db.execute("INSERT INTO accesses (chunk_id, at, kind) SELECT id, 1, 'success' FROM chunks")
        assert await row_sums.changed_rows(db) == {}
