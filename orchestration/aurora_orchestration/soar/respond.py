"""Phase 9 (response formatting): from what happened to what the user gets: answer, score, confidence and why, caveats,
trace (§3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.claims import doubtful, takeovers, usable
from aurora_orchestration.types import ContextBundle, SubgoalResult, Synthesis, Verification

MAX_LISTED = 10


class Response(Struct, frozen=True, kw_only=True):
    """Answer to the user that a synthesis amounts to. `confidence` None where nothing judged the answer."""

    state: Literal["complete", "partial", "failed"]
    answer: str
    score: float | None
    confidence: float | None
    because: str
    caveats: tuple[str, ...] = ()


def respond(synthesis: Synthesis, results: Sequence[SubgoalResult], settings: ScoringSettings) -> Response:
    """The final checkpoint of Appendix D.

    From 0.8 the answer as it is, with what is missing, doubtful or not traced in it; from 0.7 with its uncertainties;
    from 0.5 with strong warnings and what to check; below no answer but what the steps found. Confidence is the score,
    less what is missing and what cannot be traced.
    """
    done = [result for result in results if usable(result)]
    verification = synthesis.verification
    if verification is None:
        state: Literal["partial", "failed"] = "partial" if done else "failed"
        why = synthesis.unverified or "no step gave anything to judge"
        unverified = (f"The answer was not verified: {why}",) if done else ()
        return Response(
            state=state,
            answer=synthesis.answer,
            score=None,
            confidence=None,
            because=f"not verified: {why}",
            caveats=unverified,
        )
    score = verification.overall_score
    confidence, because = confidence_of(synthesis, results, verification)
    issues = issues_of(synthesis, results, verification)
    if score < settings.retry_threshold:
        return Response(
            state="failed",
            answer=_unreliable(score, done, issues),
            score=score,
            confidence=confidence,
            because=because,
            caveats=issues,
        )
    caveats: tuple[str, ...] = ()
    if score < settings.pass_threshold:
        warning = f"Low confidence ({score:.2f}): check the points below before you rely on this answer."
        caveats = (warning, *issues)
    elif score < settings.cache_threshold:
        caveats = (f"Partial success (score {score:.2f}): not kept as a pattern, check what matters.", *issues)
    elif len(done) < len(results) or any(map(doubtful, results)) or synthesis.untraced:
        caveats = issues
    caveats = tuple(dict.fromkeys((*caveats, *map(_sentence, takeovers(results)))))
    whole = score >= settings.pass_threshold and len(done) == len(results)
    return Response(
        state="complete" if whole else "partial",
        answer=synthesis.answer,
        score=score,
        confidence=confidence,
        because=because,
        caveats=caveats,
    )


def _sentence(line: str) -> str:
    return line[:1].upper() + line[1:]


def confidence_of(
    synthesis: Synthesis, results: Sequence[SubgoalResult], verification: Verification
) -> tuple[float, str]:
    """Confidence (certainty) of the answer, in [0, 1], and how that came about in a sentence.

    score × share of steps done × share of claims traced; where the agents themselves were less sure than that, the mean
    of the two.
    """
    done = sum(map(usable, results))
    claims = len(synthesis.claims) + len(synthesis.untraced)
    traced = len(synthesis.claims) / claims if claims else 1.0
    share = done / len(results) if results else 1.0
    value = verification.overall_score * share * traced
    own = synthesis.confidence
    said = ""
    if own < value:
        value = (value + own) / 2
        said = f"; the agents were only {own:.2f} sure"
    because = (
        f"verification scored {verification.overall_score:.2f} ({verification.by}), "
        f"{done} of {len(results)} steps done, {len(synthesis.claims)} of {claims} claims traced{said}"
    )
    return round(min(1.0, max(0.0, value)), 4), because


def issues_of(synthesis: Synthesis, results: Sequence[SubgoalResult], verification: Verification) -> tuple[str, ...]:
    """Doubts about an answer, one sentence each, none twice, at most ten."""
    found = list(verification.critical_issues)
    for name, check in sorted(verification.checks.items()):
        found += [f"{name}: {issue}" for issue in check.issues]
    found += [f"Nothing that was given supports: {text}" for text in synthesis.untraced]
    for result in results:
        if not usable(result):
            found.append(f"Not done: {result.subgoal.description}")
        elif doubtful(result):
            found.append(f"Doubtful: {result.subgoal.description}")
    return tuple(dict.fromkeys(text[:500] for text in found))[:MAX_LISTED]


def from_context(context: ContextBundle | None) -> str:
    """Answer from memory alone: the best chunks, with file and lines."""
    if context is None or not (context.chunks or context.logs):
        return "Memory holds nothing about this."
    lines = [
        f"{chunk.file}:{chunk.line_start}-{chunk.line_end}  {chunk.name}" if chunk.file else f"{chunk.id}  {chunk.name}"
        for chunk in context.chunks[:MAX_LISTED]
    ]
    lines += [f"{log.file}:{log.line_start}-{log.line_end}  {log.section}" for log in context.logs[:MAX_LISTED]]
    return "What memory knows about this:\n" + "\n".join(lines)


def from_results(results: Sequence[SubgoalResult]) -> str:
    """Answer from what the steps found, where nothing could be made of it; "" where they found nothing."""
    found = [
        f"- {each.subgoal.description}: {each.response.output.summary[:2000]}"
        for each in results
        if usable(each) and each.response.output is not None
    ]
    return "\n".join(("The steps found this; no answer could be made of it:", *found)) if found else ""


def _unreliable(score: float, done: Sequence[SubgoalResult], issues: Sequence[str]) -> str:
    """Text of an answer below the threshold: what is wrong, what the steps found."""
    lines = [f"No reliable answer was found (score {score:.2f})."]
    if issues:
        lines += ["", "What is wrong with the best attempt:", *(f"- {issue}" for issue in issues)]
    if done:
        lines += ["", "What the steps found, unjudged as a whole:"]
        lines += [
            f"- {each.subgoal.description}: {each.response.output.summary[:1000]}"
            for each in done
            if each.response.output is not None
        ]
    lines += ["", "Try a narrower question, name the files it is about, or ask with --verification option_c."]
    return "\n".join(lines)
