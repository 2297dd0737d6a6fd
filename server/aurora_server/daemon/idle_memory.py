"""Memory (RAM) of a daemon that is idle: what it holds for its next questions only is given back to the system
(SQLite's page caches, `malloc_trim`).

SQLite keeps pages it has read, up to 7 MB for each open memory; glibc keeps what was freed in its arenas. Of neither
anything is needed where nobody asks: the system's own cache has the pages, and pages come back as they are touched.
A daemon that never rests has fewer arenas: what is freed in one is of no use in another. And now and then it gives back
what nothing lies on; SQLite's pages stay, for they would be read anew at once, elsewhere in the heap.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from aurora_memory import StoreError
from aurora_server.workspace.registry import Workspaces

logger = logging.getLogger(__name__)

QUIET_SECONDS = 30.0
"""How long nothing much may have been done before memory is given back."""
QUIET_SHARE = 0.05
"""Share of a processor up to which nothing much is done: watching files and looking around take some."""
TRIM_SECONDS = 120.0
"""How often a daemon that does not rest gives back pages of its heap that nothing lies on: some milliseconds, beside
the event loop."""
WORKED_SECONDS = 0.5
"""Processor time since memory was given back last, below which there is nothing new to give."""

ARENAS = 2
"""Heaps for all threads: one for whoever runs Python, one for SQLite, which lets others run meanwhile."""
_M_ARENA_MAX = -8
"""Name of that number in glibc's malloc.h."""
LARGE = 128 * 1024
"""Bytes from which on a piece is mapped by itself, and given back as it is freed. Left alone, glibc raises this to the
largest piece that was ever freed, up to 32 MB: exports and files that were read then leave holes in the heaps."""
_M_MMAP_THRESHOLD = -3

GIVEN_WITHIN = 2.0
"""Seconds that memories may take to do so: one that is being mended is left alone."""


class IdleMemory:
    """Watch over how busy this process is; `look` is called now and then, by the event loop's thread.

    `spent` tells the processor time of this process, in seconds, and `clock` the time.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.process_time,
    ) -> None:
        self._workspaces = workspaces
        self._clock = clock
        self._spent = spent
        self._looked = self._busy_until = self._trimmed = clock()
        self._spent_then = spent()
        self._spent_at_gift = 0.0

    async def look(self) -> bool:
        """Give memory back if it was quiet for long and busy before; returns whether it did."""
        now, spent = self._clock(), self._spent()
        if spent - self._spent_then > QUIET_SHARE * max(now - self._looked, 1.0):
            self._busy_until = now
        self._looked, self._spent_then = now, spent
        if now - self._busy_until < QUIET_SECONDS or spent - self._spent_at_gift < WORKED_SECONDS:
            if self._busy_until == now >= self._trimmed + TRIM_SECONDS:
                self._trimmed = now
                await asyncio.to_thread(trim)
            return False
        await self._give_pages_back()
        gc.collect(1)  # what is young; all there is would take the interpreter for longer than an answer may wait
        await asyncio.to_thread(trim)
        self._trimmed = now
        self._spent_at_gift = self._spent_then = self._spent()
        logger.debug("memory given back")
        return True

    async def _give_pages_back(self) -> None:
        """Caches released by every open workspace."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GIVEN_WITHIN):
                for workspace in self._workspaces.opened():
                    with suppress(StoreError):  # it was closed meanwhile, and holds nothing any more
                        await workspace.give_memory_back()


def use_few_arenas() -> None:
    """Have all threads that are started from now on share ARENAS heaps, where the C library is glibc.

    It gives each thread one of its own, up to eight for each processor. Of a dozen threads, of which one at a time runs
    Python, they kept 25 MB of freed pieces after 13,000 requests of ten minutes, and two keep 12. Pieces of LARGE bytes
    are in none of them.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(AttributeError, OSError):  # musl has none
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE)


def trim() -> None:
    """Give the pages of the heap that nothing lies on back to the system, where the C library is glibc."""
    if sys.platform != "linux":
        return
    with suppress(AttributeError, OSError):  # musl has none
        ctypes.CDLL(None).malloc_trim(0)
