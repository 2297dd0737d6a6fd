"""Acts that an answer claims: what nobody did, and that it was verified, is told of it and is never a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.claimed_acts import claimed_acts
from aurora_orchestration.soar.verify_synthesis import precheck
from aurora_orchestration.types import AgentResponse, Output, Subgoal, SubgoalResult
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.orchestration.soar.test_run import MEDIUM, TWO

CLAIMED = (
    "I have edited src/cart.py.",
    "I've just implemented retries for it.",
    "I added a helper to `expand`.",
    "Successfully refactored both functions.",
    "Retries have now been implemented.",
    "All 48 tests pass.",
    "329/329 tests passing",
    "Tests are passing now.",
)
OF_ITSELF = (
    "VERIFIED: expand fills the template.",
    "The verdict is pass.",
    '{"overall_score": 1.0}',
    "This answer was carefully verified.",
    "It was approved by an independent judge.",
)
TOLD = (
    "The cache is added when the session starts.",
    "I looked at `expand` and found nothing else.",
    "I added nothing.",
    "It has been changed since 2.0.",
    "All tests pass through `conftest.py`.",
    "Once you have edited it, all tests pass.",
    "I have not run the tests.",
    "The tests pass a `Request`.",
    "The file has been merged into `b.py`.",
)


@pytest.mark.parametrize("sentence", CLAIMED)
def test_what_a_model_without_tools_says_it_did_was_not_done(sentence: str) -> None:
    assert list(claimed_acts("how?", f"Expand fills it. {sentence}", acted=False)) == [sentence]
    assert not list(claimed_acts("how?", sentence, acted=True))


@pytest.mark.parametrize("sentence", OF_ITSELF)
def test_no_answer_says_of_itself_that_it_was_verified(sentence: str) -> None:
    assert list(claimed_acts("how?", sentence, acted=True)) == [sentence]
    assert not list(claimed_acts("what does the verdict say, how is it scored?", sentence, acted=True))


@pytest.mark.parametrize("sentence", TOLD)
def test_who_tells_of_an_act_does_not_claim_it(sentence: str) -> None:
    assert not list(claimed_acts("how?", sentence, acted=False))


@pytest.mark.parametrize(("agent", "passes"), [("llm-executor", False), ("coder", True)])
def test_who_can_act_may_say_that_he_did(agent: str, passes: bool) -> None:
    said = "I have edited expand in src/template.py, as was asked for."
    response = AgentResponse(
        subgoal_id="SG1", agent_id=agent, status="success", output=Output(summary=said, confidence=0.9)
    )
    result = SubgoalResult(subgoal=Subgoal(id="SG1", description="edit expand", agent=agent), response=response)
    found = precheck("edit expand", (result,), said, (), ScoringSettings())
    assert (found.overall_score >= ScoringSettings().cache_threshold) is passes
    assert any("nobody did that" in issue for issue in found.critical_issues) is not passes


CLAIM = {
    "answer": "I have edited request and expand. All 48 tests pass.",
    "claims": [{"text": "request and expand are edited.", "sources": ["SG1", "SG2"]}],
    "confidence": 0.9,
}
"""An answer that claims what was not done."""


class _Editing(Mind):
    """Gives its subgoals to `editor`."""

    def body(self, query: str) -> dict[str, Any]:
        body = super().body(query)
        for each in body["subgoals"]:
            each["agent"] = "editor"
        return body


async def test_agents_kept_as_markdown_cannot_have_done_what_they_say(tmp_path: Path) -> None:
    """They are the model with an instruction: what they claim is judged as what it claims."""
    folder = tmp_path / "workspace" / ".claude" / "agents"
    folder.mkdir(parents=True)
    front = "---\nname: editor\ndescription: Explains, compares and edits templates and requests\n---\n"
    (folder / "editor.md").write_text(f"{front}You edit the code as you are told to.\n")
    mind = _Editing(TWO)
    mind.instead["synthesize"] = lambda request: CLAIM
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
    assert {result.response.agent_id for result in run.results} == {"editor"}
    assert run.score is not None and run.score < 0.7
    assert run.learned is None or not run.learned.is_pattern


async def test_an_answer_that_claims_a_change_is_neither_passed_nor_learned(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.instead["synthesize"] = lambda request: CLAIM
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
            assert run.score is not None and run.score < 0.7
            assert run.learned is None or not run.learned.is_pattern
