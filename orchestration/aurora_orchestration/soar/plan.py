"""Phases 3 and 4 together (plan, verify, retry): decompose, verify, mend, escalate at an impasse (AURORA §5.3, App. D
loop 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from aurora_orchestration.llm.completion import BadReply, CapReached, Llm, LlmError, Speechless, Truncated, Unjudged
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.soar.decompose import decompose
from aurora_orchestration.soar.deliberation import CALLS as CALLS_OF_C
from aurora_orchestration.soar.deliberation import deliberate
from aurora_orchestration.soar.feedback import coordinate, feedback_for, vague
from aurora_orchestration.soar.scores import By, Judged, checks_told, judge
from aurora_orchestration.soar.stages import Tell, silence
from aurora_orchestration.soar.verify import Verified, verify_a, verify_b
from aurora_orchestration.types import (
    Agent,
    Attempt,
    Complexity,
    ContextBundle,
    Decomposition,
    Plan,
    RetryFeedback,
    Verification,
    VerificationOption,
)

CRITICAL_SCORE = 0.95
"""A complexity score above this is taken for critical (§5.1)."""

_CALLS: dict[VerificationOption, int] = {"option_a": 2, "option_b": 4}
_HARDER: dict[VerificationOption, tuple[VerificationOption, Complexity]] = {
    "option_a": ("option_b", "complex"),
    "option_b": ("option_c", "critical"),
}


class _Tried(Struct, frozen=True):
    verified: Verified
    complexity: Complexity
    option: VerificationOption


def option_for(option: VerificationOption, complexity: Complexity, score: float = 0.0) -> VerificationOption:
    """The option a question begins with: C for what is critical or scores above `CRITICAL_SCORE`, else as given."""
    return "option_c" if complexity == "critical" or score > CRITICAL_SCORE else option


def most_calls(option: VerificationOption, settings: ScoringSettings) -> int:
    """The most questions `plan` puts to a model from this option on, escalations included.

    Per try 2 with option A, 4 with B and 7 with C, one more for feedback where that is vague; C is tried once where a
    question was escalated to it: with two retries 31 from A, 22 from B, 23 from C. `ask_for` may repair each once.
    """
    if option == "option_c":
        return (CALLS_OF_C + 1) * settings.max_retries + CALLS_OF_C
    harder = _HARDER[option][0]
    beyond = CALLS_OF_C if harder == "option_c" else most_calls(harder, settings)
    return (_CALLS[option] + 1) * (settings.max_retries + 1) + beyond


async def plan(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    *,
    complexity: Complexity,
    option: VerificationOption,
    tell: Tell = silence,
) -> Plan:
    """Plan with its verdict after retries (replanning): the first that passes, else the best of all that were tried.

    Each option is tried at most 1 + `max_retries` times, with feedback; C once where a question was escalated to it.
    What scores "retry" to the end goes on to the next harder option; two failures in a row ("an alternative, or mark
    failed") end it, and one where the option is C. At most
    `most_calls(option, settings)` questions are asked. A reply that cannot be used counts as a failed try; two in a
    row, two without JSON at all, or a judge's, end the search: raised where there was nothing else, as is every other
    `LlmError`.
    A cap that is reached once something was tried ends the search too. The caller looks at `verification.verdict`:
    only "pass" may go on to execution.
    """
    attempts: list[Attempt] = []
    escalations: list[str] = []
    best: _Tried | None = None
    feedback: RetryFeedback | None = None
    previous: Decomposition | None = None
    failed = 0
    unusable: LlmError | None = None
    tries = unusables = 0
    while True:
        tell("decompose", "in_progress", f"attempt {len(attempts) + 1}", attempt=len(attempts) + 1, option=option)
        try:
            verified = await _try(query, context, agents, llm, settings, complexity, option, feedback, previous, tell)
        except CapReached:
            if best is None:
                raise
            escalations.append("the cap on costs was reached: the best attempt so far is kept")
            break
        except (BadReply, Truncated) as error:
            unusable = error
            verified = None
            # A harder option asks the same model for more of the same, and no new plan mends a judge.
            if isinstance(error, Speechless | Unjudged) or unusables:
                if best is None:
                    raise
                escalations.append(f"the model gives nothing that can be used ({error}): the best attempt is kept")
                break
        unusables = unusables + 1 if verified is None else 0
        tries += 1
        verification = _unusable(unusable, option, settings) if verified is None else verified.verification
        if verified is not None and (
            best is None or verification.overall_score > best.verified.verification.overall_score
        ):
            best = _Tried(verified, complexity, option)
        if verification.verdict == "pass" and verified is not None:
            attempts.append(Attempt(verification=verification))
            best = _Tried(verified, complexity, option)
            break
        failed = failed + 1 if verification.verdict == "fail" else 0
        exhausted = tries > settings.max_retries
        last = bool(escalations) or exhausted or verification.verdict == "fail"
        ended = failed >= 2 or (option == "option_c" and last)
        feedback = feedback_for(verification, "decomposition", tries, settings)
        if not ended and vague(feedback) and verified is not None:
            feedback = await _coordinated(feedback, verification, llm, settings)
        attempts.append(Attempt(verification=verification, feedback=feedback))
        tell(
            "verify",
            "failed" if ended else "retry",
            feedback.instruction,
            checks=checks_told(verification),
            score=verification.overall_score,
            verdict=verification.verdict,
            attempt=len(attempts),
            option=option,
        )
        if ended:
            break
        previous = verified.decomposition if verified is not None and verification.verdict == "retry" else None
        if exhausted:
            option, complexity = _HARDER[option]
            escalations.append(
                f"{tries} attempts did not pass (best {best.verified.verification.overall_score:.2f}): "
                f"now {complexity}, {_spoken(option)}"
                if best is not None
                else f"{tries} attempts gave nothing usable: now {complexity}, {_spoken(option)}"
            )
            tries = failed = 0
    if best is None:
        assert unusable is not None
        raise unusable
    if best.verified.verification.verdict == "pass":
        final = best.verified.verification
        tell(
            "verify",
            "complete",
            f"score {final.overall_score:.2f}",
            checks=checks_told(final),
            score=final.overall_score,
            verdict="pass",
            option=best.option,
        )
    return Plan(
        decomposition=best.verified.decomposition,
        verification=best.verified.verification,
        complexity=best.complexity,
        option=best.option,
        attempts=tuple(attempts),
        escalations=tuple(escalations),
    )


async def _try(
    query: str,
    context: ContextBundle,
    agents: Sequence[Agent],
    llm: Llm,
    settings: ScoringSettings,
    complexity: Complexity,
    option: VerificationOption,
    feedback: RetryFeedback | None,
    previous: Decomposition | None,
    tell: Tell,
) -> Verified:
    """One attempt of one option."""
    if option == "option_c":
        verified = await deliberate(query, context, agents, llm, settings, complexity=complexity, feedback=feedback)
        _tell_subgoals(verified.decomposition, tell)
        return verified
    decomposition = await decompose(
        query, context, agents, llm, settings, complexity=complexity, feedback=feedback, previous=previous
    )
    _tell_subgoals(decomposition, tell)
    tell("verify", "in_progress", _spoken(option), option=option)
    way = verify_a if option == "option_a" else verify_b
    return await way(decomposition, query, context, agents, llm, settings, complexity=complexity)


def _tell_subgoals(decomposition: Decomposition, tell: Tell) -> None:
    steps = decomposition.subgoals
    plan = [{"id": each.id, "description": each.description, "agent": each.agent} for each in steps]
    tell("decompose", "complete", f"{len(steps)} subgoals", subgoals=len(steps), plan=plan)


async def _coordinated(
    feedback: RetryFeedback, verification: Verification, llm: Llm, settings: ScoringSettings
) -> RetryFeedback:
    """Feedback sharpened by a model; as it is where that fails."""
    try:
        return await coordinate(feedback, verification, "decomposition", llm, settings)
    except (BadReply, Truncated, CapReached):
        return feedback  # what was said without a model still holds


def _unusable(error: LlmError | None, option: VerificationOption, settings: ScoringSettings) -> Verification:
    """The verdict on a reply that is no answer at all."""
    by: By = option
    problem = f"the reply could not be used: {error}"[:500]
    names = ("completeness", "consistency", "groundedness", "routability")
    return judge(
        Judged(
            scores=dict.fromkeys(names, settings.retry_threshold),
            issues={"completeness": (problem,)},
            critical_issues=(problem,),
            suggestions=("answer with one short JSON object that follows the schema",),
        ),
        settings.weighted_scoring.decomposition,
        settings,
        by=by,
    )


def _spoken(option: Literal["option_a", "option_b", "option_c"]) -> str:
    return {"option_a": "self-review", "option_b": "a critic", "option_c": "three paths and a debate"}[option]
