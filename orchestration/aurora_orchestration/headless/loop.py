"""The loop: read the goal, run, note, look whether it is enough (AURORA §9.8, "Headless Flow")."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_indexer.files.gitdir import find_git_directory, read_head
from aurora_indexer.git import commands
from aurora_orchestration import OrchestrationError
from aurora_orchestration.headless.goals import Counting, Experiment, judge, read_experiment
from aurora_orchestration.headless.scratchpad import Scratchpad, dollars, one_line, signalled
from aurora_orchestration.llm.completion import Llm, LlmError
from aurora_orchestration.run_record import Mode, RunCancelled, RunRecord
from aurora_orchestration.settings import HeadlessSettings
from aurora_orchestration.soar.finalize import to_its_end

PROTECTED = frozenset({"main", "master"})
_HEADS = "refs/heads/"


class WrongBranch(OrchestrationError):
    """Headless mode may not work here; nothing was run."""


async def current_branch(root: Path) -> str | None:
    """The branch checked out at `root`; "" where HEAD is detached, None without a repository. Only reads."""
    repository = await asyncio.to_thread(find_git_directory, root)
    head = await asyncio.to_thread(read_head, repository) if repository else None
    if head is None:
        return None
    if head.needs_git:
        said = await commands.answer(root, ["symbolic-ref", "--quiet", "HEAD"])
        return (said or b"").decode("utf-8", "surrogateescape").strip().removeprefix(_HEADS)
    return head.ref.removeprefix(_HEADS)


async def allow(root: Path, settings: HeadlessSettings) -> str:
    """The branch that headless mode works on, if it may work there.

    `main` and `master` never, whatever is configured; with `enforce_branch_check` only `required_branch`. Raises
    `WrongBranch`, also without a repository and where HEAD is detached: neither keeps an experiment apart.
    """
    branch = await current_branch(root)
    required = settings.required_branch
    create = f"git checkout -b {required if required.lower() not in PROTECTED else 'headless'}"
    if branch is None:
        raise WrongBranch(f"{root}: headless mode requires a git repository. Run: git init && {create}")
    needs = (
        f"headless mode requires '{required}' branch" if settings.enforce_branch_check else "headless mode needs one"
    )
    if not branch:
        raise WrongBranch(f"{root} is on no branch (detached HEAD); {needs}. Run: {create}")
    if branch.lower() in PROTECTED:
        raise WrongBranch(f"{root} is on '{branch}', where headless mode never works; {needs}. Run: {create}")
    if settings.enforce_branch_check and branch != required:
        raise WrongBranch(f"{root} is on '{branch}'. Headless mode requires '{required}' branch. Run: {create}")
    return branch


Run = Callable[[str, Mode], Awaitable[RunRecord]]
Ending = Literal["goal", "iterations", "budget", "branch", "disabled", "blocked", "no_provider", "cancelled"]

ACHIEVED, MISSED, BLOCKED = 0, 1, 4
"""Exit codes (contracts): the goal is met; it is not; nothing may run, or not any more."""

MAX_QUERY = 9_000
"""Characters of the question of one iteration; guardrails let 10,000 pass."""

_MAX_NOTES = 4_000
_NEXT_STEP = re.compile(r"(?im)^[ \t>*#-]*next step[ \t*]*:[ \t*]*(\S.*)$")
_CODES: dict[Ending, int] = {
    "goal": ACHIEVED,
    "iterations": MISSED,
    "no_provider": MISSED,
    "cancelled": MISSED,
    "budget": BLOCKED,
    "branch": BLOCKED,
    "disabled": BLOCKED,
    "blocked": BLOCKED,
}
_STATUSES: dict[Ending, str] = {
    "iterations": "MAX_ITERATIONS",
    "no_provider": "NO_PROVIDER",
    "cancelled": "CANCELLED",
    "branch": "WRONG_BRANCH",
    "blocked": "BLOCKED",
}


class Headless(Struct, frozen=True, kw_only=True):
    """One invocation of headless mode: where, with what, how far.

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
    """End of an experiment. `iterations` and `cost_usd` are those of the whole experiment, earlier invocations too."""

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
    headless: Headless, run: Run, llm: Llm | None, *, watch: Callable[[Iteration], None] = lambda _: None
) -> ExperimentOutcome:
    """Run until the goal is met, or a limit is reached. `llm` judges what runs claim; without one no claim counts.

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
    headless.lock.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(headless.lock, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return ExperimentOutcome(
            ending="blocked", reason=f"{headless.scratchpad} is in use by another headless run; stop it first"
        )
    try:
        return await _Loop(headless, experiment, run, llm, watch).pursue()
    finally:
        lock.release()


class _Loop:
    """One invocation, with its count and its sum."""

    def __init__(
        self, headless: Headless, experiment: Experiment, run: Run, llm: Llm | None, watch: Callable[[Iteration], None]
    ) -> None:
        self._headless = headless
        self._settings = headless.settings
        self._experiment = experiment
        self._run = run
        self._llm = llm
        self._watch = watch
        self._pad = Scratchpad(headless.scratchpad)
        given = [limit for limit in (headless.budget_usd, experiment.budget_usd) if limit is not None]
        self._budget = min(given) if given else headless.settings.default_budget_limit_usd
        self._limit = headless.max_iterations or headless.settings.default_max_iterations
        self._number = 0
        self._cost = 0.0

    async def pursue(self) -> ExperimentOutcome:
        pad = self._pad
        progress = await asyncio.to_thread(pad.begin, self._experiment.title, self._limit, self._budget, self._now())
        self._number, self._cost = progress.iterations, progress.cost_usd
        goal = self._settings.goal_achievement_signal
        if progress.status == goal:
            return self._outcome("goal", "the scratchpad says that the goal is met; move it away to start anew")
        if progress.status == _STATUSES["iterations"]:
            # A new round: the old one had gone all its way.
            self._limit += progress.iterations
        try:
            while True:
                await self._may_go_on()
                await self._iterate()
        except _Stop as stop:
            found = self._outcome(stop.ending, str(stop))
            status = {"goal": goal, "budget": self._settings.budget_exceeded_signal}.get(
                stop.ending, _STATUSES.get(stop.ending, "")
            )
            if not (stop.ending == "budget" and progress.status == status and progress.iterations == self._number):
                await asyncio.to_thread(pad.end, status, found.reason, self._number, self._cost)
            return found

    async def _may_go_on(self) -> None:
        if reason := signalled(await asyncio.to_thread(self._pad.text), self._settings.goal_achievement_signal):
            raise _Stop("goal", reason)
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
        notes = await asyncio.to_thread(self._pad.text)
        self._number += 1
        await asyncio.to_thread(
            self._pad.begin_iteration, self._number, self._limit, self._cost, self._budget, self._now()
        )
        query = query_of(self._experiment, notes, self._settings.goal_achievement_signal)
        try:
            record = await self._run(query, "headless")
        except OrchestrationError as error:
            await self._note((("Observation", f"The run could not go on: {error}"),))
            raise _Stop("blocked", str(error)) from error
        except RunCancelled as cancelled:
            self._cost += cancelled.run.cost_usd
            await to_its_end(self._cancelled())
            raise
        self._cost += record.cost_usd
        claimed = self._settings.goal_achievement_signal in record.answer
        lines, achieved, next_step = await self._judged(record, notes) if claimed else ((), "", "")
        next_step = next_step or (found.group(1) if (found := _NEXT_STEP.search(record.answer)) else "")
        steps = (("Next Step", next_step),) if next_step and not achieved else ()
        await self._note((("Action", _action(record)), ("Observation", _observation(record)), *lines, *steps))
        self._watch(
            Iteration(number=self._number, limit=self._limit, record=record, cost_usd=self._cost, next_step=next_step)
        )
        if achieved:
            raise _Stop("goal", achieved)
        if record.state == "blocked":
            raise _Stop("blocked", record.error or "the run was blocked")
        if record.state == "no_provider":
            raise _Stop("no_provider", record.error or "no model is configured")
        if record.state == "cancelled":
            raise _Stop("cancelled", record.error or "the run was cancelled")

    async def _cancelled(self) -> None:
        """Note what an iteration that was cancelled has cost: the next invocation goes on from that sum."""
        await self._note((("Observation", "Cancelled before it ended; what it cost is in the sum above"),))
        await asyncio.to_thread(
            self._pad.end, _STATUSES["cancelled"], "the run was cancelled", self._number, self._cost
        )

    async def _judged(self, record: RunRecord, notes: str) -> tuple[tuple[tuple[str, str], ...], str, str]:
        """What is noted of a claim, the reason if it holds, and else the next step."""
        signal = self._settings.goal_achievement_signal
        if self._llm is None:
            return (("Judgement", "The answer claims the goal; there is no model to judge that"),), "", ""
        llm = Counting(self._llm)
        try:
            judgement = await judge(self._experiment, record.answer, notes, llm)
        except LlmError as error:
            return (("Judgement", f"The answer claims the goal; it could not be judged: {error}"),), "", ""
        finally:
            self._cost += llm.cost_usd
        if not judgement.achieved:
            return (("Judgement", f"Not met yet: {judgement.reason}"),), "", judgement.next_step
        reason = one_line(judgement.reason)
        return (("Decision", f"{signal}: {reason}"),), reason, ""

    async def _note(self, lines: tuple[tuple[str, str], ...]) -> None:
        await asyncio.to_thread(self._pad.end_iteration, lines, self._number, self._limit, self._cost, self._budget)

    def _outcome(self, ending: Ending, reason: str) -> ExperimentOutcome:
        return ExperimentOutcome(ending=ending, reason=reason, iterations=self._number, cost_usd=self._cost)

    def _now(self) -> datetime:
        return self._headless.now()


def query_of(experiment: Experiment, notes: str, signal: str) -> str:
    """The question of one iteration: the goal, what was noted last, what is wanted. Pure; at most `MAX_QUERY` long.

    The goal's title comes first: it is what memory shows of what was learned.
    """
    wanted = (
        "Take the next step towards the goal, and report what was done and observed. End with one line: "
        f"'{signal}: <reason>' if every criterion of the goal has been observed to hold, else 'Next step: <what>'."
    )
    room = MAX_QUERY - len(wanted) - len(experiment.title) - 100
    noted = notes.partition("\n---\n")[2].strip()
    noted = noted[-min(_MAX_NOTES, max(0, room - len(experiment.goal))) :] if len(experiment.goal) < room else ""
    goal = experiment.goal[:room]
    return f"{experiment.title}\n\nGoal:\n{goal}\n\nNotes of earlier iterations:\n{noted or '(none)'}\n\n{wanted}"


def _action(record: RunRecord) -> str:
    tried = [result for result in record.results if not result.skipped]
    if tried:
        return "; ".join(
            f"{each.subgoal.description}{' (failed)' if each.response.status == 'error' else ''}" for each in tried
        )
    return "Answered directly" if record.answer else "None: the run came to no answer"


def _observation(record: RunRecord) -> str:
    scored = f" (score {record.score:.2f})" if record.score is not None else ""
    return (record.answer or record.error or f"The run ended as {record.state}") + scored
