"""Uses of what was recalled (implicit feedback): when an answer counts as used. A chunk opened, read whole or edited
after it was shown has an access, ACT-R's rehearsal.

Being shown is none. Each recall of a chunk leads to at most one access, whatever follows it, so that a cursor resting
on a function, or an editor that saves at every key, teaches no more than a look does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aurora_memory.store import Store, chunk_reader
from aurora_memory.views import ChunkView

logger = logging.getLogger(__name__)

Use = Literal["opened", "read", "edited"]
"""Kinds of use, as the access history has them."""

LATELY = 30 * 60.0
"""Seconds for which what follows a recall is taken to follow from it."""

MOST = 500
"""Recalled chunks that are kept in mind; the oldest go first."""


class ShownChunk(Struct, frozen=True):
    """Shown chunk: where it is, its rank in the answer (0 is best), and when it was recalled last (Unix seconds)."""

    path: str
    line_start: int
    line_end: int
    rank: int
    at: float


class ShownChunks:
    """Chunks (row ids) that were recalled lately and not used since. Pure but for what it keeps."""

    def __init__(self) -> None:
        self._shown: OrderedDict[int, ShownChunk] = OrderedDict()

    def show(self, chunks: Iterable[ChunkView], now: float) -> None:
        """Keep an answer's chunks in mind, best first."""
        for rank, chunk in enumerate(chunks):
            if not chunk.path:
                continue  # reasoning stands in no file; finished runs say what of it was of use
            self._shown[chunk.id] = ShownChunk(chunk.path, chunk.line_start, chunk.line_end, rank, now)
            self._shown.move_to_end(chunk.id)
        while len(self._shown) > MOST:
            self._shown.popitem(last=False)

    def opened(self, path: str, now: float) -> list[int]:
        """Click-through: a file was opened, for the best of its chunks in the latest answer that had any."""
        there = [(-shown.at, shown.rank, row) for row, shown in self._lately(now).items() if shown.path == path]
        return self.used([min(there)[2]] if there else [], now)

    def looked_at(self, path: str, line: int, now: float) -> list[int]:
        """A place (1-based line) was looked at: the innermost chunk there."""
        there = [
            (shown.line_end - shown.line_start, row)
            for row, shown in self._lately(now).items()
            if shown.path == path and shown.line_start <= line <= shown.line_end
        ]
        return self.used([min(there)[1]] if there else [], now)

    def used(self, rows: Sequence[int], now: float) -> list[int]:
        """Those of the rows that were recalled lately; none is told a second time before it is recalled again."""
        known = self._lately(now)
        found = [row for row in dict.fromkeys(rows) if row in known]
        for row in found:
            del self._shown[row]
        return found

    def since(self, now: float) -> Mapping[int, float]:
        """What may still be used, with when it was recalled."""
        return {row: shown.at for row, shown in self._lately(now).items()}

    def _lately(self, now: float) -> dict[int, ShownChunk]:
        return {row: shown for row, shown in self._shown.items() if 0 <= now - shown.at <= LATELY}


class RecallUses:
    """Uses of a workspace's recalls, written down as accesses. Belongs to the event loop's thread."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._shown = ShownChunks()
        self._writing: set[asyncio.Task[None]] = set()

    def show(self, chunks: Iterable[ChunkView]) -> None:
        """Keep an answer's chunks in mind, best first."""
        self._shown.show(chunks, self._clock())

    def opened(self, path: str) -> None:
        """Hear that an editor opened a file."""
        self._keep(self._shown.opened(path, self._clock()), "opened")

    def looked_at(self, path: str, line: int) -> None:
        """Hear that an editor's user asked about a place (1-based line)."""
        self._keep(self._shown.looked_at(path, line, self._clock()), "opened")

    def read(self, chunk: ChunkView) -> None:
        """Hear that a chunk was fetched whole, by its id."""
        self._keep(self._shown.used([chunk.id], self._clock()), "read")

    def files_indexed(self) -> None:
        """Hear that a run of the indexer is over: what was edited since it was recalled is of use."""
        if since := self._shown.since(self._clock()):
            self._start(self._edited(since))

    async def close(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _edited(self, since: Mapping[int, float]) -> None:
        """Access for chunks that were edited after they were shown."""
        chunks = await self._store.read(chunk_reader.by_id, list(since))
        changed = [row for row, view in chunks.items() if view.changed_at is not None and view.changed_at >= since[row]]
        await self._record(self._shown.used(changed, self._clock()), "edited")

    def _keep(self, rows: Sequence[int], use: Use) -> None:
        if rows:
            self._start(self._record(rows, use))

    async def _record(self, rows: Sequence[int], use: Use) -> None:
        if rows:
            await self._store.record_accesses(rows, use, self._clock())

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="use of a recall")
        self._writing.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._writing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("a use was not written down", extra={"error": str(error)})
