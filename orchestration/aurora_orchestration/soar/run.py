"""One run from its beginning to its end: opened, run, and ended in the right state whatever stopped it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from aurora_deliverables.detection.prompts import change_of
from aurora_memory import MemoryError_
from aurora_orchestration import OrchestrationError
from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.guardrails.blocked import Blocked
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.llm.completion import CapReached, Models
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metered_model import Spending
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.run_record import PhaseRecord, RunCancelled, RunRecord, RunRequest, State
from aurora_orchestration.soar.agent_cache import OnceOnly
from aurora_orchestration.soar.checkpoint import RunFiles, Unfinished
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.finalize import Closing, to_its_end
from aurora_orchestration.soar.follow_up import FollowUp
from aurora_orchestration.soar.phase_sequence import Running
from aurora_orchestration.soar.respond import from_results
from aurora_orchestration.soar.run_deliverable import Delivering
from aurora_orchestration.soar.run_trace import Course
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.types import AskUser, Complexity
from aurora_protocol.address import in_home

logger = logging.getLogger(__name__)


class UnderWay:
    """A run and everything that was opened for it. `before` is what an interrupted run had come to."""

    def __init__(
        self,
        bench: Workbench,
        files: RunFiles,
        request: RunRequest,
        run: str,
        before: Unfinished | None,
        *,
        tell: Callable[[Stage], None],
        ask_user: AskUser,
        editor: EditorModel | None,
    ) -> None:
        self._bench = bench
        self._files = files
        self._request = request if before is None else replace(before.request, resume=run, force=request.force)
        self._settings = bench.settings_of(self._request)
        self._run = run
        self._before = before
        self._ask_user = ask_user
        self._editor = editor
        folder = Path(in_home(self._settings.conversations.path, bench.home))
        self._log = ConversationLog(folder, self._settings.conversations)
        resumed = 0 if before is None else before.resumed + 1
        self._deliverable = _deliverable_of(run, before, resumed)
        now = bench.now()
        self._course = Course(tell, bench.now, now, self._write_down, run=run)
        self._course.delivering = Delivering(
            bench.tracking, run, self._request.session, change=self._deliverable, resumed=resumed
        )
        self._so_far = RunRecord(
            id=run,
            query=redact(self._request.query).text,
            workspace=str(bench.workspace),
            started_at=now,
            ended_at=now,
            state="failed",
            mode=self._request.mode,
            session=self._request.session,
            resumed=resumed,
            assessment=before.assessment if before is not None else None,
            context=before.context if before is not None else None,
            complexity=before.assessment.complexity if before is not None and before.assessment else None,
        )
        self._begun = False
        self._limited = False
        self._checkpointed = False
        self._journal: Journal | None = None

    async def to_the_end(self, stop_current: Callable[[], bool]) -> RunRecord:
        """Run it. What stops it is in the record; only being cancelled is raised, as RunCancelled."""
        running: Running | None = None
        cancelled = False
        try:
            running = await self._open(stop_current)
            async with asyncio.timeout(self._settings.llm.caps.run_seconds) as limit:
                await running.go()
            state, error = running.so_far.state, running.so_far.error
        except asyncio.CancelledError:
            state, error, cancelled = "cancelled", "cancelled; go on with it by its id", True
        except BaseException as raised:
            if not isinstance(raised, Exception):
                raise
            over = isinstance(raised, TimeoutError) and running is not None and limit.expired()
            state, error = self._stopped(raised, running.so_far if running is not None else self._so_far, over=over)
        so_far = running.so_far if running is not None else self._so_far
        answer = so_far.answer
        if state == "partial" and not answer:
            answer = from_results(so_far.results)
        so_far = replace(so_far, state=state, error=error, answer=answer)
        files = running.files if running is not None else None
        record = await to_its_end(lambda: self._close(so_far, files))
        if cancelled:
            raise RunCancelled(record)
        return record

    def _stopped(self, raised: Exception, so_far: RunRecord, *, over: bool) -> tuple[State, str]:
        """The state that an error leads to, and the line that says it."""
        has_findings = bool(so_far.answer) or bool(from_results(so_far.results))
        if over:
            self._limited = True
            seconds = self._settings.llm.caps.run_seconds
            return "partial" if has_findings else "failed", f"not done within llm.caps.run_seconds ({seconds:g} s)"
        if isinstance(raised, CapReached):
            self._limited = True
            return "partial" if has_findings else "blocked", str(raised)
        if isinstance(raised, Blocked):
            return "blocked", str(raised)
        if isinstance(raised, OrchestrationError | MemoryError_):
            return "partial" if has_findings else "failed", str(raised)
        logger.error("a run failed", exc_info=raised, extra={"run": self._run})
        return "partial" if has_findings else "failed", f"internal error, {type(raised).__name__}: {raised}"

    async def _open(self, stop_current: Callable[[], bool]) -> Running:
        bench, settings, course = self._bench, self._settings, self._course
        if self._before is not None:
            course.notice(
                *self._before.notices, f"goes on with run {self._run}, begun {self._so_far.resumed + 1} times"
            )
        if settings.llm.reasoning_llm is not None:
            self._journal = await asyncio.to_thread(Journal, bench.runs, self._run)
        spending = Spending(settings.llm.caps, self._journal)
        executors = Executors(
            bench.workspace, bench.home, settings.agents, bench.environ, bench.now, trusted=bench.trusted()
        )

        def models(complexity: Complexity | None) -> Models:
            return open_models(
                settings.llm,
                bench.environ,
                complexity,
                run=self._run,
                budget=bench.budget,
                journal=self._journal,
                heard=course.heard,
                editor=self._editor,
                spending=spending,
                force=self._request.force,
                now=bench.now,
            )

        return Running(
            bench,
            settings,
            self._request,
            self._so_far,
            course,
            FollowUp(bench, settings.signals, stop_current),
            OnceOnly(executors, bench.runs / f"{self._run}.agents"),
            models=models,
            checkpoint=self._checkpoint,
            ask_user=self._ask_user,
        )

    async def _write_down(self, record: PhaseRecord) -> None:
        """Into the log; the header comes with the first phase, when the query has passed the guardrails."""
        await asyncio.to_thread(self._into_log, record)

    def _into_log(self, record: PhaseRecord) -> None:
        if not self._begun:
            self._begun = True
            so_far, file = self._so_far, self._before.log if self._before is not None else None
            if file is None or not self._log.resume(file, so_far.query, so_far.started_at, record.at):
                self._log.begin(so_far.id, so_far.query, so_far.started_at)
        self._log.phase(record)

    async def _checkpoint(self, so_far: RunRecord, request: RunRequest) -> None:
        self._checkpointed = True
        await self._course.written()  # the log has its name from its first phase on
        await asyncio.to_thread(self._files.save, self._unfinished(so_far, request, "running"))

    def _unfinished(self, so_far: RunRecord, request: RunRequest, state: str) -> Unfinished:
        return Unfinished(
            id=so_far.id,
            workspace=so_far.workspace,
            request=replace(request, resume=None),
            started_at=so_far.started_at,
            state="cancelled" if state == "cancelled" else "running",
            resumed=so_far.resumed,
            log=self._log.file,
            deliverable=self._deliverable,
            assessment=so_far.assessment,
            context=so_far.context,
        )

    async def _close(self, so_far: RunRecord, files: dict[str, str] | None) -> RunRecord:
        closing = Closing(self._bench, self._settings, self._course, self._log)
        record = await closing.close(so_far, files, limited=self._limited)
        await asyncio.to_thread(self._put_away, record)
        return record

    def _put_away(self, record: RunRecord) -> None:
        """Leave nothing behind of a run that is over; of one that was cancelled what it takes to go on with it."""
        resumable = record.state == "cancelled" and self._checkpointed and self._journal is not None
        if resumable:
            request = replace(self._request, query=record.query)
            self._files.save(self._unfinished(record, request, "cancelled"))
        else:
            self._files.remove(self._run)
        if self._journal is not None:
            self._journal.close() if resumable else self._journal.delete()


def _deliverable_of(run: str, before: Unfinished | None, resumed: int) -> str:
    """What was interrupted goes on; what was cancelled has failed, and its continuation is another deliverable."""
    if before is None:
        return change_of(run)
    return f"{change_of(run)}-{resumed}" if before.state == "cancelled" else before.deliverable or change_of(run)
