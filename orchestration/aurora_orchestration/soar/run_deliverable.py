"""Record of a run: what was asked, called and spent, told as events of a kind of its own (`run`), which no delivery
metric counts.

The phases of a run in the words of AURA-M §3, for its spans:

| run                               | deliverable |
|-----------------------------------|-------------|
| guard, assess                     | propose     |
| retrieve                          | specs       |
| decompose, its verification       | design      |
| route                             | tasks       |
| collect, synthesize, direct answer| apply       |
| verification of the answer        | verify      |
| record, respond                   | archive     |

An answer that is sent back to be mended goes from verify to apply again: a recovery; so is a step that is tried again.
A run inside of a deliverable that the same session has open already opens none of its own; what it called and spent
counts towards that one.

Nothing here ever harms a run: what cannot be recorded is logged and left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from aurora_deliverables.choices import Complexity, FailureType, Phase
from aurora_deliverables.detection import change_title
from aurora_deliverables.detection.prompts import SOURCE
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    PhaseStarted,
    RecoveryBegan,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.evidence import event_id, shown
from aurora_deliverables.tracking import Tracking
from aurora_memory import StoreError
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.claims import usable
from aurora_orchestration.types import AgentTry, ModelCall, SubgoalResult, Usage
from aurora_orchestration.types import Complexity as Level

logger = logging.getLogger(__name__)

PHASE_OF: dict[str, Phase] = {
    "guard": "propose",
    "assess": "propose",
    "retrieve": "specs",
    "decompose": "design",
    "verify": "design",
    "route": "tasks",
    "collect": "apply",
    "synthesize": "apply",
    "verify_synthesis": "verify",
    "record": "archive",
    "respond": "archive",
}

_COMPLEXITY: dict[Level, Complexity] = {
    "simple": "simple",
    "medium": "moderate",
    "complex": "complex",
    "critical": "complex",
}
_MAX_NAME = 200
GATHER_SECONDS = 0.1
"""Between two batches: each is a transaction of memory's, which answers wait for as well."""
TICK = 1e-6
"""Seconds between two events that the clock does not tell apart: what times are written to."""


class RunDeliverable:
    """The deliverable of one run, called `change`. `resumed` says how often the run was gone on with.

    Events are written by a task of its own, what happens within `GATHER_SECONDS` in one go; `close` waits for the last.
    What a kill takes of them was paid for all the same: `interrupted_runs` tells of it again, by the run's journal.
    """

    def __init__(self, tracking: Tracking, run: str, session: str, *, change: str, resumed: int = 0) -> None:
        self._tracking = tracking
        self._run = run
        self._session = session or None
        self._resumed = resumed
        self._change = change
        self._joined = self._begun = False
        self._phase: Phase | None = None
        self._count = 0
        self._last_at = 0.0
        self._waiting: list[Event] = []
        self._writer: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    async def begin(self, query: str, complexity: Level, model: str | None, started_at: float, at: float) -> None:
        """Open a deliverable, or join the one this session has open."""
        self._begun = True
        open_one = await self._open_one() if self._session else None
        if open_one is not None:
            self._change, self._joined = open_one, True
            return
        agent = AgentIdentity("aurora", _named(model), "aurora-soar")
        spec = SpecSource(SOURCE, self._run, 1)
        title = change_title.summary(query[:2000])
        started = Started(title, "question", _COMPLEXITY[complexity], spec, agent, kind="run")
        self._say(started_at, started)
        if self._session:
            self._say(started_at, SessionJoined(_named(self._session) or self._run))
        if self._resumed:
            self._say(at, RecoveryBegan("the process ended in the middle of it; gone on with"))

    def phase(self, name: str, at: float) -> None:
        """A phase of the run begins, by its name in `PHASE_OF`."""
        phase = PHASE_OF.get(name)
        if phase is not None and phase != self._phase and self._begun and not self._joined:
            before, self._phase = self._phase, phase
            self._say(at, PhaseStarted(phase))
            if before == "verify" and phase == "apply":
                self._say(at, RecoveryBegan("the answer did not pass its verification"))

    def steps(self, total: int, at: float) -> None:
        """So many subgoals are to be done."""
        if not self._joined:
            self._say(at, TasksCounted(total=total, completed=0))

    def called(self, call: ModelCall) -> None:
        """A model was asked. What was paid before an interruption was told then."""
        if call.replayed or not self._begun:
            return
        used = tokens_used(call.usage, call.cost_usd, call.model, call.provider, call.took_ms)
        self._say(call.started_at + call.took_ms / 1000, used, paid_as(self._change, call.key) if call.key else None)

    def collected(self, results: Sequence[SubgoalResult]) -> None:
        """What the agents did: each try a tool call with its duration, each tool of theirs one without.

        A try after the first is a recovery (AURA-M §1). Tries are told at the times they took place.
        """
        for result in results:
            response = result.response
            for number, one in enumerate(result.tries):
                took = max(0.0, one.ended_at - one.started_at)
                if number and not self._joined:
                    why = shown(_why_again(result.tries[number - 1]))
                    self._say_at(one.started_at, RecoveryBegan(why, duration_seconds=took, tool_calls=1))
                name = _named(f"agent:{one.agent_id}") or "agent"
                self._say_at(one.ended_at, ToolCalled(name, 1, one.status != "error", took))
            for tool in response.metadata.tools_used:
                self._say(result.ended_at, ToolCalled(_named(tool) or "tool"))
            for turn in response.user_interactions:
                self._say(result.ended_at, HumanIntervened(note=shown(turn.agent_question)))
        if results and not self._joined:
            done = sum(map(usable, results))
            self._say(max(each.ended_at for each in results), TasksCounted(completed=done))

    def end(self, run: RunRecord, *, limited: bool = False) -> None:
        """The run is over: how well, and how it failed where it did. `limited`: a limit on money or time stopped it."""
        if self._joined or not self._begun:
            return
        at = run.ended_at
        if run.results and not any(each.response.user_interactions for each in run.results):
            self._say(at, HumanIntervened(count=0))
        answered = run.state in ("complete", "partial") and bool(run.answer)
        share = sum(map(usable, run.results)) / len(run.results) if run.results else float(answered)
        self._say(at, Conformed(functional=share, correctness=run.score, constraint_violations=int(limited)))
        if answered:
            self.phase("record", at)
            self._say(at, Ended("completed"))
        else:
            kind: FailureType = "constraint_violation" if limited else failure_of(run)
            self._say(at, Ended("failed", kind, shown(run.error or run.state)))

    async def close(self) -> None:
        """Wait until everything said is on disk."""
        self._closed.set()
        while self._writer is not None and not self._writer.done():
            await asyncio.shield(self._writer)

    async def _open_one(self) -> str | None:
        """Deliverable that this session has open, to be joined; None where there is none."""
        try:
            known = await self._tracking.all()
        except StoreError as error:
            logger.warning("deliverables cannot be read", extra={"error": str(error)})
            return None
        for each in known:
            over = each.status in ("completed", "failed")
            if each.kind == "change" and not over and self._session in each.sessions:
                return each.change_id if each.change_id != self._change else None
        return None

    def _say(self, at: float, what: EventBody, known_as: str | None = None) -> None:
        # Later than what was said before: phases that the clock does not tell apart stay in their order.
        self._last_at = at = max(at, self._last_at + TICK)
        self._say_at(at, what, known_as)

    def _say_at(self, at: float, what: EventBody, known_as: str | None = None) -> None:
        self._count += 1
        tag = str(type(what).__struct_config__.tag)
        self._waiting.append(
            Event(
                id=known_as or event_id(self._change, tag, self._run, self._resumed, self._count),
                change_id=self._change,
                at=at,
                what=what,
                session=_named(self._session),
                source=SOURCE,
                evidence=f"aurora query {self._run}",
            )
        )
        if self._writer is None or self._writer.done():
            self._writer = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        """Writer task: what was said meanwhile is recorded in batches."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                recorded = await self._tracking.record(batch)
            except Exception:  # a run is worth more than the record of it
                logger.exception("a run's deliverable could not be recorded", extra={"run": self._run})
                continue
            for refusal in recorded.refused:
                logger.warning("of a run's deliverable was refused", extra={"run": self._run, "why": refusal.reason})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), GATHER_SECONDS)


def tokens_used(usage: Usage, usd: float | None, model: str, provider: str, took_ms: float) -> TokensUsed:
    """Tokens of one call, as an event."""
    return TokensUsed(
        input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        cost_usd=usd,
        model=_named(model),
        provider=_named(provider),
        duration_seconds=max(0.0, took_ms / 1000),
    )


def paid_as(change: str, key: str) -> str:
    """What the event of a call is known by, whoever tells of it: the run, or after a kill who reads its journal."""
    return event_id(change, "tokens", key)


def failure_of(run: RunRecord) -> FailureType:
    """Kind of a failure (AURA-M §4), as far as a run tells."""
    if any(not usable(each) for each in run.results) or run.state in ("cancelled", "interrupted"):
        return "incomplete"
    synthesis = run.synthesis
    if synthesis is not None and synthesis.verification is not None:
        checks = synthesis.verification.checks
        worst = min(checks, key=lambda name: checks[name].score, default="")
        return "hallucination" if worst == "traceable" or synthesis.untraced else "spec_misunderstanding"
    if run.plan is not None and run.plan.verification.verdict != "pass":
        return "spec_misunderstanding"  # no tool was called: the question was never taken apart soundly
    return "tool_failure" if run.error else "incomplete"


def _why_again(before: AgentTry) -> str:
    """Why there was another try."""
    if before.error is not None:
        return f"{before.agent_id}: {before.error}"
    score = f"scored {before.verification.overall_score:.2f}" if before.verification is not None else "gave nothing"
    return f"{before.agent_id} {score}"


def _named(text: str | None) -> str | None:
    """`text` as a name on one line can hold it."""
    return shown(text, _MAX_NAME) or None if text else None
