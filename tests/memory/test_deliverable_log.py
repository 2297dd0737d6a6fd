"""Log of deliverables: of the times that one event is told with the earliest counts, and nothing is ever changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.store import LoggedEvent, Store, deliverable_log
from tests.memory.stores import new_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


def event(id_: str, at: float, change: str = "one") -> LoggedEvent:
    return LoggedEvent(id_, change, at, at + 100.0, "cli", "{}")


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        pytest.param([[5.0]], [5.0], id="what is new"),
        pytest.param([[5.0], [5.0]], [5.0], id="what is told again is known"),
        pytest.param([[5.0], [9.0]], [5.0], id="also with a later time"),
        pytest.param([[5.0], [2.0]], [5.0, 2.0], id="an earlier time is kept beside it"),
        pytest.param([[5.0], [2.0], [2.0]], [5.0, 2.0], id="once"),
        pytest.param([[5.0, 2.0, 9.0]], [2.0], id="of several at once the earliest"),
    ],
)
async def test_which_times_of_an_event_are_kept(store: Store, times: list[list[float]], kept: list[float]) -> None:
    for told in times:
        await store.log_deliverable_events([event("a", at) for at in told])
    found = await store.read(deliverable_log.events_of, "one")
    assert [each.at for each in found] == kept
    assert [each.number for each in found] == list(range(1, len(kept) + 1))


async def test_numbers_are_of_those_that_were_not_known(store: Store) -> None:
    assert await store.log_deliverable_events([event("a", 1), event("b", 1)]) == {"a": 1, "b": 2}
    assert await store.log_deliverable_events([event("b", 2), event("c", 0, "two")]) == {"c": 3}
    assert [each.id for each in await store.read(deliverable_log.events_since, 1)] == ["b", "c"]
    assert [each.id for each in await store.read(deliverable_log.events_since, 0, 1)] == ["a"]
    assert await store.read(deliverable_log.change_ids) == ["one", "two"]


async def test_a_change_is_sent_once_and_those_that_ended_first_in_front(store: Store) -> None:
    for change, ended in (("late", 9.0), ("early", 2.0)):
        assert await store.outbox.put(change, ended)
    assert await store.outbox.waiting() == ["early", "late"]
    await store.outbox.sent("early", 10.0)
    assert not await store.outbox.put("early", 3.0) and await store.outbox.put("late", 11.0)
    assert await store.outbox.waiting() == ["late"]
