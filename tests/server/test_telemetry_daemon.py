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
from tests.server.daemons import Daemon
from tests.server.deliverables import aurora
from tests.server.test_detection import git
from tests.wait_limits import HANG

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
        assert there.received.requests == 0, "nor while it ended, which is when what is left is sent"


def test_the_console_exporter_speaks_on_standard_error(tmp_path: Path, root: Path) -> None:
    with Daemon(tmp_path / "h", OTEL_TRACES_EXPORTER="console") as daemon:
        deliver(daemon, root, "add-cart")
        assert daemon.process.stderr is not None
        said = b""
        while b'"aura.deliverable"' not in said:
            line = daemon.process.stderr.readline()
            assert line, said
            said += line


def test_each_signal_once_over_restarts_and_doctor_tells_of_it(tmp_path: Path, root: Path) -> None:
    git(root.parent, "init", "-q", "-b", "feature/cart", str(root))
    git(root, "remote", "add", "origin", "https://ann:secret@github.com/acme/shop.git")
    home = tmp_path / "h"
    with HttpCollector() as there:
        said = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "2"}
        there.of = {"traces": 400}
        for n in range(3):
            with Daemon(home, **said) as daemon:
                if not n:
                    deliver(daemon, root, "add-cart")
                with daemon.client(root) as client:
                    client.request("aurora/metrics", {}, timeout=HANG)
                assert within(HANG, lambda n=n: [each for each, _ in there.asked].count("traces") > n)
                assert within(HANG, lambda: there.received.metrics)
                doctor = aurora(home, root, "doctor").stdout
                assert f"traces go to {there.endpoint} (OTLP, http/protobuf); taken last: never yet" in doctor
                assert "HTTP 400" in doctor and "1 deliverable waits to be taken" in doctor
                assert "metrics go to" in doctor and "secret" not in doctor
        counts = [each for each in there.received.told if each.name == "aura.deliverables.count"]
        assert {sum(point.as_int for point in each.sum.data_points) for each in counts} == {1}
        there.of = {}
        with Daemon(home, **said) as daemon:
            with daemon.client(root) as client:
                client.request("aurora/metrics", {}, timeout=HANG)
            assert within(HANG, lambda: there.received.named("aura.deliverable"))
            assert within(HANG, lambda: "waits to be taken" not in aurora(home, root, "doctor").stdout)
        (span,) = there.received.named("aura.deliverable")
        about = attributes(span.attributes)
        assert (about["vcs.repository.name"], about["vcs.repository.url.full"]) == (
            "shop",
            "https://github.com/acme/shop",
        )
        assert "vcs.ref.head.name" not in about, "it ended months ago: nobody knows the branch"
        with Daemon(home, **said) as daemon, daemon.client(root) as client:
            for action in ("start", "complete"):
                client.request("aurora/deliverable", {"action": action, "change_id": "add-more"}, timeout=HANG)
            assert within(HANG, lambda: len(there.received.named("aura.deliverable")) == 2)
        about = attributes(there.received.named("aura.deliverable")[1].attributes)
        assert about["vcs.ref.head.name"] == "feature/cart"


def test_a_document_is_told_with_the_times_it_had(tmp_path: Path, root: Path) -> None:
    document = {
        "schema_version": "0.1.0", "change_id": "add-dark-mode", "status": "completed",
        "started_at": "2026-02-26T10:00:00Z", "completed_at": "2026-02-26T10:45:00Z",
        "metrics": {
            "resolution_latency_seconds": 2700, "phase_durations": {"propose": 300, "apply": 1800, "verify": 300},
            "tool_calls": {"Edit": 24, "total": 24}, "apply_iterations": 2, "recovery_attempts": 1,
            "token_usage": {"input_tokens": 12000, "output_tokens": 8500}, "deliverable_failed": False,
        },
    }  # fmt: skip
    with HttpCollector() as there, Daemon(tmp_path / "h", OTEL_EXPORTER_OTLP_ENDPOINT=there.endpoint) as daemon:
        with daemon.client(root) as client:
            client.request("aurora/deliverable", {"action": "ingest", "document": document}, timeout=HANG)
        assert within(HANG, lambda: there.received.metrics)
        (span,) = there.received.named("aura.deliverable")
        begun, over = 1_772_100_000, 1_772_102_700
        assert (span.start_time_unix_nano, span.end_time_unix_nano) == (begun * 10**9, over * 10**9)
        assert {each.name for each in there.received.spans} >= {"aura.deliverable.execute", "aura.tool.call"}
        assert all(begun * 10**9 <= each.start_time_unix_nano <= each.end_time_unix_nano <= over * 10**9
                   for each in there.received.spans)  # fmt: skip
        latency = there.received.metrics["aura.resolution_latency"].histogram.data_points[0]
        assert latency.sum == 2700
