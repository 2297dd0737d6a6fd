"""Telemetry of a real daemon: what arrives at a collector, and that a broken one is not felt."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.collectors import (
    GrpcCollector,
    HttpCollector,
    SilentCollector,
    attributes,
    closed_endpoint,
    within,
)
from tests.patience import HANG
from tests.server.daemons import Daemon

CHANGE: list[dict[str, Any]] = [
    {"action": "start", "at": "2026-02-26T10:00:00Z", "type": "feature", "agent": "claude-code"},
    {"action": "phase", "phase": "apply", "at": "2026-02-26T10:05:00Z"},
    {"action": "tool-call", "tool": "bash", "count": 2, "at": "2026-02-26T10:06:00Z"},
    {"action": "phase", "phase": "archive", "at": "2026-02-26T10:30:00Z"},
    {"action": "complete", "at": "2026-02-26T10:31:00Z"},
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / ".git").mkdir(parents=True)
    return root


def deliver(daemon: Daemon, root: Path, change: str) -> float:
    """Tell of a change; the seconds that the slowest request took."""
    slowest = 0.0
    with daemon.client(root) as client:
        for event in CHANGE:
            begun = time.monotonic()
            client.request("aurora/deliverable", {**event, "change_id": change}, timeout=HANG)
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


@pytest.mark.parametrize(("collector", "protocol"), [(HttpCollector, "http/protobuf"), (GrpcCollector, "grpc")])
def test_a_change_told_to_the_daemon_arrives_at_the_collector(
    tmp_path: Path, root: Path, collector: type[HttpCollector], protocol: str
) -> None:
    with collector() as there:
        said = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        said["OTEL_RESOURCE_ATTRIBUTES"] = "team=blue,service.name=mine"
        with Daemon(tmp_path / "h", **said) as daemon:
            deliver(daemon, root, "add-cart")
            assert within(HANG, lambda: there.received.metrics)
        with Daemon(tmp_path / "h", **said) as daemon:
            deliver(daemon, root, "add-more")
            assert within(HANG, lambda: len(there.received.named("aura.deliverable")) == 2)
    roots = {attributes(span.attributes)["aura.deliverable.id"] for span in there.received.named("aura.deliverable")}
    assert roots == {"add-cart", "add-more"}, "each once, whatever was started again"
    call = there.received.named("aura.tool.call")[0]
    assert there.received.path(call) == ["aura.deliverable", "aura.deliverable.execute", "aura.task", "aura.tool.call"]
    assert call.end_time_unix_nano == 1_772_100_360 * 10**9, "historic, not when it was sent"
    assert there.received.resources[0].items() >= {"team": "blue", "service.name": "mine"}.items()


@pytest.mark.parametrize("broken", ["silent", "closed"])
def test_a_broken_collector_delays_no_command_and_no_stop(tmp_path: Path, root: Path, broken: str) -> None:
    with SilentCollector() as silent:
        endpoint = silent.endpoint if broken == "silent" else closed_endpoint()
        patient = {"OTEL_EXPORTER_OTLP_TIMEOUT": "600"}  # who waited for the collector would wait as long
        with Daemon(tmp_path / "h", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, **patient) as daemon:
            with daemon.client(root) as client:
                client.request("aurora/index", {}, timeout=HANG)
            slowest = max(deliver(daemon, root, f"change-{n}") for n in range(5))
            if broken == "silent":
                assert within(HANG, lambda: silent.connections > 0)
            begun = time.monotonic()
            daemon.process.terminate()
            assert daemon.process.wait(HANG) == 0, "it ended by itself"
            stopping = time.monotonic() - begun
        assert stopping < 120.0 and slowest < 120.0, (stopping, slowest)


def test_a_workspace_cannot_redirect_it(tmp_path: Path, root: Path) -> None:
    with HttpCollector() as there:
        (root / ".aurora").mkdir()
        (root / ".aurora" / "config.json").write_text(json.dumps({"telemetry": {"endpoint": there.endpoint}}))
        with Daemon(tmp_path / "h") as daemon:
            deliver(daemon, root, "add-cart")
            time.sleep(0.5)
        assert there.received.requests == 0


def test_the_console_exporter_speaks_on_standard_error(tmp_path: Path, root: Path) -> None:
    with Daemon(tmp_path / "h", OTEL_TRACES_EXPORTER="console") as daemon:
        deliver(daemon, root, "add-cart")
        assert daemon.process.stderr is not None
        said = b""
        while b'"aura.deliverable"' not in said:
            line = daemon.process.stderr.readline()
            assert line, said
            said += line
