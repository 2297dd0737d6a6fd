"""Observation of a spec (change detection): what it shows of a deliverable at one moment, and what of that is new since
the recorded state: the one way from folders to events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import PHASES, FailureType, Phase
from aurora_deliverables.detection.recorded_state import PLANNING, RecordedState, kind_of, state_after
from aurora_deliverables.detection.spec_criteria import SpecCriteria
from aurora_deliverables.events import (
    Conformed,
    Ended,
    Event,
    EventBody,
    PhaseStarted,
    Revived,
    SpecChecked,
    SpecSource,
    Started,
    TasksCounted,
)
from aurora_deliverables.evidence import event_id, shown

TICK = 1e-6
"""Seconds between two events that the clock does not tell apart: what times are written to."""


class Artefact(Struct, frozen=True):
    """A file that is written in a phase, which its being there shows to have begun."""

    phase: Phase
    path: str
    at: float


class Tasks(Struct, frozen=True):
    """Checkboxes of a task file."""

    path: str
    total: int
    completed: int
    at: float


class Requirements(Struct, frozen=True):
    """Requirements that say of themselves whether they are met, as a checklist does."""

    path: str
    total: int
    completed: int
    at: float


class Ending(Struct, frozen=True):
    """End of a deliverable: how it ended, and what shows it."""

    status: Literal["completed", "failed"]
    at: float
    evidence: str
    failure_type: FailureType | None = None
    phases: tuple[Phase, ...] = ("archive",)
    """What being completed has gone through, at the latest."""


class Observation(Struct, frozen=True):
    """Observation, all that is seen of one deliverable in its spec."""

    change_id: str
    source: str
    spec: SpecSource
    spec_evidence: str
    artefacts: tuple[Artefact, ...] = ()
    description: str | None = None
    type: str | None = None
    tasks: Tasks | None = None
    requirements: Requirements | None = None
    ending: Ending | None = None
    criteria: SpecCriteria = SpecCriteria()
    """What the spec asks for …"""
    returned_at: float | None = None
    """When it was there again after it was missed, where that is known."""
    checked: SpecChecked | None = None
    """… and what of it was found to be met, where somebody looked."""


def news(seen: Observation, told: RecordedState, now: float) -> list[Event]:
    """Events for what is seen and was not told; none once the deliverable ended, unless that was for want of a spec.

    A phase begins when its first artefact is seen, but planning does not begin again once work has: a proposal put
    right during `apply` changes facts, not the phase. A first checked task shows that `apply` has begun.
    """
    if told.ended and not told.abandoned:
        return []
    events: list[Event] = []
    if told.ended:
        now = max(now, told.told_at + TICK)  # what goes on goes on after its end
        back = now if seen.returned_at is None else max(min(seen.returned_at, now), told.told_at + TICK)
        events.append(_event(seen, told, back, Revived(), f"{seen.spec_evidence or seen.change_id} is there again"))
        told = state_after(told, events[0])
    for at, what, evidence in _differences(seen, told, now):
        event = _event(seen, told, at, what, evidence)
        events.append(event)
        told = state_after(told, event)
    return events


_Difference = tuple[float, EventBody, str]


def _differences(seen: Observation, told: RecordedState, now: float) -> Iterator[_Difference]:
    """Differences (diff) between what is seen and what was told."""
    fresh = _fresh(seen, told, now)
    # What was told of already and is put right since: when its latest file says, not when somebody looked.
    latest = seen.tasks.at if seen.tasks else max((each.at for each in seen.artefacts), default=now)
    begun = fresh[0].at if fresh else _within(latest, told, now)
    ended = seen.ending
    if ended is not None and told.started_at is None:
        return  # it ended before anybody looked: nothing of its way is known
    started = _started(seen, told)
    if started is not None:
        yield begun, started, seen.spec_evidence
    for artefact in fresh:
        yield artefact.at, PhaseStarted(artefact.phase), f"{artefact.path} is there"
    planning = told.planning if not fresh else True
    tasks = seen.tasks
    if tasks is not None and (tasks.total, tasks.completed) != (told.tasks_total, told.tasks_completed):
        at = max(_within(tasks.at, told, now), begun)
        said = f"{tasks.path}: {tasks.completed} of {tasks.total} checked"
        if planning and tasks.completed > (told.tasks_completed or 0) and ended is None:
            yield at, PhaseStarted("apply"), said
        yield at, TasksCounted(tasks.total, tasks.completed), said
    met = seen.requirements
    if met is not None and (met.completed, met.total) != told.met:
        at = max(_within(met.at, told, now), begun)
        said = f"{met.path}: {met.completed} of {met.total} requirements checked"
        yield at, Conformed(completed_requirements=met.completed, total_requirements=met.total), said
    if seen.checked is not None and seen.checked != told.checked:
        yield (
            max(_within(ended.at if ended is not None else now, told, now), begun),
            seen.checked,
            summed(seen.checked),
        )
    if ended is not None:
        yield from _ended(seen, ended, told, max(_within(ended.at, told, now), begun))


def _ended(seen: Observation, ended: Ending, told: RecordedState, at: float) -> Iterator[_Difference]:
    """End of a deliverable, with the conformance that its open tasks show."""
    if ended.status == "completed":
        count = seen.spec.requirements_count or told.spec.requirements_count
        tasks = seen.tasks
        # With tasks open, nobody can tell which requirements they belong to: then functional stays unknown.
        looked = seen.checked is not None or told.checked is not None
        if (
            not looked
            and count
            and seen.requirements is None
            and tasks
            and tasks.total
            and tasks.completed == tasks.total
        ):
            said = f"{tasks.path}: all {tasks.total} tasks done, {count} requirements"
            if told.met != (count, count):
                yield at, Conformed(completed_requirements=count, total_requirements=count), said
        for phase in ended.phases:
            if phase != told.phase:
                yield at, PhaseStarted(phase), ended.evidence
    yield at, Ended(ended.status, ended.failure_type, ended.evidence), ended.evidence


def summed(checked: SpecChecked) -> str:
    """`3 of 4 requirements met, 1 unknown; 2 of 2 constraints kept`."""
    parts = []
    for kind, word in (("requirement", "met"), ("constraint", "kept")):
        some = [each for each in checked.criteria if each.kind == kind]
        unknown = sum(each.met is None for each in some)
        said = f"{sum(bool(each.met) for each in some)} of {len(some)} {kind}s {word}"
        parts.append(f"{said}, {unknown} unknown" if unknown else said)
    return "; ".join(parts)


def _started(seen: Observation, told: RecordedState) -> Started | None:
    spec = seen.spec
    if spec.requirements_count is None:
        spec = replace(spec, requirements_count=told.spec.requirements_count)
    description = seen.description if told.description is None else None
    type_ = seen.type if told.type is None else None
    new_spec = spec if spec != told.spec else None
    if told.started_at is not None and description is None and type_ is None and new_spec is None:
        return None
    return Started(description=description, type=type_, spec_source=new_spec)


def _fresh(seen: Observation, told: RecordedState, now: float) -> list[Artefact]:
    """The first artefact of each phase that has not begun, in order; none begins later than one after it."""
    if not told.planning:
        return []
    first: dict[Phase, Artefact] = {}
    for artefact in seen.artefacts:
        known = first.get(artefact.phase)
        if artefact.phase not in told.phases and (known is None or artefact.at < known.at):
            first[artefact.phase] = artefact
    found = [first[phase] for phase in PHASES if phase in first and phase in PLANNING]
    latest = now
    for n in range(len(found) - 1, -1, -1):
        latest = min(latest, _within(found[n].at, told, now))
        found[n] = replace(found[n], at=latest)
    return found


def _within(at: float, told: RecordedState, now: float) -> float:
    """`at`, but neither to come nor before what was told last: a checkout or a copy sets mtimes as it likes."""
    return min(max(at, told.told_at), now)


def _event(seen: Observation, told: RecordedState, at: float, what: EventBody, evidence: str) -> Event:
    """Event of a difference; its id is the same whoever sees it (idempotency)."""
    draft = Event("", seen.change_id, at, what, source=seen.source, evidence=shown(evidence))
    kind = kind_of(draft)
    return replace(draft, id=event_id(seen.change_id, kind, what, told.count(kind)))
