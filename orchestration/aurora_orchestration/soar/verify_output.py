"""Verification of an agent's output (output validation): is it an answer to its subgoal (AURORA §8.5)? Rules first, a
model as judge from medium complexity upward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from aurora_memory.tokens import terms
from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.llm.structured import ask_judge
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.calibration import examples
from aurora_orchestration.soar.concepts import PROCESS, telling
from aurora_orchestration.soar.prompt_format import question
from aurora_orchestration.soar.replies import OutputVerdict, judged, verdict_schema
from aurora_orchestration.soar.scores import By, Judged, judge, stricter
from aurora_orchestration.types import AgentResponse, Complexity, Subgoal, Verification

CHECKS = {
    "relevance": "Does the summary do what the subgoal asks for?",
    "completeness": "Is everything there that the subgoal expects, and does the data support the summary?",
    "groundedness": "Are the statements specific enough to be checked, and is there evidence for them?",
}
DECLINED = re.compile(
    r"\b(?:i (?:cannot|can't|could not|couldn't|am unable|am not able|don't have access|do not have access)|"
    r"unable to (?:complete|access|help)|as an ai|no information (?:is )?available|to be done|todo|tbd|lorem ipsum)\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"\d|[\w-]+\.\w{1,5}\b|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|`[^`]+`|\b[A-Z][a-z]+\b(?<!^)")
FEW_WORDS = 5
"""A summary of fewer words says next to nothing."""

SURE = 0.85
"""From this confidence on something has to be shown for it."""


async def verify_output(
    subgoal: Subgoal,
    response: AgentResponse,
    llm: Llm | None,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
    attempt: int,
) -> Verification:
    """Judge one output; no call for simple questions, without a model, or where rules already find it unusable.

    `attempt` counts from 0 and is told to the judge. The verdict follows from the score alone; what becomes of it on
    the last attempt (accepted in part, rejected) is `collect.outcome_of`'s to say (App. D).
    """
    found = precheck(subgoal, response, settings)
    if llm is None or complexity == "simple" or found.critical_issues:
        return found
    ask = question(
        "collect",
        "verify output",
        "You judge whether a piece of work does what was ordered. You are hard to impress.",
        "Judge the agent's response against its subgoal.",
        rules={
            "checks": CHECKS,
            "attempt": attempt,
            "verdict_rules": {
                "pass": f"overall_score >= {settings.pass_threshold:g}",
                "retry": f"overall_score from {settings.retry_threshold:g} up to that",
                "fail": "less",
            },
        },
        schema=verdict_schema(*CHECKS),
        data={"subgoal": subgoal, "agent_response": _shown(response)},
        examples=examples(settings.calibration_examples, "agent_output_verification", complexity).shown,
    )
    reply = await ask_judge(llm, ask, OutputVerdict)
    weights = settings.weighted_scoring.agent_output
    by: By = "option_a" if complexity == "medium" else "option_b" if complexity == "complex" else "option_c"
    return stricter(found, judge(judged(reply.verification), weights, settings, by=by), weights, settings)


def precheck(subgoal: Subgoal, response: AgentResponse, settings: ScoringSettings) -> Verification:
    """Verification of an output by rules alone."""
    scores = dict.fromkeys(CHECKS, 1.0)
    issues: dict[str, list[str]] = {name: [] for name in CHECKS}
    critical: list[str] = []
    for name, score, issue, unusable in _faults(subgoal, response):
        scores[name] = min(scores[name], score)
        issues[name].append(issue)
        if unusable:
            critical.append(issue)
            scores = {one: min(value, score) for one, value in scores.items()}
    return judge(
        Judged(
            scores=scores,
            issues={name: tuple(listed) for name, listed in issues.items()},
            critical_issues=tuple(critical),
            suggestions=("answer the subgoal itself, with names, places and figures that can be checked",)
            if any(issues.values())
            else (),
        ),
        settings.weighted_scoring.agent_output,
        settings,
        by="deterministic",
    )


def _faults(subgoal: Subgoal, response: AgentResponse) -> Iterator[tuple[str, float, str, bool]]:
    """Check, score it gets at most, what is wrong, and whether that makes the output unusable."""
    if response.subgoal_id != subgoal.id:
        yield "relevance", 0.0, f"the response is on {response.subgoal_id}, not on {subgoal.id}", True
    if response.status == "error" or response.output is None:
        yield "completeness", 0.0, f"the agent failed: {(response.error or 'no output')[:300]}", True
        return
    output = response.output
    words = output.summary.split()
    empty = not _has_content(output.data)
    if not any(character.isalnum() for character in output.summary):
        yield "completeness", 0.0, "the summary is empty", True
        return
    if _echoes(output.summary, subgoal):
        yield "relevance", 0.4, "the summary only repeats the subgoal", empty
    if len(words) < FEW_WORDS and empty:
        yield "completeness", 0.3, f"a summary of {len(words)} words and no data", True
    declined = DECLINED.search(output.summary)
    if declined and len(words) < 60:
        yield "completeness", 0.3, f"the agent did not do it (“{declined[0]}”)", True
    if empty and not _SPECIFIC.search(output.summary):
        yield "groundedness", 0.5, "nothing in the summary is specific: no name, place or figure", False
        if output.confidence >= SURE:
            yield "groundedness", 0.3, f"a confidence of {output.confidence:.2f} with nothing shown for it", True
    said = telling(f"{output.summary} {_text(output.data)}")
    asked = telling(subgoal.description).stems - PROCESS
    if asked and not any(said.has(stem) for stem in asked):
        yield "relevance", 0.4, "the output speaks of nothing that the subgoal names", False
    if response.status == "partial":
        yield "completeness", 0.65, "the agent says that this is only a part", False


def _echoes(summary: str, subgoal: Subgoal) -> bool:
    """Whether an output only repeats (parrots) its task."""
    said = set(terms(summary))
    told = set(terms(f"{subgoal.description} {subgoal.expected_output}"))
    return bool(said) and len(said & told) / len(said) > 0.85 and not set(re.findall(r"\d+", summary)) - told


def _has_content(data: Any) -> bool:
    if isinstance(data, dict):
        return any(_has_content(value) for value in data.values())
    if isinstance(data, (list, tuple)):
        return any(_has_content(value) for value in data)
    return data not in (None, "")


def _text(data: Any) -> str:
    return msgspec.json.encode(data, enc_hook=str).decode("utf-8", "replace")[:20_000]


def _shown(response: AgentResponse) -> dict[str, Any]:
    """A response without what says nothing of its quality, and what differs from run to run."""
    shown: dict[str, Any] = {"status": response.status}
    if response.output is not None:
        shown["output"] = {
            "summary": response.output.summary,
            "data": msgspec.to_builtins(response.output.data, enc_hook=str),
            "confidence": response.output.confidence,
        }
    if response.user_interactions:
        shown["user_interactions"] = [
            {"agent_question": one.agent_question, "user_response": one.user_response}
            for one in response.user_interactions
        ]
    return shown
