"""Deliverables of a list: which of them are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_request import ListRequest
from aurora_deliverables.events import AgentIdentity, Ended, Event, Started
from aurora_deliverables.reducer import fold
from aurora_deliverables.selection import doers, select

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


@pytest.mark.parametrize(
    ("since", "until", "listed"),
    [
        pytest.param(
            "1970-01-13T00:00:00Z", None, {"ended", "open"}, id="what ended in that moment was under way in it"
        ),
        pytest.param("1970-01-13T00:00:01Z", None, {"open"}, id="not what ended before"),
        pytest.param(None, "1970-01-11T00:00:00Z", {"ended", "open"}, id="and so was what began in the last one"),
        pytest.param(None, "1970-01-10T23:59:59Z", {"open"}, id="not what began later"),
    ],
)
def test_both_ends_of_a_span_belong_to_it(since: str | None, until: str | None, listed: set[str]) -> None:
    known = [lasted("ended", 10, 12), lasted("open", 5, None)]
    asked = ListRequest(since=since, until=until)
    assert {each.change_id for each in select(known, asked)} == listed


def test_what_is_told_of_a_change_after_its_end_does_not_put_it_under_way() -> None:
    ended = replace(lasted("ended", 10, 12), updated_at=20 * DAY)
    assert select([ended], ListRequest(since="1970-01-15T00:00:00Z")) == []


def test_what_was_touched_last_comes_first_and_of_one_moment_by_name() -> None:
    known = [lasted(name, begun, over) for name, begun, over in (("b", 1, 3), ("c", 1, 4), ("a", 2, 3), ("d", 2, None))]
    assert [each.change_id for each in select(known, ListRequest())] == ["c", "a", "b", "d"]


KNOWN = replace(
    lasted("add-search", 1, 2),
    description="Finds words in the Catalogue",
    author="Ann",
    names=("lookup",),
    agent=AgentIdentity("claude-code", "opus"),
)
NOBODYS = lasted("fix-total", 1, None)


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        pytest.param({}, ["add-search", "fix-total"], id="everything"),
        pytest.param({"status": "open"}, ["fix-total"], id="open is whatever is not over"),
        pytest.param({"status": "completed"}, ["add-search"], id="a status"),
        pytest.param({"status": "failed"}, [], id="of which there may be none"),
        pytest.param({"agent": "claude-code"}, ["add-search"], id="an agent"),
        pytest.param({"agent": "claude"}, [], id="by its whole name"),
        pytest.param({"agent": "unknown"}, ["fix-total"], id="of which nobody told the agent"),
        pytest.param({"model": "unknown"}, ["fix-total"], id="of which nobody told the model"),
        pytest.param({"search": "catalogue OPUS"}, ["add-search"], id="every word somewhere, in any case"),
        pytest.param({"search": "ann lookup"}, ["add-search"], id="by author and former name"),
        pytest.param({"search": "d-sea claude"}, ["add-search"], id="by id and agent"),
        pytest.param({"search": "catalogue total"}, [], id="not one word here and one there"),
        pytest.param({"search": "wordsin"}, [], id="words as they stand"),
        pytest.param({"search": "  "}, ["add-search", "fix-total"], id="no words ask for everything"),
        pytest.param({"kind": "run"}, [], id="questions only where they are asked for"),
    ],
)
def test_what_a_list_holds(asked: dict[str, Any], listed: list[str]) -> None:
    assert sorted(each.change_id for each in select([KNOWN, NOBODYS], ListRequest(**asked))) == listed


def test_what_failed_is_over_like_what_was_completed() -> None:
    failed = replace(lasted("x", 1, 2), status="failed")
    assert select([failed], ListRequest(status="open")) == []
    assert select([failed], ListRequest(since="1970-01-15T00:00:00Z")) == []


def test_questions_are_listed_by_their_kind_alone() -> None:
    question = replace(lasted("q", 1, None), kind="run")
    assert select([question, NOBODYS], ListRequest(kind="run")) == [question]
    assert select([question], ListRequest()) == []


def test_doers_are_told_once_and_in_their_order() -> None:
    others = [
        replace(NOBODYS, agent=AgentIdentity(name, model)) for name, model in (("b", "y"), ("a", "x"), ("b", None))
    ]
    assert doers([*others, NOBODYS]) == (["a", "b"], ["x", "y"])
