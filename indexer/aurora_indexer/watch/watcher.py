"""Watcher of changes below a root, debounced into batches that make sense: a save, a checkout, a folder moved.

Where the system's watches run out the tree is polled instead, and `warning` says so. Events the system itself drops,
and file systems that report none (network mounts), are what the indexer's periodic sweep is for.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from aurora_indexer.files.gitdir import GitDirectory, Head, find_git_directory, is_locked, read_head
from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.watch.cookie import Cookies
from aurora_indexer.watch.event_buffer import EventBuffer, FileEvents

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

logger = logging.getLogger(__name__)

Mode = Literal["inotify", "fsevents", "windows", "polling", "off"]

LONGEST_HOLD = 0.2
"""Seconds after its first event by which a batch goes out, however busy the tree is …"""

LONGEST_GIT_HOLD = 5.0
"""… and by which it does while git is at work, so that a checkout is one batch."""

GIT_QUIET = 0.25
"""Seconds without news that end git's work: where the machine is busy, what a checkout wrote is told in spurts."""


class FileChanges(Struct, frozen=True):
    """Batch of changed files, debounced. Paths are relative to the root, with `/`; a removed path may be a folder, with
    all that was below it.

    What is removed went before what is changed came: a folder may be in one set and its new files in the other.
    `overflow`: too much to tell, or the rules changed; look at everything. `git_head_changed`: HEAD is at another
    commit or branch than at the last batch.
    """

    changed: set[str]
    removed: set[str]
    overflow: bool = False
    git_head_changed: bool = False


class _WatchBackend(Protocol):
    """Interface of a watch backend."""

    @property
    def watches(self) -> int: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Watcher:
    """Watcher of `root`: calls `on_changes` on `loop`. `rules` are refreshed when an ignore file changes.

    `debounce` is how long (seconds) things must be quiet before a batch goes out; with `polling`, or where nothing
    better works, the tree is listed every `poll_seconds`.
    """

    def __init__(
        self,
        root: Path,
        on_changes: Callable[[FileChanges], None],
        loop: AbstractEventLoop,
        debounce: float = 0.05,
        rules: IgnoreRules | None = None,
        *,
        polling: bool = False,
        poll_seconds: float = 2.0,
        cookies: Cookies | None = None,
    ) -> None:
        self.mode: Mode = "off"
        self.warning: str | None = None
        self._root = root
        self._on_changes = on_changes
        self._loop = loop
        self._debounce = debounce
        self._rules = rules if rules is not None else IgnoreRules(root)
        self._polling = polling
        self._poll_seconds = poll_seconds
        self._cookies = cookies
        self._handing = 0
        self._repository: GitDirectory | None = None
        self._head: Head | None = None
        self._news = asyncio.Event()
        self._events = EventBuffer(loop, self._news.set)
        self._tree: _WatchBackend | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def watches(self) -> int:
        """Number of the system's watches in use."""
        return self._tree.watches if self._tree else 0

    def start(self) -> None:
        """Begin to watch. Takes as long as listing every folder: call it in a thread, while `loop` runs."""
        self._repository = find_git_directory(self._root)
        self._head = read_head(self._repository) if self._repository else None
        self._begin()
        self._loop.call_soon_threadsafe(self._begin_delivery)

    def stop(self) -> None:
        """End watching, with every thread it started. Call it from any thread; no batch goes out afterwards."""
        self._stopped = True
        self.mode = "off"
        tree, self._tree = self._tree, None
        if tree is not None:
            tree.stop()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end_delivery)

    async def changes_pending(self, seconds: float) -> int | None:
        """How many changes that were made before this call are not handed over yet; None where that is not known.

        It is known where the system tells of changes in their order (inotify), and did within `seconds`.
        """
        if self.mode != "inotify" or self._cookies is None or not await self._cookies.returned(seconds):
            return None
        return self._events.count() + self._handing

    def _begin(self) -> None:
        """Start of the system's backend, or of polling where that fails (fallback)."""
        if not self._polling:
            try:
                tree, mode = self._native()
                tree.start()
                self._tree, self.mode = tree, mode
                if self._stopped:  # meanwhile
                    self.stop()
                return
            except (ImportError, OSError) as error:
                self.warning = self._explain(error)
        self._begin_polling()

    def _begin_polling(self) -> None:
        """Polling instead of the system's events."""
        from aurora_indexer.watch.watchdog_backend import ObservedTree, polling

        tree = ObservedTree(self._rules, self._events, polling(self._rules, self._poll_seconds))
        try:
            tree.start()
        except OSError as error:
            self.mode = "off"
            self.warning = f"{self._root} cannot be watched ({error.strerror or error}); sweeps alone find changes."
            return
        self._tree, self.mode = tree, "polling"  # now that the tree was listed: what changes from here on is seen
        if self._stopped:  # meanwhile
            self.stop()

    def _native(self) -> tuple[_WatchBackend, Mode]:
        """Backend of this system: inotify on Linux, else watchdog's."""
        if sys.platform == "linux":
            from aurora_indexer.watch.inotify import InotifyTree

            if self._cookies is not None:
                self._cookies.prepare()
            return InotifyTree(self._rules, self._events, self._repository, self._cookies), "inotify"
        make, mode = _system_observer()
        from aurora_indexer.watch.watchdog_backend import ObservedTree

        return ObservedTree(self._rules, self._events, make), mode

    def _explain(self, error: Exception) -> str:
        """Warning of exhausted inotify limits (ENOSPC, EMFILE), and which setting raises them."""
        polled = f"{self._root} is polled every {self._poll_seconds:g} s instead."
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return f"The inotify watches are used up; {polled} Raise fs.inotify.max_user_watches (sysctl)."
        if isinstance(error, OSError) and error.errno == errno.EMFILE:
            return f"The inotify instances are used up; {polled} Raise fs.inotify.max_user_instances (sysctl)."
        return f"The system's file watching does not work here ({error}); {polled}"

    def _begin_delivery(self) -> None:
        if not self._stopped:
            self._task = self._loop.create_task(self._deliver(), name=f"watch {self._root}")

    def _end_delivery(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _deliver(self) -> None:
        """Delivery loop: wait for events, debounce, hand over."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._settle()
            if self._events.trouble is not None:
                await asyncio.to_thread(self._fall_back, self._events.trouble)
            await self._hand_over()

    async def _settle(self) -> None:
        """Debounce: wait for a quiet moment, with a limit."""
        first = self._loop.time()
        while True:
            await asyncio.sleep(self._debounce)
            now = self._loop.time()
            quiet = now - self._events.last_at
            if self._events.git:
                busy = await asyncio.to_thread(self._git_is_busy)
                if (quiet >= max(GIT_QUIET, self._debounce) and not busy) or now - first >= LONGEST_GIT_HOLD:
                    return
            elif quiet >= self._debounce or now - first >= LONGEST_HOLD:
                return

    async def _hand_over(self) -> None:
        """Delivery of all that was noted, counted as pending until it is taken."""
        noted = self._events.take()
        self._handing = len(noted.changed) + len(noted.removed) + noted.overflow
        try:
            await self._hand(noted)
        finally:
            self._handing = 0

    async def _hand(self, noted: FileEvents) -> None:
        """Callback with one batch, which also says whether HEAD moved."""
        moved = False
        if noted.git and self._repository is not None:
            head = await asyncio.to_thread(read_head, self._repository)
            moved, self._head = head != self._head, head
        if self._stopped or not (noted.changed or noted.removed or noted.overflow or moved):
            return
        try:
            self._on_changes(FileChanges(noted.changed, noted.removed, noted.overflow, moved))
        except Exception:
            logger.exception("a batch of changes was not taken", extra={"root": str(self._root)})

    def _git_is_busy(self) -> bool:
        return self._repository is not None and is_locked(self._repository)

    def _fall_back(self, error: OSError) -> None:
        """Fallback to polling where watching broke while it ran; without a root, its end."""
        self._events.trouble = None
        tree, self._tree = self._tree, None
        if tree is not None:
            tree.stop()
        if self._stopped:
            return
        if error.errno == errno.ENOENT:
            self.mode = "off"
            self.warning = f"{self._root} was moved or deleted; open the workspace anew where it is now."
            return
        self.warning = self._explain(error)
        self._begin_polling()


def _system_observer() -> tuple[Callable[[], BaseObserver], Mode]:
    """watchdog's observer for a system that reports whole trees. Raises ImportError where there is none."""
    if sys.platform == "darwin":
        from watchdog.observers.fsevents import FSEventsObserver

        return FSEventsObserver, "fsevents"
    if sys.platform == "win32":
        from watchdog.observers.read_directory_changes import WindowsApiObserver

        return WindowsApiObserver, "windows"
    raise ImportError(f"no way to watch a whole tree on {sys.platform}")
