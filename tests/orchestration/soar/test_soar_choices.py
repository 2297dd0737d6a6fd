"""Choices of a question's nine phases, a rule each: what is told first, what is no contradiction, what is left out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_memory.learning import Feedback, Learned
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.answer_cache import cacheable, files_of, same_question
from aurora_orchestration.soar.contradictions import opposed
from aurora_orchestration.soar.follow_up import follow_up
from aurora_orchestration.soar.phases import _without_plan
from aurora_orchestration.soar.sessions import Remembered
from aurora_orchestration.types import Check, ContextBundle, Verification
from tests.orchestration.nobody import ask_nobody
from tests.orchestration.runs import ASKED, SG1, result, run
from tests.orchestration.soar.test_retrieve import chunk


def check(score: float, *issues: str, detail: str = "", passed: bool = False) -> Check:
    return Check(score=score, passed=passed, detail=detail, issues=issues)


@pytest.mark.parametrize(
    ("checks", "critical", "told"),
    [
        pytest.param({}, (), "its checks scored too low", id="where nobody said why, that it scored too low"),
        pytest.param({"a": check(0.1, "x")}, ("broken",), "broken", id="what is critical alone"),
        pytest.param({"a": check(0.3, "x"), "b": check(0.2, "y")}, (), "b: y; a: x", id="the worst check first"),
        pytest.param({"b": check(0.2, "y"), "a": check(0.2, "x")}, (), "a: x; b: y", id="of two as bad by name"),
        pytest.param({"a": check(0.2, "x", detail="d")}, (), "a: x", id="a check's issues and not its detail"),
        pytest.param({"a": check(0.2, detail="d")}, (), "a: d", id="its detail where it names no issue"),
        pytest.param(
            {"a": check(0.8, detail="fine", passed=True), "b": check(0.9, "y", passed=True)},
            (),
            "b: y",
            id="of a check that passed its issues, but not that it is fine",
        ),
        pytest.param({"a": check(0.2, *"123456")}, (), "a: 1; a: 2; a: 3; a: 4; a: 5", id="five at most"),
    ],
)
def test_why_no_plan_was_sound(checks: dict[str, Check], critical: tuple[str, ...], told: str) -> None:
    said: dict[str, Any] = {}
    verdict = Verification(checks=checks, overall_score=0.25, verdict="fail", critical_issues=critical)
    run: Any = SimpleNamespace(set=lambda **given: said.update(given))
    planned: Any = SimpleNamespace(verification=verdict)
    context: Any = None
    _without_plan(run, planned, context)
    assert said["error"] == f"no sound plan was found (score 0.25): {told}"
    assert said["state"] == "failed"


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        pytest.param(
            "Never log the requests", "Log the requests to a file", True, id="what one refuses, the other does"
        ),
        pytest.param("Never log the requests", "Count the requests, but never log", False, id="both refuse it"),
        pytest.param("Never log the requests", "Show the errors", False, id="it is about something else"),
        pytest.param(
            "Rename the requests; if they are old, never log the requests",
            "Log the requests to a file",
            True,
            id="the refusal stands at a clause's beginning",
        ),
        pytest.param("Never log stale requests", "Log the requests to a file", False, id="what is outdated may go"),
    ],
)
def test_two_steps_contradict_each_other_where_one_does_what_the_other_refuses(
    one: str, other: str, against: bool
) -> None:
    assert bool(opposed(one, other)) == bool(opposed(other, one)) == against


KEEP, DROP = "Retain the existing audit log table", "Delete the audit log table"


@pytest.mark.parametrize(
    ("after", "against"),
    [
        pytest.param(False, True, id="of two that follow in no order one undoes the other, whatever they say is old"),
        pytest.param(True, False, id="where one follows the other, what is outdated by then may go"),
    ],
)
def test_what_is_said_to_be_old_may_go_later_and_not_at_any_time(after: bool, against: bool) -> None:
    assert bool(opposed(KEEP, DROP, after=after)) == bool(opposed(DROP, KEEP, after=after)) == against


@pytest.mark.parametrize(
    ("message", "verdicts", "forgotten"),
    [
        pytest.param("No, that's not right.", ["incorrect"], True, id="denied"),
        pytest.param("Try again", ["insufficient"], True, id="not good enough"),
        pytest.param("Thanks, perfect!", ["praised"], False, id="praised"),
        pytest.param("And what of nested templates?", [], False, id="gone on from"),
    ],
)
async def test_an_answer_that_was_found_wanting_is_not_given_again(
    message: str, verdicts: list[str], forgotten: bool
) -> None:
    """What memory learned of it is judged, and who asks the same once more is answered anew."""
    previous = Remembered(query="q?", answer="a", run_id="r-1", complexity="medium", reasoning_id="reas:1")
    forgot, judged = list[str](), list[str]()

    async def judge(feedback: Feedback) -> None:
        judged.append(feedback.verdict)

    services: Any = SimpleNamespace(
        workspace="/w",
        sessions=SimpleNamespace(last=lambda *_: previous),
        store=SimpleNamespace(answers=SimpleNamespace(forget=forgot.append)),
        memory=SimpleNamespace(judge=judge),
        now=lambda: 0.0,
    )
    trace: Any = SimpleNamespace(tell=lambda *_, **__: None, notice=lambda *_: None)
    request = RunRequest(query=message, session="s")
    await follow_up(
        message, request, services, SignalSettings(), (), trace, ask_user=ask_nobody, cancel_earlier=lambda: False
    )
    assert (judged, forgot) == (verdicts, ["q?"] if forgotten else [])


READ = result(SG1, 1.0, 1.0)
READ = replace(READ, response=replace(READ.response, metadata=replace(READ.response.metadata, tools_used=())))
"""A step that only read."""


SYNTHESIS = run().synthesis
assert SYNTHESIS is not None


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        pytest.param({}, True, id="the answer of a run that proved good and only read"),
        pytest.param({"mode": "headless"}, False, id="not an experiment's: it is run to do something"),
        pytest.param({"state": "partial"}, False, id="not one in part"),
        pytest.param({"score": None}, False, id="not one that nobody scored"),
        pytest.param(
            {"synthesis": replace(SYNTHESIS, untraced=("b",))}, False, id="not one of which something rests on nothing"
        ),
        pytest.param({"answer": ""}, False, id="not an empty one"),
        pytest.param({"learned": Learned(outcome="partial", reasoning_id="reas:a")}, False, id="not one half proved"),
        pytest.param({"results": (result(SG1, 1.0, 1.0),)}, False, id="not where a step used tools"),
        pytest.param(
            {"results": (replace(READ, response=replace(READ.response, agent_id="coder")),)},
            False,
            id="not where an agent of the user's worked on it",
        ),
        pytest.param(
            {"results": (replace(READ, response=replace(READ.response, user_interactions=(ASKED,))),)},
            False,
            id="not where somebody was asked meanwhile",
        ),
    ],
)
def test_which_answers_may_be_given_again(changed: dict[str, Any], kept: bool) -> None:
    made = run(**({"results": (READ,), "mode": "user_invoked"} | changed))
    assert (cacheable(made, {"src/auth.py": "digest"}) is not None) == kept
    assert cacheable(made, {}) is None, "nothing that tells whether it still holds"


def test_which_files_an_answer_depends_on(tmp_path: Path) -> None:
    """Those it was shown something of, each once; not those that a pattern was learned from."""
    (tmp_path / "a.py").write_text("x")
    shown, learned = chunk(1, 0.9, file="a.py"), chunk(2, 0.9, "reas", file="gone.py")
    assert list(files_of(ContextBundle(chunks=(shown, learned, shown)), tmp_path) or ()) == ["a.py"]
    assert files_of(ContextBundle(chunks=(learned,)), tmp_path) is None, "nothing tells whether it still holds"
    assert files_of(ContextBundle(chunks=(shown, chunk(3, 0.9, file="gone.py"))), tmp_path) is None


def test_a_question_is_the_same_in_other_case_spacing_and_mark_at_its_end_only() -> None:
    assert (
        len({same_question(each) for each in ("Where is it?", " where  IS it ", "Where is it!", "where is it.")}) == 1
    )
    assert same_question("where is it now?") != same_question("where is it?")
