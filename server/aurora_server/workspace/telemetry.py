"""Ended deliverables, handed to telemetry through an outbox that lasts, where the user has it exported (ruling 18)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Event
from aurora_deliverables.telemetry.export_settings import Choice, Wish, choose
from aurora_deliverables.telemetry.repository import repository_of
from aurora_deliverables.tracking import Tracking
from aurora_indexer.files.gitdir import find_git_directory, read_head
from aurora_indexer.git import commands
from aurora_memory.store.deliverable_log import Outbox
from aurora_protocol.address import home
from aurora_protocol.version import __version__
from aurora_server.configuration.settings import TelemetrySettings
from aurora_server.workspace.repository_changes import repository_of as identity_of

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.sender import Sender

logger = logging.getLogger(__name__)

REMOTE = ["config", "--get", "remote.origin.url"]
LIVE = 60.0
"""Seconds within which the end of a deliverable is one of the branch that is checked out."""

GRACE = 10.0
"""Seconds that a deliverable whose archive phase is over waits for somebody to say how it ended."""


def sender_of(settings: TelemetrySettings, environ: Mapping[str, str], *, kept: bool = True) -> Sender | None:
    """The one sender of this process; None where nothing is to be exported. Imports nothing heavy.

    `kept` has it take note in the user's home of what went out.
    """
    choice = choice_of(settings, environ)
    for problem in choice.problems:
        logger.warning("telemetry", extra={"problem": problem})
    if not choice.exporters:
        return None
    for exporter in choice.exporters:
        logger.info("telemetry", extra={"signal": exporter.signal, "to": exporter.name, "place": exporter.place})
    from aurora_deliverables.telemetry.export_record import FILE
    from aurora_deliverables.telemetry.sender import Sender

    record = home(environ) / FILE if kept else None
    return Sender(choice, __version__, record, environ)


def choice_of(settings: TelemetrySettings, environ: Mapping[str, str]) -> Choice:
    """What is exported by the user's settings and the variables, and what was said that cannot be followed."""
    wish = Wish(
        settings.enabled,
        settings.traces,
        settings.metrics,
        settings.protocol,
        settings.endpoint,
        {name.lower(): value for name, value in settings.headers.items()},
    )
    return choose(environ, wish)


class TelemetryFollower:
    """Follower of the deliverables of one workspace, which sends each to telemetry once it has ended, once."""

    def __init__(
        self, workspace: str, tracking: Tracking, outbox: Outbox, sender: Sender, *, grace: float = GRACE
    ) -> None:
        self._workspace = workspace
        self._tracking = tracking
        self._outbox = outbox
        self._sender = sender
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._under_way: set[str] = set()
        self._closed = False
        self._remote: str | None = None
        self._stop_listening = tracking.listen(self._hear)
        self._begin(self._catch_up())

    @property
    def sender(self) -> Sender:
        """Who sends."""
        return self._sender

    async def unsent(self) -> int:
        """How many ended deliverables no collector has taken in whole."""
        return len(await self._outbox.waiting())

    async def close(self) -> None:
        """Stop listening; what is under way in the outbox finishes first, what waits is sent at the next start."""
        self._stop_listening()
        self._closed = True
        for timer in self._later.values():
            timer.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _hear(self, events: Sequence[Event], deliverables: Sequence[Deliverable]) -> None:
        """Listener: what has ended is put into the outbox."""
        for deliverable in deliverables:
            if _has_ended(deliverable):
                self._begin(self._put(deliverable))

    async def _put(self, deliverable: Deliverable) -> None:
        """Outbox (transactional): what ended is put into it and sent, at once or after a grace period."""
        change_id = deliverable.change_id
        ended_at = deliverable.completed_at or deliverable.updated_at
        if not await self._outbox.put(change_id, ended_at) or self._closed:
            return
        if (timer := self._later.pop(change_id, None)) is not None:
            timer.cancel()
        if deliverable.settled:
            await self._send(change_id)
        else:  # archived, and more may be said of it at once: its scores, or that it failed after all
            self._later[change_id] = self._loop.call_later(self._grace, self._send_later, change_id)

    def _send_later(self, change_id: str) -> None:
        self._later.pop(change_id, None)
        self._begin(self._send(change_id))

    async def _catch_up(self) -> None:
        """Send what no collector took when this workspace was open last."""
        for change_id in await self._outbox.waiting():
            await self._send(change_id)

    async def _send(self, change_id: str) -> None:
        """Deliverable handed to the sender, once at a time."""
        from aurora_deliverables.telemetry.sender import Leaving

        if change_id in self._under_way:
            return
        self._under_way.add(change_id)
        deliverable = await self._tracking.get(change_id)
        if deliverable is None or not _has_ended(deliverable):  # begun again since
            self._under_way.discard(change_id)
            return
        events = tuple(await self._tracking.events(change_id))
        branch = await self._branch() if self._is_live(deliverable) else None
        repository = repository_of(await self._remote_url(), Path(self._workspace).name, branch)
        origin = await identity_of(Path(self._workspace))
        self._sender.send(
            Leaving(self._workspace, deliverable, events, lambda: self._sent(change_id), repository, origin)
        )

    def _is_live(self, deliverable: Deliverable) -> bool:
        """Whether it ended just now: of what ended long ago nobody knows the branch any more."""
        return time.time() - (deliverable.completed_at or 0.0) < LIVE + self._grace

    async def _branch(self) -> str | None:
        """The branch that the work tree is on."""

        def look() -> str | None:
            repository = find_git_directory(Path(self._workspace))
            head = read_head(repository) if repository is not None else None
            return head.ref.removeprefix("refs/heads/") or None if head is not None else None

        return await asyncio.to_thread(look)

    async def _remote_url(self) -> str | None:
        """The address of the repository's remote, as git's configuration has it."""
        if self._remote is None:
            said = await commands.answer(Path(self._workspace), REMOTE)
            self._remote = (said or b"").decode("utf-8", "replace").strip()
        return self._remote or None

    def _sent(self, change_id: str) -> None:
        """Called from the sender's thread."""

        def remember() -> None:
            if not self._closed:
                self._begin(self._outbox.sent(change_id, time.time()))

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(remember)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work, name=f"telemetry {self._workspace}")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a deliverable was not handed to telemetry", exc_info=error)


def _has_ended(deliverable: Deliverable) -> bool:
    return deliverable.status in ("completed", "failed")
