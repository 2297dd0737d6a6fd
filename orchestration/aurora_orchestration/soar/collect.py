"""Phase 6 (parallel execution): agents work on subgoals in parallel, by the DAG of these; every output is verified
(AURORA §3.2, App. D).

A subgoal starts when those it depends on are done, at most `agents.max_parallel` at once (concurrency limit). What
scores too low is tried again with what it lacked (its own count of retries, App. D loop 2), then by llm-executor; what
still scores at least `retry_threshold` is gone on with, as low in confidence; what does not has failed, and nothing
that needs it is begun.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.agents.executors.builtin import GENERIC
from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.task import Task, task_for
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError, Unjudged
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.claims import bare_error
from aurora_orchestration.soar.feedback import feedback_for
from aurora_orchestration.soar.stages import Tell
from aurora_orchestration.soar.verify_output import precheck, verify_output
from aurora_orchestration.types import (
    Agent,
    AgentResponse,
    AgentTry,
    AskUser,
    Assignment,
    ContextBundle,
    FeedbackIssue,
    Plan,
    RetryFeedback,
    RoutingPlan,
    Subgoal,
    SubgoalResult,
    Verification,
)

log = logging.getLogger(__name__)

MAX_KEPT = 2_000
"""Characters of what a try gave that the records keep; of the best one they keep all."""

_OF_RUN = 0.8
"""Share of the time a run has left that its agents may take; the answer is made in the rest."""
_LEAST_SECONDS = 1.0

Outcome = Literal["pass", "retry", "reject"]
Learn = Callable[[str, bool], object]


class _Try(Struct, frozen=True):
    """One answer and its verdict."""

    response: AgentResponse
    verification: Verification | None
    feedback: RetryFeedback | None = None
    began: float = 0.0
    ended: float = 0.0
    worked: bool = True

    @property
    def score(self) -> float:
        """What the answer is worth; one that was not verified is worth what the agent says."""
        if self.response.output is None:
            return 0.0
        return self.response.output.confidence if self.verification is None else self.verification.overall_score


async def collect(
    plan: Plan,
    routing: RoutingPlan,
    context: ContextBundle,
    llm: Llm | None,
    executors: Executors,
    settings: SoarSettings,
    *,
    ask_user: AskUser,
    tell: Tell,
    judge: Llm | None = None,
    learn: Learn | None = None,
    capped: Callable[[CapReached], object] | None = None,
    now: Callable[[], float] = time.time,
    seconds: float | None = None,
) -> tuple[SubgoalResult, ...]:
    """Scheduler: agents run by the DAG of subgoals; the results in the order of the plan.

    `llm` solves, `judge` (else `llm`) verifies. `seconds` are what the run has left: no agent may take more than its
    subgoal's share of them, and one that broke or hung is not waited for again. `learn(agent_id, ok)` is told, in a
    thread, how each agent did, and `capped` of work that was not begun for want of money. Raises nothing of one agent's
    fault; when cancelled, every agent has ended before it returns.
    """
    waves = {each.subgoal.id: each.wave for each in routing.assignments}
    shares = _Shares(seconds, 1 + max(waves.values(), default=0))
    run = _Run(plan, context, llm, judge or llm, executors, settings, ask_user, tell, learn, capped, now, shares)
    turns = asyncio.Semaphore(settings.agents.max_parallel)
    tasks: dict[str, asyncio.Task[SubgoalResult]] = {}

    async def one(assignment: Assignment) -> SubgoalResult:
        # Only those of earlier waves are waited for: a circle that got past verification must not hang.
        needed = [each for each in assignment.subgoal.depends_on if waves.get(each, assignment.wave) < assignment.wave]
        before = {each: await asyncio.shield(tasks[each]) for each in dict.fromkeys(needed)}
        async with turns:
            return await run.subgoal(assignment, before)

    async with asyncio.TaskGroup() as group:
        for assignment in sorted(routing.assignments, key=lambda each: each.wave):
            tasks[assignment.subgoal.id] = group.create_task(one(assignment), name=f"subgoal {assignment.subgoal.id}")
    results = tuple(tasks[each.subgoal.id].result() for each in routing.assignments)
    done = sum(1 for each in results if not _failed(each, settings.scoring))
    tell("collect", "complete", f"{done} of {len(results)} subgoals done", done=done, subgoals=len(results))
    return results


class _Shares:
    """Shares of the time that a run has left: each wave of subgoals gets as much as every other, within `_OF_RUN`."""

    def __init__(self, seconds: float | None, waves: int) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds * _OF_RUN
        self._waves = waves

    def of(self, wave: int, *, replaceable: bool) -> float | None:
        """Seconds of an agent in a wave; half where another may have to do its work after it. None: no limit."""
        if self._end is None:
            return None
        left = max(0.0, self._end - time.monotonic()) / max(1, self._waves - wave)
        return max(_LEAST_SECONDS, left / 2 if replaceable else left)


class _Run:
    """Surroundings of every subgoal of a run."""

    def __init__(
        self,
        plan: Plan,
        context: ContextBundle,
        llm: Llm | None,
        judge: Llm | None,
        executors: Executors,
        settings: SoarSettings,
        ask_user: AskUser,
        tell: Tell,
        learn: Learn | None,
        capped: Callable[[CapReached], object] | None,
        now: Callable[[], float],
        shares: _Shares,
    ) -> None:
        self._capped = capped
        self._shares = shares
        self._broken: dict[str, str] = {}
        self._unjudged: str | None = None  # why the judge of outputs is not asked again
        self._plan, self._context = plan, context
        self._llm, self._judge = llm, judge
        self._executors, self._settings = executors, settings
        self._ask_user, self._tell = ask_user, tell
        self._learn, self._now = learn, now

    async def subgoal(self, assignment: Assignment, before: Mapping[str, SubgoalResult]) -> SubgoalResult:
        """One subgoal from beginning to end. Never raises but for being cancelled."""
        subgoal, agent = assignment.subgoal, assignment.agent
        begun = self._now()
        missing = [name for name, result in before.items() if _failed(result, self._settings.scoring)]
        if missing:
            why = f"needs {', '.join(missing)}, which {'has' if len(missing) == 1 else 'have'} failed"
            self._tell("collect", "skipped", f"{subgoal.id} skipped: {why}", subgoal=subgoal.id, agent=agent.id)
            response = AgentResponse(subgoal_id=subgoal.id, agent_id=agent.id, status="error", error=why)
            return SubgoalResult(subgoal=subgoal, response=response, skipped=why, started_at=begun, ended_at=begun)
        try:
            task = task_for(subgoal, self._plan, self._context, before.values())
            tries = await self._tries(task, agent, assignment.wave)
        except Exception as error:  # one subgoal's fault is never the run's
            log.exception("a subgoal failed", extra={"subgoal": subgoal.id, "agent": agent.id})
            said = f"internal error, {type(error).__name__}: {error}"
            response = AgentResponse(subgoal_id=subgoal.id, agent_id=agent.id, status="error", error=said)
            tries = [_Try(response, None, began=begun, ended=self._now())]
        return self._result(subgoal, tries, begun)

    async def _tries(self, task: Task, agent: Agent, wave: int) -> list[_Try]:
        """Try, try again with feedback, and at last with another agent."""
        scoring = self._settings.scoring
        tries: list[_Try] = []
        retries = 0
        while True:
            number = len(tries) + 1
            task = msgspec.structs.replace(task, attempt=number)
            self._tell(
                "collect",
                "in_progress",
                f"{task.subgoal.id} → {agent.id}" + (f", attempt {number}" if number > 1 else ""),
                subgoal=task.subgoal.id,
                agent=agent.id,
                attempt=number,
            )
            began = self._now()
            one, over = await self._one(task, agent, retries, wave)
            one = msgspec.structs.replace(one, began=began, ended=self._now())
            outcome = outcome_of(one.response, one.verification, scoring)
            await self._remember(agent, one, outcome)
            other = self._other(agent)
            if outcome == "pass" or over or (outcome == "retry" and retries >= scoring.max_retries):
                return [*tries, one]
            if outcome == "reject" and other is None:
                return [*tries, one]
            feedback = _feedback_on(one, retries + 1, scoring)
            tries.append(msgspec.structs.replace(one, feedback=feedback))
            if outcome == "reject" and other is not None:
                agent = other
            else:
                retries += 1
            self._tell_retry(task.subgoal, agent, one, feedback)
            task = msgspec.structs.replace(task, feedback=feedback)

    async def _one(self, task: Task, agent: Agent, retries: int, wave: int) -> tuple[_Try, bool]:
        """One answer, verified; and whether it has to be the last. Who broke is not asked again (circuit breaker)."""
        before = self._broken.get(agent.id)
        if before is not None:
            return _Try(_without_answer(task, agent, f"not asked again: {before}"), None, worked=False), False
        seconds = self._shares.of(wave, replaceable=self._other(agent) is not None)
        try:
            response = await self._executors.run(agent, task, llm=self._llm, ask_user=self._ask_user, seconds=seconds)
        except CapReached as error:
            if self._capped is not None:
                self._capped(error)
            return _Try(_without_answer(task, agent, f"not worked on: {error}"), None, worked=False), True
        if response.output is None:
            if agent.type != "builtin":
                self._broken[agent.id] = bare_error(response.agent_id, response.error)
            return _Try(response, None), False
        if self._unjudged is not None:
            return self._by_rules(task, response, f"not verified: {self._unjudged}"), True
        try:
            verification = await verify_output(
                task.subgoal,
                response,
                self._judge,
                self._settings.scoring,
                complexity=self._plan.complexity,
                attempt=retries,
            )
        except LlmError as error:
            if isinstance(error, Unjudged):
                self._unjudged = str(error)
            return self._by_rules(task, response, f"could not be verified: {error}"), True
        return _Try(response, verification), False

    def _by_rules(self, task: Task, response: AgentResponse, note: str) -> _Try:
        """An answer that no judge has seen: rules may still find it wanting, and never right."""
        found = precheck(task.subgoal, response, self._settings.scoring)
        noted = msgspec.structs.replace(response, notes=(*response.notes, note))
        return _Try(noted, None if found.verdict == "pass" else found)

    def _other(self, agent: Agent) -> Agent | None:
        """Failover: who may try after `agent`: llm-executor, where a model is there and it was not that already."""
        return GENERIC if agent.id != GENERIC.id and self._llm is not None else None

    async def _remember(self, agent: Agent, one: _Try, outcome: Outcome) -> None:
        """Success or failure of an agent, learned by the registry."""
        if self._learn is None or not one.worked or (one.response.output is not None and one.verification is None):
            return
        try:
            await asyncio.to_thread(self._learn, agent.id, outcome == "pass")
        except OrchestrationError as error:
            log.warning("how an agent did cannot be kept: %s", error)

    def _tell_retry(self, subgoal: Subgoal, agent: Agent, one: _Try, feedback: RetryFeedback) -> None:
        """Notice of a retry: who failed, why, and who is next."""
        who, error = one.response.agent_id, one.response.error
        why = f"failed: {bare_error(who, error)}" if error else f"scored {one.score:.2f}"
        then = f"{agent.id} takes over" if agent.id != who else "again"
        self._tell(
            "collect",
            "retry",
            f"{subgoal.id}: agent {who} {why}; {then}",
            subgoal=subgoal.id,
            agent=agent.id,
            score=one.score,
            attempt=feedback.attempt,
        )

    def _result(self, subgoal: Subgoal, tries: list[_Try], begun: float) -> SubgoalResult:
        """The best answer is the subgoal's; of equals the last."""
        best = max(range(len(tries)), key=lambda place: (tries[place].score, place))
        chosen = tries[best]
        result = SubgoalResult(
            subgoal=subgoal,
            response=chosen.response,
            verification=chosen.verification,
            tries=tuple(map(_told, tries)),
            started_at=begun,
            ended_at=self._now(),
        )
        bad = _failed(result, self._settings.scoring)
        seconds = result.ended_at - begun
        said = chosen.response.error if bad and chosen.response.error else f"score {chosen.score:.2f}"
        self._tell(
            "collect",
            "failed" if bad else "in_progress",
            f"{subgoal.id} {'failed' if bad else 'done'} by {chosen.response.agent_id} ({said}, {seconds:.1f} s)",
            subgoal=subgoal.id,
            agent=chosen.response.agent_id,
            score=chosen.score,
            duration_ms=round(1000 * seconds, 1),
            attempts=len(tries),
            done=not bad,
        )
        return result


def outcome_of(response: AgentResponse, verification: Verification | None, scoring: ScoringSettings) -> Outcome:
    """Outcome of an answer (App. D). One that nobody could verify is taken as it is."""
    if response.output is None:
        return "reject"
    if verification is None or verification.verdict == "pass":
        return "pass"
    return "retry" if verification.overall_score >= scoring.retry_threshold else "reject"


def _without_answer(task: Task, agent: Agent, why: str) -> AgentResponse:
    return AgentResponse(subgoal_id=task.subgoal.id, agent_id=agent.id, status="error", error=why)


def _feedback_on(one: _Try, attempt: int, scoring: ScoringSettings) -> RetryFeedback:
    """What the next try is told of the last (§8.7)."""
    if one.verification is not None:
        return feedback_for(one.verification, "agent_output", attempt, scoring)
    why = one.response.error or "there was no answer"
    return RetryFeedback(
        attempt=attempt,
        previous_score=0.0,
        issues=(FeedbackIssue(check="answer", score=0.0, issue=why[:1_000]),),
        instruction=f"{one.response.agent_id} gave no answer: {why[:1_000]}. Answer the subgoal.",
    )


def _told(one: _Try) -> AgentTry:
    """A try as the records keep it."""
    response = one.response
    return AgentTry(
        agent_id=response.agent_id,
        status=response.status,
        summary=response.output.summary[:MAX_KEPT] if response.output is not None else "",
        error=response.error,
        verification=one.verification,
        feedback=one.feedback,
        started_at=one.began,
        ended_at=one.ended,
        worked=one.worked,
    )


def _failed(result: SubgoalResult, scoring: ScoringSettings) -> bool:
    """Whether nothing can be gone on with from a result."""
    if result.skipped or result.response.output is None:
        return True
    return result.verification is not None and result.verification.overall_score < scoring.retry_threshold
