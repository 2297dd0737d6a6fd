"""Interrupted runs (crash recovery): runs whose process died are found when a workspace is opened, marked, and kept to
be resumed.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.choices import PHASES
from aurora_deliverables.detection.prompts import SOURCE
from aurora_deliverables.events import Ended, Event, EventBody, PhaseEnded, PhaseStarted, TokensUsed
from aurora_deliverables.evidence import event_id
from aurora_orchestration.conversations.log_retention import mark_interrupted
from aurora_orchestration.llm.journal import JournalEntry
from aurora_orchestration.soar.checkpoint import RESUMABLE_SECONDS, Checkpoint
from aurora_orchestration.soar.run_deliverable import PHASE_OF, paid_as, tokens_used
from aurora_orchestration.soar.services import Services
from aurora_protocol.address import in_home

logger = logging.getLogger(__name__)


async def sweep(services: Services) -> tuple[Checkpoint, ...]:
    """Crash recovery: mark what died, drop what is too old; the workspace's runs to resume, latest first."""
    found: list[Checkpoint] = []
    for run in await asyncio.to_thread(lambda: list(services.store.unfinished())):
        if run.workspace != str(services.workspace):
            continue
        try:
            kept = await _mark(services, run.id)
        except Exception:  # one run that cannot be dealt with costs the others nothing
            logger.exception("an interrupted run could not be marked", extra={"run": run.id})
            continue
        if kept is not None:
            found.append(kept)
    return tuple(sorted(found, key=lambda run: run.started_at, reverse=True))


async def _mark(services: Services, run_id: str) -> Checkpoint | None:
    """Mark of a run that died (orphan): too old ones expire, others can be resumed."""
    now, store = services.now(), services.store
    with store.idle(run_id) as idle:
        if not idle:
            return None
        run = await asyncio.to_thread(store.load, run_id)
        if now - run.started_at > RESUMABLE_SECONDS:
            await _tell(services, run, Ended("failed", "incomplete", "interrupted, and never gone on with"), now)
            await asyncio.to_thread(store.forget, run.id)
            await asyncio.to_thread(store.forget_journal, run.id)
            return None
        if run.state == "running":
            await asyncio.to_thread(services.budget.end_run, run.id, query_counted=False)
            await asyncio.to_thread(_end_log, services, run, now)
            await _end_phase(services, run, now)
            run = replace(run, state="interrupted")
            await asyncio.to_thread(store.save, run)
    return run


def _end_log(services: Services, run: Checkpoint, now: float) -> None:
    """Say at the end of the conversation log that nothing follows."""
    if run.log is None:
        return
    try:
        mark_interrupted(Path(in_home(services.settings({}).conversations.path, services.home)), run.log, now)
    except OSError as error:  # it can be gone on with all the same
        logger.warning("a conversation log was not ended", extra={"run": run.id, "problem": str(error)})


async def _end_phase(services: Services, run: Checkpoint, now: float) -> None:
    """What was paid for belongs to the deliverable, also what it was not told of; the phase it came to is over."""
    deliverable = await services.tracking.get(run.deliverable) if run.deliverable else None
    if deliverable is None:
        return
    try:
        entries, heard = await asyncio.to_thread(services.store.paid, run.id)
    except FileNotFoundError:  # nothing was asked
        entries, heard = [], now
    heard = max(deliverable.updated_at, min(heard, now))
    await services.tracking.record([_paid(run, entry, heard) for entry in entries])
    phase = deliverable.current_phase
    reached = max((PHASE_OF[each.phase] for each in entries if each.phase in PHASE_OF), key=PHASES.index, default=phase)
    if reached is not None and (phase is None or PHASES.index(reached) > PHASES.index(phase)):
        await _tell(services, run, PhaseStarted(reached), heard)
        phase = reached
    if phase is not None:
        await _tell(services, run, PhaseEnded(phase), heard)


def _paid(run: Checkpoint, entry: JournalEntry, heard: float) -> Event:
    """A call as the run itself told of it, by the same id: it counts once."""
    reply = entry.reply
    if reply is None:
        used = TokensUsed(cost_usd=entry.usd)
    else:
        used = tokens_used(reply.usage, reply.cost_usd, reply.model, reply.provider, reply.took_ms)
    mark = paid_as(run.deliverable, entry.key)
    return Event(mark, run.deliverable, heard, used, source=SOURCE, evidence=run.id)


async def _tell(services: Services, run: Checkpoint, what: EventBody, now: float) -> None:
    if run.deliverable and await services.tracking.get(run.deliverable) is not None:
        tag = str(type(what).__struct_config__.tag)
        mark = event_id(run.deliverable, tag, "interrupted", run.resumed)
        await services.tracking.record([Event(mark, run.deliverable, now, what, source=SOURCE, evidence=run.id)])
