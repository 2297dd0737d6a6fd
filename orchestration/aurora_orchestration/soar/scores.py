"""Weighted scores, thresholds and what follows from them: pass, retry, fail (AURORA §5.3, §8.4–8.6). A verdict is
always computed, never believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from aurora_orchestration import OrchestrationError
from aurora_orchestration.scoring_settings import DecompositionWeights, OutputWeights, ScoringSettings, SynthesisWeights
from aurora_orchestration.types import Check, Verdict, Verification

By = Literal["deterministic", "option_a", "option_b", "option_c"]
Weights = DecompositionWeights | OutputWeights | SynthesisWeights
_TOLERANCE = 0.02
"""How far a stated overall score may be from the computed one before it is told of."""


class ScoringError(OrchestrationError):
    """Weights or thresholds that nothing can be judged by."""


class Judged(Struct, frozen=True, kw_only=True):
    """Scores and remarks of a judge, before anything is computed; `stated_*` are the judge's own conclusions."""

    scores: Mapping[str, float]
    details: Mapping[str, str] = {}
    issues: Mapping[str, tuple[str, ...]] = {}
    stated_passes: Mapping[str, bool] = {}
    stated_score: float | None = None
    stated_verdict: str | None = None
    critical_issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


def shares(weights: Weights) -> dict[str, float]:
    """The weights by check, together 1. Raises `ScoringError` where all are 0."""
    given: dict[str, float] = asdict(weights)
    total = math.fsum(given.values())
    if not total > 0 or not math.isfinite(total):
        raise ScoringError(f"scoring.weighted_scoring: {', '.join(given)} are all 0; give one of them a weight above 0")
    return {name: weight / total for name, weight in given.items()}


def notices(settings: ScoringSettings) -> tuple[str, ...]:
    """Notices on settings that are odd yet can be worked with: weights whose sum is not 1 are scaled."""
    weighted = settings.weighted_scoring
    told = []
    for name, weights in (
        ("decomposition", weighted.decomposition),
        ("agent_output", weighted.agent_output),
        ("synthesis", weighted.synthesis),
    ):
        total = math.fsum(asdict(weights).values())
        if total > 0 and abs(total - 1) > 1e-6:
            told.append(f"scoring.weighted_scoring.{name}: weights sum to {total:g}; they were scaled to 1")
    if settings.retry_threshold > settings.pass_threshold:
        told.append("scoring.retry_threshold is above scoring.pass_threshold: nothing will ever be retried")
    return tuple(told)


def verdict(score: float, settings: ScoringSettings) -> Verdict:
    """≥ pass_threshold passes, ≥ retry_threshold is tried again, what is less has failed (§5.3)."""
    if score >= settings.pass_threshold:
        return "pass"
    return "retry" if score >= settings.retry_threshold else "fail"


def judge(judged: Judged, weights: Weights, settings: ScoringSettings, *, by: By) -> Verification:
    """Compute score and verdict from single scores; what the judge itself concluded differently becomes a notice.

    A critical issue holds the score below passing, so that one broken thing is not averaged away. Scores outside
    [0, 1] are clamped with a notice. Raises `ScoringError` for a missing check and for what is no finite number.
    """
    shared = shares(weights)
    told: list[str] = []
    checks: dict[str, Check] = {}
    for name in shared:
        if name not in judged.scores:
            raise ScoringError(f"verification: no score for {name}")
        score = judged.scores[name]
        if not math.isfinite(score):
            raise ScoringError(f"verification: the score of {name} is no number")
        kept = min(1.0, max(0.0, score))
        if kept != score:
            told.append(f"{name}: a score of {score:g} was brought to {kept:g}")
        passed = kept >= settings.pass_threshold
        if judged.stated_passes.get(name, passed) != passed:
            told.append(f"{name}: said to {'fail' if passed else 'pass'} with a score of {kept:.2f}")
        checks[name] = Check(
            score=kept, passed=passed, detail=judged.details.get(name, ""), issues=judged.issues.get(name, ())
        )
    overall = computed(checks, shared)
    if judged.stated_score is not None and not abs(judged.stated_score - overall) <= _TOLERANCE:
        told.append(f"the judge said {judged.stated_score:g} overall; its checks make {overall:.2f}")
    if judged.critical_issues:
        overall = min(overall, below_pass(settings))
    result = verdict(overall, settings)
    if judged.stated_verdict is not None and judged.stated_verdict != result:
        told.append(f"the judge said {judged.stated_verdict[:20]}; its checks make {result}")
    return Verification(
        checks=checks,
        overall_score=overall,
        verdict=result,
        critical_issues=judged.critical_issues,
        suggestions=judged.suggestions,
        by=by,
        notices=tuple(told),
    )


def below_pass(settings: ScoringSettings) -> float:
    """The middle between trying again and passing: the best that something broken can get."""
    middle = round((settings.pass_threshold + settings.retry_threshold) / 2, 6)
    return middle if middle < settings.pass_threshold else below(settings.pass_threshold)


def below(threshold: float) -> float:
    """The next score below a threshold, as people write scores."""
    return max(0.0, round(threshold - 0.01, 6))


def computed(checks: Mapping[str, Check], shared: Mapping[str, float]) -> float:
    """The weighted mean, rounded to six digits so that what is exact on paper does not miss a threshold by a bit."""
    return round(min(1.0, math.fsum(shared[name] * checks[name].score for name in shared)), 6)


def stricter(found: Verification, judged: Verification, weights: Weights, settings: ScoringSettings) -> Verification:
    """Judge's verification, capped by what was found without it: no judge raises a score that was computed."""
    checks = {
        name: Check(
            score=min(check.score, found.checks[name].score),
            passed=min(check.score, found.checks[name].score) >= settings.pass_threshold,
            detail=check.detail or found.checks[name].detail,
            issues=tuple(dict.fromkeys((*found.checks[name].issues, *check.issues))),
        )
        for name, check in judged.checks.items()
    }
    critical = tuple(dict.fromkeys((*found.critical_issues, *judged.critical_issues)))
    overall = computed(checks, shares(weights))
    if critical:
        overall = min(overall, below_pass(settings))
    return replace(
        judged,
        checks=checks,
        overall_score=overall,
        verdict=verdict(overall, settings),
        critical_issues=critical,
        suggestions=tuple(dict.fromkeys((*found.suggestions, *judged.suggestions))),
    )


def checks_told(verification: Verification) -> dict[str, float]:
    """Each check's score, as the stages tell it."""
    return {name: round(check.score, 3) for name, check in verification.checks.items()}
