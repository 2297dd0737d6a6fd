"""Runs whose process died: found when a workspace is opened, marked as interrupted, and kept to be gone on with."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.choices import PHASES
from aurora_deliverables.detection.evidence import event_id
from aurora_deliverables.detection.prompts import SOURCE
from aurora_deliverables.events import Ended, Event, EventBody, PhaseEnded, PhaseStarted, TokensUsed
from aurora_orchestration.conversations.log_retention import mark_interrupted
from aurora_orchestration.llm.journal import Entry, answered
from aurora_orchestration.soar.checkpoint import RESUMABLE_SECONDS, RunFiles, Unfinished
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.run_deliverable import PHASE_OF, paid_as, tokens_used
from aurora_protocol.address import in_home

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
            await asyncio.to_thread(_end_log, bench, run, now)
            await _end_phase(bench, run, now)
            run = replace(run, state="interrupted")
            await asyncio.to_thread(files.save, run)
    return run


def _end_log(bench: Workbench, run: Unfinished, now: float) -> None:
    """Say at the end of the conversation log that nothing follows."""
    if run.log is not None:
        mark_interrupted(Path(in_home(bench.settings().conversations.path, bench.home)), run.log, now)


async def _end_phase(bench: Workbench, run: Unfinished, now: float) -> None:
    """What was paid for belongs to the deliverable, also what it was not told of; the phase it came to is over."""
    deliverable = await bench.tracking.get(run.deliverable) if run.deliverable else None
    if deliverable is None:
        return
    try:
        entries, heard = await asyncio.to_thread(answered, bench.runs, run.id)
    except FileNotFoundError:  # nothing was asked
        entries, heard = [], now
    heard = max(deliverable.updated_at, min(heard, now))
    await bench.tracking.record([_paid(run, entry, heard) for entry in entries])
    phase = deliverable.current_phase
    reached = max((PHASE_OF[each.phase] for each in entries if each.phase in PHASE_OF), key=PHASES.index, default=phase)
    if reached is not None and (phase is None or PHASES.index(reached) > PHASES.index(phase)):
        await _tell(bench, run, PhaseStarted(reached), heard)
        phase = reached
    if phase is not None:
        await _tell(bench, run, PhaseEnded(phase), heard)


def _paid(run: Unfinished, entry: Entry, heard: float) -> Event:
    """A call as the run itself told of it, by the same id: it counts once."""
    reply = entry.reply
    if reply is None:
        used = TokensUsed(cost_usd=entry.usd)
    else:
        used = tokens_used(reply.usage, reply.cost_usd, reply.model, reply.provider, reply.took_ms)
    mark = paid_as(run.deliverable, entry.key)
    return Event(mark, run.deliverable, heard, used, source=SOURCE, evidence=run.id)


async def _tell(bench: Workbench, run: Unfinished, what: EventBody, now: float) -> None:
    if run.deliverable and await bench.tracking.get(run.deliverable) is not None:
        tag = str(type(what).__struct_config__.tag)
        mark = event_id(run.deliverable, tag, "interrupted", run.resumed)
        await bench.tracking.record([Event(mark, run.deliverable, now, what, source=SOURCE, evidence=run.id)])


def _forget(bench: Workbench, files: RunFiles, run: str) -> None:
    files.remove(run)
    for name in (f"{run}.jsonl", f"{run}.jsonl.lock"):
        (bench.runs / name).unlink(missing_ok=True)
