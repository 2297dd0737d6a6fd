"""Cookie (sync barrier): a file that is made in a folder of ours, to know by its event that every earlier one was
heard.

The kernel keeps the events of one inotify instance in the order in which they happened, whatever folders they are of.
So the folder is not in the workspace, where a file would wake editors and stand in the way of `git status`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from contextlib import suppress
from pathlib import Path

from aurora_protocol.strict_modes import make_private_folder

_NAME = "cookie-"
_numbers = itertools.count()


class Cookies:
    """Cookie files of one watched tree. `folder` is made where it is not there; what an earlier process left in it is
    removed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._awaited: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

    def prepare(self) -> None:
        """Make the folder. Raises OSError. Blocks."""
        make_private_folder(self.folder)
        for left in self.folder.glob(f"{_NAME}*"):
            left.unlink(missing_ok=True)

    async def returned(self, seconds: float) -> bool:
        """Make a cookie, and wait until its event came back; False where it did not within `seconds`."""
        name = f"{_NAME}{os.getpid()}-{next(_numbers)}"
        back = asyncio.Event()
        with self._lock:
            self._awaited[name] = (asyncio.get_running_loop(), back)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.to_thread(self._make, name)
                await back.wait()
        except (OSError, TimeoutError):
            return False
        finally:
            with self._lock:
                self._awaited.pop(name, None)
        return True

    def heard(self, name: str) -> None:
        """Take the event of a file in the folder, on any thread."""
        with self._lock:
            loop, back = self._awaited.get(name, (None, None))
        if loop is not None and back is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
                loop.call_soon_threadsafe(back.set)

    def _make(self, name: str) -> None:
        """Creation of a cookie file, which is removed at once: its event is what counts."""
        path = self.folder / name
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o600))
        path.unlink(missing_ok=True)
