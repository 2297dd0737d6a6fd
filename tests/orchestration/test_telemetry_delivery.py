"""Delivery of telemetry by signal: what a collector took is not sent again, what was counted not counted again, over
restarts, refusals, half acceptances and answers that are none."""

from __future__ import annotations

import importlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric, NumberDataPoint

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.telemetry import sender as senders
from aurora_deliverables.telemetry.export_record import FILE, KEPT, ExportRecord
from aurora_deliverables.telemetry.export_settings import Wish, choose
from aurora_deliverables.telemetry.names import SCHEMA_URL
from aurora_deliverables.telemetry.repository import Repository, repository_of
from aurora_deliverables.telemetry.sender import Leaving, Sender, SignalStatus, interval_of
from tests.orchestration.changes import ACCEPTED, EVENTS, FAILED
from tests.orchestration.collectors import HttpCollector, attributes, closed_endpoint, within
from tests.wait_limits import HANG

Begin = Callable[..., Sender]
COUNT = "aura.deliverables.count"


@pytest.fixture(autouse=True, scope="module")
def retries_leave_random_alone() -> None:
    module = importlib.import_module("opentelemetry.exporter.otlp.common.http")
    module.random = random.Random(1)  # type: ignore[attr-defined]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Begin a sender, as a daemon does at its start; the record is the same for all."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    made: list[Sender] = []

    def start(endpoint: str, **environ: str) -> Sender:
        for each in made:
            each.close(HANG)
        made.append(Sender(choose(environ, Wish(endpoint=endpoint)), "1.2.3", tmp_path / FILE, environ))
        return made[-1]

    yield start
    for each in made:
        each.close(HANG)


def leave(sender: Sender, *ended: Deliverable, repository: Repository | None = None) -> list[str]:
    sent: list[str] = []
    for each in ended:
        events = EVENTS if each is ACCEPTED else []
        tell = lambda each=each: sent.append(each.change_id)  # noqa: E731
        sender.send(Leaving("/w", each, events, tell, repository or Repository()))
    return sent


def named(n: int) -> Deliverable:
    return replace(ACCEPTED, change_id=f"change-{n}")


def count(metric: Metric) -> tuple[int, int]:
    """A count over all labels, and when it began."""
    points: list[NumberDataPoint] = list(metric.sum.data_points)
    return sum(point.as_int for point in points), min(point.start_time_unix_nano for point in points)


def status(sender: Sender, signal: str) -> SignalStatus:
    return next(each for each in sender.status() if each.exporter.signal == signal)


def test_metrics_that_were_taken_are_not_counted_again_while_traces_are_refused(begin: Begin) -> None:
    with HttpCollector() as collector:
        collector.of = {"traces": 400}
        for _ in range(3):  # starts of the daemon
            export = begin(collector.endpoint)
            sent = leave(export, ACCEPTED)
            assert within(HANG, lambda export=export: export.failures == 1) and sent == []  # type: ignore[misc]
        told = [count(each) for each in collector.received.told if each.name == COUNT]
        assert told == [(1, told[0][1])], "once, and not at every start"
        collector.of = {}
        sent = leave(begin(collector.endpoint), ACCEPTED)
        assert within(HANG, lambda: sent == ["add-dark-mode"])
        assert len(collector.received.named("aura.deliverable")) == 1
        assert [each.name for each in collector.received.told].count(COUNT) == 1


def test_traces_that_were_taken_are_not_sent_again_while_metrics_are_refused(begin: Begin) -> None:
    with HttpCollector() as collector:
        collector.of = {"metrics": 400}
        for _ in range(3):
            export = begin(collector.endpoint)
            leave(export, ACCEPTED)
            assert within(HANG, lambda export=export: export.failures == 1)  # type: ignore[misc]
        collector.of = {}
        sent = leave(begin(collector.endpoint), ACCEPTED)
        assert within(HANG, lambda: sent == ["add-dark-mode"])
        assert len(collector.received.named("aura.deliverable")) == 1
        assert count(collector.received.metrics[COUNT])[0] == 1


def test_a_change_that_two_work_trees_know_is_told_once(begin: Begin) -> None:
    renamed = replace(ACCEPTED, names=("add-dark-theme",))
    elsewhere = replace(ACCEPTED, change_id="add-dark-theme")
    with HttpCollector() as collector:
        collector.of = {"traces": 400}
        export = begin(collector.endpoint)
        sent: list[str] = []
        known = {"/w": renamed, "/w-hotfix": renamed, "/clone": elsewhere}

        def leave_all() -> None:
            for place, each in known.items():
                export.send(Leaving(place, each, EVENTS, partial(sent.append, place), origin="4f8a366:."))

        leave_all()
        assert within(HANG, lambda: export.failures == 3) and sent == []
        collector.of = {}
        export = begin(collector.endpoint)
        leave_all()
        other = Leaving("/fork", renamed, EVENTS, lambda: sent.append("/fork"), origin="9d0c1e2:.")
        export.send(other)
        assert within(HANG, lambda: len(sent) == 4)
        assert len(collector.received.named("aura.deliverable")) == 2, "of the repository once, and of the other one"
        assert count(collector.received.metrics[COUNT])[0] == 2


def test_what_an_older_record_says_was_sent_is_not_sent_again(begin: Begin, tmp_path: Path) -> None:
    record = ExportRecord(tmp_path / FILE, 1.0)
    for what in ("counted", "traces", "metrics"):
        record.mark((f"/w\0{ACCEPTED.change_id}",), what)
    record.save()
    with HttpCollector() as collector:
        sent: list[str] = []
        sender = begin(collector.endpoint)
        sender.send(Leaving("/w", ACCEPTED, EVENTS, lambda: sent.append("/w"), origin="4f8a366:."))
        assert within(HANG, lambda: sent == ["/w"]) and collector.received.named("aura.deliverable") == []


def test_cumulative_values_go_on_after_a_restart_with_the_start_they_had(begin: Begin) -> None:
    with HttpCollector() as collector:
        for n in range(3):
            sent = leave(begin(collector.endpoint), named(n))
            assert within(HANG, lambda sent=sent: len(sent) == 1)  # type: ignore[misc]
        told = [count(each) for each in collector.received.told if each.name == COUNT]
        assert [value for value, _ in told] == [1, 2, 3]
        assert len({start for _, start in told}) == 1
        latency = collector.received.metrics["aura.resolution_latency"].histogram
        assert latency.aggregation_temporality == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
        (point,) = latency.data_points
        assert (point.count, point.sum, sum(point.bucket_counts)) == (3, 4500.0, 3)
        assert point.start_time_unix_nano == told[0][1] < point.time_unix_nano


def test_delta_tells_only_what_is_new_and_nothing_is_lost_to_a_refusal(begin: Begin) -> None:
    delta = {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"}
    with HttpCollector() as collector:
        sent = leave(begin(collector.endpoint, **delta), named(0))
        assert within(HANG, lambda: len(sent) == 1)
        collector.of = {"metrics": 400}
        export = begin(collector.endpoint, **delta)
        leave(export, named(1))
        assert within(HANG, lambda: export.failures == 1)
        collector.of = {}
        again = leave(begin(collector.endpoint, **delta), named(1), named(2))
        assert within(HANG, lambda: len(again) == 2)
        metrics = [each for each in collector.received.told if each.name == COUNT]
        told = [count(each) for each in metrics]
        assert {each.sum.aggregation_temporality for each in metrics} == {
            AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
        }
        assert sum(value for value, _ in told) == 3
        assert [start for _, start in told] == sorted({start for _, start in told}), "each begins where the last ended"


def test_a_part_that_is_rejected_is_told_of_and_not_sent_again(begin: Begin) -> None:
    traces, metrics = ExportTraceServiceResponse(), ExportMetricsServiceResponse()
    traces.partial_success.rejected_spans = 3
    traces.partial_success.error_message = "too long"
    metrics.partial_success.rejected_data_points = 2
    with HttpCollector() as collector:
        collector.headers = {"Content-Type": "application/x-protobuf"}
        collector.body = {"traces": traces.SerializeToString(), "metrics": metrics.SerializeToString()}
        export = begin(collector.endpoint)
        sent = leave(export, ACCEPTED)
        assert within(HANG, lambda: sent == ["add-dark-mode"])
        assert len(collector.received.named("aura.deliverable")) == 1
        assert (status(export, "traces").outcome.rejected, status(export, "metrics").outcome.rejected) == (3, 2)


def test_a_collector_that_asks_for_patience_has_it(begin: Begin) -> None:
    with HttpCollector() as collector:
        collector.of, collector.headers = {"metrics": 429}, {"Retry-After": "4"}
        export = begin(collector.endpoint)
        sent = leave(export, ACCEPTED)
        assert within(HANG, lambda: export.failures == 1)
        refused_at = max(at for signal, at in collector.asked if signal == "metrics")
        collector.of, collector.headers = {}, {}
        leave(export, FAILED)
        assert within(HANG, lambda: len(collector.received.named("aura.deliverable")) == 2), "traces go on meanwhile"
        assert within(HANG, lambda: sent == ["add-dark-mode"]), "and it is tried again though nobody asks"
        first = min(at for signal, at in collector.asked if signal == "metrics" and at > refused_at)
        assert first - refused_at > 3.5
        assert "429" in (status(export, "metrics").outcome.why or "")


@pytest.mark.parametrize(
    ("headers", "body", "code", "taken"),
    [
        ({"Content-Type": "text/html"}, b"<html>Log in</html>", 200, False),
        ({"Content-Type": "application/x-protobuf"}, b"\xff\xfe garbage \x00", 200, True),
        ({"Content-Type": "application/json"}, b"{}", 200, True),
        ({"Retry-After": "soon \x7f"}, b"\xff" * 4096, 503, False),
        ({"Location": "/login"}, b"", 302, False),
    ],
    ids=["login page", "garbage", "json", "garbage and refused", "redirect"],
)
def test_answers_that_are_none(begin: Begin, headers: dict[str, str], body: bytes, code: int, taken: bool) -> None:
    with HttpCollector() as collector:
        collector.headers, collector.status = headers, code
        collector.body = dict.fromkeys(("traces", "metrics"), body)
        export = begin(collector.endpoint)
        sent = leave(export, FAILED)
        assert within(HANG, lambda: bool(sent) or export.failures == 1)
        assert bool(sent) is taken
        assert (status(export, "traces").outcome.why is None) is taken


def test_a_collector_that_hangs_is_a_failure_that_is_told(begin: Begin) -> None:
    with HttpCollector() as collector:
        collector.hang = threading.Event()
        export = begin(collector.endpoint)
        sent = leave(export, FAILED)
        assert within(HANG, lambda: export.failures == 1) and not sent
        collector.hang.set()
    assert status(export, "traces").outcome.why == "no answer in time, or nobody there"
    assert status(export, "traces").outcome.last_success is None


def test_what_was_delivered_of_a_large_tree_is_not_sent_again(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
    with HttpCollector() as collector:
        requests: list[int] = []

        class Some(dict[str, int]):
            def get(self, key: str, default: int = 200) -> int:  # type: ignore[override]
                requests.append(1)
                return 400 if key == "traces" and len(requests) == 2 else 200

        collector.of = Some()
        export = begin(collector.endpoint)
        sent = leave(export, ACCEPTED)
        assert within(HANG, lambda: export.failures == 1)
        again = leave(export, named(1))
        assert within(HANG, lambda: sent == ["add-dark-mode"] and len(again) == 1)
        spans = [each.span_id for each in collector.received.spans]
        assert len(spans) == len(set(spans)), "each span once"
        assert len(collector.received.named("aura.deliverable")) == 2


def test_totals_are_told_again_from_time_to_time(begin: Begin) -> None:
    with HttpCollector() as collector:
        sent = leave(begin(collector.endpoint, OTEL_METRIC_EXPORT_INTERVAL="200"), ACCEPTED)
        assert within(HANG, lambda: [each.name for each in collector.received.told].count(COUNT) >= 3)
        assert sent == ["add-dark-mode"]
        assert {count(each)[0] for each in collector.received.told if each.name == COUNT} == {1}


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("200", 0.2), (" 90000 ", 90.0), ("0", 60.0), ("-5", 60.0), ("1.5", 60.0), ("soon", 60.0), ("9" * 12, 60.0)],
)
def test_an_interval_that_is_none_leaves_the_usual_minute(said: str, seconds: float) -> None:
    assert interval_of({"OTEL_METRIC_EXPORT_INTERVAL": said}) == seconds
    assert interval_of({}) == 60.0


def test_spans_say_their_repository_branch_and_conventions(begin: Begin) -> None:
    where = repository_of("https://ann:secret@github.com/acme/shop.git", "folder", "feature/search")
    with HttpCollector() as collector:
        sent = leave(begin(collector.endpoint), ACCEPTED, repository=where)
        assert within(HANG, lambda: bool(sent))
        root = attributes(collector.received.named("aura.deliverable")[0].attributes)
        assert {name: value for name, value in root.items() if name.startswith("vcs.")} == {
            "vcs.repository.name": "shop",
            "vcs.repository.url.full": "https://github.com/acme/shop",
            "vcs.owner.name": "acme",
            "vcs.provider.name": "github",
            "vcs.ref.head.name": "feature/search",
            "vcs.ref.head.type": "branch",
        }
        assert set(collector.received.scopes) == {("aurora.deliverables", SCHEMA_URL)}


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("git@gitlab.example.org:team/sub/shop.git", "https://gitlab.example.org/team/sub/shop"),
        ("ssh://git@host.example:2222/a/b", "https://host.example/a/b"),
        ("https://x-access-token:ghp_secret@github.com/a/b?x=secret", None),
        ("/srv/git/shop.git", None),
        ("C:\\repos\\shop", None),
        ("", None),
        (None, None),
    ],
)
def test_no_credentials_and_no_local_path_leave_with_a_remote(remote: str | None, url: str | None) -> None:
    found = repository_of(remote, "shop", None)
    assert found.url == url and found.name in ("shop", "b")
    assert "secret" not in repr(found) and "srv" not in repr(found)


def test_a_record_that_is_lost_damaged_or_newer_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "home" / FILE
    record = ExportRecord(path, 5.0)
    for n in range(KEPT + 10):
        record.mark((str(n),), "traces")
    record.outcome("traces", 7.0, None)
    record.save()
    assert path.stat().st_mode & 0o777 == 0o600
    again = ExportRecord(path, 9.0)
    assert again.done(["5"]) == () and again.done(["5", "15"]) == ("traces",)
    assert again.outcomes()["traces"].last_success == 7.0
    for content in (b"", b"{", b"[" * 100_000, b'{"version": 2, "done": {"a": ["traces"]}}', b'{"done": 3}'):
        path.write_bytes(content)
        assert ExportRecord(path, 1.0).done(["a"]) == ()


def test_nobody_there_is_told_by_signal(begin: Begin) -> None:
    assert senders.CLOSE_WITHIN == 0.5
    export = begin(closed_endpoint())
    leave(export, FAILED)
    assert within(HANG, lambda: export.failures == 1)
    for signal in ("traces", "metrics"):
        outcome = status(export, signal).outcome
        assert outcome.why and outcome.last_failure is not None and abs(outcome.last_failure - time.time()) < HANG


def test_an_exporter_that_breaks_ends_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("broken")

    made: Any = Sender.__new__(Sender)
    made._interval, made._told_at, made._now, made._not_before, made._record = 0.0, -1.0, time.time, {}, None
    providers: Any = SimpleNamespace(show=broken, send_totals=broken)
    made._count_values([], providers)
    made._tell_totals(providers)
    assert [each.getMessage() for each in caplog.records] == [
        "values could not be sent",
        "telemetry could not be told again",
    ]
