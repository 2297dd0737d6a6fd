"""Ended deliverables on their way from a workspace to a collector: each once, whatever happens between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.events import Conformed, Event, PhaseEnded
from aurora_deliverables.telemetry.sender import Sender
from aurora_memory.store import Store
from aurora_server.configuration import settings
from aurora_server.configuration.settings import TelemetrySettings
from aurora_server.workspace.telemetry import TelemetryFollower, sender_of
from tests.orchestration.changes import EVENTS, START
from tests.orchestration.collectors import HttpCollector, attributes
from tests.wait_limits import HANG


async def comes_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG):
        while not condition():
            await asyncio.sleep(0.01)


def of(change: str) -> list[Event]:
    """All events of a deliverable of another name."""
    return [msgspec.structs.replace(each, id=f"{change}-{each.id}", change_id=change) for each in EVENTS]


def sent(collector: HttpCollector) -> list[str]:
    """Deliverables in the order in which the collector got them."""
    spans = collector.received.named("aura.deliverable")
    return [str(attributes(span.attributes)["aura.deliverable.id"]) for span in spans]


class Run:
    """As much of a daemon as telemetry needs: a memory file, its deliverables, a sender and a follower."""

    def __init__(self, store: Store, sender: Sender, grace: float) -> None:
        self.store, self.sender = store, sender
        self.deliverables = Deliverables(store, time.time)
        self._follower = TelemetryFollower("/w", self.deliverables, store.outbox, sender, grace=grace)

    @classmethod
    async def begin(cls, path: Path, endpoint: str, grace: float = 10.0) -> Run:
        sender = sender_of(TelemetrySettings(endpoint=endpoint), {"AURORA_HOME": str(path.parent / "home")})
        assert sender is not None
        return cls(await Store.open(path), sender, grace)

    async def end(self) -> None:
        await asyncio.to_thread(self.sender.close)
        await self._follower.close()
        await self.store.close()


async def test_an_ended_deliverable_is_sent_once_whatever_is_said_later(tmp_path: Path) -> None:
    with HttpCollector() as collector:
        run = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await run.deliverables.record(EVENTS[:-1])
        await run.deliverables.record(of("first"))
        await comes_true(lambda: sent(collector) == ["first"])  # the other one has not ended
        await run.deliverables.record(EVENTS[-1:])
        await comes_true(lambda: sent(collector) == ["first", "add-dark-mode"])
        await run.deliverables.record(EVENTS[-1:])
        await run.end()
        assert sent(collector) == ["first", "add-dark-mode"]

        again = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await again.deliverables.record(EVENTS[-1:])
        await again.deliverables.record(of("last"))
        await comes_true(lambda: "last" in sent(collector))
        await again.end()
        assert sent(collector) == ["first", "add-dark-mode", "last"], "nor after a restart"


async def test_an_archived_one_waits_for_what_is_still_said_of_it(tmp_path: Path) -> None:
    archived = Event("over", "add-dark-mode", START + 1450, PhaseEnded("archive"))
    scored = Event("scores", "add-dark-mode", START + 1460, Conformed(correctness=0.5))
    with HttpCollector() as collector:
        run = await Run.begin(tmp_path / "m.db", collector.endpoint, grace=0.3)
        await run.deliverables.record([*EVENTS[:-1], archived])
        await run.deliverables.record([scored])
        await comes_true(lambda: bool(collector.received.metrics))
        await run.end()
        (root,) = collector.received.named("aura.deliverable")
        assert attributes(root.attributes)["aura.conformance.correctness"] == 0.5


async def test_what_was_archived_waits_for_its_end_and_holds_up_no_other(tmp_path: Path) -> None:
    archived = Event("over", "add-dark-mode", START + 1450, PhaseEnded("archive"))
    with HttpCollector() as collector:
        run = await Run.begin(tmp_path / "m.db", collector.endpoint, grace=10 * HANG)
        await run.deliverables.record([*EVENTS[:-1], archived])
        await run.deliverables.record(of("first"))
        await comes_true(lambda: bool(sent(collector)))
        assert sent(collector) == ["first"]
        await run.deliverables.record(EVENTS[-1:])
        await comes_true(lambda: sent(collector) == ["first", "add-dark-mode"])
        await run.end()


async def test_what_no_collector_took_is_sent_after_a_restart(tmp_path: Path) -> None:
    with HttpCollector() as collector:
        collector.status = 400
        run = await Run.begin(tmp_path / "m.db", collector.endpoint)
        await run.deliverables.record(EVENTS)
        await comes_true(lambda: run.sender.failures == 1)
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
    assert settings.load(environ).telemetry.headers == {"x": "1"}
