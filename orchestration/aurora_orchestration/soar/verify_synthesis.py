"""Verification of a synthesis (fact checking): does the final answer say what was found, and no more (AURORA §8.6)?

Rules on sources and figures, then a model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from aurora_orchestration.agents.executors.builtin import LLM_EXECUTOR
from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.llm.structured import ask_judge
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.calibration import examples
from aurora_orchestration.soar.claimed_acts import claimed_acts
from aurora_orchestration.soar.concepts import PROCESS, telling
from aurora_orchestration.soar.contradictions import opposed
from aurora_orchestration.soar.missing_parts import missing_parts
from aurora_orchestration.soar.prompt_format import question
from aurora_orchestration.soar.references import LookedUp, look_up
from aurora_orchestration.soar.replies import SynthesisVerdict, judged, verdict_schema
from aurora_orchestration.soar.scores import By, Judged, below, judge, stricter, verdict
from aurora_orchestration.soar.self_contradictions import self_contradictions
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import Claim, Complexity, ContextBundle, SubgoalResult, Verification

CHECKS = {
    "addresses_query": "Does the answer answer the query itself?",
    "traceable": "Does every claim follow from one of the agents' summaries?",
    "consistent": "Does any claim deny another?",
    "calibrated": "Is the answer as sure as its sources are, and no surer?",
}
SURER = 0.15
"""How much surer than its sources an answer may be."""

MAX_CONTRADICTIONS = 10
MAX_ACTS = 5
MOST_CLAIMS = 60
"""Claims that are compared with each other; the rest is not."""

_PATH = re.compile(
    r"(?<![\w/])(?:[\w.-]+/)+[\w.-]+\.\w{1,6}(?::\d+(?:-\d+)?)?|\b[\w-]+\.(?:py|ts|tsx|js|go|rs|java|sql|json|ya?ml|toml|md|c|h|cpp|rb|php)\b(?::\d+(?:-\d+)?)?"
)
_NAME = re.compile(r"`([^`\n]{2,200})`|\b([a-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b")
_NUMBER = re.compile(r"(?<![\w.:-])\d+(?:[.,]\d+)*(?![\w-])")
_CERTAIN = re.compile(
    r"\b(?:certainly|definitely|undoubtedly|without (?:any )?doubt|guaranteed|always works|proven|clearly|obviously)\b",
    re.IGNORECASE,
)
_WORDS_OF_DOUBT = 0.7
_FILE_LINE = re.compile(r"^(?P<file>.+?):(?P<from>\d+)(?:-(?P<to>\d+))?$")


async def verify_synthesis(
    query: str,
    results: Sequence[SubgoalResult],
    answer: str,
    claims: Sequence[Claim],
    llm: Llm | None,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
    context: ContextBundle | None = None,
    confidence: float | None = None,
    untraced: Sequence[str] = (),
    workspace: WorkspaceText | None = None,
) -> Verification:
    """Judge the answer; one call, or none without a model, for simple questions and where the answer is empty.

    `context` is what sources may also name, `confidence` what the answer says of itself, `untraced` the claims that
    were taken out of it since they have no source. Its places and names are looked up in `workspace`.
    """
    looked_up = None
    if workspace is not None:
        looked_up = await asyncio.to_thread(references_of, query, answer, results, context, workspace)
    found = precheck(
        query,
        results,
        answer,
        claims,
        settings,
        context=context,
        confidence=confidence,
        untraced=untraced,
        looked_up=looked_up,
    )
    if llm is None or complexity == "simple" or not answer.strip():
        return found
    ask = question(
        "synthesize",
        "verify synthesis",
        "You judge whether an answer says what its sources say. You know nothing but these sources.",
        "Judge the final answer against the query and the agents' summaries.",
        rules={
            "checks": CHECKS,
            "verdict_rules": {
                "pass": f"overall_score >= {settings.pass_threshold:g}",
                "retry": f"overall_score from {settings.retry_threshold:g} up to that",
                "fail": "less",
            },
        },
        schema=verdict_schema(*CHECKS),
        data={
            "original_query": query,
            "agent_summaries": summaries(results),
            "synthesis": answer,
            "claims": [{"text": claim.text, "sources": list(claim.sources)} for claim in claims],
            **({} if confidence is None else {"stated_confidence": confidence}),
        },
        examples=examples(settings.calibration_examples, "synthesis_verification", complexity).shown,
    )
    reply = await ask_judge(llm, ask, SynthesisVerdict)
    weights = settings.weighted_scoring.synthesis
    by: By = "option_a" if complexity == "medium" else "option_b" if complexity == "complex" else "option_c"
    both = stricter(found, judge(judged(reply.verification), weights, settings, by=by), weights, settings)
    return _at_most(found.overall_score, both, settings)


def references_of(
    query: str, answer: str, results: Sequence[SubgoalResult], context: ContextBundle | None, workspace: WorkspaceText
) -> LookedUp:
    """The answer's places and names, looked up. Blocks.

    What agents of the user observed elsewhere counts as known; what a model without tools says is no observation.
    """
    observed = [result for result in results if result.response.agent_id != LLM_EXECUTOR]
    logs = context.logs if context is not None else ()
    known = "\n".join((query, *_outputs(observed), *(log.content for log in logs)))
    return look_up(answer, workspace, known, outside=frozenset(log.file for log in logs))


def _at_most(score: float, verification: Verification, settings: ScoringSettings) -> Verification:
    """A verification with a score no higher than that."""
    if verification.overall_score <= score:
        return verification
    return replace(verification, overall_score=score, verdict=verdict(score, settings))


def _below(threshold: float, verification: Verification, settings: ScoringSettings) -> Verification:
    """A verification held below a threshold."""
    return _at_most(below(threshold), verification, settings)


def summaries(results: Sequence[SubgoalResult]) -> list[dict[str, Any]]:
    """Summaries of the agents, as a judge sees them."""
    return [
        {
            "subgoal_id": result.subgoal.id,
            "summary": result.response.output.summary,
            "confidence": result.response.output.confidence,
        }
        for result in results
        if result.response.output is not None
    ]


def precheck(
    query: str,
    results: Sequence[SubgoalResult],
    answer: str,
    claims: Sequence[Claim],
    settings: ScoringSettings,
    *,
    context: ContextBundle | None = None,
    confidence: float | None = None,
    untraced: Sequence[str] = (),
    looked_up: LookedUp | None = None,
) -> Verification:
    """Verification of an answer by rules alone. Claims without a source are for the caller to take out.

    Whatever does not hold of it (a reference, a claim's source, a sentence another one denies, a part of the question
    left out) costs score, and keeps the answer from becoming a pattern; much of it, or a contradiction, from passing.
    Where no claim has a source and no reference is so, it has failed.
    """
    context = context or ContextBundle()
    scores = dict.fromkeys(CHECKS, 1.0)
    issues: dict[str, list[str]] = {name: [] for name in CHECKS}
    critical: list[str] = []

    def hold(name: str, score: float, issue: str) -> None:
        scores[name] = min(scores[name], score)
        issues[name].append(issue)

    if not any(character.isalnum() for character in answer):
        hold("addresses_query", 0.0, "the answer is empty")
        critical.append("the answer is empty")
    asked = telling(query).stems - PROCESS
    said = telling(f"{answer} {' '.join(claim.text for claim in claims)}")
    if asked and not any(said.has(stem) for stem in asked):
        hold("addresses_query", 0.4, "the answer speaks of nothing that the query names")
    missing, parts = missing_parts(query, answer)
    if missing:
        hold("addresses_query", max(0.4, 1 - len(missing) / parts), f"says nothing of {', '.join(missing[:5])}")
    lost = list(sourceless(claims, results, context))
    if lost:
        hold(
            "traceable", 1 - len(lost) / len(claims), f"{len(lost)} of {len(claims)} claims have no source that exists"
        )
        issues["traceable"].extend(f"no source: “{claim.text[:120]}”" for claim in lost[:5])
    strange = list(invented(query, answer, results, context))
    if strange:
        hold("traceable", max(0.2, 0.8 - 0.15 * len(strange)), f"in no source: {', '.join(strange[:8])}")
    if untraced:
        every = len(claims) + len(untraced)
        hold("traceable", 1 - len(untraced) / every, f"{len(untraced)} of {every} claims have no source that was given")
        if 2 * len(untraced) >= every:
            critical.append(issues["traceable"][-1])
    faults = looked_up.faults if looked_up is not None else ()
    if looked_up is not None and faults:
        hold(
            "traceable", max(0.2, 0.7 - 0.15 * len(faults)), f"{len(faults)} of {looked_up.count} references are not so"
        )
        issues["traceable"].extend(fault.issue for fault in faults[:8])
        if 4 * len(faults) >= looked_up.count:
            critical.append("; ".join(fault.issue for fault in faults[:3]))
    given = [result.response for result in results if result.response.output is not None]
    acted = any(response.metadata.can_act and response.agent_id != LLM_EXECUTOR for response in given)
    for said_done in islice(claimed_acts(query, answer, acted=acted), MAX_ACTS):
        hold("traceable", 0.2, f"nobody did that: “{said_done[:120]}”")
        critical.append(issues["traceable"][-1])
    for one, other, why in (*_denying(claims), *islice(self_contradictions([answer]), MAX_CONTRADICTIONS)):
        hold("consistent", 0.3, f"“{one[:80]}” and “{other[:80]}” contradict each other: {why}")
        critical.append(issues["consistent"][-1])
    sources = [one["confidence"] for one in summaries(results)]
    mean = sum(sources) / len(sources) if sources else 0.0
    if confidence is not None and confidence > mean + SURER:
        hold(
            "calibrated",
            max(0.0, 1 - 2 * (confidence - mean)),
            f"a confidence of {confidence:.2f} on sources of {mean:.2f}",
        )
    certain = _CERTAIN.search(answer)
    if certain and mean < _WORDS_OF_DOUBT:
        hold("calibrated", 0.5, f"“{certain[0]}” on sources of {mean:.2f}")
    found = judge(
        Judged(
            scores={name: round(score, 6) for name, score in scores.items()},
            issues={name: tuple(listed) for name, listed in issues.items()},
            critical_issues=tuple(critical),
            suggestions=("say only what the agents' summaries say, name the source of each claim, and how sure it is",)
            if any(issues.values())
            else (),
        ),
        settings.weighted_scoring.synthesis,
        settings,
        by="deterministic",
    )
    if untraced and len(lost) == len(claims) and looked_up is not None and len(faults) == looked_up.count > 0:
        return _below(settings.retry_threshold, found, settings)  # nothing of it holds, whatever a judge says
    if faults or untraced or missing or lost or critical:
        return _below(settings.cache_threshold, found, settings)
    return found


def sourceless(claims: Sequence[Claim], results: Sequence[SubgoalResult], context: ContextBundle) -> Iterator[Claim]:
    """The claims none of whose sources exists: subgoals with an output, chunks, or places that were seen."""
    for claim in claims:
        if not any(exists(source, results, context) for source in claim.sources):
            yield claim


def exists(source: str, results: Sequence[SubgoalResult], context: ContextBundle) -> bool:
    """Whether a source is a subgoal that gave something, a chunk or log of the context, or a place in either."""
    if any(source == result.subgoal.id and result.response.output is not None for result in results):
        return True
    if any(source in (chunk.id, chunk.file) for chunk in context.chunks) or any(
        source == log.file for log in context.logs
    ):
        return True
    match = _FILE_LINE.match(source.removeprefix("code:"))
    if match is None:
        return False
    first, last = int(match["from"]), int(match["to"] or match["from"])
    for chunk in context.chunks:
        if chunk.file == match["file"] and first <= chunk.line_end and last >= chunk.line_start:
            return True
    return any(f"{match['file']}:{match['from']}" in text for text in _outputs(results))


def invented(query: str, answer: str, results: Sequence[SubgoalResult], context: ContextBundle) -> Iterator[str]:
    """Hallucinated paths, names and figures: those that stand in no output, no context and not in the query."""
    known = "\n".join(
        [query, *_outputs(results), *(f"{chunk.id}\n{chunk.content}\n{chunk.summary}" for chunk in context.chunks)]
        + [f"{log.file}\n{log.content}" for log in context.logs]
    )
    lowered = known.lower()
    plain = re.sub(r"(?<=\d)[, _](?=\d{3}\b)", "", known)
    numbers = set(_NUMBER.findall(plain)) | {str(number) for number in range(13)}
    seen: set[str] = set()
    for match in _PATH.finditer(answer):
        path = match[0].split(":")[0]
        if path.lower() not in lowered and path.lower() not in seen:
            seen.add(path.lower())
            yield path
    for match in _NAME.finditer(answer):
        name = (match[1] or match[2]).strip("()")
        if name.lower() not in lowered and name not in seen and not _PATH.fullmatch(name):
            seen.add(name)
            yield name
    # list numbers at line starts and parts of paths are no figures
    text = re.sub(r"(?m)^\s*\d{1,2}[.)]\s", "", _PATH.sub(" ", answer))
    for number in dict.fromkeys(_NUMBER.findall(re.sub(r"(?<=\d)[, _](?=\d{3}\b)", "", text))):
        if number not in numbers and number.rstrip("0").rstrip(".") not in numbers:
            yield number


def _outputs(results: Sequence[SubgoalResult]) -> list[str]:
    return [
        f"{result.response.output.summary}\n"
        f"{msgspec.json.encode(result.response.output.data, enc_hook=str).decode('utf-8', 'replace')}"
        for result in results
        if result.response.output is not None
    ]


def _denying(claims: Sequence[Claim]) -> Iterator[tuple[str, str, str]]:
    """Pairs of claims that contradict each other."""
    few = claims[:MOST_CLAIMS]
    for number, one in enumerate(few):
        for other in few[number + 1 :]:
            why = opposed(one.text, other.text)
            if why:
                yield one.text, other.text, why
