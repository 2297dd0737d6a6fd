"""Choices of what a run teaches, a rule each: which runs teach at all, with what score, and how their agents did."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.soar.record import FAILED, KEPT, judged, lesson_of, outcomes
from aurora_orchestration.types import (
    AgentMetadata,
    AgentResponse,
    AgentTry,
    ContextBundle,
    Output,
    SubgoalResult,
    Synthesis,
    Verification,
)
from tests.orchestration.runs import SG1, SG2, result, run, verification

RUN = run()
assert RUN.plan is not None and RUN.synthesis is not None
NO_PLAN = replace(RUN.plan, verification=Verification(checks={}, overall_score=0.69, verdict="retry"))


def scored(score: float) -> Synthesis:
    return Synthesis(answer="So.", verification=verification(score))


@pytest.mark.parametrize(
    ("changed", "teaches"),
    [
        pytest.param({}, True, id="what was judged"),
        pytest.param({"synthesis": Synthesis(answer="So.")}, False, id="not what nobody judged"),
        pytest.param({"context": None}, False, id="not what was given nothing"),
        pytest.param({"from_memory": "reas:x"}, False, id="not what memory answered"),
        pytest.param({"mode": "headless"}, True, id="a step of a loop that went well"),
        pytest.param({"mode": "headless", "synthesis": scored(KEPT)}, True, id="or well enough"),
        pytest.param(
            {"mode": "headless", "synthesis": scored(KEPT - 0.01)},
            False,
            id="not one that failed: its goal is tried again",
        ),
        pytest.param({"synthesis": scored(KEPT - 0.01)}, True, id="a question that failed is a hard one"),
        *(
            pytest.param({"state": state}, False, id=f"not what was left: {state}")
            for state in ("cancelled", "interrupted", "blocked", "no_provider", "dry_run")
        ),
    ],
)
def test_which_runs_teach_anything(changed: dict[str, Any], teaches: bool) -> None:
    assert (lesson_of(run(**changed)) is not None) is teaches


@pytest.mark.parametrize(
    ("changed", "score"),
    [
        pytest.param({}, 0.93, id="the answer's"),
        pytest.param(
            {"synthesis": None, "plan": NO_PLAN, "results": ()},
            FAILED,
            id="of a plan that never passed no more than a failure's",
        ),
        pytest.param({"plan": NO_PLAN}, 0.93, id="the answer's before its plan's"),
        pytest.param({"synthesis": None, "results": ()}, None, id="none of a plan that passed and was not carried out"),
        pytest.param({"synthesis": None, "plan": NO_PLAN}, None, id="none where agents were at work"),
    ],
)
def test_with_what_score_a_run_is_learned(changed: dict[str, Any], score: float | None) -> None:
    assert judged(run(**changed)) == score


def test_a_pattern_is_as_hard_as_its_plan_and_has_its_tools_in_the_order_in_which_they_were_used() -> None:
    later, sooner = result(SG1, 9.0, 1.0), result(SG2, 1.0, 1.0)
    tools = AgentMetadata(tools_used=("grep", "grep"), model_used="m")
    sooner = replace(sooner, response=replace(sooner.response, metadata=tools))
    lesson = lesson_of(run(results=(later, sooner), complexity="simple"))
    assert lesson is not None and lesson.complexity == "complex"
    assert lesson.tool_sequence == ("grep", "grep", "read", "edit"), "each use"
    assert [(each.subgoal, each.tools) for each in lesson.tools_used] == [("SG1", ("read", "edit")), ("SG2", ("grep",))]
    assert [each.agent for each in lesson.subgoals] == ["llm-executor", "coder"]
    for changed, complexity in (({"complexity": "medium"}, "medium"), ({"complexity": None}, "complex")):
        without = lesson_of(run(plan=None, **changed))
        assert without is not None and without.complexity == complexity


def tried(agent: str, verdict: Any = None, *, worked: bool = True) -> AgentTry:
    judgement = Verification(checks={}, overall_score=0.5, verdict=verdict) if verdict else None
    return AgentTry(agent_id=agent, status="success", summary="", verification=judgement, worked=worked)


def done(agent: str, verdict: Any, *tries: AgentTry, output: bool = True, skipped: str = "") -> SubgoalResult:
    said = Output(summary="x", confidence=0.9) if output else None
    response = AgentResponse(subgoal_id="SG1", agent_id=agent, status="success", output=said)
    judgement = Verification(checks={}, overall_score=0.9, verdict=verdict) if verdict else None
    return SubgoalResult(subgoal=SG1, response=response, verification=judgement, tries=tries, skipped=skipped)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        pytest.param(done("a", "pass", tried("a", "pass")), [("a", True)], id="what passed"),
        pytest.param(done("a", None, tried("a")), [("a", True)], id="what nobody judged is taken as it is"),
        pytest.param(done("a", "retry", tried("a", "retry")), [("a", False)], id="what is doubtful is no success"),
        pytest.param(
            done("b", "pass", tried("a", "fail"), tried("b", "pass")), [("a", False), ("b", True)], id="each who tried"
        ),
        pytest.param(
            done("b", "pass", tried("a"), tried("b", "pass")),
            [("a", False), ("b", True)],
            id="who gave way unjudged did not do it",
        ),
        pytest.param(
            done("a", "pass", tried("a", "retry"), tried("a", "pass")), [("a", True)], id="one each, by the last try"
        ),
        pytest.param(
            done("a", "pass", tried("b", "pass", worked=False), tried("a", "pass")),
            [("a", True)],
            id="not who was never asked",
        ),
        pytest.param(done("a", None), [("a", True)], id="of what has no tries its answer"),
        pytest.param(done("a", None, output=False), [("a", False)], id="or that it has none"),
        pytest.param(done("a", None, tried("a"), skipped="needs SG0"), [], id="nothing of what was not begun"),
    ],
)
def test_how_agents_did(given: SubgoalResult, found: list[tuple[str, bool]]) -> None:
    assert list(outcomes([given])) == found


def test_nothing_is_taught_of_chunks_where_none_was_given() -> None:
    lesson = lesson_of(run(context=ContextBundle()))
    assert lesson is not None and lesson.retrieved == ()
