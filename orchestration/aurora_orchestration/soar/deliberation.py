"""Deliberation (option C, multi-agent debate): three paths made independently, a debate, and a judge who picks or
merges (AURORA §5.1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from aurora_orchestration.llm.completion import BadReply, Llm, Truncated
from aurora_orchestration.llm.structured import ask_for, ask_judge
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.calibration import examples
from aurora_orchestration.soar.decompose import BODY_SCHEMA, built, decompose
from aurora_orchestration.soar.decomposition_checks import check
from aurora_orchestration.soar.prompt_format import agents_data, context_data, decomposition_data, question
from aurora_orchestration.soar.replies import Plea, Ruling, judged, verdict_schema
from aurora_orchestration.soar.scores import below_pass, judge, stricter, verdict
from aurora_orchestration.soar.verify import CHECKS, Verified, rules
from aurora_orchestration.types import Agent, Complexity, ContextBundle, Decomposition, RetryFeedback, Verification

STANCES = (
    "Favour the shortest way: the fewest subgoals that still cover everything.",
    "Favour safety: look for what can go wrong, and give prevention, checks and a way back their place.",
    "Favour evidence: find out first what is the case, and let every later subgoal rest on what was found.",
)
"""What the three paths favour, so that they differ for a reason and not by chance."""

CALLS = 2 * len(STANCES) + 1
"""Most calls of one deliberation: a path and a plea per stance, and the judge."""


async def deliberate(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
    feedback: RetryFeedback | None = None,
) -> Verified:
    """The judge's decomposition and its verdict, held down by the rules; at most `CALLS` calls.

    A path whose reply cannot be used drops out; raises `BadReply` when all do. A judge who is not confident of the
    own choice passes nothing.
    """
    paths = await _paths(query, context, agents, llm, settings, complexity, feedback)
    found = [await asyncio.to_thread(check, path, query, context, agents, settings) for path in paths]
    if all(one.critical_issues for one in found):
        best = max(range(len(paths)), key=lambda number: found[number].overall_score)
        return Verified(paths[best], replace(found[best], by="option_c"))  # nobody is paid to debate broken paths
    pleas = await asyncio.gather(*(_plea(number, paths, found, query, llm) for number in range(len(paths))))
    ruling = await _ruling(paths, found, pleas, query, context, agents, llm, settings, complexity)
    return await _concluded(ruling, paths, found, query, context, agents, settings, complexity)


async def _paths(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    complexity: Complexity,
    feedback: RetryFeedback | None,
) -> list[Decomposition]:
    """Candidate plans, made independently and at once, one for each stance; those that failed are left out."""
    made = await asyncio.gather(
        *(
            decompose(query, context, agents, llm, settings, complexity=complexity, feedback=feedback, stance=stance)
            for stance in STANCES
        ),
        return_exceptions=True,
    )
    failed = [one for one in made if isinstance(one, BaseException)]
    for error in failed:
        if not isinstance(error, (BadReply, Truncated)):
            raise error
    paths = [one for one in made if isinstance(one, Decomposition)]
    if not paths:
        raise failed[0]
    return paths


async def _plea(
    number: int, paths: Sequence[Decomposition], found: Sequence[Verification], query: str, llm: Llm
) -> Plea:
    """Argument of an advocate for one path."""
    ask = question(
        "verify",
        "advocate a path",
        "You are the advocate of one of several plans. You argue hard and honestly.",
        f"Argue for path {number + 1}: what it does better, what the others miss, and what must be conceded.",
        rules={"your_path": number + 1},
        schema={"strengths": ["string"], "weaknesses_of_others": ["string"], "concessions": ["string"]},
        data={"query": query, "paths": _shown(paths, found)},
    )
    try:
        return await ask_for(llm, ask, Plea)
    except (BadReply, Truncated):
        return Plea(strengths=())


async def _ruling(
    paths: Sequence[Decomposition],
    found: Sequence[Verification],
    pleas: Sequence[Plea],
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    complexity: Complexity,
) -> Ruling:
    """Verdict of the judge of the debate: a path, or a merged one."""
    ask = question(
        "verify",
        "judge the debate",
        "You are the judge of a debate between plans. You owe nothing to any of them.",
        "Choose the best path by its number, or 0 and merge the best of several into `merged`. Score the decomposition"
        " you chose or merged, and say how sure you are of the choice.",
        rules={
            **rules(settings),
            "confidence": "how sure you are, 0.0-1.0; evenly matched paths mean little confidence",
        },
        schema={
            "chosen": f"0-{len(paths)}",
            "merged": {"only with chosen 0, else null": BODY_SCHEMA},
            "reason": "string",
            "confidence": "0.0-1.0",
            **verdict_schema(*CHECKS),
        },
        data={
            "query": query,
            "context": context_data(context),
            "available_agents": agents_data(agents),
            "paths": _shown(paths, found),
            "pleas": [{"path": number + 1, "plea": plea} for number, plea in enumerate(pleas)],
        },
        examples=examples(settings.calibration_examples, "decomposition_verification", complexity).shown,
    )
    return await ask_judge(llm, ask, Ruling)


async def _concluded(
    ruling: Ruling,
    paths: Sequence[Decomposition],
    found: Sequence[Verification],
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    settings: ScoringSettings,
    complexity: Complexity,
) -> Verified:
    """Outcome of the debate, verified by rules."""
    told: list[str] = []
    best = max(range(len(paths)), key=lambda number: found[number].overall_score)
    if ruling.chosen == 0 and ruling.merged is not None:
        chosen = built(ruling.merged, query, complexity)
        checked = await asyncio.to_thread(check, chosen, query, context, agents, settings)
        if checked.critical_issues and not found[best].critical_issues:
            told.append(f"the merged path is broken ({checked.critical_issues[0]}); path {best + 1} was taken")
            chosen, checked = paths[best], found[best]
    elif 1 <= ruling.chosen <= len(paths):
        chosen, checked = paths[ruling.chosen - 1], found[ruling.chosen - 1]
    else:
        told.append(f"the judge chose {ruling.chosen}, which is no path; path {best + 1} was taken")
        chosen, checked = paths[best], found[best]
    weights = settings.weighted_scoring.decomposition
    result = judge(judged(ruling.verification), weights, settings, by="option_c")
    result = stricter(checked, result, weights, settings)
    sure = min(1.0, max(0.0, ruling.confidence))
    score = result.overall_score
    if sure < settings.retry_threshold and result.verdict == "pass":
        score = min(score, below_pass(settings))
        told.append(f"the judge is only {sure:.2f} sure of its choice: it does not pass")
    elif sure > score + 0.2:
        told.append(f"the judge is {sure:.2f} sure of what scores {score:.2f}")
    final = replace(result, overall_score=score, verdict=verdict(score, settings), notices=(*result.notices, *told))
    return Verified(chosen, final)


def _shown(paths: Sequence[Decomposition], found: Sequence[Verification]) -> list[dict[str, Any]]:
    return [
        {
            "path": number + 1,
            "decomposition": decomposition_data(path),
            "known_issues": list(found[number].critical_issues),
        }
        for number, path in enumerate(paths)
    ]
