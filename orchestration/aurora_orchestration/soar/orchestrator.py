"""The orchestrator of one workspace: a question goes in, a run comes out, whatever happens in between (AURORA §7.1)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from filelock import BaseFileLock
from msgspec.structs import replace

from aurora_memory import MemoryError_
from aurora_orchestration import OrchestrationError
from aurora_orchestration.conversations.writing import ConversationLog
from aurora_orchestration.guardrails.guarding import Blocked
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.llm.asking import CapReached, Models
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metering import Spending
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.asking_users import AskUser
from aurora_orchestration.soar.closing import Closing, to_its_end
from aurora_orchestration.soar.course import Course
from aurora_orchestration.soar.delivering import Delivering
from aurora_orchestration.soar.following_up import FollowUp
from aurora_orchestration.soar.model import Complexity
from aurora_orchestration.soar.once_only import OnceOnly
from aurora_orchestration.soar.run import PhaseRecord, RunRecord, RunRequest, State
from aurora_orchestration.soar.running import Running
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.soar.unfinished import RunFiles, Unfinished
from aurora_orchestration.soar.workbench import Workbench

logger = logging.getLogger(__name__)


class RunCancelled(asyncio.CancelledError):
    """A run was cancelled; `run` is what there is of it. It can be gone on with."""

    def __init__(self, run: RunRecord) -> None:
        super().__init__(f"run {run.id} was cancelled")
        self.run = run


class Orchestrator:
    """Runs questions about one workspace. Runs at the same time do not know of each other."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._files = RunFiles(bench.runs)
        self._current: dict[str, asyncio.Task[object]] = {}

    async def run(
        self,
        request: RunRequest,
        *,
        tell: Callable[[Stage], None],
        ask_user: AskUser,
        editor: EditorModel | None = None,
    ) -> RunRecord:
        """Answer a question, or go on with an unfinished run (`request.resume`).

        What goes wrong is said by the record's state and error. Raises CannotResume, and RunCancelled when cancelled.
        """
        bench, settings = self._bench, self._bench.settings()
        before = await asyncio.to_thread(self._files.load, request.resume) if request.resume is not None else None
        run = self._new_id() if before is None else before.id
        lock = await asyncio.to_thread(self._files.lock, run)
        try:
            if before is not None:
                before = await asyncio.to_thread(self._files.load, run)  # somebody may have ended it meanwhile
            under_way = _UnderWay(bench, self._files, settings, request, before, run, tell, ask_user, editor)
            with self._as_current(request.session) as stop_current:
                return await under_way.to_the_end(stop_current)
        finally:
            await asyncio.to_thread(lock.release)
            await asyncio.to_thread(self._files.tidy, run)

    @contextlib.contextmanager
    def _as_current(self, session: str):  # type: ignore[no-untyped-def]
        """Let later messages of the session stop this run."""
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        earlier = self._current.get(session) if session else None

        def stop_current() -> bool:
            return earlier is not None and earlier is not task and earlier.cancel()

        if session:
            self._current[session] = task
        try:
            yield stop_current
        finally:
            if session and self._current.get(session) is task:
                del self._current[session]

    def _new_id(self) -> str:
        at = datetime.fromtimestamp(self._bench.now(), UTC)
        return f"aurora-{at:%Y%m%d-%H%M%S}-{int(self._bench.random() * 16**6):06x}"
