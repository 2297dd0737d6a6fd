"""Choices of what is given for an answer, a rule each: where thresholds end, what is told and what is not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.respond import MAX_LISTED, from_context, from_results, issues_of, respond
from aurora_orchestration.types import (
    AgentTry,
    Check,
    Claim,
    ContextBundle,
    LogSection,
    SubgoalResult,
    Synthesis,
    Verification,
)
from tests.orchestration.soar.test_claims import CHUNK, result

SETTINGS = ScoringSettings()
PASS, RETRY, CACHE = SETTINGS.pass_threshold, SETTINGS.retry_threshold, SETTINGS.cache_threshold
DONE = result("SG1")
FAILED = result("SG2", status="error")
DOUBTED = msgspec.structs.replace(DONE, verification=Verification(checks={}, overall_score=0.6, verdict="retry"))


def judged(score: float, **more: Any) -> Verification:
    return Verification(overall_score=score, verdict="pass", **{"checks": {}, **more})


def answer(score: float | None, **more: Any) -> Synthesis:
    verification = judged(score) if score is not None else None
    claims = (Claim(text="a", sources=("SG1",)),)
    return Synthesis(**{"answer": "So.", "claims": claims, "confidence": 0.9, "verification": verification, **more})


@pytest.mark.parametrize(
    ("score", "state", "first"),
    [
        pytest.param(RETRY - 0.01, "failed", None, id="below the least there is no answer"),
        pytest.param(RETRY, "partial", "Low confidence", id="from it on there is one, with a warning"),
        pytest.param(PASS - 0.01, "partial", "Low confidence", id="up to where answers pass"),
        pytest.param(PASS, "complete", "Partial success", id="there it is whole, and not kept"),
        pytest.param(CACHE - 0.01, "complete", "Partial success", id="up to where answers are kept"),
        pytest.param(CACHE, "complete", None, id="and then nothing is to be said of it"),
    ],
)
def test_each_threshold_belongs_to_the_better_side(score: float, state: str, first: str | None) -> None:
    given = respond(answer(score), (DONE,), SETTINGS)
    assert given.state == state
    assert (given.answer == "So.") is (state != "failed")
    assert (given.caveats[0].startswith(first) if first else not given.caveats) is True


@pytest.mark.parametrize(
    ("steps", "more", "told"),
    [
        pytest.param((DONE,), {}, (), id="nothing of what is in order"),
        pytest.param((DONE, FAILED), {}, ("Not done: do SG2",), id="what was not done"),
        pytest.param((DOUBTED,), {}, ("Doubtful: do SG1",), id="what is doubtful"),
        pytest.param(
            (DONE,), {"untraced": ("b",)}, ("Nothing that was given supports: b",), id="what rests on nothing"
        ),
    ],
)
def test_what_a_good_answer_lacks_is_told(
    steps: tuple[SubgoalResult, ...], more: dict[str, Any], told: tuple[str, ...]
) -> None:
    assert respond(answer(0.95, **more), steps, SETTINGS).caveats == told


def test_who_took_over_is_told_after_what_is_wrong() -> None:
    broke = AgentTry(agent_id="finder", status="error", summary="", error="signal 11", worked=True)
    step = msgspec.structs.replace(DONE, tries=(broke,))
    told = respond(answer(0.95, untraced=("b",)), (step,), SETTINGS).caveats
    assert told == ("Nothing that was given supports: b", "Agent finder failed: signal 11; llm-executor took over")


def test_an_answer_that_nobody_judged_says_why_where_there_is_one() -> None:
    given = respond(answer(None, unverified="no judge"), (DONE,), SETTINGS)
    assert (given.state, given.caveats, given.because) == (
        "partial",
        ("The answer was not verified: no judge",),
        "not verified: no judge",
    )
    given = respond(answer(None), (FAILED,), SETTINGS)
    assert (given.state, given.caveats, given.because) == ("failed", (), "not verified: no step gave anything to judge")


def test_the_gravest_doubts_come_first_then_those_of_the_checks_by_name_and_each_once() -> None:
    checks = {
        name: Check(score=0.5, passed=False, issues=(f"in {name}", f"in {name}"))
        for name in ("traceable", "consistent")
    }
    found = issues_of(answer(0.6), (DONE,), judged(0.6, checks=checks, critical_issues=("grave",)))
    assert found == ("grave", "consistent: in consistent", "traceable: in traceable")
    twice = tuple(f"{n // 2}" for n in range(4 * MAX_LISTED))
    assert len(issues_of(answer(0.6), (), judged(0.6, critical_issues=twice))) == MAX_LISTED, "of those that differ"


def test_without_a_reliable_answer_what_is_wrong_and_what_was_found_are_both_told() -> None:
    told = respond(answer(0.1, untraced=("b",)), (DONE, FAILED), SETTINGS).answer.split("\n")
    wrong, found = (
        told.index("What is wrong with the best attempt:"),
        told.index("What the steps found, unjudged as a whole:"),
    )
    assert 0 < wrong < found and "- do SG1: found" in told[found:] and "--verification option_c" in told[-1]


def test_what_memory_knows_of_a_question_code_before_conversations() -> None:
    log = LogSection(file="log.md", section="Login", line_start=1, line_end=5, score=0.5, tokens=5, content="x")
    said = from_context(ContextBundle(chunks=(CHUNK,), logs=(log,))).splitlines()
    assert said[1:] == ["src/a.py:10-20  load", "log.md:1-5  Login"]
    assert "log.md:1-5" in from_context(ContextBundle(logs=(log,))), "conversations alone are something too"
    assert from_context(None) == from_context(ContextBundle()) == "Memory holds nothing about this."
    chunks = tuple(msgspec.structs.replace(CHUNK, row=n, id=str(n)) for n in range(2 * MAX_LISTED))
    assert len(from_context(ContextBundle(chunks=chunks)).splitlines()) == 1 + MAX_LISTED


def test_a_step_that_was_rejected_found_nothing() -> None:
    verdict = Verification(checks={}, overall_score=0.1, verdict="fail")
    rejected = msgspec.structs.replace(DONE, verification=verdict)
    assert from_results((DONE, rejected)).count("- do SG1") == 1
    assert from_results((rejected, FAILED)) == ""
