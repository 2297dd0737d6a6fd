"""A tracker's issue as a ticket: which of its fields tells what, and what stands for one that is missing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection.tickets import IssueFields, TicketStep, events_of, since_the_end, ticket_of
from aurora_deliverables.events import Conformed, Ended, PhaseStarted
from aurora_deliverables.reducer import fold

OPENED, UPDATED, CLOSED, NOW = 1000.0, 3000.0, 2000.0, 9000.0


def issue(**changes: Any) -> IssueFields:
    fields: dict[str, Any] = {
        "change_id": "shop-12",
        "source": "jira",
        "spec_id": "SHOP-12",
        "title": "Search",
        "opened": [("created", OPENED)],
        "updated": [("updated", UPDATED)],
        "closed_at": [("resolved", CLOSED)],
        "closed": "Done",
    }
    return IssueFields(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "seen", "closed_at"),
    [
        pytest.param({}, UPDATED, CLOSED, id="each field tells its own"),
        pytest.param({"updated": []}, CLOSED, CLOSED, id="it was seen when it was closed, where nobody says more"),
        pytest.param(
            {"updated": [], "closed": None}, NOW, None, id="an open one is seen now, whatever is left of a closing"
        ),
        pytest.param({"closed_at": []}, UPDATED, UPDATED, id="it was closed by the time it was seen"),
        pytest.param({"closed_at": [], "moved_at": 2500.0}, UPDATED, 2500.0, id="its history says when it was closed"),
        pytest.param({"moved_at": 2500.0}, UPDATED, CLOSED, id="but its own field goes first"),
        pytest.param({"closed_at": [], "updated": []}, NOW, NOW, id="at the latest now"),
        pytest.param(
            {"updated": [("updated", None), ("seen", 4000.0)]}, 4000.0, CLOSED, id="the first field that is filled"
        ),
    ],
)
def test_when_a_ticket_was_seen_and_closed(changes: dict[str, Any], seen: float, closed_at: float | None) -> None:
    told = ticket_of(issue(**changes), NOW)
    assert (told.seen_at, told.closed_at, told.opened_at) == (seen, closed_at, OPENED)


@pytest.mark.parametrize(
    ("criteria", "requirements", "met"),
    [
        ((), None, None),
        ((True, True, False), 3, 2),
        ((False,), 1, 0),
        ((True, None), 2, None),
    ],
)
def test_criteria_without_a_box_are_counted_but_nobody_knows_how_many_are_met(
    criteria: tuple[bool | None, ...], requirements: int | None, met: int | None
) -> None:
    told = ticket_of(issue(criteria=criteria), NOW)
    assert (told.requirements, told.met) == (requirements, met)


@pytest.mark.parametrize(
    ("words", "kind"), [((), None), (("good first issue",), None), (("later", "Bug", "feature"), "bugfix")]
)
def test_the_first_word_that_says_a_type_is_its_type(words: tuple[str, ...], kind: str | None) -> None:
    assert ticket_of(issue(type_words=words), NOW).type == kind


def test_what_is_untitled_is_called_by_its_id() -> None:
    assert ticket_of(issue(title=""), NOW).title == "shop-12"


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        pytest.param({}, CLOSED, id="what is met is told with the closing, not as of a later look"),
        pytest.param({"updated": [("updated", 1500.0)]}, 1500.0, id="or as of the look, where that came first"),
        pytest.param({"closed": None}, UPDATED, id="of an open one as of the look"),
        pytest.param({"closed": None, "updated": [("updated", 1.0)]}, OPENED, id="and never before it was opened"),
    ],
)
def test_when_criteria_were_met(changes: dict[str, Any], at: float) -> None:
    events = events_of(ticket_of(issue(criteria=(True,), **changes), NOW))
    assert [each.at for each in events if isinstance(each.what, Conformed)] == [at]


def test_steps_after_the_closing_are_none_and_nothing_ends_before_it_began() -> None:
    steps = [TicketStep(at=at, phase="apply", evidence="moved") for at in (1500.0, CLOSED, CLOSED + 1)]
    events = events_of(ticket_of(issue(steps=steps), NOW))
    begun = [each.at for each in events if each.what == PhaseStarted("apply")]
    assert begun == [1500.0, CLOSED]
    early = events_of(ticket_of(issue(closed_at=[("resolved", 1.0)]), NOW))
    assert [each.at for each in early if isinstance(each.what, Ended)] == [OPENED]


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        pytest.param({}, [("completed", None, False)], id="what was done"),
        pytest.param({"abandoned": True}, [("failed", "incomplete", False)], id="what was given up"),
        pytest.param(
            {"abandoned": True, "withdrawn": True}, [("failed", None, True)], id="nobody failed at a duplicate"
        ),
        pytest.param({"closed": None, "abandoned": True, "withdrawn": True}, [], id="an open one has no end"),
    ],
)
def test_as_what_a_ticket_ended(changes: dict[str, Any], ends: list[tuple[str, str | None, bool]]) -> None:
    found = [each.what for each in events_of(ticket_of(issue(**changes), NOW)) if isinstance(each.what, Ended)]
    assert [(each.status, each.failure_type, each.withdrawn) for each in found] == ends


@pytest.mark.parametrize(
    ("changes", "over", "note"),
    [
        pytest.param({}, {}, None, id="what is known already is nothing to say"),
        pytest.param(
            {"closed": None, "reopened": True}, {}, "was reopened; it stays completed here", id="opened again"
        ),
        pytest.param({"closed": None}, {}, "is open in its tracker; it stays completed", id="or never closed there"),
        pytest.param({"abandoned": True}, {}, "was closed as Done on", id="it ended otherwise"),
        pytest.param({"closed_at": [("resolved", 1500.0)]}, {}, "was closed as Done on", id="it ended at another time"),
        pytest.param({"closed_at": [], "updated": []}, {}, None, id="it does not tell when"),
        pytest.param({"abandoned": True}, {"settled": False}, None, id="an end that nobody settled is put right"),
    ],
)
def test_what_is_said_of_a_ticket_whose_deliverable_is_over(
    changes: dict[str, Any], over: dict[str, Any], note: str | None
) -> None:
    known = fold(events_of(ticket_of(issue(), NOW)))
    assert known is not None
    kept, said = since_the_end(ticket_of(issue(**changes), NOW), replace(known, **over), NOW)
    assert (said is None) if note is None else (said is not None and note in said)
    assert any(isinstance(each.what, Ended) and each.what.status == "failed" for each in kept) is (
        "abandoned" in changes and bool(over)
    )
