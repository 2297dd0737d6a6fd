"""`$/progress` (work done progress): for requests that bring a token, and for indexing in the background."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_server.session.dispatch import WITHDRAWN

if TYPE_CHECKING:
    from aurora_indexer.index_runs import IndexProgress
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

INTERVAL = 0.2
"""Seconds between two reports of one token."""
PATIENCE = 0.5
"""Seconds that background indexing goes unmentioned: a saved file should not make anything blink."""


class Reporter:
    """Reporter of work-done progress for one token, from begin to end, throttled."""

    def __init__(
        self, ls: AuroraServer, token: str | int, title: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ls = ls
        self._token = token
        self._title = title
        self._clock = clock
        self._reported_at = float("-inf")
        self._percentage = 0

    def begin(self, *, cancellable: bool) -> None:
        """Say that the work has begun."""
        self._push({"kind": "begin", "title": self._title, "cancellable": cancellable, "percentage": 0})

    def report(self, progress: IndexProgress) -> None:
        """Say how far it is, unless that was said just now; the last step is always said."""
        now = self._clock()
        finished = progress.total > 0 and progress.done >= progress.total
        if now - self._reported_at < INTERVAL and not finished:
            return
        self._reported_at = now
        if progress.total:  # each phase of the work counts anew, but LSP's percentage only rises
            self._percentage = max(self._percentage, min(100, progress.done * 100 // progress.total))
        self._push({"kind": "report", "message": words(progress), "percentage": self._percentage}, droppable=True)

    def end(self) -> None:
        """Say that it is over."""
        self._push({"kind": "end"})

    def _push(self, value: dict[str, object], *, droppable: bool = False) -> None:
        self._ls.protocol.push(types.PROGRESS, {"token": self._token, "value": value}, droppable=droppable)


def words(progress: IndexProgress) -> str:
    """How far indexing is, in a few words."""
    counts = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    chunks = f" · {progress.chunks:,} chunks" if progress.chunks else ""
    return f"{progress.message}{counts}{chunks}"


def follow(ls: AuroraServer, workspace: Workspace) -> Callable[[], None]:
    """Show this workspace's background indexing to the session's user; call what it returns to stop that."""
    window = ls.client.window
    if window is None or not window.work_done_progress:
        return lambda: None
    return workspace.on_progress(_ProgressFollower(ls, workspace).heard)


class _ProgressFollower:
    """Turns what one workspace tells of its background work into at most one progress at a time."""

    def __init__(self, ls: AuroraServer, workspace: Workspace) -> None:
        self._ls = ls
        self._name = workspace.root.name or str(workspace.root)
        self._over = asyncio.Event()
        self._reporter: Reporter | None = None
        self._showing: asyncio.Task[None] | None = None

    def heard(self, progress: IndexProgress | None) -> None:
        if progress is None:
            self._over.set()
            return
        if self._ls.cancellable:
            return  # the user started an indexing of their own, and sees that one's progress
        if self._showing is None or self._showing.done():
            self._over.clear()
            self._showing = self._ls.spawn(self._show(), "background progress")
        elif self._reporter is not None:
            self._reporter.report(progress)

    async def _show(self) -> None:
        """Progress of background work, once it takes long enough to be shown."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._over.wait()
            return
        except TimeoutError:
            pass  # it takes long enough to be worth a word
        token = f"aurora-{uuid.uuid4()}"
        try:
            await self._ls.protocol.ask(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token)
            )
        except JsonRpcException:
            return  # this editor said it could, and now does not want to
        reporter = Reporter(self._ls, token, f"Indexing {self._name}")
        reporter.begin(cancellable=False)
        self._reporter = reporter
        try:
            await self._over.wait()
        finally:
            self._reporter = None
            reporter.end()


def register(server: AuroraServer) -> None:
    """Follow every workspace's background work, and answer `window/workDoneProgress/cancel`."""
    server.on_workspace.append(partial(follow, server))
    server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)(cancel)


def cancel(ls: AuroraServer, params: types.WorkDoneProgressCancelParams) -> None:
    """Cancel the request whose progress the user closed."""
    task = ls.cancellable.get(params.token)
    if task is not None:
        task.cancel(WITHDRAWN)
