"""Choices of how often an answer is tried, a rule each; what a model says and how that is judged is stood in for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.llm.completion import LlmError
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar import synthesize as module
from aurora_orchestration.soar.synthesize import Draft, synthesize
from aurora_orchestration.types import Check, ContextBundle, Synthesis, Verification
from tests.orchestration.runs import SG1, result

Judged = float | LlmError
SETTINGS = replace(ScoringSettings(), max_retries=2)


def judged(score: float) -> Verification:
    verdict: Any = "pass" if score >= 0.7 else "retry" if score >= 0.5 else "fail"
    return Verification(checks={"a": Check(score=score, passed=score >= 0.7)}, overall_score=score, verdict=verdict)


async def answered(
    monkeypatch: pytest.MonkeyPatch, drafts: list[str | LlmError], scores: list[Judged]
) -> tuple[Synthesis, int]:
    """The answer, and how many drafts were asked for."""
    asked = 0

    async def draft(*_: Any) -> Draft:
        nonlocal asked
        asked += 1
        said = drafts[min(asked, len(drafts)) - 1]
        if isinstance(said, LlmError):
            raise said
        return Draft(answer=said, claims=(), confidence=0.9)

    async def verify(*_: Any, **__: Any) -> Verification:
        score = scores[min(asked, len(scores)) - 1]
        if isinstance(score, LlmError):
            raise score
        return judged(score)

    monkeypatch.setattr(module, "ask_for", draft)
    monkeypatch.setattr(module, "verify_synthesis", verify)
    monkeypatch.setattr(module, "_held", lambda verification, *_: verification)
    nobody: Any = None
    made = await synthesize(
        "q", [result(SG1, 0, 1)], ContextBundle(), nobody, SETTINGS, complexity="medium", tell=lambda *_, **__: None
    )
    return made, asked


@pytest.mark.parametrize(
    ("drafts", "scores", "answer", "asked"),
    [
        pytest.param(["a"], [0.9], "a", 1, id="what passes is the answer"),
        pytest.param(["a", "b"], [0.6, 0.9], "b", 2, id="what is fair is mended"),
        pytest.param(["a", "b", "c", "d"], [0.6], "a", 3, id="as often as may be, and of equals the first is given"),
        pytest.param(["a", "b", "c"], [0.6, 0.65, 0.55], "b", 3, id="the best of all that were tried"),
        pytest.param(["a", "b"], [0.4, 0.9], "a", 1, id="what failed is not"),
        pytest.param(["a", LlmError("away")], [0.6], "a", 2, id="what there is, where no other can be had"),
        pytest.param(["a", "b"], [0.6, LlmError("away")], "a", 2, id="what was judged, where the next cannot be"),
        pytest.param(["a"], [LlmError("away")], "a", 1, id="else what nobody judged"),
    ],
)
async def test_which_attempt_is_the_answer(
    monkeypatch: pytest.MonkeyPatch, drafts: list[str | LlmError], scores: list[Judged], answer: str, asked: int
) -> None:
    made, drawn = await answered(monkeypatch, drafts, scores)
    assert (made.answer.partition("\n")[0], drawn) == (answer, asked)
    assert (made.unverified == "away") is isinstance(scores[0], LlmError)


async def test_where_no_draft_can_be_had_the_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LlmError, match="away"):
        await answered(monkeypatch, [LlmError("away")], [0.9])


async def test_the_last_attempt_is_not_told_what_it_lacked(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = await answered(monkeypatch, ["a"], [0.6])
    assert [each.feedback is None for each in made.attempts] == [False, False, True]
