"""Spans and metrics, read back from real collectors on loopback."""

from __future__ import annotations

import importlib
import random
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.telemetry.export_settings import Wish, choose
from aurora_deliverables.telemetry.sender import CLOSE_WITHIN, Leaving, Sender
from aurora_deliverables.telemetry.span_tree import tree_of
from tests.orchestration.changes import ACCEPTED, EVENTS, FAILED, START
from tests.orchestration.collectors import (
    GrpcCollector,
    HttpCollector,
    Received,
    SilentCollector,
    attributes,
    closed_endpoint,
    within,
)
from tests.wait_limits import HANG

Export = Callable[..., Sender]

OF_THE_LIBRARY = "600"
"""Seconds for which the library would wait for a collector, where somebody let it."""

DELAYED = 120.0
"""Seconds that only who waited with the library takes, however busy the machine is."""


@pytest.fixture(autouse=True, scope="module")
def retries_leave_random_alone() -> None:
    """Exporters that find nobody retry in threads of their own, for longer than these tests take.

    Their back-off draws from the global generator, which Hypothesis does not want anybody to touch meanwhile; so they
    get one of their own, for good.
    """
    for name in ("opentelemetry.exporter.otlp.common.http", "opentelemetry.exporter.otlp.proto.grpc.exporter"):
        importlib.import_module(name).random = random.Random(1)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sender() -> Iterator[Export]:
    made: list[Sender] = []

    def make(**wish: object) -> Sender:
        made.append(Sender(choose({}, Wish(**wish)), "1.2.3"))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.close()


def leave(sender: Sender, *ended: Deliverable) -> list[str]:
    """Send them; returns the list of those that were delivered, which grows."""
    sent: list[str] = []
    for each in ended:
        events = EVENTS if each is ACCEPTED else []
        sender.send(Leaving("/w", each, events, lambda each=each: sent.append(each.change_id)))  # type: ignore[misc]
    return sent


def test_the_tree_arrives_with_parents_times_and_attributes(sender: Export) -> None:
    with HttpCollector() as collector:
        sent = leave(sender(endpoint=collector.endpoint, headers={"x-key": "secret"}), ACCEPTED)
        assert within(HANG, lambda: sent == ["add-dark-mode"])
        check(collector.received)
        assert collector.received.headers[0]["x-key"] == "secret"


def test_and_so_it_does_over_grpc(sender: Export) -> None:
    with GrpcCollector() as collector:
        wish = {"endpoint": collector.endpoint, "protocol": "grpc", "headers": {"x-key": "secret"}}
        sent = leave(sender(**wish), ACCEPTED)
        assert within(HANG, lambda: sent == ["add-dark-mode"])
        check(collector.received)
        assert collector.received.headers[0]["x-key"] == "secret"


def check(received: Received) -> None:
    """Everything of the made change is there: each span by its path, its times and its attributes."""
    expected = sorted(
        (each.name, round(each.started_at * 1e6), round(each.ended_at * 1e6), dict(each.attributes))
        for each in tree_of(ACCEPTED, EVENTS).walk()
    )
    found = sorted(
        (each.name, each.start_time_unix_nano // 1000, each.end_time_unix_nano // 1000, attributes(each.attributes))
        for each in received.spans
    )
    assert [each[:3] for each in found] == [each[:3] for each in expected]
    assert sorted(map(str, found)) == sorted(map(str, expected))
    assert len({span.trace_id for span in received.spans}) == 1
    root = received.named("aura.deliverable")[0]
    assert not root.parent_span_id
    assert attributes(root.attributes) == {
        "aura.deliverable.id": "add-dark-mode",
        "aura.deliverable.type": "feature",
        "aura.deliverable.status": "completed",
        "aura.deliverable.complexity": "moderate",
        "aura.spec.framework": "openspec",
        "aura.spec.id": "changes/add-dark-mode",
        "aura.spec.requirements_count": 8,
        "aura.agent.name": "claude-code",
        "aura.agent.model": "claude-sonnet-4-20250514",
        "aura.agent.framework": "claude-code",
        "aura.recovery.total": 1,
        "aura.conformance.functional": 1.0,
        "aura.conformance.correctness": 0.95,
        "aura.conformance.constraints": 1.0,
        "aura.conformance.iteration_penalty": 0.85,
        "aura.conformance.overall": 0.97,
    }
    chat = received.named("gen_ai.chat")[0]
    assert received.path(chat) == ["aura.deliverable", "aura.deliverable.execute", "aura.task", "gen_ai.chat"]
    assert chat.kind == Span.SPAN_KIND_CLIENT
    assert (chat.start_time_unix_nano, chat.end_time_unix_nano) == (
        round((START + 484.5) * 1e9),
        round((START + 500) * 1e9),
    )
    assert attributes(chat.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-4-20250514",
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 300,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.conversation.id": "session-1",
        "aura.usage.cost_usd": 0.02,
    }
    recovery = received.named("aura.recovery.attempt")[0]
    assert received.path(recovery) == ["aura.deliverable", "aura.deliverable.execute", "aura.recovery.attempt"]
    assert attributes(recovery.attributes)["aura.failure.type"] == "regression"
    scores = received.named("aura.conformance.correctness")[0]
    assert received.path(scores)[1] == "aura.deliverable.validate"
    broken = [each for each in received.named("aura.tool.call") if each.status.code == Status.STATUS_CODE_ERROR]
    assert [attributes(each.attributes)["aura.tool.name"] for each in broken] == ["bash"]
    assert [event.name for event in received.named("aura.deliverable.plan")[0].events] == ["aura.phase.started"] * 4
    assert received.resources[0]["service.name"] == "aurora"
    assert received.resources[0]["service.version"] == "1.2.3"


def test_the_instruments_have_their_units_labels_and_values(sender: Export) -> None:
    with HttpCollector() as collector:
        sent = leave(sender(endpoint=collector.endpoint), ACCEPTED, FAILED, ACCEPTED)
        assert within(HANG, lambda: len(sent) == 3)
        metrics = collector.received.metrics
    assert {name: metric.unit for name, metric in metrics.items()} == {
        "aura.deliverables.count": "{deliverable}",
        "aura.deliverables.accepted": "{deliverable}",
        "aura.deliverables.failed": "{deliverable}",
        "aura.resolution_latency": "s",
        "aura.conformance.score": "1",
        "aura.recovery.attempts": "{attempt}",
        "aura.tool_calls.count": "{call}",
    }
    counted = {
        attributes(point.attributes)["aura.deliverable.type"]: point.as_int or point.as_double
        for point in metrics["aura.deliverables.count"].sum.data_points
    }
    assert counted == {"feature": 1, "refactoring": 1}, "the same deliverable twice counts once"
    assert metrics["aura.deliverables.count"].sum.is_monotonic
    failed = metrics["aura.deliverables.failed"].sum.data_points[0]
    assert attributes(failed.attributes) == {
        "aura.deliverable.type": "refactoring",
        "aura.agent.name": "claude-code",
        "aura.failure.type": "infinite_loop",
    }
    latency = metrics["aura.resolution_latency"].histogram.data_points[0]
    assert (latency.count, latency.sum) == (1, 1500.0)
    assert {3600.0, 14400.0, 86400.0} <= set(latency.explicit_bounds), "tier borders are bucket borders"
    scores = metrics["aura.conformance.score"].histogram.data_points
    assert sorted(point.sum for point in scores) == [0.35, 0.97]
    assert metrics["aura.tool_calls.count"].sum.data_points[0].as_int == 7


def test_sent_twice_it_is_the_same_trace(sender: Export) -> None:
    with HttpCollector() as collector:
        for _ in range(2):  # a restart
            sent = leave(sender(endpoint=collector.endpoint), ACCEPTED)
            assert within(HANG, lambda sent=sent: bool(sent))  # type: ignore[misc]
        spans = collector.received.spans
    assert len(spans) == 2 * len({span.span_id for span in spans})
    assert len({span.trace_id for span in spans}) == 1


def test_what_a_collector_refuses_is_tried_again_with_the_next(sender: Export) -> None:
    with HttpCollector() as collector:
        collector.status = 400
        export = sender(endpoint=collector.endpoint)
        sent = leave(export, FAILED)
        assert within(HANG, lambda: export.failures == 1)
        assert sent == []
        collector.status = 200
        later = leave(export, ACCEPTED)
        assert within(HANG, lambda: sent == ["migrate-etl"] and later == ["add-dark-mode"])


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_collector_that_never_answers_delays_nobody(
    sender: Export, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", OF_THE_LIBRARY)
    with SilentCollector() as collector:
        export = sender(endpoint=collector.endpoint, protocol=protocol)
        begun = time.monotonic()
        sent = leave(export, *[ACCEPTED] * 20)
        told = time.monotonic() - begun
        assert within(HANG, lambda: collector.connections > 0)
        begun = time.monotonic()
        assert export.close() is False
        assert time.monotonic() - begun < DELAYED
        assert told < DELAYED
        assert sent == []


def test_nor_does_one_that_is_not_there(sender: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", OF_THE_LIBRARY)
    export = sender(endpoint=closed_endpoint())
    leave(export, ACCEPTED)
    begun = time.monotonic()
    export.close()
    assert time.monotonic() - begun < DELAYED


def test_the_end_waits_half_a_second_for_what_is_left() -> None:
    assert CLOSE_WITHIN == 0.5
    waited: list[float | None] = []

    class Never(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            return False

    with SilentCollector() as collector:
        export = Sender(choose({}, Wish(endpoint=collector.endpoint)), "1.2.3")
        leave(export, ACCEPTED)
        export._drained = Never()
        assert export.close() is False
    assert waited == [CLOSE_WITHIN]


def test_prometheus_can_fetch_them(sender: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
    said = {
        "OTEL_METRICS_EXPORTER": "prometheus",
        "OTEL_EXPORTER_PROMETHEUS_HOST": "127.0.0.1",
        "OTEL_EXPORTER_PROMETHEUS_PORT": str(port),
    }
    export = Sender(choose(said, Wish()), "1.2.3")
    try:
        sent = leave(export, ACCEPTED, FAILED)
        assert within(HANG, lambda: len(sent) == 2)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG) as answer:
            families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    finally:
        export.close()
    counted = families["aura_deliverables_count"].samples
    assert {sample.labels["aura_deliverable_type"]: sample.value for sample in counted} == {
        "feature": 1.0,
        "refactoring": 1.0,
    }
    latency = families["aura_resolution_latency_seconds"]
    assert latency.type == "histogram"
    assert [sample.value for sample in latency.samples if sample.name.endswith("_sum")] == [1500.0]


def test_a_taken_port_turns_it_off_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = {
            "OTEL_METRICS_EXPORTER": "prometheus",
            "OTEL_EXPORTER_PROMETHEUS_HOST": "127.0.0.1",
            "OTEL_EXPORTER_PROMETHEUS_PORT": str(taken.getsockname()[1]),
        }
        export = Sender(choose(said, Wish()), "1")
        assert within(HANG, lambda: "telemetry is off" in caplog.text)
        assert export.close() is True
