"""Deliverables of a list: which of them are asked for."""

from __future__ import annotations

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_request import ListRequest
from aurora_deliverables.events import Ended, Event, Started
from aurora_deliverables.reducer import fold
from aurora_deliverables.selection import select

DAY = 86_400.0


def lasted(name: str, begun: float, over: float | None) -> Deliverable:
    """A deliverable that began on a day of 1970, and ended on another one or not yet."""
    events = [Event(f"{name}-1", name, begun * DAY, Started())]
    if over is not None:
        events.append(Event(f"{name}-2", name, over * DAY, Ended("completed")))
    told = fold(events)
    assert told is not None
    return told


def test_a_span_of_time_lists_what_was_under_way_in_it_what_is_still_open_too() -> None:
    known = [
        lasted("ended-before", 1, 2),
        lasted("ended-within", 1, 11),
        lasted("open", 1, None),
        lasted("after", 21, 22),
    ]
    asked = ListRequest(since="1970-01-11T00:00:00Z", until="1970-01-21T00:00:00Z")
    assert {each.change_id for each in select(known, asked)} == {"ended-within", "open"}
