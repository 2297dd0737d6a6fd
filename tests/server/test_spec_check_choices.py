"""Choices of what tests tell of a spec, a rule each: those of a report by name, else all that are there, or before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables.detection import junit
from aurora_deliverables.detection.names_in_tests import TestTitle
from aurora_deliverables.detection.recorded_state import RecordedState
from aurora_deliverables.detection.spec_criteria import Requirement, SpecCriteria, TaskLine
from aurora_deliverables.events import Criterion, Event, SpecChecked, TestsRan
from aurora_server.workspace import spec_checks
from aurora_server.workspace.spec_checks import SpecChecks, _placed

NAME = "Full text search"
BEFORE = SpecChecked((Criterion("requirement", NAME, True, "test", "then"),))
IN_FILE = TestTitle("test_full_text_search", "tests/test_a.py", 3)


async def looked(
    monkeypatch: pytest.MonkeyPatch,
    runs: list[tuple[TestsRan, str]],
    ran: list[TestTitle],
    *,
    checked: bool = False,
    known: SpecChecked | None = None,
    stated: bool = True,
) -> Criterion | None:
    """What is found of one requirement, of which a test in a file is named and one task is checked, or not."""
    events = [Event(f"e{n}", "x", float(n), run, source=source) for n, (run, source) in enumerate(runs)]

    async def answer(*_: Any) -> Any:
        return []

    async def state(_: str) -> RecordedState:
        return RecordedState("x", checked=known)

    async def told(_: str) -> list[Event]:
        return events

    monkeypatch.setattr(spec_checks, "_titles_of_tests", lambda *_: [IN_FILE])
    open_: Any = SimpleNamespace(known=state, deliverables=SimpleNamespace(events=told))
    none: Any = None
    store: Any = SimpleNamespace(read=answer)
    tasks = (TaskLine(NAME, "tasks.md", 1, True),) if checked else ()
    criteria = SpecCriteria((Requirement(NAME, "s.md", 1),), tasks=tasks, stated=stated)
    seen: Any = SimpleNamespace(criteria=criteria)
    found = await SpecChecks(Path("/w"), store, none, open_).checked("x", seen, ran)
    return found.criteria[0] if found is not None else None


GOOD, BAD = (TestsRan(succeeded=True), "claude-code"), (TestsRan(failed=1), "claude-code")
REPORTED = (TestsRan(failed=1), junit.SOURCE)


@pytest.mark.parametrize(
    ("runs", "ran", "more", "met", "by"),
    [
        pytest.param([], [], {}, None, None, id="where none ran nothing is known"),
        pytest.param([GOOD], [], {}, True, "test", id="where nothing failed, what is named there passed"),
        pytest.param([BAD, GOOD], [], {}, True, "test", id="the last run counts"),
        pytest.param([GOOD, BAD], [], {}, None, None, id="where something failed nobody knows what"),
        pytest.param([BAD], [], {"checked": True}, None, None, id="so that no box tells either"),
        pytest.param(
            [REPORTED],
            [TestTitle("other", "", 0, False)],
            {"checked": True},
            True,
            "task",
            id="a report says which failed",
        ),
        pytest.param([REPORTED], [TestTitle(NAME, "", 0, True)], {}, True, "test", id="and which passed"),
        pytest.param([REPORTED], [], {"known": BEFORE}, True, "test", id="what it told before holds"),
        pytest.param([BAD], [], {"known": BEFORE}, None, None, id="but not where nobody told which ran"),
    ],
)
async def test_what_tests_tell_of_a_requirement(
    runs: list[tuple[TestsRan, str]], ran: list[TestTitle], more: dict[str, Any], met: bool | None, by: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    found = await looked(monkeypatch, runs, ran, **more)
    assert found is not None and (found.met, found.by) == (met, by)


async def test_of_what_states_nothing_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await looked(monkeypatch, [GOOD], [], stated=False) is None


def test_of_several_runs_of_one_test_the_worst_counts_and_a_report_names_it_at_its_end() -> None:
    ran = [TestTitle(f"tests.test_a.TestPage test_full_text_search[{n}]", "", 0, n != 1) for n in range(3)]
    placed = _placed(ran, [IN_FILE, TestTitle("test_other", "tests/test_a.py", 9)])
    assert [(each.title, each.passed) for each in placed[:1]] == [("test_full_text_search", False)]
    assert placed[1:] == ran, "what is in no report is left out"
