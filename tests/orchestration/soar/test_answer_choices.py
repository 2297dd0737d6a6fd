"""Choices on the way from findings to an answer, a rule each: which try is the step's, what is passed, what is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.settings import ScoringSettings, SoarSettings
from aurora_orchestration.soar import run_executors
from aurora_orchestration.soar.claims import Sources
from aurora_orchestration.soar.collect import _failed, _Run, _Shares, _Try, outcome_of
from aurora_orchestration.soar.retrieve import _repeats, is_weak, mixed
from aurora_orchestration.soar.synthesize import Draft, DraftClaim, _feedback, _held, _synthesis, missing_of
from aurora_orchestration.types import (
    AgentResponse,
    Check,
    Claim,
    ContextBundle,
    LogSection,
    Output,
    SubgoalResult,
    Synthesis,
    Verification,
)
from tests.orchestration.runs import SG1, result
from tests.orchestration.soar.test_retrieve import chunk

SCORING = ScoringSettings()


def judged(score: float, verdict: Any = "pass", *issues: str) -> Verification:
    checks = {"calibrated": Check(score=score, passed=True)}
    return Verification(checks=checks, overall_score=score, verdict=verdict, critical_issues=issues)


def answered(*, output: bool = True, error: str | None = None, confidence: float = 0.9) -> AgentResponse:
    said = Output(summary="done", confidence=confidence) if output else None
    return AgentResponse(subgoal_id="SG1", agent_id="coder", status="success", output=said, error=error)


# The step's answer


@pytest.mark.parametrize(
    ("output", "verdict", "outcome"),
    [
        pytest.param(False, judged(0.9), "reject", id="no answer is none, whatever is said of it"),
        pytest.param(True, None, "pass", id="one that nobody could judge is taken as it is"),
        pytest.param(True, judged(0.1), "pass", id="what its judge passed is passed"),
        pytest.param(True, judged(SCORING.retry_threshold, "retry"), "retry", id="what is fair is tried again"),
        pytest.param(True, judged(SCORING.retry_threshold - 0.01, "retry"), "reject", id="what is less is not"),
    ],
)
def test_what_becomes_of_an_answer(output: bool, verdict: Verification | None, outcome: str) -> None:
    assert outcome_of(answered(output=output), verdict, SCORING) == outcome


@pytest.mark.parametrize(
    ("score", "failed"), [(SCORING.retry_threshold - 0.01, True), (SCORING.retry_threshold, False)]
)
def test_a_fair_answer_is_gone_on_with(score: float, failed: bool) -> None:
    given = SubgoalResult(subgoal=SG1, response=answered(), verification=judged(score, "retry"))
    assert _failed(given, SCORING) is failed
    assert (
        _failed(replace(given, skipped="needs SG0"), SCORING)
        and _failed(replace(given, verification=None), SCORING) is False
    )


@pytest.mark.parametrize(
    ("tries", "best"),
    [
        pytest.param([0.4, 0.8, 0.6], 1, id="the one that scores best"),
        pytest.param([0.8, 0.8], 1, id="of equals the last, which was told what the first lacked"),
        pytest.param([None, 0.1], 1, id="any answer before none"),
    ],
)
def test_which_try_is_the_steps_answer(tries: list[float | None], best: int) -> None:
    made = [
        _Try(replace(answered(output=each is not None), agent_id=f"a{n}"), None if each is None else judged(each))
        for n, each in enumerate(tries)
    ]
    run = _Run.__new__(_Run)
    run._settings, run._now, run._tell = SoarSettings(), lambda: 5.0, lambda *_, **__: None  # type: ignore[assignment]
    assert run._result(SG1, made, 1.0).response.agent_id == f"a{best}"


def test_an_answer_that_nobody_judged_is_worth_what_its_agent_says() -> None:
    assert _Try(answered(confidence=0.7), None).score == 0.7
    assert _Try(answered(confidence=0.7), judged(0.2)).score == 0.2
    assert _Try(answered(output=False), judged(0.2)).score == 0.0


@pytest.mark.parametrize(
    ("wave", "replaceable", "seconds"),
    [
        pytest.param(0, False, 40, id="each wave has as much as every other"),
        pytest.param(1, False, 80, id="what the first left is the next one's"),
        pytest.param(1, True, 40, id="half where another may have to do it after all"),
    ],
)
def test_how_long_an_agent_may_take(
    wave: int, replaceable: bool, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    assert _Shares(100.0, 2).of(wave, replaceable=replaceable) == pytest.approx(seconds)
    assert _Shares(None, 2).of(wave, replaceable=replaceable) is None
    assert _Shares(0.1, 2).of(wave, replaceable=replaceable) == 1.0, "a second is the least that is of use"


# The answer


def test_why_a_step_gave_nothing_is_told_by_what_came_first() -> None:
    """It was not begun, it ended badly, it was found wanting; else it was rejected."""
    verdict = judged(0.1, "fail", "a", "b", "c", "d")
    nothing = SubgoalResult(subgoal=SG1, response=answered(output=False))
    whys = [
        why
        for given in (
            replace(nothing, skipped="needs SG0", response=answered(output=False, error="broke"), verification=verdict),
            replace(nothing, response=answered(output=False, error="broke"), verification=verdict),
            replace(nothing, verification=verdict),
            nothing,
        )
        for _, why in missing_of([given])
    ]
    assert whys == ["needs SG0", "broke", "a; b; c", "its output was rejected"]


def draft(confidence: float, text: str = "It works.") -> Draft:
    return Draft(answer=text, claims=(DraftClaim(text="It works.", sources=("nowhere",)),), confidence=confidence)


def test_no_answer_is_surer_than_what_it_is_made_of_and_what_is_missing_stands_below_it() -> None:
    sources = Sources([result(SG1, 0, 1)], ContextBundle())
    assert [_synthesis(draft(each), sources, (), 0.6).confidence for each in (0.9, 0.3)] == [0.6, 0.3]
    told = _synthesis(draft(0.9, "  "), sources, (("Test it", "broke"),), 0.6).answer
    assert told == "(an empty answer)\n\nNot answered:\n- Test it (broke)"


@pytest.mark.parametrize(
    ("verdict", "claims", "unjudged", "then", "score"),
    [
        pytest.param(judged(0.9), True, False, "pass", 0.9, id="what names its sources is passed"),
        pytest.param(judged(0.9), False, False, "retry", 0.69, id="what names none is not"),
        pytest.param(judged(0.3, "fail"), False, False, "fail", 0.3, id="which makes nothing better"),
        pytest.param(judged(0.9), True, True, "pass", 0.79, id="what nobody judged is not kept for later"),
    ],
)
def test_what_is_held_of_a_judges_verdict(
    verdict: Verification, claims: bool, unjudged: bool, then: str, score: float
) -> None:
    step = result(SG1, 0, 1)
    synthesis = Synthesis(answer="x", claims=(Claim(text="x", sources=("SG1",)),) if claims else ())
    held = _held(verdict, synthesis, [replace(step, verification=None) if unjudged else step], SCORING)
    assert held.verdict == then and held.overall_score == pytest.approx(score, abs=0.011)


def test_of_claims_that_rest_on_nothing_ten_are_told_to_be_mended() -> None:
    synthesis = Synthesis(answer="x", untraced=tuple(f"claim {n}" for n in range(12)))
    told = [
        each.issue
        for each in _feedback(judged(0.5, "retry"), synthesis, 1, SCORING).issues
        if each.check == "traceable"
    ]
    assert len(told) == 10 and told[0].endswith("claim 0")


# Context


def test_of_one_chunk_that_came_twice_the_first_is_told() -> None:
    """It was chosen for the whole budget, the other for a share of it."""
    whole, part = chunk(1, 0.9, content="whole"), chunk(1, 0.9, content="part")
    assert [each.content for each in mixed([[whole], [part]], (), 1000, 10).chunks] == ["whole"]


def test_code_and_a_document_on_the_same_lines_are_two() -> None:
    one, other = chunk(1, 0.9, file="a.md"), chunk(2, 0.8, "know", file="a.md", content="other")
    assert not _repeats(one, other) and _repeats(one, replace(other, type="code"))
    assert _repeats(one, replace(other, content=one.content)), "but not where they say the same"


def test_what_is_chosen_for_its_type_stands_where_its_score_puts_it() -> None:
    found = mixed([[chunk(1, 0.6), chunk(2, 0.9, "know"), chunk(3, 0.7, "reas")]], (), 1000, 10)
    assert [each.row for each in found.chunks] == [2, 3, 1]


def test_of_what_fits_as_many_chunks_are_taken_as_may_be() -> None:
    found = mixed([[chunk(1, 0.9), chunk(2, 0.8), chunk(3, 0.7)]], (), 12_000, 2)
    assert [each.row for each in found.chunks] == [1, 2]


def test_code_has_its_share_before_patterns_and_patterns_before_documents() -> None:
    """Of one chunk more than may be, the one whose type is served last is left out."""
    kinds = [chunk(1, 0.6), chunk(2, 0.7, "reas"), chunk(3, 0.8, "know")]
    assert {each.row for each in mixed([kinds], (), 12_000, 2).chunks} == {1, 2}


def test_a_summary_keeps_no_secret_either() -> None:
    (kept,) = mixed([[chunk(1, 0.9, summary="key sk-abcdefghijklmnopqrstuvwx123456")]], (), 1000, 10).chunks
    assert "abcdefghij" not in kept.summary


@pytest.mark.parametrize(("score", "weak"), [(0.5, False), (0.49, True)])
def test_even_odds_are_good(score: float, weak: bool) -> None:
    assert is_weak("expand template", [chunk(1, score)]) is weak


def test_a_share_of_a_type_is_never_more_than_what_logs_left() -> None:
    logs = [LogSection(file="l", section="s", line_start=1, line_end=2, content="x", tokens=25, score=0.9)]
    found = mixed([[chunk(1, 0.9, tokens=50), chunk(2, 0.8, tokens=50)]], logs, 100, 10)
    assert (len(found.chunks), found.tokens) == (1, 75)


@pytest.mark.parametrize("guarded", [True, False])
async def test_agents_are_guarded_where_nobody_watches_and_only_then(
    guarded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the guard goes with them."""
    told: list[str] = []

    async def guard_of(*_: Any, **__: Any) -> Any:
        told.append("guarded")
        return SimpleNamespace(remove=lambda: told.append("removed"))

    monkeypatch.setattr(run_executors, "guard_of", guard_of)
    monkeypatch.setattr(run_executors, "Executors", lambda *_, **given: told.append(str(given["guard"] is not None)))
    services: Any = SimpleNamespace(home=tmp_path, workspace=tmp_path, environ={}, now=None, trusted=True)
    async with run_executors.executors_of(services, SoarSettings(), "r", tmp_path / "a", guarded=guarded):
        pass
    assert told == (["guarded", "True", "removed"] if guarded else ["False"])
