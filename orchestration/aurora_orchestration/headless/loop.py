"""Loop of headless mode (autonomous agent iterations): read the goal, run, note, look whether it is enough, stop at a
limit of cost or failures (AURORA §9.8, "Headless Flow").
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.headless.branch import WrongBranch, allow
from aurora_orchestration.headless.goals import BadPrompt, Experiment, Judge, judge, read_experiment
from aurora_orchestration.headless.iteration_text import (
    CLAIM,
    action,
    nothing_done,
    observation,
    observed,
    query_of,
)
from aurora_orchestration.headless.named_files import missing_file
from aurora_orchestration.headless.scratchpad import Scratchpad, dollars, one_line, signals
from aurora_orchestration.headless.work_tree import Changes, TreeState, changes, look
from aurora_orchestration.llm.completion import LlmError
from aurora_orchestration.run_record import Mode, RunCancelled, RunRecord
from aurora_orchestration.settings import HeadlessSettings
from aurora_orchestration.soar.finalize import to_its_end
from aurora_protocol.strict_modes import make_private_folder

Run = Callable[[str, Mode], Awaitable[RunRecord]]
Ending = Literal[
    "goal", "iterations", "futile", "budget", "branch", "forbidden", "changed", "disabled", "blocked", "no_provider",
    "cancelled",
]  # fmt: skip

ACHIEVED, MISSED, BLOCKED = 0, 1, 4
"""Exit codes (contracts): the goal is met; it is not; nothing may run, or not any more."""

MOST_FAILURES = 3
"""Iterations in a row that failed and changed nothing, after which the next ones would do the same."""

_NEXT_STEP = re.compile(r"(?im)^[ \t>*#-]*next step[ \t*]*:[ \t*]*(\S.*)$")
_CODES: dict[Ending, int] = {
    "goal": ACHIEVED,
    "iterations": MISSED,
    "futile": MISSED,
    "no_provider": MISSED,
    "cancelled": MISSED,
    "budget": BLOCKED,
    "branch": BLOCKED,
    "forbidden": BLOCKED,
    "changed": BLOCKED,
    "disabled": BLOCKED,
    "blocked": BLOCKED,
}
_STATUSES: dict[Ending, str] = {
    "iterations": "MAX_ITERATIONS",
    "futile": "NO_PROGRESS",
    "no_provider": "NO_PROVIDER",
    "cancelled": "CANCELLED",
    "branch": "WRONG_BRANCH",
    "forbidden": "FORBIDDEN",
    "changed": "GOAL_CHANGED",
    "blocked": "BLOCKED",
}


class Headless(Struct, frozen=True, kw_only=True):
    """Invocation of headless mode: where, with what, how far.

    `budget_usd` and the prompt's BUDGET_LIMIT are both limits: the smaller one holds; without either it is the
    configuration's. `lock` is a file outside of the workspace that keeps two loops off one scratchpad. `now` is local.
    """

    root: Path
    settings: HeadlessSettings
    prompt: Path
    scratchpad: Path
    lock: Path
    now: Callable[[], datetime]
    max_iterations: int | None = None
    budget_usd: float | None = None


class Iteration(Struct, frozen=True, kw_only=True):
    """Result of one iteration, for whoever watches."""

    number: int
    limit: int
    record: RunRecord
    cost_usd: float
    next_step: str = ""


class ExperimentOutcome(Struct, frozen=True, kw_only=True):
    """End of an experiment. `iterations` and `cost_usd` are those of the whole experiment, earlier invocations too.

    Dollars are those that limits count: calls of unknown price at an unknown model's.
    """

    ending: Ending
    reason: str
    iterations: int = 0
    cost_usd: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 the goal is met, 1 it is not, 4 blocked by branch, configuration or budget."""
        return _CODES[self.ending]


class _Stop(Exception):
    """The loop ends here."""

    def __init__(self, ending: Ending, reason: str) -> None:
        super().__init__(reason)
        self.ending = ending


async def pursue(
    headless: Headless, run: Run, judge: Judge | None, *, watch: Callable[[Iteration], None] = lambda _: None
) -> ExperimentOutcome:
    """Run until the goal is met, or a limit is reached. `judge` weighs what runs claim; without one no claim counts.

    Raises `BadPrompt` and `BadScratchpad`; a wrong branch is an outcome.
    """
    if not headless.settings.enabled:
        return ExperimentOutcome(
            ending="disabled", reason="headless mode is off; set headless.enabled to true to use it"
        )
    try:
        await allow(headless.root, headless.settings)
    except WrongBranch as error:
        return ExperimentOutcome(ending="branch", reason=str(error))
    experiment = await asyncio.to_thread(read_experiment, headless.prompt)
    make_private_folder(headless.lock.parent)
    lock = FileLock(headless.lock, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return ExperimentOutcome(
            ending="blocked", reason=f"{headless.scratchpad} is in use by another headless run; stop it first"
        )
    try:
        return await _Loop(headless, experiment, run, judge, watch).pursue()
    finally:
        lock.release()


class _Loop:
    """One invocation, with its count and its sum."""

    def __init__(
        self,
        headless: Headless,
        experiment: Experiment,
        run: Run,
        judge: Judge | None,
        watch: Callable[[Iteration], None],
    ) -> None:
        self._headless = headless
        self._settings = headless.settings
        self._experiment = experiment
        self._run = run
        self._judge = judge
        self._watch = watch
        self._pad = Scratchpad(headless.scratchpad)
        given = [limit for limit in (headless.budget_usd, experiment.budget_usd) if limit is not None]
        self._budget = min(given) if given else headless.settings.default_budget_limit_usd
        self._limit = headless.max_iterations or headless.settings.default_max_iterations
        self._number = 0
        self._cost = 0.0
        self._failures = 0

    async def pursue(self) -> ExperimentOutcome:
        """Iterate until the goal is met or a limit is reached; goes on where the scratchpad says that it stopped."""
        pad = self._pad
        progress = await asyncio.to_thread(pad.begin, self._experiment.title, self._limit, self._budget, self._now())
        self._number, self._cost = progress.iterations, progress.cost_usd
        goal = self._settings.goal_achievement_signal
        if progress.status == _STATUSES["changed"] and progress.goal != self._experiment.digest:
            return self._outcome("changed", self._changed())
        if progress.status == goal and (met := await self._met_before(progress.tree)):
            return self._outcome("goal", met)
        if progress.status == _STATUSES["iterations"]:
            # A new round: the old one had gone all its way.
            self._limit += progress.iterations
        try:
            while True:
                await self._check_limits()
                await self._iterate()
        except _Stop as stop:
            found = self._outcome(stop.ending, str(stop))
            status = {"goal": goal, "budget": self._settings.budget_exceeded_signal}.get(
                stop.ending, _STATUSES.get(stop.ending, "")
            )
            if not (stop.ending == "budget" and progress.status == status and progress.iterations == self._number):
                at = (await self._look()).digest if stop.ending == "goal" else ""
                begun = self._experiment.digest if stop.ending == "changed" else ""
                why = found.reason if stop.ending == "goal" else found.reason.replace(goal, CLAIM)
                await asyncio.to_thread(pad.end, status, why, self._number, self._cost, at, begun)
            return found

    async def _met_before(self, digest: str) -> str:
        """What to say where the goal was met before and nothing has changed since; "" where it has to be shown anew."""
        tree = await self._look()
        if tree.digest != digest:
            return ""
        at = f" at commit {tree.head[:12]}" if tree.head else ""
        return (
            f"it was met before{at}, and nothing has changed since; nothing was run now "
            f"(move {self._pad.file.name} away to start anew)"
        )

    async def _look(self) -> TreeState:
        """The work tree, without the experiment's own two files."""
        return await look(self._headless.root, without=(self._headless.scratchpad, self._headless.prompt))

    async def _check_limits(self) -> None:
        """Stop conditions (termination): budget, iterations and branch, before each iteration. Raises _Stop."""
        if self._cost >= self._budget:
            raise _Stop("budget", f"{dollars(self._cost)} of {dollars(self._budget)} are spent; raise --budget-limit")
        if self._number >= self._limit:
            raise _Stop("iterations", f"the goal is not met after {self._number} iterations")
        try:
            # Each time: an agent may have switched branches.
            await allow(self._headless.root, self._settings)
        except WrongBranch as error:
            raise _Stop("branch", str(error)) from error

    async def _iterate(self) -> None:
        """One iteration: a run, what it changed, what it claims, and the note of it."""
        notes = await asyncio.to_thread(self._pad.text)
        self._number += 1
        await asyncio.to_thread(
            self._pad.begin_iteration, self._number, self._limit, self._cost, self._budget, self._now()
        )
        query = query_of(self._experiment, notes, self._settings.goal_achievement_signal)
        before = await self._look()
        try:
            record = await self._run(query, "headless")
        except OrchestrationError as error:
            await self._note((("Observation", f"The run could not go on: {error}"),))
            raise _Stop("blocked", str(error)) from error
        except RunCancelled as cancelled:
            self._cost += cancelled.run.counted_usd
            await to_its_end(self._cancelled())
            raise
        self._cost += record.counted_usd
        settings, signal = self._settings, self._settings.goal_achievement_signal
        happened = await changes(
            self._headless.root,
            before,
            await self._look(),
            push=settings.allow_push,
            merge=settings.allow_merge,
            checkout=settings.allow_checkout,
        )
        told = (("Action", action(record)), ("Observation", observation(record)), ("Changes", happened.line))
        if happened.left:
            await self._note((*told, ("Decision", happened.left)))
            self._tell(record, "")
            there = happened.repository
            back = f". To go back: git checkout {before.branch}" if there else ""
            raise _Stop("branch", f"{happened.left}; the run is over{back}")
        if happened.forbidden:
            await self._note((*told, ("Decision", f"Not allowed: {'; '.join(happened.forbidden)}")))
            self._tell(record, "")
            raise _Stop("forbidden", f"an agent did what it may not: {'; '.join(happened.forbidden)}; the run is over")
        if await asyncio.to_thread(self._goal_changed):
            await asyncio.to_thread(self._pad.unconfirmed, signal, notes)
            await self._note((*told, ("Decision", "The goal was changed while agents worked")))
            self._tell(record, "")
            raise _Stop("changed", self._changed())
        said = (record.answer, *(each.response.output.summary for each in record.results if each.response.output))
        claimed = any(signal in each for each in said) or signals(
            await asyncio.to_thread(self._pad.text), signal
        ) > signals(notes, signal)
        lines, achieved, next_step = await self._judged(record, notes, happened) if claimed else ((), "", "")
        next_step = next_step or (found.group(1) if (found := _NEXT_STEP.search(record.answer)) else "")
        steps = (("Next Step", next_step),) if next_step and not achieved else ()
        if claimed and not achieved:
            await asyncio.to_thread(self._pad.unconfirmed, signal, notes)
        await self._note((*told, *lines, *steps))
        self._tell(record, next_step)
        if achieved:
            raise _Stop("goal", achieved)
        if record.state == "blocked":
            raise _Stop("blocked", record.error or "the run was blocked")
        if record.state == "no_provider":
            raise _Stop("no_provider", record.error or "no model is configured")
        if record.state == "cancelled":
            raise _Stop("cancelled", record.error or "the run was cancelled")
        self._failures = self._failures + 1 if record.state == "failed" and not happened else 0
        if self._failures >= MOST_FAILURES:
            why = one_line(record.error or record.answer or "no reason was given")
            raise _Stop("futile", f"{self._failures} iterations in a row failed and changed nothing: {why}")

    def _goal_changed(self) -> bool:
        """Whether the prompt says something else than it did when this began, or nothing. Blocks for one read."""
        try:
            return read_experiment(self._headless.prompt).digest != self._experiment.digest
        except BadPrompt:
            return True

    def _changed(self) -> str:
        """What to say of a goal that is not the one this began with."""
        return (
            f"{self._headless.prompt.name} was changed while agents worked, and the run is over; put it back, or take "
            f"STATUS: {_STATUSES['changed']} out of {self._pad.file.name} to go on with it as it is"
        )

    def _tell(self, record: RunRecord, next_step: str) -> None:
        """Tell whoever watches."""
        self._watch(
            Iteration(number=self._number, limit=self._limit, record=record, cost_usd=self._cost, next_step=next_step)
        )

    async def _cancelled(self) -> None:
        """Note what an iteration that was cancelled has cost: the next invocation goes on from that sum."""
        await self._note((("Observation", "Cancelled before it ended; what it cost is in the sum above"),))
        await asyncio.to_thread(
            self._pad.end, _STATUSES["cancelled"], "the run was cancelled", self._number, self._cost
        )

    async def _judged(
        self, record: RunRecord, notes: str, happened: Changes
    ) -> tuple[tuple[tuple[str, str], ...], str, str]:
        """Goal evaluation, what is noted of a claim, the reason if it holds, and else the next step."""
        signal = self._settings.goal_achievement_signal
        if why := nothing_done(record, happened):
            return (("Judgement", f"The goal is claimed to be met; {why}"),), "", ""
        if lost := await asyncio.to_thread(missing_file, self._experiment.goal, self._headless.root):
            return (("Judgement", f"Not met: there is no {lost}, which a criterion names"),), "", f"Make {lost}"
        if self._judge is None:
            return (("Judgement", "The goal is claimed to be met; there is no model to judge that"),), "", ""
        before = self._judge.spent_usd
        try:
            judgement = await judge(self._experiment, record.answer, notes, observed(record, happened), self._judge.llm)
        except LlmError as error:
            return (("Judgement", f"The goal is claimed to be met; it could not be judged: {error}"),), "", ""
        finally:
            self._cost += self._judge.spent_usd - before
        if not judgement.achieved:
            return (("Judgement", f"Not met yet: {judgement.reason}"),), "", judgement.next_step
        reason = one_line(judgement.reason)
        return (("Decision", f"{signal}: {reason}"),), reason, ""

    async def _note(self, lines: tuple[tuple[str, str], ...]) -> None:
        """Note these lines; the goal's signal, which scripts look for, stands in none but our own decision."""
        signal = self._settings.goal_achievement_signal
        lines = tuple(
            (label, text if label == "Decision" and text.startswith(f"{signal}: ") else text.replace(signal, CLAIM))
            for label, text in lines
        )
        await asyncio.to_thread(self._pad.end_iteration, lines, self._number, self._limit, self._cost, self._budget)

    def _outcome(self, ending: Ending, reason: str) -> ExperimentOutcome:
        return ExperimentOutcome(ending=ending, reason=reason, iterations=self._number, cost_usd=self._cost)

    def _now(self) -> datetime:
        return self._headless.now()
