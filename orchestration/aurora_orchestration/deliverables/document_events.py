"""Whole documents of deliverables, as other tools write them, as the events that they amount to (AURA-M §5.1, §5.2).

A document has sums, events have what is added to them: only what is not known yet becomes an event. So a document can
be taken in twice, and again when it has grown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from aurora_orchestration.deliverables.detection.moments import seconds
from aurora_orchestration.deliverables.model import (
    PHASES,
    Agent,
    Amount,
    Complexity,
    Conformed,
    Count,
    Deliverable,
    Ended,
    Event,
    FailureType,
    Happening,
    HumanIntervened,
    Iterated,
    Name,
    Phase,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    SessionJoined,
    Share,
    SpecSource,
    Started,
    Status,
    TasksCounted,
    Text,
    TokensUsed,
    ToolCalled,
)

SOURCE = "document"
Repeats = Annotated[int, Meta(ge=0, le=10_000)]
Tools = Annotated[dict[Name, Count], Meta(max_length=1000)]


class UnknownDocument(ValueError):
    """What should be a deliverable's document is none; the message names the field."""


class _Phase(Struct, frozen=True):
    started_at: str | None = None
    completed_at: str | None = None


class _Tokens(Struct, frozen=True):
    input_tokens: Count = 0
    output_tokens: Count = 0
    estimated_cost_usd: Amount | None = None


class _Conformance(Struct, frozen=True):
    functional: Share | None = None
    correctness: Share | None = None
    constraints: Share | None = None


class _Metrics(Struct, frozen=True):
    phase_durations: dict[Phase, Amount] = {}
    tool_calls: Tools = {}
    apply_iterations: Repeats | None = None
    recovery_attempts: Repeats | None = None
    tasks_completed: Count | None = None
    tasks_total: Count | None = None
    conformance: _Conformance | None = None
    failure_type: FailureType | None = None
    token_usage: _Tokens | None = None
    human_interventions: Count | None = None


class _Document(Struct, frozen=True):
    """Either document; a final record has its sums in `metrics`."""

    change_id: Name
    status: Status
    started_at: str
    updated_at: str | None = None
    completed_at: str | None = None
    complexity: Complexity | None = None
    description: Text | None = None
    spec_source: SpecSource | None = None
    agent: Agent | None = None
    phases: dict[Phase, _Phase] = {}
    current_phase: Phase | None = None
    tasks_total: Count | None = None
    tasks_completed: Count | None = None
    tool_calls: Tools = {}
    recovery_attempts: Repeats | None = None
    apply_iterations: Repeats | None = None
    token_usage: _Tokens | None = None
    human_interventions: Count | None = None
    sessions: Annotated[list[Name], Meta(max_length=10_000)] = []
    metrics: _Metrics | None = None
    type_: Name | None = field(default=None, name="type")


class _Times(Struct, frozen=True):
    start: float
    latest: float


def is_document(document: object) -> bool:
    """Whether this looks like a deliverable's state or final record."""
    return isinstance(document, Mapping) and {"change_id", "status", "started_at"} <= document.keys()


def change_of(document: Mapping[str, Any]) -> str | None:
    """Which deliverable a document is about."""
    name = document.get("change_id")
    return name if isinstance(name, str) else None


def events_from_document(document: object, known: Deliverable | None) -> list[Event]:
    """What a state or a final record tells beyond what is `known` already. Raises UnknownDocument."""
    try:
        told = msgspec.convert(document, _Document)
    except msgspec.ValidationError as error:
        raise UnknownDocument(f"this is no document of a deliverable: {error}") from error
    times = _times(told)
    if known is not None and known.status in ("completed", "failed"):
        return []
    happened = [*_beginning(told, times, known), *_phases(told, times, known), *_sums(told, times, known)]
    if told.status in ("completed", "failed"):
        failure = told.metrics.failure_type if told.metrics is not None else None
        happened.append((times.latest, Ended("failed" if told.status == "failed" else "completed", failure)))
    return [_event(told.change_id, number, at, what) for number, (at, what) in enumerate(happened)]


Happened = Iterator[tuple[float, Happening]]


def _beginning(told: _Document, times: _Times, known: Deliverable | None) -> Happened:
    said = Started(told.description, told.type_, told.complexity, told.spec_source, told.agent)
    if known is None or said != Started(
        known.description, known.type, known.complexity, known.spec_source, known.agent
    ):
        yield times.start, said
    for session in told.sessions:
        if known is None or session not in known.sessions:
            yield times.start, SessionJoined(session)


def _phases(told: _Document, times: _Times, known: Deliverable | None) -> Happened:
    """The phases of a state when they were; those of a final record, which has lengths only, one after the other."""
    begun = {(span.phase, span.started_at) for span in known.spans} if known is not None else set()
    ended = {(span.phase, span.completed_at) for span in known.spans} if known is not None else set()
    for phase, start, end in _stretches(told, times):
        if (phase, start) not in begun:
            yield start, PhaseStarted(phase)
        if end is not None and (phase, end) not in ended:
            yield end, PhaseEnded(phase)
    now_in = told.current_phase
    if now_in is not None and now_in not in told.phases and (known is None or known.current_phase != now_in):
        yield times.latest, PhaseStarted(now_in)


def _stretches(told: _Document, times: _Times) -> Iterator[tuple[Phase, float, float | None]]:
    for phase, record in sorted(told.phases.items(), key=lambda item: PHASES.index(item[0])):
        if record.started_at is not None:
            end = None if record.completed_at is None else _moment(record.completed_at, f"phases.{phase}.completed_at")
            yield phase, _moment(record.started_at, f"phases.{phase}.started_at"), end
    if told.metrics is not None and not told.phases:
        at = times.start
        for phase in PHASES:
            length = told.metrics.phase_durations.get(phase)
            if length is not None:
                after = min(at + length, times.latest)
                yield phase, at, after
                at = after


def _sums(told: _Document, times: _Times, known: Deliverable | None) -> Happened:
    """What a document has added up, less what is known; told as of its end, so that no rework seems to last."""
    sums: _Document | _Metrics = told if told.metrics is None else told.metrics
    at = times.latest
    for tool, number in sums.tool_calls.items():
        more = number - (known.tool_calls.get(tool, 0) if known is not None else 0)
        if more > 0 and not (told.metrics is not None and tool == "total"):
            yield times.start, ToolCalled(tool, more)
    tasks = (sums.tasks_total, sums.tasks_completed)
    if tasks != ((None, None) if known is None else (known.tasks_total, known.tasks_completed)):
        yield at, TasksCounted(*tasks)
    if (tokens := _more_tokens(sums.token_usage, known)) is not None:
        yield at, tokens
    if sums.human_interventions is not None:
        more = sums.human_interventions - ((known.human_interventions or 0) if known is not None else 0)
        if more > 0 or known is None or known.human_interventions is None:
            yield at, HumanIntervened(count=max(0, more))
    yield from _repeats(told, sums, times, known)
    if told.metrics is not None and (measured := told.metrics.conformance) is not None:
        yield (
            at,
            Conformed(
                functional=measured.functional, correctness=measured.correctness, constraints=measured.constraints
            ),
        )


def _repeats(told: _Document, sums: _Document | _Metrics, times: _Times, known: Deliverable | None) -> Happened:
    applies = [start for phase, start, _ in _stretches(told, times) if phase == "apply"]
    counted = known.apply_iterations if known is not None else len(applies)
    for _ in range((sums.apply_iterations or 0) - counted):
        yield (applies[0] if applies and known is None else times.latest), Iterated()
    for _ in range((sums.recovery_attempts or 0) - (known.recovery_attempts if known is not None else 0)):
        yield times.latest, RecoveryBegan()


def _more_tokens(usage: _Tokens | None, known: Deliverable | None) -> TokensUsed | None:
    if usage is None:
        return None
    before = known.tokens if known is not None else None
    if before is None:
        return TokensUsed(usage.input_tokens, usage.output_tokens, cost_usd=usage.estimated_cost_usd)
    cost = None
    if usage.estimated_cost_usd is not None:
        cost = max(0.0, usage.estimated_cost_usd - (before.cost_usd or 0.0))
    more = TokensUsed(
        max(0, usage.input_tokens - before.input_tokens),
        max(0, usage.output_tokens - before.output_tokens),
        cost_usd=cost or None,
    )
    return more if more != TokensUsed() else None


def _times(told: _Document) -> _Times:
    start = _moment(told.started_at, "started_at")
    given = told.completed_at or told.updated_at
    latest = start if given is None else _moment(given, "completed_at" if told.completed_at else "updated_at")
    for phase, record in told.phases.items():
        for moment in (record.started_at, record.completed_at):
            if moment is not None:
                latest = max(latest, _moment(moment, f"phases.{phase}"))
    if latest < start:
        raise UnknownDocument("this is no document of a deliverable: it ends before it begins")
    return _Times(start, latest)


def _moment(given: str, name: str) -> float:
    at = seconds(given)
    if at is None:
        raise UnknownDocument(f"`{name}` is {given[:60]!r}; a date-time is written 2026-02-26T10:05:00Z")
    return at


def _event(change_id: str, number: int, at: float, what: Happening) -> Event:
    said = msgspec.json.encode([change_id, number, at, what])
    id_ = f"document-{hashlib.blake2b(said, digest_size=12).hexdigest()}"
    return Event(id_, change_id, at, what, source=SOURCE)
