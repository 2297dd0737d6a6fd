"""The orchestrator of one workspace: a question goes in, a run comes out, whatever happens in between (AURORA §7.1)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.run_record import RunRecord, RunRequest
from aurora_orchestration.soar.checkpoint import RunFiles, Unfinished
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.interrupted_runs import sweep
from aurora_orchestration.soar.run import UnderWay
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.types import AskUser


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
        run = request.resume or self._new_id()
        lock = await asyncio.to_thread(self._files.lock, run)
        try:
            before = await asyncio.to_thread(self._files.load, run) if request.resume is not None else None
            under_way = UnderWay(
                self._bench, self._files, request, run, before, tell=tell, ask_user=ask_user, editor=editor
            )
            with self._as_current(request.session) as stop_earlier:
                return await under_way.to_the_end(stop_earlier)
        finally:
            self._files.release(run, lock)

    async def sweep(self) -> tuple[Unfinished, ...]:
        """Mark runs of this workspace whose process died as interrupted; gives all that can be gone on with."""
        return await sweep(self._bench, self._files)

    @contextlib.contextmanager
    def _as_current(self, session: str) -> Iterator[Callable[[], bool]]:
        """Let later messages of the session stop this run; gives what stops the one before."""
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        earlier = self._current.get(session) if session else None

        def stop_earlier() -> bool:
            return earlier is not None and earlier.cancel()

        if session:
            self._current[session] = task
        try:
            yield stop_earlier
        finally:
            if session and self._current.get(session) is task:
                del self._current[session]

    def _new_id(self) -> str:
        at = datetime.fromtimestamp(self._bench.now(), UTC)
        return f"aurora-{at:%Y%m%d-%H%M%S}-{int(self._bench.random() * 16**6):06x}"
