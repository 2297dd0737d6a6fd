"""OpenTelemetry's providers (tracer, meter, batch span processor, exporters) for a choice. Importing this module
imports the SDK; whoever does is in a thread.

Spans are made by the SDK, with the times they had, and go out in batches. Metrics are handed to the SDK's exporters as
data: its instruments begin at 0 with the process, and cannot be told where they were.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry.metrics import Counter, Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    ConsoleMetricExporter,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricExportResult,
    MetricReader,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.metrics.export import Histogram as HistogramData
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from aurora_deliverables.telemetry.answers import Answers
from aurora_deliverables.telemetry.export_record import ExportRecord, InstrumentSeries, Totals
from aurora_deliverables.telemetry.export_settings import Choice, Exporter
from aurora_deliverables.telemetry.instruments import INSTRUMENTS, Instrument, Measurement
from aurora_deliverables.telemetry.names import SCHEMA_URL, SCOPE
from aurora_deliverables.telemetry.query_instruments import QUERY_INSTRUMENTS
from aurora_deliverables.telemetry.span_emitter import PlannedIds, emit
from aurora_deliverables.telemetry.spans import Span

_ALL = (*INSTRUMENTS, *QUERY_INSTRUMENTS)

QUEUE = 8192
"""Spans that wait to be sent; the largest tree fits."""

SERVICE = "aurora"
_NANOSECONDS = 1_000_000_000
_CREDENTIALS = "_CREDENTIAL_PROVIDER"
_UNKNOWN = "no answer in time, or nobody there"


class WatchedSpans(SpanExporter):
    """Span processor that passes spans on and keeps what could not be delivered: the batch processor drops it without a
    word.
    """

    def __init__(self, inner: SpanExporter, answers: Answers) -> None:
        self._inner = inner
        self.answers = answers
        self.undelivered: list[Sequence[ReadableSpan]] = []
        self.rejected = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export of a batch of spans; one that fails is kept as undelivered."""
        self.answers.begin()
        result = SpanExportResult.FAILURE
        try:
            result = self._inner.export(spans)
        finally:
            if self.answers.why is not None:  # the exporter knows the status only
                result = SpanExportResult.FAILURE
            if result is not SpanExportResult.SUCCESS:
                self.undelivered.append(spans)
            self.rejected += self.answers.rejected
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._inner.force_flush(timeout_millis)


class MetricOut:
    """Metric exporter, one way out for metrics: its exporter, and what it is to be told, since when."""

    def __init__(self, exporter: Exporter, number: int) -> None:
        self.answers = Answers("metrics")
        self.exporter = _metric_exporter(exporter, self.answers)
        self.is_delta = exporter.delta
        self.stream = f"{number} {exporter.name} {'delta' if exporter.delta else 'cumulative'}"


class ExportAttempt:
    """Attempt to export, and how it went: `why` it failed, None where it did not, and what a collector
    rejected of it.
    """

    def __init__(self, why: str | None = None, rejected: int = 0, not_before: float = 0.0) -> None:
        self.why = why
        self.rejected = rejected
        self.not_before = not_before


class Providers:
    """Providers of OpenTelemetry: the tracer and the ways out. Raises OSError where Prometheus' port is taken,
    ImportError without an extra.
    """

    def __init__(self, choice: Choice, version: str, environ: Mapping[str, str] = os.environ) -> None:
        name = {} if environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: SERVICE}
        resource = Resource.create({**name, SERVICE_VERSION: version})
        if "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "") and not environ.get("OTEL_SERVICE_NAME"):
            resource = Resource.create({SERVICE_VERSION: version})
        self.ids = PlannedIds()
        self._resource = resource
        self._scope = InstrumentationScope(SCOPE, version, SCHEMA_URL)
        self._close: list[Callable[[], object]] = []
        self._spans: TracerProvider | None = None
        self._watched: list[WatchedSpans] = []
        self._left: dict[str, list[tuple[WatchedSpans, Sequence[ReadableSpan]]]] = {}
        self.outs: list[MetricOut] = []
        self._meters: MeterProvider | None = None
        try:
            readers = self._readers(choice, resource)
        except BaseException:
            self.shutdown()  # what was begun before has threads
            raise
        self._tracer = self._spans.get_tracer(SCOPE, version, SCHEMA_URL) if self._spans is not None else None
        self._instruments: dict[str, Counter | Histogram] = {}
        if readers:
            self._meters = MeterProvider(readers, resource, shutdown_on_exit=False)
            meter = self._meters.get_meter(SCOPE, version, SCHEMA_URL)
            for each in _ALL:
                if each.kind == "counter":
                    self._instruments[each.name] = meter.create_counter(each.name, each.unit, each.description)
                else:
                    self._instruments[each.name] = meter.create_histogram(
                        each.name,
                        each.unit,
                        each.description,
                        explicit_bucket_boundaries_advisory=each.boundaries,
                    )

    def _readers(self, choice: Choice, resource: Resource) -> list[MetricReader]:
        """Set up the ways out; returns what others read the instruments by."""
        fetched: list[MetricReader] = []
        for exporter in choice.exporters:
            if exporter.signal == "traces":
                if self._spans is None:
                    self._spans = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=self.ids)
                answers = Answers("traces")
                watched = WatchedSpans(_span_exporter(exporter, answers), answers)
                self._watched.append(watched)
                self._spans.add_span_processor(BatchSpanProcessor(watched, max_queue_size=QUEUE))
            elif exporter.name == "prometheus":
                fetched.append(self._prometheus(exporter))
            else:
                self.outs.append(MetricOut(exporter, len(self.outs)))
        return fetched

    def send_tree(self, key: str, tree: Callable[[], Span], workspace: str, change_id: str) -> ExportAttempt:
        """Send a deliverable's tree; of one that was tried before only what was not delivered. Blocks."""
        left = self._left.pop(key, None)
        for watched in self._watched:
            watched.undelivered, watched.rejected = [], 0
            watched.answers.begin()
        if left is not None:
            for watched, spans in left:
                watched.export(spans)
        elif self._tracer is not None and self._spans is not None:
            emit(self._tracer, self.ids, tree(), workspace, change_id)
            self._spans.force_flush()
        failed = [(watched, spans) for watched in self._watched for spans in watched.undelivered]
        if failed:
            self._left[key] = failed
        return _attempt(
            [watched.answers for watched in self._watched if watched.undelivered],
            bool(failed),
            [watched for watched in self._watched if watched.rejected],
        )

    def show(self, measured: Sequence[Measurement]) -> None:
        """Add values to the instruments that Prometheus fetches."""
        for each in measured:
            instrument = self._instruments.get(each.instrument.name)
            if isinstance(instrument, Counter):
                instrument.add(each.value, each.labels)
            elif instrument is not None:
                instrument.record(each.value, each.labels)

    def send_totals(self, record: ExportRecord, *, again: bool = False) -> ExportAttempt:
        """Send what every way out is to be told now; `again` leaves out those told only what is new. Blocks."""
        failed: list[Answers] = []
        rejected = 0
        for out in self.outs:
            totals = record.totals(out.stream)
            if not totals.series or (again and out.is_delta):
                continue
            now = time.time()
            out.answers.begin()
            result = out.exporter.export(self._data(totals, now, delta=out.is_delta))
            if result is not MetricExportResult.SUCCESS or out.answers.why is not None:
                failed.append(out.answers)
                continue
            rejected += out.answers.rejected
            if out.is_delta:
                record.begin_anew(out.stream, now)
        attempt = _attempt(failed, bool(failed), [])
        attempt.rejected = rejected
        return attempt

    def _data(self, totals: Totals, now: float, *, delta: bool) -> MetricsData:
        """Metric data points of totals, with delta or cumulative temporality."""
        by_name = {each.name: each for each in _ALL}
        start, end = round(totals.since * _NANOSECONDS), round(now * _NANOSECONDS)
        temporality = AggregationTemporality.DELTA if delta else AggregationTemporality.CUMULATIVE
        metrics = [
            _metric(by_name[name], series, start, end, temporality)
            for name, series in totals.series.items()
            if name in by_name
        ]
        scope = ScopeMetrics(self._scope, metrics, SCHEMA_URL)
        return MetricsData([ResourceMetrics(self._resource, [scope], self._resource.schema_url)])

    def shutdown(self) -> None:
        """End; what could be delivered was. Blocks for as long as a collector does that has a request under way."""
        for end in self._close:
            end()
        if self._spans is not None:
            self._spans.shutdown()
        if self._meters is not None:
            self._meters.shutdown()
        for out in self.outs:
            out.exporter.shutdown()

    def _prometheus(self, exporter: Exporter) -> MetricReader:
        """Prometheus endpoint (pull, scrape): an HTTP server with a registry of its own."""
        try:
            from opentelemetry.exporter.prometheus import PrometheusMetricReader
            from prometheus_client import CollectorRegistry, start_http_server
        except ImportError as error:
            raise _missing("Prometheus") from error
        registry = CollectorRegistry()
        server, _ = start_http_server(exporter.port, exporter.host, registry)
        self._close += [server.shutdown, server.server_close]
        return PrometheusMetricReader(registry=registry)


def _attempt(failed: Sequence[Answers], is_failure: bool, partly: Sequence[WatchedSpans]) -> ExportAttempt:
    """Outcome of an export by what the collector answered."""
    rejected = sum(each.rejected for each in partly)
    if not is_failure:
        return ExportAttempt(rejected=rejected)
    why = next((each.why for each in failed if each.why is not None), _UNKNOWN)
    return ExportAttempt(why, rejected, max((each.not_before for each in failed), default=0.0))


def _metric(
    instrument: Instrument,
    series: Sequence[InstrumentSeries],
    start: int,
    end: int,
    temporality: AggregationTemporality,
) -> Metric:
    """OpenTelemetry metric (sum or histogram) of an instrument's series."""
    if instrument.kind == "counter":
        # Counts are whole: as such they are read without rounding.
        points = [NumberDataPoint(each.labels, start, end, _whole(each.value)) for each in series]
        return Metric(instrument.name, instrument.description, instrument.unit, Sum(points, temporality, True))
    found = [
        HistogramDataPoint(
            each.labels,
            start,
            end,
            each.count,
            each.value,
            each.buckets,
            instrument.boundaries,
            each.least,
            each.most,
        )
        for each in series
        if len(each.buckets) == len(instrument.boundaries) + 1
    ]
    return Metric(instrument.name, instrument.description, instrument.unit, HistogramData(found, temporality))


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _session(answers: Answers) -> Any:
    """A session that is heard; None where the user has one made by a program of their own."""
    return None if any(name.endswith(_CREDENTIALS) for name in os.environ) else answers.session()


def _span_exporter(exporter: Exporter, answers: Answers) -> SpanExporter:
    """Span exporter of the SDK: console, OTLP over gRPC or over HTTP."""
    if exporter.name == "console":
        return ConsoleSpanExporter(out=sys.stderr)
    headers = dict(exporter.headers) if exporter.headers else None
    if exporter.protocol == "grpc":
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc
        except ImportError as error:
            raise _missing("OTLP over gRPC") from error
        return Grpc(endpoint=exporter.endpoint, headers=headers)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=exporter.endpoint, headers=headers, session=_session(answers))


def _metric_exporter(exporter: Exporter, answers: Answers) -> MetricExporter:
    """Metric exporter of the SDK: console, OTLP over gRPC or over HTTP."""
    if exporter.name == "console":
        return ConsoleMetricExporter(out=sys.stderr)
    headers = dict(exporter.headers) if exporter.headers else None
    if exporter.protocol == "grpc":
        try:
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as Grpc
        except ImportError as error:
            raise _missing("OTLP over gRPC") from error
        return Grpc(endpoint=exporter.endpoint, headers=headers)
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    return OTLPMetricExporter(endpoint=exporter.endpoint, headers=headers, session=_session(answers))


def _missing(what: str) -> ImportError:
    return ImportError(f"{what} needs an extra; install it with: pip install 'aurora-context[telemetry]'")
