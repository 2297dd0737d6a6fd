"""Replies of models as structs (AURORA §8.3–8.7). What they conclude is read, compared and never believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from aurora_orchestration.soar.scores import Judged
from aurora_orchestration.types import Given, Goal, Subgoal

Line = Annotated[str, Meta(max_length=2000)]
Lines = Annotated[tuple[Line, ...], Meta(max_length=40)]

_ROUNDING = 1e-6
"""What a score may be beyond 0 or 1: a model's sums are rounded."""


class CheckReply(Struct, frozen=True):
    """Score of one check. Raises `ValueError` for what is no number from 0 to 1."""

    score: float
    passed: bool | None = field(default=None, name="pass")
    issues: Lines = ()
    detail: Line = ""

    def __post_init__(self) -> None:
        # 7 of ten is not 1: a scale that was not asked for is asked about, and not cut to this one.
        if not -_ROUNDING <= self.score <= 1 + _ROUNDING:
            raise ValueError("a score must be a finite number from 0 to 1")


class DecompositionChecks(Struct, frozen=True):
    """§8.4."""

    completeness: CheckReply
    consistency: CheckReply
    groundedness: CheckReply
    routability: CheckReply


class OutputChecks(Struct, frozen=True):
    """§8.5."""

    relevance: CheckReply
    completeness: CheckReply
    groundedness: CheckReply


class SynthesisChecks(Struct, frozen=True):
    """§8.6."""

    addresses_query: CheckReply
    traceable: CheckReply
    consistent: CheckReply
    calibrated: CheckReply


class _Concluded(Struct, frozen=True, kw_only=True):
    overall_score: float | None = None
    verdict: Annotated[str, Meta(max_length=40)] | None = None
    critical_issues: Lines = ()
    issues: Lines = ()
    suggestions: Lines = ()


class DecompositionJudgement(_Concluded, frozen=True, kw_only=True):
    """A judge's answer on a decomposition."""

    checks: DecompositionChecks


class OutputJudgement(_Concluded, frozen=True, kw_only=True):
    """A judge's answer on an agent's output."""

    checks: OutputChecks


class SynthesisJudgement(_Concluded, frozen=True, kw_only=True):
    """A judge's answer on the final answer."""

    checks: SynthesisChecks


class DecompositionVerdict(Struct, frozen=True):
    """The envelope of §8.4."""

    verification: DecompositionJudgement


class OutputVerdict(Struct, frozen=True):
    """The envelope of §8.5."""

    verification: OutputJudgement


class SynthesisVerdict(Struct, frozen=True):
    """The envelope of §8.6."""

    verification: SynthesisJudgement


class Weakness(Struct, frozen=True):
    """Objection of a critic to a decomposition: a hidden assumption, a leap, a gap, and what would mend it."""

    where: Annotated[str, Meta(max_length=200)]
    problem: Line
    remedy: Line = ""


class Critique(Struct, frozen=True):
    """A critic's answer."""

    weaknesses: Annotated[tuple[Weakness, ...], Meta(max_length=20)]
    verification: DecompositionJudgement


class DecompositionBody(Struct, frozen=True, kw_only=True):
    """A decomposition as a model gives it (§8.3)."""

    given: Annotated[tuple[Given, ...], Meta(max_length=60)]
    goal: Goal
    subgoals: Annotated[tuple[Subgoal, ...], Meta(min_length=1, max_length=20)]
    execution_order: Annotated[tuple[str, ...], Meta(max_length=40)] = ()
    parallelizable: Annotated[tuple[tuple[str, ...], ...], Meta(max_length=20)] = ()


class DecompositionReply(Struct, frozen=True):
    """The envelope of §8.3."""

    decomposition: DecompositionBody


class Plea(Struct, frozen=True):
    """Speech of an advocate for its path, and against the others."""

    strengths: Lines
    weaknesses_of_others: Lines = ()
    concessions: Lines = ()


class Ruling(Struct, frozen=True, kw_only=True):
    """Decision of a debate's judge: the number of a path (1-based), or 0 with a merged one."""

    chosen: Annotated[int, Meta(ge=0, le=9)]
    merged: DecompositionBody | None = None
    reason: Line = ""
    confidence: float
    verification: DecompositionJudgement

    def __post_init__(self) -> None:
        if not math.isfinite(self.confidence):
            raise ValueError("confidence must be a finite number from 0 to 1")


class FeedbackIssueReply(Struct, frozen=True):
    """Issue to mend, as a coordinator puts it."""

    check: Annotated[str, Meta(max_length=100)]
    issue: Line
    suggestion: Line = ""
    score: float = 0.0


class FeedbackBody(Struct, frozen=True):
    """A coordinator's answer; attempt, previous score and escalation are computed, whatever it says of them."""

    issues: Annotated[tuple[FeedbackIssueReply, ...], Meta(min_length=1, max_length=20)]
    instruction: Annotated[str, Meta(min_length=1, max_length=2000)]


class FeedbackReply(Struct, frozen=True):
    """The envelope of §8.7."""

    retry_feedback: FeedbackBody


def judged(reply: DecompositionJudgement | OutputJudgement | SynthesisJudgement) -> Judged:
    """A judge's answer, ready to be computed with."""
    checks: Mapping[str, CheckReply] = asdict(reply.checks)
    return Judged(
        scores={name: one.score for name, one in checks.items()},
        details={name: one.detail for name, one in checks.items()},
        issues={name: one.issues for name, one in checks.items()},
        stated_passes={name: one.passed for name, one in checks.items() if one.passed is not None},
        stated_score=reply.overall_score,
        stated_verdict=reply.verdict,
        critical_issues=reply.critical_issues,
        suggestions=tuple(dict.fromkeys((*reply.suggestions, *reply.issues))),
    )


def verdict_schema(*checks: str) -> dict[str, object]:
    """The part of a prompt that shows the answer's shape."""
    one = {"score": "0.0-1.0", "pass": "bool", "issues": ["string"], "detail": "string"}
    return {
        "verification": {
            "checks": dict.fromkeys(checks, one),
            "overall_score": "0.0-1.0, the weighted mean of the checks",
            "verdict": "pass | retry | fail",
            "critical_issues": ["what must be mended before work begins; empty if nothing"],
            "suggestions": ["string"],
        }
    }
