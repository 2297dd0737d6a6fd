"""`aurora --headless` (unattended): a goal pursued without a human, iteration by iteration, each told in a line (AURORA
§9.8).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from aurora_cli.global_options import GlobalOptions
from aurora_cli.headless_options import HeadlessOptions
from aurora_cli.mem import index_once
from aurora_cli.output import TerminalStyle, style_of_output
from aurora_cli.session import open_session
from aurora_orchestration.guardrails.blocked import Unrecorded
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.headless.goals import Judge
from aurora_orchestration.headless.loop import ExperimentOutcome, Headless, Iteration, Run, pursue
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.run_record import Mode, RunCancelled, RunRecord
from aurora_orchestration.settings import HeadlessSettings
from aurora_orchestration.types import AgentMetadata, AgentResponse, ModelCall, Output, Subgoal, SubgoalResult, Usage
from aurora_protocol.address import home, in_home
from aurora_protocol.query_methods import QUERY
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.trust import Trust


@dataclass(frozen=True)
class HeadlessContext:
    """Context of the loop, what it needs of the rest: its configuration, how one query is run, and who judges what runs
    claim.

    Agents of a workspace that is not `trusted` are not started in it.
    """

    settings: HeadlessSettings
    run: Run
    judge: Judge | None
    trusted: bool = True


Opening = Callable[[GlobalOptions], AbstractAsyncContextManager[HeadlessContext]]


def pursue_goal(settings: GlobalOptions, options: HeadlessOptions, opening: Opening) -> int:
    """Pursue the goal, telling each iteration; returns the exit code: 0 met, 1 not met, 4 blocked."""
    return asyncio.run(_pursue(settings, options, opening))


async def _pursue(settings: GlobalOptions, options: HeadlessOptions, opening: Opening) -> int:
    """Pursuit of the goal under the scratchpad's lock: one process at a time; the exit code."""
    root = settings.workspace
    style = style_of_output(settings)
    async with opening(settings) as wired:
        if not wired.trusted:
            print(
                f"aurora: {root} is not trusted, so that agents are started in AURORA's home and find none of its "
                "files there; to let them work here: aurora trust",
                file=sys.stderr,
            )
        scratchpad = (options.scratchpad or root / wired.settings.scratchpad_file).absolute()
        outcome = await pursue(
            Headless(
                root=root,
                settings=wired.settings,
                prompt=(options.prompt or root / wired.settings.prompt_file).absolute(),
                scratchpad=scratchpad,
                lock=_lock_of(scratchpad),
                now=datetime.now,
                max_iterations=options.max_iterations,
                budget_usd=options.budget_limit,
            ),
            wired.run,
            wired.judge,
            watch=lambda iteration: _tell(iteration, settings, style),
        )
    if settings.json:
        print(json.dumps(outcome_document(outcome)), flush=True)
    elif outcome.exit_code == 0:
        print(outcome_line(outcome, style), flush=True)
    else:
        print(f"aurora: {outcome_line(outcome, TerminalStyle())}", file=sys.stderr)
    return outcome.exit_code


def _lock_of(scratchpad: Path) -> Path:
    """The lock file of a scratchpad, outside of the user's tree: by the file it is, whichever way it is named."""
    name = hashlib.sha256(os.fsencode(scratchpad.resolve())).hexdigest()[:16]
    return home(os.environ) / "locks" / f"headless-{name}.lock"


def _tell(iteration: Iteration, settings: GlobalOptions, style: TerminalStyle) -> None:
    shown = json.dumps(iteration_document(iteration)) if settings.json else iteration_line(iteration, style)
    print(shown, flush=True)


def iteration_document(iteration: Iteration) -> dict[str, Any]:
    """One iteration, as a line of `--json`."""
    record = iteration.record
    return {
        "event": "iteration",
        "iteration": iteration.number,
        "max_iterations": iteration.limit,
        "query_id": record.id,
        "state": record.state,
        "score": record.score,
        "answer": record.answer,
        "next_step": iteration.next_step,
        "cost_usd": round(iteration.cost_usd, 6),
    }


def outcome_document(outcome: ExperimentOutcome) -> dict[str, Any]:
    """How it ended, as the last line of `--json`."""
    return {
        "event": "end",
        "status": outcome.ending,
        "reason": outcome.reason,
        "iterations": outcome.iterations,
        "cost_usd": round(outcome.cost_usd, 6),
        "exit_code": outcome.exit_code,
    }


def iteration_line(iteration: Iteration, style: TerminalStyle) -> str:
    """One iteration in a line: which, what it came to, what the experiment has cost, what comes next."""
    record = iteration.record
    scored = f" {record.score:.2f}" if record.score is not None else ""
    said = " ".join((record.answer or record.error or "").split())
    parts = [f"{record.state}{scored}", f"${iteration.cost_usd:.2f}", iteration.next_step or said]
    line = f"iteration {iteration.number}/{iteration.limit} · " + " · ".join(part for part in parts if part)
    room = style.width or 200
    return line if len(line) <= room else f"{line[: room - 1]}…"


def outcome_line(outcome: ExperimentOutcome, style: TerminalStyle) -> str:
    """How it ended in a line."""
    spent = f"{outcome.iterations} iterations, ${outcome.cost_usd:.2f}"
    if outcome.ending == "goal":
        return f"{style.colored('goal met', 'green')}: {outcome.reason} ({spent})"
    return f"{outcome.reason} ({spent})" if outcome.iterations else outcome.reason


@asynccontextmanager
async def opening(settings: GlobalOptions) -> AsyncIterator[HeadlessContext]:
    """A session with the daemon and a model, for as long as the experiment goes on. Raises SettingsError."""
    root, home = settings.workspace, settings.address.home
    trusted = Trust(home).is_trusted(root)
    soar, _ = settings_for(root, trusted, os.environ, settings.config)
    calls: list[ModelCall] = []
    budget = Budget(Path(in_home(soar.cost_budgets.tracking_file, home)), soar.cost_budgets, time.time)
    models = open_models(
        soar.llm, os.environ, None, run=f"headless-{os.getpid()}", budget=budget, journal=None, heard=calls.append
    )
    with open_session(settings, root) as client:
        await asyncio.to_thread(index_once, client, root, settings)

        async def run(query: str, mode: Mode) -> RunRecord:
            token = f"headless-{os.getpid()}"
            params = {"query": query, "mode": mode, "partialResultToken": token}
            latest: dict[str, Any] = {}
            try:
                result = await asyncio.to_thread(client.request, QUERY, params, on_progress=latest.update)
            except asyncio.CancelledError as error:
                spent = await asyncio.to_thread(spent_by, budget, latest)
                raise RunCancelled(cancelled_record(latest, query, spent, str(root), mode)) from error
            return record_of(result, str(root), mode)

        judge = Judge(models.reasoning, calls) if models.reasoning is not None else None
        yield HeadlessContext(soar.headless, run, judge, trusted)


def spent_by(budget: Budget, stage: Mapping[str, Any]) -> float:
    """What the run of a stage has cost by now: what its last stage said, or the budget by what was paid since."""
    told = float(stage.get("cost_usd") or 0.0)
    run = stage.get("run")
    try:
        entries = budget.history().entries if run and budget.settings.enabled else ()
    except Unrecorded:
        entries = ()
    return max(told, sum(each.usd for each in entries if each.run == run))


def cancelled_record(stage: Mapping[str, Any], query: str, usd: float, workspace: str, mode: Mode) -> RunRecord:
    """A run that was cancelled, as far as the stages that were told of it go."""
    result = {
        "id": str(stage.get("run") or ""), "query": query, "cost_usd": usd, "counted_usd": usd,
        "took_ms": stage.get("elapsed_ms") or 0.0,
        "state": "cancelled", "answer": "", "score": None, "confidence": None, "notices": (), "error": "cancelled",
        "log": None,
    }  # fmt: skip
    return record_of(result, workspace, mode)


def record_of(result: dict[str, Any], workspace: str, mode: Mode) -> RunRecord:
    """A run as the wire tells it, its cost in one sum."""
    now = time.time()
    paid = ModelCall(
        phase="respond", purpose="run", role="reasoning", provider="", model="", usage=Usage(),
        cost_usd=result["cost_usd"], counted_usd=result["counted_usd"], started_at=now, took_ms=result["took_ms"],
    )  # fmt: skip
    return RunRecord(
        id=result["id"],
        query=result["query"],
        workspace=workspace,
        started_at=now - result["took_ms"] / 1000,
        ended_at=now,
        state=result["state"],
        mode=mode,
        answer=result["answer"],
        score=result["score"],
        confidence=result["confidence"],
        calls=(paid,),
        results=tuple(map(_step, result.get("steps", ()))),
        notices=tuple(result["notices"]),
        error=result["error"],
        log=result["log"],
    )


def _step(told: Mapping[str, Any]) -> SubgoalResult:
    """A subgoal as the wire tells it: what was to be done, by whom, whether it was, and why not."""
    status: Literal["success", "error"] = "success" if told["done"] else "error"
    return SubgoalResult(
        subgoal=Subgoal(id=told["id"], description=told["description"], agent=told["agent"]),
        response=AgentResponse(
            subgoal_id=told["id"],
            agent_id=told["agent"],
            status=status,
            output=Output(summary=said, confidence=0.0) if (said := told.get("summary")) else None,
            error=told.get("error"),
            metadata=AgentMetadata(exit_code=told.get("exit_code")),
        ),
        skipped="" if told["tries"] else "not begun",
    )
