"""Sources that were given, sources that were not, and the confidence that follows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.claims import (
    MAX_CLAIMS,
    Sources,
    _named,
    cited,
    doubtful,
    mentioned,
    shown,
    takeovers,
    traced,
    usable,
)
from aurora_orchestration.soar.respond import MAX_LISTED, issues_of, respond
from aurora_orchestration.types import (
    AgentResponse,
    AgentTry,
    Check,
    Claim,
    ContextBundle,
    ContextChunk,
    LogSection,
    Output,
    Subgoal,
    SubgoalResult,
    Synthesis,
    Verification,
)

CHUNK = ContextChunk(
    row=7, id="code:src/a.py:load:10-20", type="code", name="load", file="src/a.py", line_start=10, line_end=20,
    score=1.0, tokens=10, content="…",
)  # fmt: skip
CONTEXT = ContextBundle(chunks=(CHUNK,))


def result(name: str, *, status: str = "success", summary: str = "found") -> SubgoalResult:
    output = Output(summary=summary, confidence=0.9) if status == "success" else None
    response = AgentResponse(subgoal_id=name, agent_id="llm-executor", status=status, output=output)  # type: ignore[arg-type]
    return SubgoalResult(subgoal=Subgoal(id=name, description=f"do {name}", agent="llm-executor"), response=response)


@pytest.mark.parametrize(
    ("status", "verdict", "skipped", "use"),
    [
        pytest.param("success", None, False, (True, False), id="what nobody verified is used"),
        pytest.param("success", "pass", False, (True, False), id="what passed"),
        pytest.param("success", "retry", False, (True, True), id="what never passed, with doubt"),
        pytest.param("success", "fail", False, (False, False), id="not what was rejected"),
        pytest.param("error", None, False, (False, False), id="not what went wrong"),
        pytest.param("success", "pass", True, (False, False), id="not what was left out"),
    ],
)
def test_which_steps_an_answer_is_made_of(status: str, verdict: Any, skipped: bool, use: tuple[bool, bool]) -> None:
    judged = Verification(checks={}, overall_score=0.5, verdict=verdict) if verdict is not None else None
    step = msgspec.structs.replace(result("SG1", status=status), verification=judged, skipped=skipped)
    assert (usable(step), doubtful(step)) == use


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("SG1", "SG1"),
        ("SG2", None),  # it failed
        ("SG3", None),
        (CHUNK.id, CHUNK.id),
        ("src/a.py:12", "src/a.py:12"),
        ("./src/a.py:12-14", "src/a.py:12-14"),
        ("`src/a.py#L12-L14`", "src/a.py:12-14"),
        ("src/a.py:12-21", None),
        ("src/a.py:9", None),
        ("src/a.py:14-12", None),
        ("src/b.py:12", None),
        ("src/a.py", None),
        ("", None),
    ],
)
def test_a_source_counts_only_if_it_was_given(source: str, name: str | None) -> None:
    assert Sources((result("SG1"), result("SG2", status="error")), CONTEXT).known(source) == name


def test_a_claim_keeps_its_true_sources_and_one_with_none_is_named() -> None:
    claims = (Claim(text="a", sources=("SG1", "SG9", "src/a.py:12")), Claim(text="b", sources=("SG9",)))
    kept, untraced = traced(claims, Sources((result("SG1"),), CONTEXT))
    assert kept == (Claim(text="a", sources=("SG1", "src/a.py:12")),) and untraced == ("b",)
    assert cited(kept, CONTEXT) == {7}


def test_a_claim_that_names_a_step_alone_gets_the_places_the_step_found() -> None:
    step = result("SG1", summary="It is in `src/a.py:12-14`, not (src/b.py:3); see src/a.py:11.")
    kept, _ = traced((Claim(text="a", sources=("SG1",)),), Sources((step,), CONTEXT))
    assert kept[0].sources == ("SG1", "src/a.py:12-14", "src/a.py:11")
    kept, _ = traced((Claim(text="a", sources=("src/a.py:13", "SG1")),), Sources((step,), CONTEXT))
    assert kept[0].sources == ("src/a.py:13", "SG1")


def test_a_claim_that_names_a_place_and_a_step_gets_none_beside_them_and_of_many_claims_the_first_count() -> None:
    step = result("SG1", summary="It is in src/a.py:12.")
    many = [Claim(text=str(number), sources=("SG1",)) for number in range(2 * MAX_CLAIMS)]
    kept, untraced = traced(many, Sources((step,), CONTEXT))
    assert [each.text for each in kept] == [str(number) for number in range(MAX_CLAIMS)] and not untraced


def test_lines_of_a_conversation_that_was_shown_are_a_source_and_a_text_of_no_file_has_no_lines() -> None:
    log = LogSection(file="log.md", section="Phase 3", line_start=4, line_end=9, content="x", tokens=5, score=0.4)
    nowhere = msgspec.structs.replace(CHUNK, row=8, id="reas:x", file="", line_start=1, line_end=9)
    sources = Sources((), ContextBundle(chunks=(nowhere,), logs=(log,)))
    assert [sources.known(each) for each in ("log.md:5", "log.md:10", ":5")] == ["log.md:5", None, None]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param("It is in ./src/a.py:12.", {7}, id="with a dot before and behind it"),
        pytest.param("See src/a.py:12, and", {7}, id="or a comma"),
        pytest.param(f"({CHUNK.id})", {7}, id="by its id"),
        pytest.param(f"{CHUNK.id}0", set(), id="not by the beginning of a longer one"),
        pytest.param("src/a.py:21", set(), id="nor by lines beyond it"),
    ],
)
def test_which_chunks_a_text_mentions(text: str, rows: set[int]) -> None:
    assert mentioned([text], CONTEXT) == rows


@pytest.mark.parametrize(
    ("tries", "agent", "told"),
    [
        pytest.param([("a", "error", True)], "b", ("agent a failed: oops; b took over",), id="who took over"),
        pytest.param(
            [("b", "error", True)], "b", ("agent b failed: oops; it was asked again",), id="or who tried again"
        ),
        pytest.param([("a", "error", False)], "b", (), id="nothing of who was never asked"),
        pytest.param([("a", "success", True)], "b", (), id="nor of who answered"),
        pytest.param([("a", "error", True)] * 2, "b", ("agent a failed: oops; b took over",), id="each once"),
    ],
)
def test_what_became_of_an_agent_that_failed(
    tries: list[tuple[str, Any, bool]], agent: str, told: tuple[str, ...]
) -> None:
    done = result("SG1")
    failed = tuple(
        AgentTry(agent_id=name, status=status, summary="", error="oops" if status == "error" else None, worked=worked)
        for name, status, worked in tries
    )
    step = msgspec.structs.replace(done, response=msgspec.structs.replace(done.response, agent_id=agent), tries=failed)
    assert takeovers([step]) == told
    if told:
        nobody = msgspec.structs.replace(result("SG1", status="error"), tries=failed[:1])
        assert takeovers([nobody])[0].endswith("; nobody could take over")


def test_people_are_shown_places_first_and_chunks_as_places() -> None:
    found = shown(("SG1", CHUNK.id, "reas:x", "src/a.py:12"), CONTEXT)
    assert found == (f"{CHUNK.file}:{CHUNK.line_start}-{CHUNK.line_end}", "src/a.py:12", "SG1", "reas:x")
    assert shown(("SG1",), None) == ("SG1",)


@pytest.mark.parametrize(
    ("score", "state", "warned"),
    [
        (0.9, "complete", False),
        (0.8, "complete", False),
        (0.75, "complete", True),
        (0.6, "partial", True),
        (0.4, "failed", True),
    ],
)
def test_the_score_decides_how_an_answer_is_given(score: float, state: str, warned: bool) -> None:
    checks = {"consistent": Check(score=score, passed=score >= 0.7, issues=("it contradicts itself",))}
    verdict = "pass" if score >= 0.7 else "retry" if score >= 0.5 else "fail"
    judged = Verification(checks=checks, overall_score=score, verdict=verdict)  # type: ignore[arg-type]
    claims = (Claim(text="a", sources=("SG1",)),)
    synthesis = Synthesis(answer="So.", claims=claims, confidence=0.95, verification=judged)
    response = respond(synthesis, (result("SG1"),), ScoringSettings())
    assert (response.state, bool(response.caveats)) == (state, warned)
    assert response.confidence == pytest.approx(score)
    assert (response.answer == "So.") == (state != "failed")


def test_what_is_missing_lowers_confidence_and_is_said() -> None:
    judged = Verification(checks={}, overall_score=0.9, verdict="pass")
    synthesis = Synthesis(
        answer="So.", claims=(Claim(text="a", sources=("SG1",)),), confidence=0.9, verification=judged
    )
    response = respond(synthesis, (result("SG1"), result("SG2", status="error")), ScoringSettings())
    assert response.state == "partial" and response.confidence == pytest.approx(0.45)
    assert "Not done: do SG2" in response.caveats and "1 of 2 steps" in response.because


@pytest.mark.parametrize(("score", "first"), [(0.6, "Low confidence (0.60)"), (0.75, "Partial success (score 0.75)")])
def test_how_far_an_answer_is_to_be_trusted_is_told_before_what_is_wrong_with_it(score: float, first: str) -> None:
    checks = {"consistent": Check(score=score, passed=False, issues=("it contradicts itself",))}
    judged = Verification(checks=checks, overall_score=score, verdict="retry")
    synthesis = Synthesis(answer="So.", confidence=0.9, verification=judged)
    told = respond(synthesis, (result("SG1"),), ScoringSettings()).caveats
    assert told[0].startswith(first) and told[1:] == ("consistent: it contradicts itself",)


def test_of_many_doubts_the_gravest_are_told() -> None:
    checks = {"consistent": Check(score=0.5, passed=False, issues=("it contradicts itself",))}
    judged = Verification(checks=checks, overall_score=0.6, verdict="retry", critical_issues=("the file is not there",))
    untraced = tuple(f"claim {n}" for n in range(MAX_LISTED))
    synthesis = Synthesis(answer="So.", untraced=untraced, confidence=0.9, verification=judged)
    told = issues_of(synthesis, (result("SG1", status="error"),), judged)
    assert told[:2] == ("the file is not there", "consistent: it contradicts itself") and len(told) == MAX_LISTED
    assert told[-1].endswith(untraced[-3]), "what was not done is told where there is room"


@pytest.mark.parametrize(
    ("agents", "confidence"), [(0.95, 0.9), (0.9, 0.9), (0.5, 0.7), (0.0, 0.45)], ids=["surer", "as", "half", "none"]
)
def test_agents_doubt_lowers_confidence_halfway_and_their_certainty_raises_none(
    agents: float, confidence: float
) -> None:
    judged = Verification(checks={}, overall_score=0.9, verdict="pass")
    synthesis = Synthesis(
        answer="So.", claims=(Claim(text="a", sources=("SG1",)),), confidence=agents, verification=judged
    )
    response = respond(synthesis, (result("SG1"),), ScoringSettings())
    assert response.confidence == pytest.approx(confidence)
    assert ("only" in response.because) is (agents < 0.9)


@pytest.mark.parametrize(
    ("place", "rows"),
    [("src/a.py:10", {7}), ("src/a.py:20", {7}), ("src/a.py:21", set()), ("src/a.py:9", set()), ("b.py:10", set())],
)
def test_a_place_names_the_chunk_that_has_its_line(place: str, rows: set[int]) -> None:
    assert _named({place}, ContextBundle(chunks=(CHUNK,), tokens=10, budget=100)) == rows
