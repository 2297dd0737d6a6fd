"""What the watcher's tests share: a watched folder and the batches it gave."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.watch.cookie import Cookies
from aurora_indexer.watch.watcher import FileChanges, Watcher
from tests.wait_limits import HANG

MODES = ["native", "polling"] if sys.platform == "linux" else ["native"]


class Seen:
    """A watched root and the batches it gave."""

    def __init__(self, root: Path, *, polling: bool) -> None:
        self.root = root
        self.batches: list[FileChanges] = []
        self.threads: list[threading.Thread] = []
        self.rules = IgnoreRules(root)
        self.watcher = Watcher(
            root,
            self._take,
            asyncio.get_running_loop(),
            rules=self.rules,
            polling=polling,
            poll_seconds=0.15,
            cookies=Cookies(root.parent / f"{root.name}-cookies"),
        )

    def _take(self, changes: FileChanges) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.batches.append(changes)

    async def start(self) -> None:
        before = set(threading.enumerate())
        await asyncio.to_thread(self.watcher.start)
        self.threads = [thread for thread in threading.enumerate() if thread not in before]

    async def until(self, *, changed: set[str] | None = None, removed: set[str] | None = None) -> None:
        deadline = time.monotonic() + HANG
        while not ((changed or set()) <= self.changed and (removed or set()) <= self.removed):
            assert time.monotonic() < deadline, self.batches
            await asyncio.sleep(0.02)

    async def quiet(self, seconds: float = 0.5) -> None:
        """Wait until every event there was is told; where none comes in order, until none is for some seconds."""
        while pending := await self.watcher.changes_pending(HANG):
            await asyncio.sleep(0.02)
        if pending == 0:
            return
        count = -1
        while count != len(self.batches):
            count = len(self.batches)
            await asyncio.sleep(seconds)

    async def overflowed(self) -> None:
        deadline = time.monotonic() + HANG
        while not any(batch.overflow for batch in self.batches):
            assert time.monotonic() < deadline, self.batches
            await asyncio.sleep(0.02)

    def forget(self) -> None:
        self.batches.clear()

    @property
    def changed(self) -> set[str]:
        return set().union(*(batch.changed for batch in self.batches))

    @property
    def removed(self) -> set[str]:
        return set().union(*(batch.removed for batch in self.batches))


def write(file: Path, text: str = "x = 1\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def covers(removed: set[str], path: str) -> bool:
    return path in removed or any(path.startswith(f"{folder}/") for folder in removed)


async def until(holds: Callable[[], bool], seconds: float = HANG) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
