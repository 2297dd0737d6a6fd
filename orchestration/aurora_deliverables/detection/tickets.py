"""Ticket (issue) of any tracker, brought to one form, and the events it tells: opened → worked on → closed (AURA-M §7).

`IssueFields` are what a tracker's form brings (`github.py`, `jira.py`); what follows from them is read here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from aurora_deliverables.choices import Phase
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.detection import change_title
from aurora_deliverables.events import Conformed, Ended, Event, EventBody, PhaseStarted, SpecSource, Started
from aurora_deliverables.evidence import event_id, shown
from aurora_deliverables.timestamps import opening, timestamp, told
from aurora_deliverables.transitions import AFTER_THE_END

Dated = tuple[str, object]
"""A field's name, and the time that stands there, as it was written."""


class TicketStep(Struct, frozen=True):
    """A phase that the tracker's own history shows to have begun."""

    phase: Phase
    at: float
    evidence: str


class Ticket(Struct, frozen=True):
    """Ticket of an issue tracker: `met` of `requirements` are checked; `met` is None where the tracker does not tell.
    Times are Unix seconds.

    `closed` says how it was closed: `completed`, or in the tracker's words why it never will be; None while it is open.
    """

    change_id: str
    source: str
    spec_id: str
    title: str
    opened_at: float
    seen_at: float
    type: str | None = None
    requirements: int | None = None
    met: int | None = None
    steps: tuple[TicketStep, ...] = ()
    closed_at: float | None = None
    closed: str | None = None
    abandoned: bool = False
    withdrawn: bool = False
    reopened: bool = False


class IssueFields(Struct, frozen=True, kw_only=True):
    """An issue as its tracker tells it. Of times that stand in several fields the first that is filled counts.

    `criteria` are its acceptance criteria, each checked or not, None where it has no box. `closed` is how it was
    closed, None while it is open; `moved_at` is when it came to the status it has, where its history tells.
    """

    change_id: str
    source: str
    spec_id: str
    title: str
    opened: Sequence[Dated]
    updated: Sequence[Dated]
    closed_at: Sequence[Dated]
    moved_at: float | None = None
    type_words: Iterable[str] = ()
    criteria: Sequence[bool | None] = ()
    steps: Iterable[TicketStep] = ()
    closed: str | None = None
    abandoned: bool = False
    withdrawn: bool = False
    """Abandoned, and nobody failed at it: a duplicate, or not planned."""
    reopened: bool = False


def ticket_of(issue: IssueFields, now: float) -> Ticket:
    """An issue as a ticket; `now` (Unix seconds) stands for when it was seen, where it does not tell.

    Raises UnreadableTime, also where it is closed and nothing tells when it was opened.
    """
    opened, updated, closed_at = _first(issue.opened), _first(issue.updated), _first(issue.closed_at)
    closed = issue.closed is not None
    seen = next(at for at in (updated, closed_at if closed else None, now) if at is not None)
    if closed_at is None:
        closed_at = seen if issue.moved_at is None else issue.moved_at
    boxed = bool(issue.criteria) and None not in issue.criteria
    return Ticket(
        change_id=issue.change_id,
        source=issue.source,
        spec_id=issue.spec_id,
        title=issue.title or issue.change_id,
        opened_at=opening(opened, seen, closed, issue.opened[-1][0]),
        seen_at=seen,
        type=next((type_ for word in issue.type_words if (type_ := change_title.type_of_word(word))), None),
        requirements=len(issue.criteria) or None,
        met=sum(map(bool, issue.criteria)) if boxed else None,
        steps=tuple(issue.steps),
        closed_at=closed_at if closed else None,
        closed=issue.closed,
        abandoned=closed and issue.abandoned,
        withdrawn=closed and issue.withdrawn,
        reopened=issue.reopened,
    )


def _first(dated: Sequence[Dated]) -> float | None:
    return next((at for name, value in dated if (at := told(value, name)) is not None), None)


def events_of(ticket: Ticket) -> list[Event]:
    """All that a ticket tells. The same state of the same ticket is the same events, however often it is given."""
    seen = max(ticket.seen_at, ticket.opened_at)
    spec = SpecSource(ticket.source, ticket.spec_id, ticket.requirements)
    title = shown(ticket.title, 160) or None
    counted = f", {ticket.requirements} requirements" if ticket.requirements is not None else ""
    name = ticket.spec_id
    events = [
        _event(
            ticket, ticket.opened_at, Started(title, ticket.type, spec_source=spec), f"{name} opened{counted}", spec
        ),
        _event(ticket, ticket.opened_at, PhaseStarted("propose"), f"{name} opened"),
    ]
    # A resolution that is older than the last step: the phases end with it.
    steps = [step for step in ticket.steps if ticket.closed_at is None or step.at <= ticket.closed_at]
    events += [_event(ticket, step.at, PhaseStarted(step.phase), step.evidence, step.at) for step in steps]
    if ticket.requirements and ticket.met is not None:
        at = min(seen, ticket.closed_at) if ticket.closed_at is not None else seen
        what = Conformed(completed_requirements=ticket.met, total_requirements=ticket.requirements)
        said = f"{name}: {ticket.met} of {ticket.requirements} checked"
        events.append(_event(ticket, at, what, said, ticket.met, ticket.requirements, at))
    if ticket.closed is not None and ticket.closed_at is not None:
        events += _closed(ticket, ticket.closed, max(ticket.closed_at, ticket.opened_at))
    return events


def since_the_end(ticket: Ticket, known: Deliverable, now: float) -> tuple[list[Event], str | None]:
    """What a ticket can still tell of a deliverable that is over, and a sentence on what it tells that cannot follow.

    A deliverable ends once (AURA-M §3), while a ticket may be opened again. A ticket that is closed as of `now` has not
    told when.
    """
    over = known.completed_at if known.completed_at is not None else known.updated_at
    kept = [event for event in events_of(ticket) if _may_follow(event, known, over)]
    stays = f"it stays {known.status} here, as it ended on {timestamp(over)}"
    if ticket.closed is None or ticket.closed_at is None:
        open_again = "was reopened" if ticket.reopened else "is open in its tracker"
        return kept, f"{ticket.change_id} {open_again}; {stays}; work after that needs a deliverable of its own"
    otherwise = ticket.abandoned != (known.status == "failed")
    if known.settled and (otherwise or ticket.closed_at not in (over, now)):
        closed = f"{ticket.change_id} was closed as {shown(ticket.closed)} on {timestamp(ticket.closed_at)}"
        return kept, f"{closed}; {stays}"
    return kept, None


def _may_follow(event: Event, known: Deliverable, over: float) -> bool:
    """Whether an event can still be told of a deliverable that ended."""
    if isinstance(event.what, AFTER_THE_END) or event.at < over:
        return True
    if isinstance(event.what, Ended):
        return not known.settled or (event.at == over and event.what.status == known.status)
    return event.at == over


def _closed(ticket: Ticket, how: str, at: float) -> list[Event]:
    """Events of a closed ticket, by its resolution: done, won't do, abandoned."""
    said = f"{ticket.spec_id} closed as {how}"
    if ticket.withdrawn:
        return [_event(ticket, at, Ended("failed", reason=shown(said), withdrawn=True), said, at)]
    if ticket.abandoned:
        return [_event(ticket, at, Ended("failed", "incomplete", shown(said)), said, at)]
    archived = _event(ticket, at, PhaseStarted("archive"), said, at)
    return [archived, _event(ticket, at, Ended("completed", reason=shown(said)), said, at)]


def _event(ticket: Ticket, at: float, what: EventBody, evidence: str, *facts: object) -> Event:
    kind = str(type(what).__struct_config__.tag)
    if isinstance(what, PhaseStarted):
        kind = f"{kind}:{what.phase}"
    return Event(
        id=event_id(ticket.change_id, kind, ticket.spec_id, *facts),
        change_id=ticket.change_id,
        at=at,
        what=what,
        source=ticket.source,
        evidence=shown(evidence),
    )
