"""Time breakdown (latency profile) of a run: per phase with percentages, per subgoal; in models, in agents or in AURORA
itself (§9.4.1).

Pure. Phases follow each other, so their percentages sum to at most 100; subgoals run side by side, and theirs may not.
Waiting for models, for agents, and everything else are told apart so that the three sum to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.types import ModelCall

PHASE_NAMES = {
    "guard": "GUARDRAILS",
    "assess": "ASSESS",
    "retrieve": "RETRIEVE",
    "decompose": "DECOMPOSE",
    "verify": "VERIFY (Decomposition)",
    "route": "ROUTE",
    "collect": "COLLECT (Agents)",
    "verify_output": "VERIFY (Output)",
    "synthesize": "SYNTHESIZE",
    "verify_synthesis": "VERIFY (Synthesis)",
    "record": "RECORD",
    "respond": "RESPOND",
}
"""Phases as reports spell them."""

Span = tuple[float, float]


class PhaseTiming(Struct, frozen=True, kw_only=True):
    """A phase, all its attempts together. Milliseconds; percent of the run; `llm_ms` of it was waiting for models."""

    phase: str
    duration_ms: float
    percentage: float
    attempts: int = 1
    llm_ms: float = 0.0
    own_ms: float = 0.0
    calls: int = 0


class SubgoalTiming(Struct, frozen=True, kw_only=True):
    """A subgoal's time from its beginning to its end. `waited_ms`: since the first subgoal began."""

    subgoal_id: str
    agent_id: str
    duration_ms: float
    percentage: float
    waited_ms: float = 0.0


class Timing(Struct, frozen=True, kw_only=True):
    """Breakdown of time. `llm_ms + agents_ms + own_ms = total_duration_ms`; `between_ms` is what no phase
    accounts for.
    """

    total_duration_ms: float
    phases: tuple[PhaseTiming, ...] = ()
    subgoals: tuple[SubgoalTiming, ...] = ()
    llm_ms: float = 0.0
    agents_ms: float = 0.0
    own_ms: float = 0.0
    between_ms: float = 0.0


def timing(record: RunRecord) -> Timing:
    """The breakdown of a run; phases in the order they first began."""
    total = max(record.ended_at - record.started_at, 0.0)
    whole = (record.started_at, record.started_at + total)
    calls = [(call, _span(call.started_at, call.took_ms)) for call in record.calls if not call.replayed]
    waiting = _union(_within((span for _, span in calls), whole))
    builtin = {
        each.subgoal.id
        for each in (record.routing.assignments if record.routing else ())
        if each.agent.type == "builtin"
    }
    working = [
        (each.started_at, each.ended_at)
        for each in record.results
        if each.started_at and each.ended_at >= each.started_at and each.subgoal.id not in builtin
    ]
    busy = _union(_within([*waiting, *working], whole))
    llm = _length(waiting)
    agents = max(_length(busy) - llm, 0.0)
    phases = _phases(record, calls, total)
    between = total - _length(_union(_within((_span(each.at, each.duration_ms) for each in record.phases), whole)))
    return Timing(
        total_duration_ms=_ms(total),
        phases=phases,
        subgoals=_subgoals(record, total),
        llm_ms=_ms(llm),
        agents_ms=_ms(agents),
        own_ms=round(_ms(total) - _ms(llm) - _ms(agents), 3),
        between_ms=_ms(between),
    )


def summary(told: Timing) -> dict[str, Any]:
    """The breakdown as the log and `--json` have it: `total_duration_ms`, `phases`, and what they are made of."""
    document: dict[str, Any] = {
        "total_duration_ms": told.total_duration_ms,
        "phases": [
            {
                "phase": each.phase,
                "duration_ms": each.duration_ms,
                "percentage": each.percentage,
                "llm_ms": each.llm_ms,
                "own_ms": each.own_ms,
                "calls": each.calls,
                **({"attempts": each.attempts} if each.attempts > 1 else {}),
            }
            for each in told.phases
        ],
        "llm_ms": told.llm_ms,
        "agents_ms": told.agents_ms,
        "own_ms": told.own_ms,
    }
    if told.subgoals:
        document["subgoals"] = [
            {
                "subgoal_id": each.subgoal_id,
                "agent_id": each.agent_id,
                "duration_ms": each.duration_ms,
                "percentage": each.percentage,
                "waited_ms": each.waited_ms,
            }
            for each in told.subgoals
        ]
    return document


def _phases(record: RunRecord, calls: Sequence[tuple[ModelCall, Span]], total: float) -> tuple[PhaseTiming, ...]:
    """Time of each phase, its attempts added up, and how much of it models took."""
    attempts: dict[str, list[Span]] = {}
    for each in record.phases:
        attempts.setdefault(each.phase, []).append(_span(each.at, each.duration_ms))
    found = []
    for name, spans in attempts.items():
        duration = sum(end - start for start, end in spans)
        asked = [span for _, span in calls if any(start <= span[0] < end for start, end in spans)]
        waited = _length(_union([each for span in spans for each in _within(asked, span)]))
        found.append(
            PhaseTiming(
                phase=PHASE_NAMES.get(name, name.upper()),
                duration_ms=_ms(duration),
                percentage=_percent(duration, total),
                attempts=len(spans),
                llm_ms=_ms(waited),
                own_ms=max(round(_ms(duration) - _ms(waited), 3), 0.0),
                calls=len(asked),
            )
        )
    return tuple(found)


def _subgoals(record: RunRecord, total: float) -> tuple[SubgoalTiming, ...]:
    """Time of each subgoal, and how long it waited (queue time)."""
    done = [each for each in record.results if each.started_at and each.ended_at >= each.started_at]
    first = min((each.started_at for each in done), default=0.0)
    return tuple(
        SubgoalTiming(
            subgoal_id=each.subgoal.id,
            agent_id=each.response.agent_id,
            duration_ms=_ms(each.ended_at - each.started_at),
            percentage=_percent(each.ended_at - each.started_at, total),
            waited_ms=_ms(each.started_at - first),
        )
        for each in done
    )


def _span(at: float, milliseconds: float) -> Span:
    return at, at + max(milliseconds, 0.0) / 1000


def _within(spans: Iterable[Span], bounds: Span) -> list[Span]:
    """Intersection of intervals: parts of spans that lie within bounds."""
    cut = ((max(start, bounds[0]), min(end, bounds[1])) for start, end in spans)
    return [(start, end) for start, end in cut if end > start]


def _union(spans: Iterable[Span]) -> list[Span]:
    """Overlapping intervals merged: the same time in spans that don't overlap."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _length(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole > 0 else 0.0
