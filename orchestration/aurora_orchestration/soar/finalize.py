"""The end of a run, however it ended: learned, answered, logged, settled, told. No step costs the others anything.

Runs to its end also when the run was cancelled; what fails is logged and said in a notice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from aurora_memory.document_builder import iso_time
from aurora_memory.documents import ConversationLogReference
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.run_record import RunRecord, State
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.answer_cache import KeptAnswers
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.record import lesson_of, outcomes
from aurora_orchestration.soar.run_trace import Course

logger = logging.getLogger(__name__)

FAILED_STATES: frozenset[State] = frozenset({"failed", "blocked", "cancelled", "interrupted", "no_provider"})


class Closing:
    """Ends one run."""

    def __init__(self, bench: Workbench, settings: SoarSettings, course: Course, log: ConversationLog) -> None:
        self._bench = bench
        self._settings = settings
        self._course = course
        self._log = log

    async def close(self, run: RunRecord, files: dict[str, str] | None, *, limited: bool) -> RunRecord:
        """Everything after the answer (phases 8 and 9); gives the run as it is reported. Never raises."""
        run = await self._recorded(run)
        run = await self._responded(run)
        delivering = self._course.delivering
        if delivering is not None:
            delivering.end(self._as_it_is(run), limited=limited)
        await asyncio.gather(
            self._safely("keep the answer", self._keep(run, files)),
            self._safely("count the query", self._settle(run)),
            *([self._safely("record the deliverable", delivering.close())] if delivering is not None else ()),
        )
        run = self._as_it_is(run)
        await self._safely("write the log", self._finish_log(run))
        run = self._as_it_is(run)
        self._bench.sessions.remember(run.workspace, run.session, run)
        self._tell_done(run)
        return run

    async def _recorded(self, run: RunRecord) -> RunRecord:
        """Phase 8, where there is something to learn."""
        course, threshold = self._course, self._settings.scoring
        run = replace(self._as_it_is(run), ended_at=max(run.started_at, self._bench.now()))
        lesson = lesson_of(run)
        if lesson is None:
            return run
        try:
            async with course.phase("record", score=lesson.score, complexity=lesson.complexity) as found:
                course.tell("record", "in_progress")
                await course.written()
                reference = await asyncio.to_thread(self._reference, run)
                learned = await self._bench.memory.learn(replace(lesson, log=reference))
                run = replace(run, learned=learned)
                kept = learned.reasoning_id is not None
                why = "stored for later" if kept else "not stored"
                found.update(
                    stored_to_actr=kept,
                    chunk_id=learned.reasoning_id,
                    is_pattern=learned.is_pattern,
                    outcome=learned.outcome,
                    reasoning=f"score {lesson.score:.2f}, thresholds 0.5 and {threshold.cache_threshold}: {why}",
                    accessed=learned.accessed,
                    boosted=learned.boosted,
                )
                await self._rates(run)
                course.tell("record", "complete", cached=kept, reasoning_id=learned.reasoning_id)
        except Exception as error:  # the answer is worth more than what is learned of it
            logger.exception("a run could not be learned from", extra={"run": run.id})
            course.notice(f"memory did not learn from this: {error}")
        return run

    async def _responded(self, run: RunRecord) -> RunRecord:
        """Phase 9."""
        course = self._course
        async with course.phase("respond") as found:
            course.tell("respond", "in_progress")
            found.update(
                format="natural_language",
                state=run.state,
                response=run.answer,
                caveats=list(run.caveats),
                confidence=run.confidence,
                because=run.because,
                metadata={
                    "total_duration_ms": round((run.ended_at - run.started_at) * 1000, 3),
                    "tokens_used": run.tokens,
                    "estimated_cost_usd": round(run.cost_usd, 6),
                    "cached_to_actr": bool(run.learned and run.learned.reasoning_id),
                    "from_memory": run.from_memory,
                },
            )
            course.tell("respond", "complete")
        return run

    async def _rates(self, run: RunRecord) -> None:
        await asyncio.to_thread(self._bench.registry().learn_all, outcomes(run.results))

    async def _keep(self, run: RunRecord, files: dict[str, str] | None) -> None:
        kept = KeptAnswers(self._bench.answers, self._bench.workspace)
        await asyncio.to_thread(kept.keep, run, files)

    async def _settle(self, run: RunRecord) -> None:
        counted = run.state in ("complete", "partial", "failed") and run.from_memory is None and bool(run.calls)
        await asyncio.to_thread(self._bench.budget.end_run, run.id, query_counted=counted)

    async def _finish_log(self, run: RunRecord) -> None:
        await self._course.written()
        notice = await asyncio.to_thread(self._log.finish, run)
        if notice:
            self._course.notice(notice)
        path, file = self._log.path, self._log.file
        if path is not None and file is not None:
            text = await asyncio.to_thread(path.read_text, "utf-8", "replace")
            await self._bench.memory.index_log(file, text, run.id, "")

    def _reference(self, run: RunRecord) -> ConversationLogReference | None:
        """Where the conversation log tells of this run: from its header to what is written of it by now."""
        path, file = self._log.path, self._log.file
        if path is None or file is None:
            return None
        return ConversationLogReference(
            date=iso_time(run.started_at)[:10], file=file, section=f"Query: {run.id}", line_range=(1, _lines(path))
        )

    def _as_it_is(self, run: RunRecord) -> RunRecord:
        course = self._course
        return replace(
            run,
            phases=tuple(course.phases),
            calls=tuple(course.calls),
            notices=tuple(course.notices),
            log=None if self._log.path is None else str(self._log.path),
        )

    def _tell_done(self, run: RunRecord) -> None:
        self._course.tell(
            "done",
            "failed" if run.state in FAILED_STATES else "complete",
            run.error or run.because,
            state=run.state,
            final_score=run.score,
            confidence=run.confidence,
            cached=bool(run.learned and run.learned.reasoning_id),
            from_memory=run.from_memory,
        )

    async def _safely(self, what: str, step: Awaitable[None]) -> None:
        try:
            await step
        except Exception as error:  # the answer is worth more than any of its records
            logger.exception("a run's end could not %s", what)
            self._course.notice(f"could not {what}: {error}")


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return max(1, sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 16), b"")))


async def to_its_end(step: Callable[[], Awaitable[RunRecord]]) -> RunRecord:
    """Wait for `step` also while being cancelled; who cancelled is told by whoever calls this."""
    task = asyncio.ensure_future(step())
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
    return task.result()
