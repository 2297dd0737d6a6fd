"""Ended deliverables on their way from a workspace to a collector: each once, whatever happens between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from aurora_memory.store import Store
from aurora_orchestration.deliverables.model import Deliverable, Event
from aurora_orchestration.deliverables.tracking import Recorded
from aurora_server import settings
from aurora_server.settings import TelemetrySettings
from aurora_server.telemetry import Follower, sender_of
from tests.orchestration.changes import ACCEPTED, EVENTS
from tests.orchestration.collectors import HttpCollector


class Told:
    """Deliverables that are what the test says they are."""

    def __init__(self) -> None:
        self.state = ACCEPTED
        self.hears: list[Callable[[Sequence[Event], Sequence[Deliverable]], None]] = []

    async def record(self, events: Sequence[Event]) -> Recorded:
        for hear in self.hears:
            hear(events, [self.state])
        return Recorded(len(events))

    async def get(self, change_id: str) -> Deliverable | None:
        return self.state if change_id == self.state.change_id else None

    async def all(self) -> Sequence[Deliverable]:
        return [self.state]

    async def events(self, change_id: str) -> Sequence[Event]:
        return EVENTS

    def listen(self, hear: Callable[[Sequence[Event], Sequence[Deliverable]], None]) -> Callable[[], None]:
        self.hears.append(hear)
        return lambda: self.hears.remove(hear)


async def comes_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


class Run:
    """A daemon's worth of telemetry: a store, a sender and a follower."""

    def __init__(self, store: Store, follower: Follower, sender: object, told: Told) -> None:
        self.store, self.follower, self.sender, self.told = store, follower, sender, told

    @classmethod
    async def begin(cls, path: Path, endpoint: str) -> Run:
        store, told = await Store.open(path), Told()
        sender = sender_of(TelemetrySettings(endpoint=endpoint), {})
        assert sender is not None
        return cls(store, Follower("/w", told, store.outbox, sender), sender, told)

    async def end(self) -> None:
        await asyncio.to_thread(self.sender.close)  # type: ignore[attr-defined]
        await self.follower.close()
        await self.store.close()


async def test_an_ended_deliverable_is_sent_once_whatever_is_said_later(tmp_path: Path) -> None:
    with HttpCollector() as collector:
        run = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await run.told.record(EVENTS[:-1])
        await asyncio.sleep(0.05)
        assert await run.store.outbox.waiting() == [], "it has not ended"
        await run.told.record(EVENTS[-1:])
        await comes_true(lambda: bool(collector.received.metrics))
        await run.told.record(EVENTS[-1:])
        await run.end()
        assert len(collector.received.named("aura.deliverable")) == 1

        again = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await again.told.record(EVENTS[-1:])
        await asyncio.sleep(0.2)
        assert await again.store.outbox.waiting() == []
        await again.end()
        assert len(collector.received.named("aura.deliverable")) == 1, "nor after a restart"


async def test_what_no_collector_took_is_sent_after_a_restart(tmp_path: Path) -> None:
    with HttpCollector() as collector:
        collector.status = 400
        run = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await run.told.record(EVENTS[-1:])
        await comes_true(lambda: run.sender.failures == 1)  # type: ignore[attr-defined]
        await run.end()
        collector.status = 200
        again = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await comes_true(lambda: bool(collector.received.metrics))
        await again.end()
        assert len(collector.received.named("aura.deliverable")) == 1
        third = await Store.open(tmp_path / "m.db")
        assert await third.outbox.waiting() == []
        await third.close()


def test_nothing_is_followed_where_nothing_is_configured(caplog: pytest.LogCaptureFixture) -> None:
    assert sender_of(TelemetrySettings(), {}) is None
    assert sender_of(TelemetrySettings(traces="jaeger", metrics="none"), {}) is None
    assert "jaeger" in str([vars(record) for record in caplog.records])


def test_settings_of_telemetry_are_read_from_the_users_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"telemetry": {"endpoint": "http://c:1", "headers": {"a": "b"}}}')
    environ = {"AURORA_HOME": str(tmp_path), "AURORA_TELEMETRY_PROTOCOL": "grpc"}
    assert settings.load(environ).telemetry == TelemetrySettings(
        protocol="grpc", endpoint="http://c:1", headers={"a": "b"}
    )
    environ["AURORA_TELEMETRY_HEADERS"] = "x=1"
    assert settings.load(environ).telemetry.headers == "x=1"
