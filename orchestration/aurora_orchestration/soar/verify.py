"""Phase 4 (plan verification, critic): is the decomposition any good (AURORA §5.1, §8.4)? Rules first; a model is paid
only for what they pass.

Option A asks the same model to review itself. Option B asks a critic, has the generator answer the critique, and checks
again. Option C is in `deliberation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.llm.structured import ask_judge
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.calibration import examples
from aurora_orchestration.soar.decompose import decompose
from aurora_orchestration.soar.decomposition_checks import check
from aurora_orchestration.soar.feedback import feedback_for
from aurora_orchestration.soar.prompt_format import agents_data, context_data, decomposition_data, question
from aurora_orchestration.soar.replies import Critique, DecompositionVerdict, Weakness, judged, verdict_schema
from aurora_orchestration.soar.scores import By, judge, stricter
from aurora_orchestration.types import (
    Agent,
    Complexity,
    ContextBundle,
    Decomposition,
    FeedbackIssue,
    RetryFeedback,
    Verification,
    VerificationOption,
)

CHECKS = {
    "completeness": "Do the subgoals together cover everything the query asks for?",
    "consistency": "Does any subgoal contradict another or the query, or wait for itself in a circle?",
    "groundedness": "Does each subgoal rest on given facts, and does each fact stand in the query or the context?",
    "routability": "Can the agent named for each subgoal do it?",
}
_WHO = {
    "option_a": "You review a plan of your own making, as strictly as if a stranger had made it.",
    "option_b": "You are a sceptic who is paid for finding what is wrong with plans: hidden assumptions, gaps, leaps.",
    "option_c": "You are a sceptic who is paid for finding what is wrong with plans: hidden assumptions, gaps, leaps.",
}


class Verified(Struct, frozen=True):
    """A decomposition as it stands after verification (critique may have changed it), and its verdict."""

    decomposition: Decomposition
    verification: Verification


async def verify(
    decomposition: Decomposition,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    option: VerificationOption,
    complexity: Complexity,
) -> Verification:
    """Judge a decomposition as it is: one call, or none where rules already find something critical."""
    found = await asyncio.to_thread(check, decomposition, query, context, agents, settings)
    if found.critical_issues:
        return found
    if option == "option_a":
        return await _reviewed(decomposition, found, query, context, agents, llm, settings, complexity)
    return (await _criticised(decomposition, found, query, context, agents, llm, settings, complexity, option))[0]


async def verify_a(
    decomposition: Decomposition,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
) -> Verified:
    """Option A (self-critique): the model reviews its own decomposition. At most one call."""
    verification = await verify(
        decomposition, query, context, agents, llm, settings, option="option_a", complexity=complexity
    )
    return Verified(decomposition, verification)


async def verify_b(
    decomposition: Decomposition,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
) -> Verified:
    """Option B: critic, revision that answers the critique, re-check. At most three calls.

    Without any weakness, the first verdict stands. Of the two decompositions the better one is given back.
    """
    found = await asyncio.to_thread(check, decomposition, query, context, agents, settings)
    if found.critical_issues:
        return Verified(decomposition, found)
    first, weaknesses = await _criticised(
        decomposition, found, query, context, agents, llm, settings, complexity, "option_b"
    )
    if first.verdict == "fail" or (first.verdict == "pass" and not weaknesses):
        return Verified(decomposition, first)
    revised = await decompose(
        query,
        context,
        agents,
        llm,
        settings,
        complexity=complexity,
        feedback=_answering(first, weaknesses, settings),
        previous=decomposition,
    )
    second = await verify(revised, query, context, agents, llm, settings, option="option_b", complexity=complexity)
    if second.overall_score >= first.overall_score:
        return Verified(revised, second)
    return Verified(decomposition, first)


def _answering(verification: Verification, weaknesses: Sequence[Weakness], settings: ScoringSettings) -> RetryFeedback:
    """The critique as feedback, every weakness an issue."""
    feedback = feedback_for(verification, "decomposition", 1, settings)
    listed = tuple(
        FeedbackIssue(
            check="critique",
            score=verification.overall_score,
            issue=f"{one.where}: {one.problem}",
            suggestion=one.remedy,
        )
        for one in weaknesses
    )
    return RetryFeedback(
        attempt=1,
        previous_score=feedback.previous_score,
        issues=(*listed, *feedback.issues),
        instruction="A critic names these weaknesses. Answer each: change the decomposition, or leave it where the"
        " critic is wrong. Keep what is right.",
    )


async def _reviewed(
    decomposition: Decomposition,
    found: Verification,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    complexity: Complexity,
) -> Verification:
    """Verdict of a model as judge on a decomposition."""
    ask = question(
        "verify",
        "verify decomposition",
        _WHO["option_a"],
        "Judge whether the decomposition is complete and sound. Do not solve the query.",
        rules=rules(settings),
        schema=verdict_schema(*CHECKS),
        data=_data(decomposition, query, context, agents),
        examples=examples(settings.calibration_examples, "decomposition_verification", complexity).shown,
    )
    reply = await ask_judge(llm, ask, DecompositionVerdict)
    weights = settings.weighted_scoring.decomposition
    return stricter(found, judge(judged(reply.verification), weights, settings, by="option_a"), weights, settings)


async def _criticised(
    decomposition: Decomposition,
    found: Verification,
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    complexity: Complexity,
    by: By,
) -> tuple[Verification, tuple[Weakness, ...]]:
    """Verdict of an adversarial critic (red team), and the weaknesses it names."""
    ask = question(
        "verify",
        "criticise decomposition",
        _WHO["option_b"],
        "Attack the decomposition: name every hidden assumption, gap, leap and other reading of the query that it"
        " misses. Then score it as it stands. Do not solve the query. No weakness is better than an invented one.",
        rules=rules(settings),
        schema={
            "weaknesses": [{"where": "a subgoal's id, or whole", "problem": "string", "remedy": "string"}],
            **verdict_schema(*CHECKS),
        },
        data=_data(decomposition, query, context, agents),
        examples=examples(settings.calibration_examples, "decomposition_verification", complexity).shown,
    )
    reply = await ask_judge(llm, ask, Critique)
    weights = settings.weighted_scoring.decomposition
    verification = stricter(found, judge(judged(reply.verification), weights, settings, by=by), weights, settings)
    return verification, reply.weaknesses


def rules(settings: ScoringSettings) -> dict[str, Any]:
    """The checks and thresholds a judge of decompositions is told."""
    return {
        "checks": CHECKS,
        "scoring": {
            "0.9-1.0": "nothing to mend",
            "0.7-0.9": "small things",
            "0.5-0.7": "has to be mended",
            "0.0-0.5": "unusable",
        },
        "verdict_rules": {
            "pass": f"overall_score >= {settings.pass_threshold:g}",
            "retry": f"overall_score from {settings.retry_threshold:g} up to that",
            "fail": "less",
        },
    }


def _data(decomposition: Decomposition, query: str, context: ContextBundle, agents: Sequence[Agent]) -> dict[str, Any]:
    return {
        "query": query,
        "decomposition": decomposition_data(decomposition),
        "context": context_data(context),
        "available_agents": agents_data(agents),
    }
