"""Group commit (durability): fsync calls of many writers, coalesced and behind them.

What was written survives the death of its process as soon as `os.write` returns; forcing it to the disk is for the
power that fails, takes some 10 ms, and is not waited for. At most what was written since the last round is lost then,
and every file that is synced here is an append-only one whose cut-off end its reader leaves out.
"""

from __future__ import annotations

import atexit
import os
from threading import Condition, Thread


class Syncing:
    """Thread for fsync in batches; it begins with the first file. What fails is raised to who writes that file next."""

    def __init__(self) -> None:
        self._state = Condition()
        self._waiting: dict[tuple[int, int], int] = {}
        self._under_way: set[tuple[int, int]] = set()
        self._failed: dict[tuple[int, int], OSError] = {}
        self._thread: Thread | None = None
        self._process = 0

    def soon(self, descriptor: int) -> None:
        """Force what was written to `descriptor` to the disk; it may be closed meanwhile.

        Raises OSError where that failed for an earlier write to the same file.
        """
        file = _file(descriptor)
        with self._state:
            if self._process != os.getpid():  # a fork has none of its parent's threads
                self._process, self._thread, self._waiting, self._under_way = os.getpid(), None, {}, set()
            if (failed := self._failed.pop(file, None)) is not None:
                raise failed
            if file not in self._waiting:
                self._waiting[file] = os.dup(descriptor)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="aurora-sync", daemon=True)
                self._thread.start()
                atexit.register(self.wait)
            self._state.notify_all()

    def wait(self) -> None:
        """Return when everything that was asked for is on the disk, or has failed."""
        with self._state:
            self._state.wait_for(lambda: self._thread is None or not (self._waiting or self._under_way), timeout=30)

    def _run(self) -> None:
        """Loop of the thread: one fsync of each file that waits, for all who wrote to it meanwhile."""
        while True:
            with self._state:
                self._under_way.clear()
                self._state.notify_all()
                self._state.wait_for(lambda: self._waiting)
                round_, self._waiting = self._waiting, {}
                self._under_way.update(round_)
            for file, descriptor in round_.items():
                try:
                    if os.fstat(descriptor).st_nlink:  # else nobody can read it any more
                        os.fsync(descriptor)
                except OSError as error:
                    with self._state:
                        self._failed[file] = error
                finally:
                    os.close(descriptor)


def _file(descriptor: int) -> tuple[int, int]:
    about = os.fstat(descriptor)
    return about.st_dev, about.st_ino


syncing = Syncing()
"""The one of this process."""
