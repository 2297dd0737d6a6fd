"""Batches (bulk inserts) behind a bounded queue (producer and consumer, backpressure): workers' replies gathered into
transactions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aurora_indexer.workers.messages import FileSkipped, Parsed, ParseFailed, ReadStat, Reply
from aurora_memory.store import FileStat, IndexedFile, SkippedFile, Store

BATCH_CHUNKS = 1500
"""Chunks that a first index writes at once: 4 MB of them, and as much again of what is made ready to be written."""
BATCH_CHANGED = 750
"""Chunks that are written at once of what changed afterwards, as at a switch of branches. A daemon's heap never gets
smaller than its peaks left it, and a day has many."""
BATCH_SECONDS = 1.0
LAST_REPLIES = 16
"""So many before the end what is there is written: little is left then that everybody waits for."""

UNREAD = FileStat(-1, -1)
"""The stat of a file that could not be read: never equal to a real one, so the next sweep tries again."""


@dataclass
class _Batch:
    """Batch: what one transaction will write."""

    files: list[IndexedFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    restamped: dict[str, FileStat] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    chunks: int = 0


class Batches:
    """Batch writer: takes replies and writes them in a task of its own, so that workers go on while SQLite does.

    `removed` files leave with the first batch; `expected` replies are to come. At most two batches wait; `add` then
    waits too.
    """

    def __init__(
        self,
        store: Store,
        removed: Sequence[str],
        *,
        first_time: bool,
        edited: bool,
        anew: bool = False,
        expected: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.chunks = self.parsed = self.unchanged = self.skipped = self.failed = 0
        self.removed = len(removed)
        self._store = store
        self._first_time = first_time
        self._most = BATCH_CHUNKS if first_time else BATCH_CHANGED
        self._edited = edited
        self._anew = anew
        self._left = expected
        self._clock = clock
        self._begun = clock()
        self._batch = _Batch(removed=list(removed))
        self._full: asyncio.Queue[_Batch | None] = asyncio.Queue(maxsize=2)
        self._writer = asyncio.create_task(self._write())

    async def add(self, reply: Reply) -> None:
        """Take one reply in. Raises what kept an earlier batch from being written."""
        batch = self._batch
        if isinstance(reply, Parsed):
            self.parsed += 1
            self.chunks += len(reply.file.chunks)
            batch.chunks += len(reply.file.chunks)
            batch.files.append(IndexedFile(_stat(reply.stat), reply.file))
        elif isinstance(reply, FileSkipped):
            if reply.skip.reason == "gone":
                self.removed += 1
                batch.removed.append(reply.path)
            else:
                self.skipped += 1
                batch.skipped.append(SkippedFile(reply.path, reply.skip.reason, reply.skip.detail, _stat(reply.stat)))
        elif isinstance(reply, ParseFailed):
            self.failed += 1
            batch.skipped.append(SkippedFile(reply.path, "failed", reply.message, _stat(reply.stat)))
        else:
            self.unchanged += 1
            batch.restamped[reply.path] = _stat(reply.stat)
        self._left -= 1
        full = batch.chunks >= self._most or self._left == LAST_REPLIES
        if full or self._clock() - self._begun >= BATCH_SECONDS:
            await self._hand_over()

    async def finish(self) -> None:
        """Write what is left and wait until all of it is committed. Raises what kept a batch from being written."""
        await self._hand_over()
        await self._full.put(None)
        await self._writer

    async def abandon(self) -> None:
        """Drop what was not handed over; a batch being written is finished or rolled back by the store."""
        self._writer.cancel()
        await asyncio.gather(self._writer, return_exceptions=True)

    async def _hand_over(self) -> None:
        """Producer's end of the bounded queue: waits for room (backpressure). Raises what ended the writer."""
        if self._writer.done():
            self._writer.result()  # raises: only a failure ends it early
        batch, self._batch = self._batch, _Batch()
        self._begun = self._clock()
        handing = asyncio.create_task(self._full.put(batch))
        await asyncio.wait([handing, self._writer], return_when=asyncio.FIRST_COMPLETED)
        if not handing.done():
            handing.cancel()
            self._writer.result()

    async def _write(self) -> None:
        """Consumer of the queue: writes batch after batch."""
        while (batch := await self._full.get()) is not None:
            await self._store.write(
                batch.files,
                batch.removed,
                batch.skipped,
                batch.restamped,
                first_time=self._first_time,
                edited=self._edited,
                anew=self._anew,
            )


def _stat(stat: ReadStat | None) -> FileStat:
    return FileStat(stat.size, stat.mtime_ns, mark=stat.mark) if stat is not None else UNREAD
