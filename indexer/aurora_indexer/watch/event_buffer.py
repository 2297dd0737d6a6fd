"""Event buffer (debounce and coalescing of file events): what watching threads have noticed and the event loop has not
yet taken: one set of paths, one wake-up.
"""

from __future__ import annotations

import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable

from msgspec import Struct

MAX_PATHS = 20_000
"""With more paths than this, looking at the whole tree is cheaper than looking at each."""


class FileEvents(Struct, frozen=True):
    """Batch of file events, debounced. What is in both sets went and came back. `overflow`: look at all; `git`: HEAD
    may have moved.
    """

    changed: set[str]
    removed: set[str]
    overflow: bool
    git: bool


class EventBuffer:
    """Buffer of file events (debounce), filled by any thread, emptied by the event loop, which `wake` is called on once
    per batch.
    """

    def __init__(self, loop: AbstractEventLoop, wake: Callable[[], None]) -> None:
        self._loop = loop
        self._wake = wake
        self._lock = threading.Lock()
        self._count = 0
        self._gone: dict[str, tuple[int, bool]] = {}
        self._folders: dict[str, int] = {}
        self._fresh: set[str] = set()
        self._overflow = False
        self._awake = False
        self.git = False
        self.last_at = 0.0
        self.trouble: OSError | None = None

    def changed(self, path: str, *, fresh: bool = False) -> None:
        """A file came or changed. `fresh`: it was not there before, so that going again makes it a non-event."""
        with self._lock:
            if fresh and path not in self._gone:
                self._fresh.add(path)
            self._put(path, gone=False)
        self._tell()

    def removed(self, path: str, *, is_folder: bool = False) -> None:
        """A file went, or a folder with all that was below it."""
        with self._lock:
            if is_folder:
                self._put(path, gone=True)
                self._folders[path] = self._count
            elif path in self._fresh:
                self._fresh.discard(path)
                del self._gone[path]
            else:
                self._put(path, gone=True)
        self._tell()

    def overflowed(self) -> None:
        """Overflow: events were lost, or rules changed: only a look at everything helps."""
        with self._lock:
            self._overflow = True
        self._tell()

    def git_moved(self) -> None:
        """HEAD, the index or its lock changed."""
        with self._lock:
            self.git = True
        self._tell()

    def failed(self, error: OSError) -> None:
        """Watching cannot go on as it is."""
        with self._lock:
            self.trouble = error
            self._overflow = True
        self._tell()

    def count(self) -> int:
        """How many paths were noted since the last time; one more where everything has to be looked at."""
        with self._lock:
            return len(self._gone) + self._overflow

    def take(self) -> FileEvents:
        """All that was noted since the last time."""
        with self._lock:
            gone, self._gone = self._gone, {}
            folders, self._folders = self._folders, {}
            self._fresh = set()
            overflow, self._overflow = self._overflow, False
            git, self.git = self.git, False
            self._awake = False
        removed = set(folders)
        changed = set()
        for path, (when, is_gone) in gone.items():
            if is_gone or _went_with_a_folder(path, when, folders):
                removed.add(path)
            else:
                changed.add(path)
        return FileEvents(changed, removed, overflow, git)

    def _put(self, path: str, *, gone: bool) -> None:
        """Note on a path, the last event wins; too many paths are an overflow."""
        if len(self._gone) >= MAX_PATHS:
            self._gone.clear()
            self._folders.clear()
            self._fresh.clear()
            self._overflow = True
        self._count += 1
        self._gone[path] = (self._count, gone)

    def _tell(self) -> None:
        """Thread-safe wake-up of the event loop, once for all that is noted until then."""
        self.last_at = self._loop.time()
        with self._lock:
            if self._awake or self._loop.is_closed():
                return
            self._awake = True
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            # The loop closed in between: nobody is left to tell.
            return


def _went_with_a_folder(path: str, when: int, folders: dict[str, int]) -> bool:
    """Whether a folder above `path` was removed after it had changed."""
    if not folders:
        return False
    above = path.rpartition("/")[0]
    while above:
        if folders.get(above, 0) > when:
            return True
        above = above.rpartition("/")[0]
    return False
