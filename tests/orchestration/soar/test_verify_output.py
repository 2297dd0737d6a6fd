"""Outputs and the final answer: rules first, then a judge who cannot talk a score up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.verify_output import precheck, verify_output
from aurora_orchestration.soar.verify_synthesis import precheck as precheck_answer
from aurora_orchestration.soar.verify_synthesis import sourceless, verify_synthesis
from aurora_orchestration.types import AgentResponse, Claim, Output, Subgoal, SubgoalResult, Verification
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.planned import bundle, llm_of, scores

SETTINGS = ScoringSettings()
SUBGOAL = Subgoal(id="SG1", description="Find where uploads are validated", agent="code-analyst")
GOOD = "Uploads are validated in upload.py:88 by check_upload, for size and type."
OUTPUT_CHECKS = "relevance completeness groundedness"
ANSWER_CHECKS = "addresses_query traceable consistent calibrated"


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as provider:
        yield provider


def response(summary: str = GOOD, confidence: float = 0.8, **changed: Any) -> AgentResponse:
    data = changed.pop("data", {})
    plain = {
        "subgoal_id": "SG1",
        "agent_id": "code-analyst",
        "status": "success",
        "output": Output(summary=summary, confidence=confidence, data=data),
    }
    return AgentResponse(**(plain | changed))


def test_a_specific_output_passes() -> None:
    assert precheck(SUBGOAL, response(), SETTINGS).verdict == "pass"


@pytest.mark.parametrize(
    ("given", "issue"),
    [
        (response(status="error", output=None, error="timed out"), "the agent failed: timed out"),
        (response(" … "), "the summary is empty"),
        (response("Done."), "a summary of 1 words"),
        (response("Find where uploads are validated"), "only repeats the subgoal"),
        (response("I cannot access the repository, so this is to be done later."), "did not do it"),
        (response("uploads are validated in several places of the code", 0.95), "nothing shown for it"),
        (response(subgoal_id="SG9"), "the response is on SG9"),
    ],
)
def test_unusable_outputs_are_named(given: AgentResponse, issue: str) -> None:
    found = precheck(SUBGOAL, given, SETTINGS)
    assert found.verdict != "pass" and any(issue in one for one in found.critical_issues), found


async def test_no_judge_is_paid_for_simple_questions_or_failed_agents(provider: LoopbackProvider) -> None:
    llm = llm_of(provider)
    await verify_output(SUBGOAL, response(), llm, SETTINGS, complexity="simple", attempt=0)
    failed = response(status="error", output=None)
    found = await verify_output(SUBGOAL, failed, llm, SETTINGS, complexity="critical", attempt=0)
    assert found.verdict == "fail" and provider.requests == []


async def test_a_judge_of_outputs_is_computed_with_not_believed(provider: LoopbackProvider) -> None:
    provider.script(scores(0.3, OUTPUT_CHECKS, overall_score=0.99, verdict="pass"))
    found = await verify_output(SUBGOAL, response(), llm_of(provider), SETTINGS, complexity="medium", attempt=1)
    assert (found.verdict, found.by) == ("fail", "option_a") and len(found.notices) == 2
    (request,) = provider.requests
    assert request.json["attempt"] == 1 and request.json["data"]["agent_response"]["output"]["summary"] == GOOD
    assert len(request.json["calibration_examples"]) == 2


def result(summary: str = GOOD, confidence: float = 0.8) -> SubgoalResult:
    return SubgoalResult(subgoal=SUBGOAL, response=response(summary, confidence))


def answered(answer: str, *claims: Claim, **more: Any) -> Verification:
    return precheck_answer(
        "Where are uploads validated?", [result()], answer, claims, SETTINGS, context=bundle(), **more
    )


def test_an_answer_from_its_sources_passes() -> None:
    found = answered(
        "Uploads are validated by `check_upload` in upload.py:88.", Claim(text="check_upload does it", sources=("SG1",))
    )
    assert found.overall_score == 1.0, found


@pytest.mark.parametrize(
    ("answer", "check", "word"),
    [
        ("", "addresses_query", "empty"),
        ("The weather is fine.", "addresses_query", "nothing that the query names"),
        ("Uploads are validated in storage/limits.py.", "traceable", "storage/limits.py"),
        ("Uploads are validated by `sanitize_all`.", "traceable", "sanitize_all"),
        ("Uploads are validated up to 4711 bytes.", "traceable", "4711"),
    ],
)
def test_what_no_source_says_is_found(answer: str, check: str, word: str) -> None:
    found = answered(answer)
    assert found.checks[check].score < 0.7 and any(word in issue for issue in found.checks[check].issues), found


def test_claims_need_a_source_that_exists() -> None:
    claims = [
        Claim(text="one", sources=("SG1",)),
        Claim(text="two", sources=("src/api/middleware.py:7",)),
        Claim(text="three", sources=("code:src/api/middleware.py:RequestPipeline:1-20",)),
        Claim(text="four", sources=("upload.py:88",)),
        Claim(text="five", sources=("SG7", "src/api/middleware.py:900", "nowhere")),
        Claim(text="six", sources=()),
        Claim(text="seven", sources=("src/api/middleware.py",)),
    ]
    assert [claim.text for claim in sourceless(claims, [result()], bundle())] == ["five", "six"]


def test_claims_that_deny_each_other_do_not_pass() -> None:
    found = answered(
        "Uploads are validated.",
        Claim(text="Upload validation is enabled for avatars", sources=("SG1",)),
        Claim(text="Upload validation is disabled for avatars", sources=("SG1",)),
    )
    assert found.verdict != "pass" and "contradict" in found.critical_issues[0]


def test_an_answer_may_not_be_surer_than_its_sources() -> None:
    assert answered("Uploads are validated in upload.py.", confidence=0.85).checks["calibrated"].score == 1.0
    assert answered("Uploads are validated in upload.py.", confidence=1.0).checks["calibrated"].score < 0.7
    unsure = precheck_answer(
        "Where are uploads validated?", [result(confidence=0.4)], "Uploads are definitely validated.", (), SETTINGS
    )
    assert unsure.checks["calibrated"].score == 0.5


async def test_a_judge_of_answers_cannot_raise_what_rules_found(provider: LoopbackProvider) -> None:
    provider.script(scores(1.0, ANSWER_CHECKS))
    found = await verify_synthesis(
        "Where are uploads validated?",
        [result()],
        "Uploads are validated in storage/limits.py.",
        (),
        llm_of(provider),
        SETTINGS,
        complexity="complex",
        context=bundle(),
        confidence=0.8,
    )
    assert found.checks["traceable"].score < 0.7 and found.by == "option_b"
    assert provider.requests[0].json["data"]["stated_confidence"] == 0.8
