"""Documents of AURA-M §5 (read model, JSON serialization): projection of a deliverable as plain objects in the schemas'
order, the unknown left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aurora_deliverables.choices import PHASES, Phase
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import (
    UNNAMED_TOOL,
    Ended,
    Event,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    Started,
    ToolCalled,
)
from aurora_deliverables.secondary_metrics import latency, phase_seconds
from aurora_deliverables.timestamps import timestamp

Document = dict[str, Any]

SCHEMA_VERSION = "0.1.0"
"""Of AURA-M."""

PUBLISHED = (PhaseStarted, PhaseEnded, ToolCalled, RecoveryBegan, Started, Ended)
"""The types of event that AURA-M §5.3 knows; the others are ours."""


def state_document(deliverable: Deliverable) -> Document:
    """Where a deliverable stands (AURA-M §5.1), under any status."""
    known = deliverable.apply_iterations > 0 or deliverable.recovery_attempts > 0
    calls = deliverable.tool_calls
    return _told(
        change_id=deliverable.change_id,
        status=deliverable.status,
        started_at=timestamp(deliverable.started_at),
        updated_at=timestamp(deliverable.updated_at),
        complexity=deliverable.complexity,
        description=deliverable.description,
        spec_source=_fields(deliverable.spec_source),
        phases=_phases(deliverable) or None,
        current_phase=deliverable.current_phase,
        tasks_total=deliverable.tasks_total,
        tasks_completed=deliverable.tasks_completed,
        tool_calls=_named(calls) or None,
        tool_calls_total=sum(calls.values()) if calls else None,
        recovery_attempts=deliverable.recovery_attempts if known else None,
        apply_iterations=deliverable.apply_iterations or None,
        token_usage=_token_usage(deliverable),
        human_interventions=deliverable.human_interventions,
        sessions=list(deliverable.sessions) or None,
    )


def metrics_document(deliverable: Deliverable) -> Document:
    """The final record of a deliverable (AURA-M §5.2). Raises ValueError where it is not over."""
    if deliverable.completed_at is None:
        raise ValueError(f"{deliverable.change_id!r} is {deliverable.status}: there are metrics once it has ended")
    known = deliverable.apply_iterations > 0 or deliverable.recovery_attempts > 0
    metrics = _told(
        resolution_latency_seconds=_number(latency(deliverable)),
        phase_durations={phase: _number(seconds) for phase, seconds in phase_seconds(deliverable).items()} or None,
        tool_calls=_counted_calls(deliverable),
        apply_iterations=deliverable.apply_iterations or None,
        recovery_attempts=deliverable.recovery_attempts if known else None,
        tasks_completed=deliverable.tasks_completed,
        tasks_total=deliverable.tasks_total,
        conformance=_fields(deliverable.conformance),
        deliverable_failed=deliverable.deliverable_failed,
    )
    metrics["failure_type"] = deliverable.failure_type
    metrics |= _told(token_usage=_token_usage(deliverable), human_interventions=deliverable.human_interventions)
    return _told(
        schema_version=SCHEMA_VERSION,
        change_id=deliverable.change_id,
        started_at=timestamp(deliverable.started_at),
        completed_at=timestamp(deliverable.completed_at),
        status=deliverable.status,
        description=deliverable.description,
        metrics=metrics,
        spec_source=_fields(deliverable.spec_source),
        complexity=None if deliverable.complexity == "unknown" else deliverable.complexity,
        agent=_fields(deliverable.agent),
        sessions=list(deliverable.sessions) or None,
    )


def published_event(event: Event) -> Document | None:
    """Serialization of an event by AURA-M §5.3, `data` with what has no place; None for types not known."""
    what = event.what
    if not isinstance(what, PUBLISHED):
        return None
    payload = msgspec.to_builtins(what)
    kind = payload.pop("event")
    phase: Phase | None = payload.pop("phase", None)
    # Of a start `agent` is who will do the work; who said so then has another name.
    said_by = "told_by" if isinstance(what, Started) else "agent"
    data = payload | _told(
        id=event.id,
        session=event.session,
        source=event.source,
        evidence=event.evidence,
        **{said_by: _fields(event.agent)},
    )
    return _told(event_type=kind, timestamp=timestamp(event.at), change_id=event.change_id, phase=phase, data=data)


def _phases(deliverable: Deliverable) -> Document:
    """Of phases that repeated: from their first beginning to their last end, which is null while they last."""
    found: Document = {}
    for phase in PHASES:
        spans = [span for span in deliverable.spans if span.phase == phase]
        if spans:
            until = spans[-1].completed_at
            found[phase] = {
                "started_at": timestamp(spans[0].started_at),
                "completed_at": None if until is None else timestamp(until),
            }
    return found


def _counted_calls(deliverable: Deliverable) -> Document | None:
    """Calls by tool, and `total`, that counts those of unnamed tools too; a tool called so gives way to the sum."""
    calls = deliverable.tool_calls
    if not calls:
        return None
    named = {f"{tool} (tool)" if tool == "total" else tool: count for tool, count in _named(calls).items()}
    return named | {"total": sum(calls.values())}


def _named(calls: Mapping[str, int]) -> dict[str, int]:
    return {tool: count for tool, count in calls.items() if tool != UNNAMED_TOOL}


def _token_usage(deliverable: Deliverable) -> Document | None:
    """Token usage and cost as AURA-M has them; None where nobody told any."""
    tokens = deliverable.tokens
    if tokens is None:
        return None
    usage = _told(
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        total_tokens=tokens.total_tokens,
        estimated_cost_usd=None if tokens.cost_usd is None else round(tokens.cost_usd, 9),
    )
    return usage or None


def _fields(struct: msgspec.Struct | None) -> Document | None:
    return None if struct is None else _told(**msgspec.structs.asdict(struct)) or None


def _told(**fields: Any) -> Document:
    return {name: value for name, value in fields.items() if value is not None}


def _number(seconds: float) -> float | int:
    """Whole seconds without a fraction, others to the microsecond, as times are told."""
    rounded = round(seconds, 6)
    return int(rounded) if rounded == int(rounded) else rounded
