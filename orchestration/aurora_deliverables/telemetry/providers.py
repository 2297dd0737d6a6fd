"""OpenTelemetry's providers for a choice. Importing this module imports the SDK; whoever does is in a thread.

Only batch processors: nobody who has something to tell waits for a collector.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry.metrics import Counter, Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    MetricExporter,
    MetricExportResult,
    MetricReader,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter, SpanExportResult

from aurora_deliverables.telemetry.export_settings import Choice, Exporter
from aurora_deliverables.telemetry.instruments import INSTRUMENTS, Measurement
from aurora_deliverables.telemetry.names import SCOPE
from aurora_deliverables.telemetry.query_instruments import QUERY_INSTRUMENTS
from aurora_deliverables.telemetry.span_emitter import PlannedIds

QUEUE = 8192
"""Spans that wait to be sent; the largest tree fits."""

SERVICE = "aurora"


class ExportOutcome:
    """Whether anything could not be delivered since `begin`."""

    def __init__(self) -> None:
        self.failed = False

    def begin(self) -> None:
        """Forget earlier failures."""
        self.failed = False


class WatchedSpans(SpanExporter):
    """Passes spans on and takes note of what could not be delivered: the batch processor keeps that to itself."""

    def __init__(self, inner: SpanExporter, outcome: ExportOutcome) -> None:
        self._inner = inner
        self._outcome = outcome

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._inner.export(spans)
        finally:
            self._outcome.failed |= result is not SpanExportResult.SUCCESS
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._inner.force_flush(timeout_millis)


class WatchedMetrics(MetricExporter):
    """The same for metrics."""

    def __init__(self, inner: MetricExporter, outcome: ExportOutcome) -> None:
        super().__init__(inner._preferred_temporality, inner._preferred_aggregation)
        self._inner = inner
        self._outcome = outcome
        self.over = False

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> MetricExportResult:
        if self.over:  # the reader tells all once more when it is shut down
            return MetricExportResult.SUCCESS
        result = MetricExportResult.FAILURE
        try:
            result = self._inner.export(metrics_data, timeout_millis, **kwargs)
        finally:
            self._outcome.failed |= result is not MetricExportResult.SUCCESS
        return result

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self._inner.shutdown(timeout_millis, **kwargs)


class Providers:
    """The tracer and the instruments. Raises OSError where Prometheus' port is taken, ImportError without an extra."""

    def __init__(self, choice: Choice, version: str, environ: Mapping[str, str] = os.environ) -> None:
        name = {} if environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: SERVICE}
        resource = Resource.create({**name, SERVICE_VERSION: version})
        if "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "") and not environ.get("OTEL_SERVICE_NAME"):
            resource = Resource.create({SERVICE_VERSION: version})
        self.ids = PlannedIds()
        self.traced, self.counted = ExportOutcome(), ExportOutcome()
        self._close: list[Callable[[], object]] = []
        self._spans: TracerProvider | None = None
        self._watched: list[WatchedMetrics] = []
        self._pushing: list[PeriodicExportingMetricReader] = []
        self._meters: MeterProvider | None = None
        try:
            readers = self._readers(choice, resource)
        except BaseException:
            self.shutdown()  # what was begun before has threads
            raise
        self.tracer = self._spans.get_tracer(SCOPE, version) if self._spans is not None else None
        if readers:
            self._meters = MeterProvider(readers, resource, shutdown_on_exit=False)
        self._instruments: dict[str, Counter | Histogram] = {}
        if self._meters is not None:
            meter = self._meters.get_meter(SCOPE, version)
            for each in (*INSTRUMENTS, *QUERY_INSTRUMENTS):
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
        """Set up what exports spans; returns what reads the instruments."""
        fetched: list[MetricReader] = []
        for exporter in choice.exporters:
            if exporter.signal == "traces":
                if self._spans is None:
                    self._spans = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=self.ids)
                watched = WatchedSpans(_span_exporter(exporter), self.traced)
                self._spans.add_span_processor(BatchSpanProcessor(watched, max_queue_size=QUEUE))
            elif exporter.name == "prometheus":
                fetched.append(self._prometheus(exporter))
            else:
                watched_metrics = WatchedMetrics(_metric_exporter(exporter), self.counted)
                self._watched.append(watched_metrics)
                self._pushing.append(PeriodicExportingMetricReader(watched_metrics))
        return [*self._pushing, *fetched]

    def record(self, measured: Sequence[Measurement]) -> None:
        """Add values to the instruments."""
        for each in measured:
            instrument = self._instruments.get(each.instrument.name)
            if isinstance(instrument, Counter):
                instrument.add(each.value, each.labels)
            elif instrument is not None:
                instrument.record(each.value, each.labels)

    def flush_spans(self) -> bool:
        """Send what waits; whether all of it was delivered since `traced.begin`. Blocks."""
        if self._spans is not None:
            self._spans.force_flush()
        return not self.traced.failed

    def flush_metrics(self) -> bool:
        """Send the instruments' values; whether they were delivered. Blocks."""
        self.counted.begin()
        for reader in self._pushing:  # what is fetched would be told once more for each flush
            reader.force_flush()
        return not self.counted.failed

    def shutdown(self) -> None:
        """End; what could be delivered was. Blocks for as long as a collector does that has a request under way."""
        for each in self._watched:
            each.over = True
        for end in self._close:
            end()
        if self._spans is not None:
            self._spans.shutdown()
        if self._meters is not None:
            self._meters.shutdown()
        else:
            for reader in self._pushing:
                reader.shutdown()

    def _prometheus(self, exporter: Exporter) -> MetricReader:
        try:
            from opentelemetry.exporter.prometheus import PrometheusMetricReader
            from prometheus_client import CollectorRegistry, start_http_server
        except ImportError as error:
            raise _missing("Prometheus") from error
        registry = CollectorRegistry()
        server, _ = start_http_server(exporter.port, exporter.host, registry)
        self._close += [server.shutdown, server.server_close]
        return PrometheusMetricReader(registry=registry)


def _span_exporter(exporter: Exporter) -> SpanExporter:
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

    return OTLPSpanExporter(endpoint=exporter.endpoint, headers=headers)


def _metric_exporter(exporter: Exporter) -> MetricExporter:
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

    return OTLPMetricExporter(endpoint=exporter.endpoint, headers=headers)


def _missing(what: str) -> ImportError:
    return ImportError(f"{what} needs an extra; install it with: pip install 'aurora-context[telemetry]'")
