"""Watched root (workspace folder that may be deleted, moved or replaced), for as long as it is the same folder: its
watcher, its rules, its identity.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.git import commands
from aurora_indexer.watch.cookie import Cookies
from aurora_indexer.watch.mounts import mounts_below
from aurora_indexer.watch.watcher import FileChanges, Watcher

logger = logging.getLogger(__name__)


class WatchedRoot:
    """Watch over one root, which tells of changes in it. `start` it, `stop` it; both can be called again."""

    def __init__(
        self, root: Path, debounce: float, on_changes: Callable[[FileChanges], None], cookies: Path | None = None
    ) -> None:
        self.rules = IgnoreRules(root)
        self._root = root
        self._debounce = debounce
        self._on_changes = on_changes
        self._cookies = Cookies(cookies) if cookies is not None else None
        self._watcher: Watcher | None = None
        self._identity: _Identity | None = None

    @property
    def mode(self) -> str:
        """Way in which changes are noticed: `inotify`, `fsevents`, `polling`, or `off` until the watch is up."""
        return self._watcher.mode if self._watcher else "off"

    @property
    def warning(self) -> str | None:
        """Warning of the watcher: what it could not do, if anything."""
        return self._watcher.warning if self._watcher else None

    async def start(self) -> None:
        """Read the rules anew and watch, where nothing is watched yet."""
        if self._watcher is not None:
            return
        self._identity = await asyncio.to_thread(_identity, self._root)
        excludes = await commands.excludes_file()
        self.rules = IgnoreRules(self._root, global_excludes=excludes)
        watcher = Watcher(
            self._root,
            self._on_changes,
            asyncio.get_running_loop(),
            debounce=self._debounce,
            rules=self.rules,
            cookies=self._cookies,
        )
        self._watcher = watcher  # while it starts, too: who gives up meanwhile stops it
        try:
            await asyncio.to_thread(watcher.start)
        except Exception:
            self._watcher = None
            raise
        if watcher.warning:
            logger.warning("watching", extra={"root": str(self._root), "warning": watcher.warning})

    async def stop(self) -> None:
        """Watch no longer."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.stop)

    async def changes_pending(self, seconds: float) -> int | None:
        """How many changes made before this call are not handed over yet; None where that is not known."""
        return await self._watcher.changes_pending(seconds) if self._watcher is not None else None

    async def was_replaced(self) -> bool:
        """Whether the root, or a folder in it, is not the one any more that is watched: of a folder that was made
        anew, or that something was mounted over, no event tells.
        """
        identity = await asyncio.to_thread(_identity, self._root)
        # A folder made in another's place may get its inode number: the watch on the old one is off then.
        orphaned = identity is not None and self._watcher is not None and self._watcher.mode == "off"
        return orphaned or identity != self._identity


_Identity = tuple[int, int, frozenset[tuple[str, str]]]


def _identity(root: Path) -> _Identity | None:
    """Identity (device, inode) of a tree, which tells it from one made or mounted in its place; watches stay with the
    old one.
    """
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, mounts_below(root)
