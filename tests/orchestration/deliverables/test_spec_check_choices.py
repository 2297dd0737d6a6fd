"""Choices of what shows that a spec is met, a rule each: tests before tasks, failures before passes, then and now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection.names_in_tests import TestTitle
from aurora_deliverables.detection.spec_check import check, told_by_tests
from aurora_deliverables.detection.spec_criteria import Constraint, Requirement, SpecCriteria, TaskLine, shortened
from aurora_deliverables.events import Criterion, SpecChecked

WANTED = Requirement("Full text search", "s.md", 1, ("Find plural words", "Rank by date"))
KEPT = Constraint("It must not log passwords", "s.md", 5, "log passwords", ("Full text search", "Find plural words"))
PASSED, FAILED = (TestTitle("test_full_text_search", "t.py", 1, outcome) for outcome in (True, False))
UNKNOWN = replace(PASSED, passed=None)
PLURALS, DATES = (TestTitle(f"test_{name}", "t.py", 2, True) for name in ("find_plural_words", "rank_by_date"))
QUIET = TestTitle("does not log passwords", "t.py", 3, True)
BEFORE = Criterion("requirement", WANTED.name, True, "test", "then")
KEPT_BEFORE = Criterion("constraint", KEPT.name, True, "test", "then")


def task(text: str, checked: bool) -> TaskLine:
    return TaskLine(text, "tasks.md", 1, checked)


def found(
    tests: Sequence[TestTitle] = (),
    tasks: Sequence[TaskLine] = (),
    before: Sequence[Criterion] = (),
    *,
    wanted: Any = WANTED,
    failing: bool = False,
) -> Criterion:
    known = {(each.kind, each.name): each for each in before}
    spec = {"requirements": (wanted,)} if isinstance(wanted, Requirement) else {"constraints": (wanted,)}
    criteria: Any = {"tasks": tuple(tasks), "stated": True, **spec}
    (told,) = check(SpecCriteria(**criteria), tests, known, failing=failing).criteria
    return told


@pytest.mark.parametrize(
    ("tests", "tasks", "before", "met", "by"),
    [
        pytest.param([], [], [], None, None, id="what nothing names is unknown"),
        pytest.param([PASSED], [], [], True, "test", id="a test that names it"),
        pytest.param([PASSED, FAILED], [], [], False, "test", id="a failure before a pass"),
        pytest.param([PASSED, replace(DATES, passed=False)], [], [], False, "test", id="also of a scenario of it"),
        pytest.param([PLURALS, DATES], [], [], True, "test", id="all of its scenarios"),
        pytest.param([PLURALS], [], [], None, None, id="not one of them alone"),
        pytest.param([PASSED], [task("Full text search", False)], [], True, "test", id="a test before a task"),
        pytest.param(
            [UNKNOWN], [task("Full text search", True)], [], True, "task", id="a test with an outcome, that is"
        ),
        pytest.param([], [task("Full text search", True)], [], True, "task", id="a task that names it"),
        pytest.param([], [task("Rank by date", False)], [], False, "task", id="or a scenario of it"),
        pytest.param(
            [], [task("Full text search", True), task("Rank by date", False)], [], False, "task", id="open before done"
        ),
        pytest.param([], [task("Write it", True)], [], True, "task", id="every task, where all are done"),
        pytest.param(
            [], [task("Write it", True), task("Mend it", False)], [], None, None, id="and not where one is open"
        ),
        pytest.param([], [], [BEFORE], True, "test", id="what tests told before holds"),
        pytest.param([UNKNOWN], [], [BEFORE], True, "test", id="while nobody knows how they went"),
        pytest.param([FAILED], [], [BEFORE], False, "test", id="until they tell otherwise"),
        pytest.param([PLURALS], [], [BEFORE], None, None, id="or ran in part"),
        pytest.param([], [task("Full text search", False)], [BEFORE], True, "test", id="before what tasks tell now"),
    ],
)
def test_whether_a_requirement_is_met(
    tests: list[TestTitle], tasks: list[TaskLine], before: list[Criterion], met: bool | None, by: str | None
) -> None:
    told = found(tests, tasks, before)
    assert (told.met, told.by) == (met, by)


def test_what_is_to_go_away_is_shown_by_tasks_alone() -> None:
    gone = replace(WANTED, removed=True)
    assert found([PASSED], wanted=gone).met is None
    assert found([FAILED], [task("Full text search", True)], [BEFORE], wanted=gone).by == "task"


@pytest.mark.parametrize(
    ("tests", "tasks", "before", "kept", "by"),
    [
        pytest.param([], [], [], None, None, id="what nothing tells is unknown"),
        pytest.param([QUIET], [], [], True, "test", id="a test that it is not done"),
        pytest.param([TestTitle("logs passwords", "", 0, True)], [], [], None, None, id="not one that it is"),
        pytest.param(
            [TestTitle("it must not log passwords", "", 0, True)], [], [], True, "test", id="one that says its sentence"
        ),
        pytest.param([PLURALS], [], [], True, "test", id="or the scenario that it stands in"),
        pytest.param([QUIET, replace(PLURALS, passed=False)], [], [], False, "test", id="a failure before a pass"),
        pytest.param([], [task("It must not log passwords", True)], [], True, "task", id="a task that says it"),
        pytest.param([], [task("It must not log passwords", False)], [], None, None, id="an open one tells nothing"),
        pytest.param(
            [],
            [task("do not log passwords", False), task("it must not log passwords", True)],
            [],
            True,
            "task",
            id="its sentence before its words",
        ),
        pytest.param([], [], [KEPT_BEFORE], True, "test", id="what tests told before"),
        pytest.param([replace(QUIET, passed=False)], [], [KEPT_BEFORE], False, "test", id="until they tell otherwise"),
    ],
)
def test_whether_a_constraint_is_kept(
    tests: list[TestTitle], tasks: list[TaskLine], before: list[Criterion], kept: bool | None, by: str | None
) -> None:
    told = found(tests, tasks, before, wanted=KEPT)
    assert (told.met, told.by) == (kept, by)


def test_a_constraint_of_a_requirement_that_tests_show_is_kept_with_it_and_what_was_told_before_comes_first() -> None:
    spec = SpecCriteria((WANTED,), (replace(KEPT, within=(WANTED.name,)),), stated=True)
    _, kept = check(spec, [PASSED], {}).criteria
    assert kept.met is True and "its requirement is met: t.py:1 test_full_text_search passed" in (kept.evidence or "")
    _, kept = check(spec, [PASSED], {("constraint", KEPT.name): replace(KEPT_BEFORE, met=False)}).criteria
    assert kept.met is False
    done = replace(spec, tasks=(task("Full text search", True),))
    assert check(done, [], {}).criteria[1].met is None, "a box that is checked shows nothing of it"


def test_where_tests_failed_unnamed_tests_that_passed_still_tell_and_tasks_do_not() -> None:
    assert found([PASSED], failing=True).met is True
    doubted = found([], [task("Full text search", True)], failing=True)
    assert (doubted.met, doubted.by) == (None, None) and "but tests failed" in (doubted.evidence or "")
    assert found([], [task("Full text search", False)], failing=True).met is False, "an open one is open"


def test_only_what_tests_told_is_told_again() -> None:
    by_task = Criterion("requirement", "other", True, "task", "x")
    assert list(told_by_tests(SpecChecked((BEFORE, by_task)))) == [("requirement", WANTED.name)]
    assert told_by_tests(None) == {}


def test_a_name_of_just_the_length_that_may_be_stays_whole() -> None:
    assert shortened("x" * 200) == "x" * 200
    assert shortened("x" * 201) == "x" * 199 + "…"
