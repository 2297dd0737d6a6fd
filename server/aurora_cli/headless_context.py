"""Headless context: what `aurora --headless` runs with: questions go to the daemon, goals are judged by the
configured model.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from aurora_cli.headless import Wired
from aurora_cli.mem import index_once
from aurora_cli.session import open_session
from aurora_cli.settings import Settings
from aurora_orchestration.guardrails.blocked import Unrecorded
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.run_record import Mode, RunCancelled, RunRecord
from aurora_orchestration.types import AgentResponse, ModelCall, Subgoal, SubgoalResult, Usage
from aurora_protocol.address import in_home
from aurora_protocol.query_methods import QUERY
from aurora_server.configuration.layers import settings_for
from aurora_server.configuration.trust import Trust


@asynccontextmanager
async def opening(settings: Settings) -> AsyncIterator[Wired]:
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

        yield Wired(soar.headless, run, models.reasoning)


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
        "id": str(stage.get("run") or ""), "query": query, "cost_usd": usd, "took_ms": stage.get("elapsed_ms") or 0.0,
        "state": "cancelled", "answer": "", "score": None, "confidence": None, "notices": (), "error": "cancelled",
        "log": None,
    }  # fmt: skip
    return record_of(result, workspace, mode)


def record_of(result: dict[str, Any], workspace: str, mode: Mode) -> RunRecord:
    """A run as the wire tells it, its cost in one sum."""
    now = time.time()
    paid = ModelCall(
        phase="respond", purpose="run", role="reasoning", provider="", model="", usage=Usage(),
        cost_usd=result["cost_usd"], started_at=now, took_ms=result["took_ms"],
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
    """A subgoal as the wire tells it: what was to be done, by whom, and whether it was."""
    status: Literal["success", "error"] = "success" if told["done"] else "error"
    return SubgoalResult(
        subgoal=Subgoal(id=told["id"], description=told["description"], agent=told["agent"]),
        response=AgentResponse(subgoal_id=told["id"], agent_id=told["agent"], status=status),
        skipped="" if told["tries"] else "not begun",
    )
