"""Finalization (cleanup) of a run, however it ended: phases 8 and 9, then caches, budget, deliverable, log, session,
checkpoint.

No step costs the others anything: what fails is logged and said in a notice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace

from aurora_memory.document_builder import iso_time
from aurora_memory.documents import ConversationLogReference
from aurora_orchestration.conversations.log_markdown import PHASE_TITLES, section_lines
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.run_record import RunRecord, State
from aurora_orchestration.soar.record import lesson_of, outcomes
from aurora_orchestration.soar.run import Run

T = TypeVar("T")
logger = logging.getLogger(__name__)

FAILED_STATES: frozenset[State] = frozenset({"failed", "blocked", "cancelled", "interrupted", "no_provider"})


async def finalize(run: Run, *, limited: bool) -> RunRecord:
    """The record as it is reported, after all that follows the answer. `limited`: a cap or the time stopped it."""
    services, trace = run.services, run.trace
    run.record = trace.added_to(run.record)
    run.set(ended_at=max(run.record.started_at, services.now()))
    await _record(run)
    await _respond(run)
    run.record = trace.added_to(run.record)
    trace.deliverable.end(run.record, limited=limited)
    await asyncio.gather(
        _safely(run, "keep the answer", _keep(run)),
        _safely(run, "count the query", _settle(run)),
        _safely(run, "record the deliverable", trace.deliverable.close()),
        _safely(run, "remember how agents did", _remember_agents(run)),
    )
    run.record = trace.added_to(run.record)
    await _safely(run, "write the log", _finish_log(run))
    run.record = trace.added_to(run.record)
    services.sessions.remember(run.record.workspace, run.record.session, run.record)
    _tell_done(run)
    await asyncio.to_thread(_put_away, run)
    return run.record


async def to_its_end(step: Coroutine[Any, Any, T]) -> T:
    """Shield from cancellation: `step` is waited for; who cancelled is told by whoever calls this."""
    task = asyncio.ensure_future(step)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
    return task.result()


async def _record(run: Run) -> None:
    """Phase 8, where there is something to learn."""
    trace, threshold = run.trace, run.settings.scoring.cache_threshold
    lesson = lesson_of(run.record)
    if lesson is None:
        return
    try:
        async with trace.phase("record", score=lesson.score, complexity=lesson.complexity) as found:
            trace.tell("record", "in_progress")
            await trace.written()
            reference = await asyncio.to_thread(_reference, trace.log, run.record)
            cites = await run.cited_spans() if lesson.score >= threshold else ()
            learned = await run.services.memory.learn(replace(lesson, log=reference, cites=cites))
            run.set(learned=learned)
            kept = learned.reasoning_id is not None
            why = "stored for later" if kept else "not stored"
            found.update(
                stored_to_actr=kept,
                chunk_id=learned.reasoning_id,
                is_pattern=learned.is_pattern,
                runs=learned.runs,
                outcome=learned.outcome,
                reasoning=f"score {lesson.score:.2f}, thresholds 0.5 and {threshold}: {why}",
                accessed=learned.accessed,
                boosted=learned.boosted,
            )
            trace.tell("record", "complete", cached=kept, reasoning_id=learned.reasoning_id)
    except Exception as error:  # the answer is worth more than what is learned of it
        logger.exception("a run could not be learned from", extra={"run": run.record.id})
        trace.notice(f"memory did not learn from this: {error}")


async def _respond(run: Run) -> None:
    """Phase 9."""
    trace, record = run.trace, run.record
    async with trace.phase("respond") as found:
        trace.tell("respond", "in_progress")
        found.update(
            format="natural_language",
            state=record.state,
            response=record.answer,
            caveats=list(record.caveats),
            confidence=record.confidence,
            because=record.because,
            metadata={
                "total_duration_ms": round((record.ended_at - record.started_at) * 1000, 3),
                "tokens_used": record.tokens,
                "estimated_cost_usd": round(record.cost_usd, 6),
                "cached_to_actr": bool(record.learned and record.learned.reasoning_id),
                "from_memory": record.from_memory,
            },
        )
        trace.tell("respond", "complete")


async def _keep(run: Run) -> None:
    spans = await run.cited_spans()
    await asyncio.to_thread(run.store.answers.keep, run.record, run.file_digests, spans)


def is_counted(record: RunRecord) -> bool:
    """Whether a run is one of the queries that the budget counts: it came to an end of its own, and asked a model."""
    return record.state in ("complete", "partial", "failed") and record.from_memory is None and bool(record.calls)


def tells_cost(record: RunRecord) -> bool:
    """Whether what a run cost tells what its way costs: not one that failed half way, or was paid for in parts."""
    return is_counted(record) and record.state != "failed" and not record.resumed


async def _settle(run: Run) -> None:
    """Accounting of the run in the budget."""
    record = run.record
    await asyncio.to_thread(
        run.services.budget.end_run,
        record.id,
        query_counted=is_counted(record),
        way=run.budget.way if tells_cost(record) else "",
        estimated=run.budget.expected_usd,
        usd=record.counted_usd,
    )


async def _remember_agents(run: Run) -> None:
    """Also where nothing else is learned of the run: an agent that broke it is the one to remember."""
    found = outcomes(run.record.results) if run.record.from_memory is None else ()
    if found:
        await asyncio.to_thread(run.services.registry().learn_all, found)


async def _finish_log(run: Run) -> None:
    """Log closed and indexed, so that memory finds it."""
    await run.trace.written()
    log = run.trace.log
    notice = await asyncio.to_thread(log.finish, run.record)
    if notice:
        run.trace.notice(notice)
    path, file = log.path, log.file
    if path is not None and file is not None:
        text = await asyncio.to_thread(path.read_text, "utf-8", "replace")
        await run.services.memory.index_log(file, text, run.record.id, "")


def _reference(log: ConversationLog, run: RunRecord) -> ConversationLogReference | None:
    """Where the conversation log tells how this run was taken apart; all of the run where that is not in the log."""
    path, file = log.path, log.file
    if path is None or file is None:
        return None
    lines = path.read_text("utf-8", "replace").splitlines()
    title = PHASE_TITLES["decompose"]
    section, span = title, section_lines(lines, title)
    if span is None:
        section, span = f"Query: {run.id}", (1, max(1, len(lines)))
    return ConversationLogReference(date=iso_time(run.started_at)[:10], file=file, section=section, line_range=span)


def _tell_done(run: Run) -> None:
    """Last stage event of a run."""
    record = run.record
    run.trace.tell(
        "done",
        "failed" if record.state in FAILED_STATES else "complete",
        record.error or record.because,
        state=record.state,
        final_score=record.score,
        confidence=record.confidence,
        cached=bool(record.learned and record.learned.reasoning_id),
        from_memory=record.from_memory,
    )


def _put_away(run: Run) -> None:
    """Leave nothing behind of a run that is over; of one that was cancelled what it takes to resume it."""
    resumable = run.record.state == "cancelled" and run.resumable and run.journal is not None
    if resumable:
        run.store.save(run.checkpoint())
    else:
        run.store.forget(run.record.id)
    if run.journal is not None:
        run.journal.close() if resumable else run.journal.delete()


async def _safely(run: Run, what: str, step: Awaitable[object]) -> None:
    """Step whose failure is logged and costs the answer nothing (error isolation)."""
    try:
        await step
    except Exception as error:  # the answer is worth more than any of its records
        logger.exception("a run's end could not %s", what)
        run.trace.notice(f"could not {what}: {error}")
