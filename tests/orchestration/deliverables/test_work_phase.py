"""Choices of which phase work is in, a rule each: what an edit, a test run and the last checked task begin."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection import work_phase
from aurora_deliverables.detection.recorded_state import RecordedState
from aurora_deliverables.detection.work_phase import edited, finished
from aurora_deliverables.events import PhaseStarted, SpecSource, TestsRan

PLANNED = RecordedState("x", started_at=10.0, phase="tasks", phase_at=10.0, tasks_total=2, tasks_completed=0)
WORKED = replace(PLANNED, phase="apply", phases=frozenset({"apply"}))
TESTED = replace(WORKED, phase="verify", phase_at=100.0)
GOOD, BAD = TestsRan(succeeded=True), TestsRan(failed=1)


def begun(events: list[Any]) -> list[str]:
    return [each.what.phase if isinstance(each.what, PhaseStarted) else "recovery" for each in events]


@pytest.mark.parametrize(
    ("told", "at", "phases"),
    [
        pytest.param(PLANNED, 20.0, ["apply"], id="work begins"),
        pytest.param(WORKED, 20.0, [], id="and goes on"),
        pytest.param(replace(PLANNED, phase="archive"), 20.0, [], id="not in the archive"),
        pytest.param(replace(PLANNED, ended=True), 20.0, [], id="nor after the end"),
        pytest.param(TESTED, 101.0, ["apply"], id="after tests it begins again"),
        pytest.param(replace(TESTED, tests_passed=True), 101.0, ["apply"], id="also where they passed"),
        pytest.param(
            replace(TESTED, tests_passed=False), 101.0, ["apply", "recovery"], id="as a recovery where they failed"
        ),
        pytest.param(TESTED, 100.0, [], id="what is noticed late is what was tested"),
    ],
)
def test_what_an_edit_begins(told: RecordedState, at: float, phases: list[str]) -> None:
    found = edited(["b.py", "a.py"], told, at, "by the branch")
    assert begun(found) == phases
    assert all("a.py and 1 more changed" in (each.evidence or "") for each in found)


@pytest.mark.parametrize(
    ("framework", "tasks", "begins"),
    [
        pytest.param("openspec", None, False, id="a change plans tasks before there is work"),
        pytest.param("speckit", 0, False, id="so does a feature"),
        pytest.param("openspec", 2, True, id="until there are any"),
        pytest.param("markdown", None, True, id="a document does not"),
    ],
)
def test_where_code_that_changes_is_no_work_yet(framework: str, tasks: int | None, begins: bool) -> None:
    told = replace(PLANNED, spec=SpecSource(framework), tasks_total=tasks)
    assert bool(edited(["a.py"], told, 20.0, "x")) is begins
    assert edited(["a.py"], replace(told, phase="verify", phase_at=10.0), 20.0, "x"), "after planning it is"


@pytest.mark.parametrize(
    ("run", "told", "begins"),
    [
        pytest.param(BAD, WORKED, True, id="tests verify work"),
        pytest.param(GOOD, WORKED, False, id="not while tasks are open, where they passed"),
        pytest.param(GOOD, replace(WORKED, tasks_completed=2), True, id="then they verify the whole"),
        pytest.param(GOOD, replace(WORKED, tasks_total=None), True, id="also where there are no tasks"),
        pytest.param(BAD, PLANNED, False, id="not while it is only planned"),
        pytest.param(BAD, replace(PLANNED, phases=frozenset({"apply"})), True, id="unless it was worked on before"),
        pytest.param(BAD, TESTED, False, id="a verification goes on"),
        pytest.param(BAD, replace(WORKED, phase="archive"), False, id="not in the archive"),
        pytest.param(BAD, replace(WORKED, ended=True), False, id="nor after the end"),
    ],
)
def test_what_a_test_run_begins(run: TestsRan, told: RecordedState, begins: bool) -> None:
    assert begun(work_phase.tested(run, told, 20.0)) == (["verify"] if begins else [])


@pytest.mark.parametrize(
    ("told", "verified"),
    [
        pytest.param(replace(WORKED, tasks_completed=2, tests_passed=True), True, id="tests since the last edit did"),
        pytest.param(replace(WORKED, tasks_completed=2), False, id="where there were any"),
        pytest.param(replace(WORKED, tasks_completed=1, tests_passed=True), False, id="of all tasks"),
        pytest.param(replace(TESTED, tasks_completed=2, tests_passed=True), False, id="once"),
        pytest.param(replace(WORKED, tasks_completed=2, tests_passed=True, ended=True), False, id="before the end"),
    ],
)
def test_whether_the_last_task_that_is_checked_was_verified(told: RecordedState, verified: bool) -> None:
    assert bool(finished(told, 20.0)) is verified


def test_no_phase_begins_before_the_one_it_follows() -> None:
    assert [each.at for each in edited(["a.py"], replace(PLANNED, phase_at=50.0), 20.0, "x")] == [50.0]
    assert [each.at for each in work_phase.tested(BAD, replace(WORKED, phase_at=5.0), 6.0)] == [10.0], (
        "nor before the whole"
    )
