"""Span emitter (trace context): a span tree spoken to OpenTelemetry's SDK: parents, historic times, deterministic trace
and span ids.
"""

from __future__ import annotations

from hashlib import blake2b

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from aurora_deliverables.telemetry.spans import Span

_NANOSECONDS = 1_000_000_000


class PlannedIds(IdGenerator):
    """Generator of the ids that were planned for the next span; random ones where none were."""

    def __init__(self) -> None:
        self.trace: int | None = None
        self.span: int | None = None
        self._random = RandomIdGenerator()

    def generate_trace_id(self) -> int:
        return self.trace or self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        return self.span or self._random.generate_span_id()

    def is_trace_id_random(self) -> bool:
        return True  # a hash's bits are as good for sampling


def trace_id(workspace: str, change_id: str) -> int:
    """Trace id of a change, deterministic: sent twice, it is the same trace."""
    return _id(f"{workspace}\0{change_id}", 16)


def emit(tracer: Tracer, ids: PlannedIds, tree: Span, workspace: str, change_id: str) -> None:
    """Start and end every span of the tree, with the times it had. One thread at a time."""
    ids.trace = trace_id(workspace, change_id)
    try:
        _emit(tracer, ids, tree, Context(), f"{ids.trace:032x}")
    finally:
        ids.trace = ids.span = None


def _emit(tracer: Tracer, ids: PlannedIds, span: Span, parent: Context, path: str) -> None:
    """Span and its children started and ended recursively, the parent as context."""
    ids.span = _id(path, 8)
    started = tracer.start_span(
        span.name,
        context=parent,
        kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        attributes=span.attributes,
        start_time=_nanoseconds(span.started_at),
    )
    for mark in span.marks:
        started.add_event(mark.name, mark.attributes, _nanoseconds(mark.at))
    if span.failed is not None:
        started.set_status(Status(StatusCode.ERROR, span.failed))
    within = set_span_in_context(started, parent)
    for number, child in enumerate(span.children):
        _emit(tracer, ids, child, within, f"{path}/{number}")
    started.end(_nanoseconds(span.ended_at))


def _id(of: str, size: int) -> int:
    return int.from_bytes(blake2b(of.encode("utf-8", "surrogatepass"), digest_size=size).digest()) or 1


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1_000_000) * (_NANOSECONDS // 1_000_000)
