"""Feedback for the next attempt: what the next attempt is told (AURORA §8.7): built from the verification; a model
helps only where that is vague.
"""

from __future__ import annotations

from typing import Literal

from aurora_orchestration.llm.completion import Ask, Llm
from aurora_orchestration.llm.structured import ask_for
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.concepts import telling
from aurora_orchestration.soar.prompt_format import question
from aurora_orchestration.soar.replies import FeedbackReply
from aurora_orchestration.types import FeedbackIssue, RetryFeedback, Verification

Checkpoint = Literal["decomposition", "agent_output", "synthesis"]
MOST_ISSUES = 12
_PHASES: dict[Checkpoint, str] = {"decomposition": "verify", "agent_output": "collect", "synthesis": "synthesize"}
_WHAT: dict[Checkpoint, str] = {
    "decomposition": "The previous decomposition",
    "agent_output": "The previous output",
    "synthesis": "The previous answer",
}


def feedback_for(
    verification: Verification, checkpoint: Checkpoint, attempt: int, settings: ScoringSettings
) -> RetryFeedback:
    """The feedback on attempt number `attempt` (from 1), without asking anybody: worst checks first."""
    issues: list[FeedbackIssue] = []
    suggestions = list(verification.suggestions)
    told: set[str] = set()
    for name, check in sorted(verification.checks.items(), key=lambda item: (item[1].score, item[0])):
        for issue in check.issues or ((check.detail,) if check.detail and not check.passed else ()):
            if issue not in told:
                told.add(issue)
                issues.append(
                    FeedbackIssue(check=name, score=check.score, issue=issue, suggestion=_fitting(issue, suggestions))
                )
    for issue in verification.critical_issues:
        if issue not in told:
            told.add(issue)
            issues.append(
                FeedbackIssue(
                    check="critical",
                    score=verification.overall_score,
                    issue=issue,
                    suggestion=_fitting(issue, suggestions),
                )
            )
    issues = issues[:MOST_ISSUES]
    worst = "; ".join(issue.issue.rstrip(".") for issue in issues[:3]) or "its score is too low, for no reason given"
    start = f"{_WHAT[checkpoint]} scored {verification.overall_score:.2f} because: {worst}."
    what = (
        "Do not mend it: begin again in a different way that avoids these."
        if verification.verdict == "fail"
        else "Mend every issue listed and keep what was right."
    )
    return RetryFeedback(
        attempt=attempt,
        previous_score=verification.overall_score,
        issues=tuple(issues),
        instruction=f"{start} {what}",
        escalate=attempt > settings.max_retries,
    )


def vague(feedback: RetryFeedback) -> bool:
    """Whether the feedback names nothing that one could act on."""
    return not any(len(telling(issue.issue).stems) >= 3 for issue in feedback.issues)


async def coordinate(
    feedback: RetryFeedback, verification: Verification, checkpoint: Checkpoint, llm: Llm, settings: ScoringSettings
) -> RetryFeedback:
    """The same feedback with issues a model worked out. `attempt`, scores and `escalate` stay as computed."""
    reply = (await ask_for(llm, _ask(feedback, verification, checkpoint, settings), FeedbackReply)).retry_feedback
    return RetryFeedback(
        attempt=feedback.attempt,
        previous_score=feedback.previous_score,
        issues=tuple(
            FeedbackIssue(
                check=issue.check,
                score=verification.checks[issue.check].score
                if issue.check in verification.checks
                else verification.overall_score,
                issue=issue.issue,
                suggestion=issue.suggestion,
            )
            for issue in reply.issues[:MOST_ISSUES]
        ),
        instruction=reply.instruction,
        escalate=feedback.escalate,
    )


def _ask(feedback: RetryFeedback, verification: Verification, checkpoint: Checkpoint, settings: ScoringSettings) -> Ask:
    """Prompt that has a model turn a verdict into instructions."""
    return question(
        _PHASES[checkpoint],
        "retry feedback",
        "You turn a reviewer's verdict into clear orders for the next attempt.",
        "Say what has to be different next time: each issue with the check it belongs to and one concrete remedy.",
        rules={
            "checkpoint": checkpoint,
            "attempt_number": feedback.attempt,
            "max_attempts": settings.max_retries,
            "previous_score": feedback.previous_score,
        },
        schema={
            "retry_feedback": {
                "issues": [{"check": "string", "score": "0.0-1.0", "issue": "string", "suggestion": "string"}],
                "instruction": "one directive for the next attempt",
            }
        },
        data={"verification_result": verification},
    )


def _fitting(issue: str, suggestions: list[str]) -> str:
    """The suggestion that speaks of the same things as an issue."""
    said = telling(issue).stems
    best = max(suggestions, key=lambda one: len(said & telling(one).stems), default="")
    return best if said & telling(best).stems else ""
