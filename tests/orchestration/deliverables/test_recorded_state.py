"""Choices of what counts as told of a deliverable, a rule each: which saying holds, after which end it can go on."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_deliverables.detection.recorded_state import RecordedState, passed, state_of
from aurora_deliverables.events import (
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    PhaseEnded,
    PhaseStarted,
    Renamed,
    Revived,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)

ASIDE = (ToolCalled("Bash"), TokensUsed(1), SessionJoined("s"), HumanIntervened(), Renamed("other"))


def after(*whats: EventBody | tuple[float, EventBody], source: str = "cli") -> RecordedState:
    """The state after these, each a second after the one before, or at its own time."""
    timed = [each if isinstance(each, tuple) else (float(n), each) for n, each in enumerate(whats, 1)]
    return state_of("x", [Event(f"e{n}", "x", at, what, source=source) for n, (at, what) in enumerate(timed)])


def spec(*values: Any) -> Started:
    return Started(spec_source=SpecSource(*values))


@pytest.mark.parametrize(
    ("events", "member", "value"),
    [
        pytest.param([Started("a"), Started("b")], "description", "b", id="the last description"),
        pytest.param([Started("a"), Started()], "description", "a", id="and none is no description"),
        pytest.param([Started(type="x"), Started(type="y")], "type", "y", id="the last type"),
        pytest.param([Started(author="Ann"), Started(author="Bob")], "author", "Ann", id="but the first author"),
        pytest.param(
            [spec("a", "1", 2), spec("b")], "spec", SpecSource("b", "1", 2), id="of a spec what is said of it"
        ),
        pytest.param(
            [spec("a", "1"), spec(None, "2", 0)], "spec", SpecSource("a", "2", 0), id="no requirement is a number too"
        ),
        pytest.param([(5.0, Started()), (2.0, Started())], "started_at", 2.0, id="the earliest beginning"),
        pytest.param([(5.0, Started()), (2.0, PhaseStarted("apply"))], "told_at", 5.0, id="the latest word"),
        pytest.param(
            [TasksCounted(4, 1), TasksCounted(completed=2)], "tasks_total", 4, id="tasks that nobody counts anew stay"
        ),
        pytest.param([TasksCounted(4, 1), TasksCounted(total=5)], "tasks_completed", 1, id="so do those that are done"),
        pytest.param(
            [Conformed(total_requirements=3), Conformed(completed_requirements=1)],
            "met",
            (1, 3),
            id="each count by itself",
        ),
        pytest.param([PhaseEnded("design")], "phases", frozenset({"design"}), id="a phase that ended had begun"),
        pytest.param([PhaseEnded("design")], "phase", None, id="but is none to be in"),
        pytest.param(
            [PhaseStarted("verify"), PhaseStarted("apply")], "verified", True, id="what was verified once stays so"
        ),
        pytest.param(
            [TestsRan(succeeded=True), PhaseStarted("apply")],
            "tests_passed",
            None,
            id="tests before new work tell nothing",
        ),
        pytest.param([TestsRan(succeeded=True), PhaseStarted("apply")], "tests", 0, id="nor do they count"),
        pytest.param(
            [TestsRan(succeeded=True), PhaseStarted("verify")],
            "tests_passed",
            True,
            id="those before its verification do",
        ),
        pytest.param(
            [(5.0, Started()), (9.0, Ended("failed")), (7.0, Ended("failed"))], "ended_at", 7.0, id="the earliest end"
        ),
        pytest.param([Started(), Ended("failed"), Revived()], "ended", False, id="what goes on has not ended"),
    ],
)
def test_what_is_known_of_a_deliverable(events: list[Any], member: str, value: object) -> None:
    assert getattr(after(*events), member) == value


@pytest.mark.parametrize("what", ASIDE, ids=lambda what: type(what).__name__)
def test_what_says_nothing_of_how_far_it_is_is_no_news(what: EventBody) -> None:
    begun = after(Started())
    assert after(Started(), what) == begun
    first = after(what)
    assert (first.started_at, first.told_at) == (1.0, 0.0), "it begins a deliverable all the same"


@pytest.mark.parametrize(
    ("source", "status", "missed", "archived"),
    [
        pytest.param("openspec", "failed", True, False, id="a change that is missed goes on where it is found"),
        pytest.param("speckit", "failed", True, False, id="so does a feature"),
        pytest.param("markdown", "failed", True, False, id="and a document"),
        pytest.param("git", "failed", False, False, id="not what somebody gave up"),
        pytest.param("openspec", "completed", False, True, id="a change that was archived"),
        pytest.param("git", "completed", False, True, id="also where a commit tells"),
        pytest.param("cli", "completed", False, False, id="not what somebody called complete"),
    ],
)
def test_whose_end_is_not_the_last_word(source: str, status: Any, missed: bool, archived: bool) -> None:
    told = after(Started(), Ended(status), source=source)
    assert (told.ended, told.abandoned, told.archived) == (True, missed, archived)


@pytest.mark.parametrize(
    ("run", "well"),
    [
        pytest.param(TestsRan(failed=1, succeeded=True), False, id="a failure before what the run says"),
        pytest.param(TestsRan(passed=3, failed=0, succeeded=False), False, id="what it says before the counts"),
        pytest.param(TestsRan(passed=3, failed=0), True, id="some passed and none failed"),
        pytest.param(TestsRan(passed=3), None, id="some passed, nobody knows of failures"),
        pytest.param(TestsRan(passed=0, failed=0), None, id="none ran"),
    ],
)
def test_whether_a_test_run_went_well(run: TestsRan, well: bool | None) -> None:
    assert passed(run) is well


def test_all_tasks_are_done_only_where_there_are_some() -> None:
    assert [after(TasksCounted(*each)).all_done for each in ((2, 2), (2, 1), (0, 0))] == [True, False, None]
