"""Runs whose process died: found when a workspace is opened, marked as interrupted, and kept to be gone on with."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from msgspec.structs import replace

from aurora_orchestration.conversations import markdown
from aurora_orchestration.deliverables.detection.evidence import event_id
from aurora_orchestration.deliverables.detection.prompts import SOURCE
from aurora_orchestration.deliverables.model import Ended, Event, Happening, PhaseEnded
from aurora_orchestration.settings import ConversationSettings
from aurora_orchestration.soar.run import RunRecord
from aurora_orchestration.soar.unfinished import RESUMABLE_SECONDS, RunFiles, Unfinished
from aurora_orchestration.soar.workbench import Workbench

logger = logging.getLogger(__name__)


async def sweep(bench: Workbench, files: RunFiles) -> tuple[Unfinished, ...]:
    """Mark what died, drop what is too old; gives the runs of this workspace that can be gone on with, latest first."""
    found: list[Unfinished] = []
    for run in await asyncio.to_thread(lambda: list(files.all())):
        if run.workspace != str(bench.workspace):
            continue
        try:
            kept = await _look_at(bench, files, run)
        except Exception:  # one run that cannot be dealt with costs the others nothing
            logger.exception("an interrupted run could not be marked", extra={"run": run.id})
            continue
        if kept is not None:
            found.append(kept)
    return tuple(sorted(found, key=lambda run: run.started_at, reverse=True))


async def _look_at(bench: Workbench, files: RunFiles, run: Unfinished) -> Unfinished | None:
    now = bench.now()
    with files.left(run.id) as left:
        if not left:
            return None
        run = await asyncio.to_thread(files.load, run.id)
        if now - run.started_at > RESUMABLE_SECONDS:
            await _tell(bench, run, Ended("failed", "incomplete", "interrupted, and never gone on with"), now)
            await asyncio.to_thread(_forget, bench, files, run.id)
            return None
        if run.state == "running":
            await asyncio.to_thread(bench.budget.end_run, run.id, query_counted=False)
            settings = bench.settings().conversations
            await asyncio.to_thread(_end_log, run, now, settings)
            deliverable = await bench.tracking.get(run.deliverable) if run.deliverable else None
            if deliverable is not None and deliverable.current_phase is not None:
                await _tell(bench, run, PhaseEnded(deliverable.current_phase), now)
            run = replace(run, state="interrupted")
            await asyncio.to_thread(files.save, run)
    return run


def _end_log(run: Unfinished, now: float, settings: ConversationSettings) -> None:
    """Say at the end of the conversation log that nothing follows."""
    if run.log is None or not Path(run.log).exists():
        return
    record = RunRecord(
        id=run.id,
        query=run.request.query,
        workspace=run.workspace,
        started_at=run.started_at,
        ended_at=max(run.started_at, now),
        state="interrupted",
        mode=run.request.mode,
        assessment=run.assessment,
        complexity=run.assessment.complexity if run.assessment is not None else None,
        error="the process ended in the middle of it; go on with it by its id",
    )
    with Path(run.log).open("a", encoding="utf-8") as file:
        file.write(markdown.ending(record, settings))


async def _tell(bench: Workbench, run: Unfinished, what: Happening, now: float) -> None:
    if run.deliverable and await bench.tracking.get(run.deliverable) is not None:
        tag = str(type(what).__struct_config__.tag)
        mark = event_id(run.deliverable, tag, "interrupted", run.resumed)
        await bench.tracking.record([Event(mark, run.deliverable, now, what, source=SOURCE, evidence=run.id)])


def _forget(bench: Workbench, files: RunFiles, run: str) -> None:
    files.remove(run)
    for name in (f"{run}.jsonl", f"{run}.jsonl.lock"):
        (bench.runs / name).unlink(missing_ok=True)
