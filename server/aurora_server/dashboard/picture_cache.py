"""Cache of pictures (the page's data): one poll of the daemon, no more often than it can answer, for all who look at
the page; nobody looking, nothing asked.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Protocol

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_server.dashboard.picture import Picture
from aurora_server.dashboard.view import View

EVERY = 2.0
"""Seconds between two looks, more where a look takes long."""

SHARE = 5
"""PictureSource takes a fifth of the time at most, or else it is done less often,"""

SELDOM = 10.0
"""but at least every so many seconds."""


class PictureSource(Protocol):
    """Source of pictures. Blocks; one thread at a time."""

    def picture(self, view: View) -> Picture:
        """How things stand, with the deliverables of a view."""

    def close(self) -> None:
        """End the session until the next picture."""


class PictureCache:
    """Polling cache of pictures, at most one for each `interval` and view; keeps the last if none can be had."""

    def __init__(self, source: PictureSource, every: float = EVERY) -> None:
        self._source = source
        self._every = every
        self._turn = asyncio.Lock()
        self._kept: dict[View, tuple[float, Picture]] = {}
        self._problem: str | None = None
        self._took = 0.0
        self.ending = asyncio.Event()
        """Set when the server is to end: streams end with it."""

    @property
    def interval(self) -> float:
        """Seconds to wait between two pictures."""
        return max(self._every, min(SHARE * self._took, SELDOM))

    async def pause(self) -> None:
        """Wait until the next picture is due, or the server ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.interval):
                await self.ending.wait()

    async def picture(self, view: View) -> tuple[Picture | None, str | None]:
        """The newest picture there is, and what keeps us from a newer one."""
        async with self._turn:
            kept = self._kept.get(view)
            begun = time.monotonic()
            if kept is not None and begun - kept[0] < self._every / 2 and self._problem is None:
                return kept[1], None
            try:
                fresh = await asyncio.to_thread(self._source.picture, view)
            except (DaemonUnreachable, RequestFailed) as error:
                self._problem = str(error)
                return (kept[1] if kept is not None else None), self._problem
            self._problem = None
            self._took = time.monotonic() - begun
            if len(self._kept) > 100:
                self._kept.clear()
            self._kept[view] = (time.monotonic(), fresh)
            return fresh, None

    async def close(self) -> None:
        """End the session."""
        async with self._turn:
            await asyncio.to_thread(self._source.close)
