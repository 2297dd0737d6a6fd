"""Reader of a memory file: a read-only connection, and what is remembered of it between questions. Never writes.

It is synchronous and belongs to one thread (`reader_thread` says which). Questions are plain functions that take it
first: those to single tables lie beside it (`…_reader.py`), those made of many in `aurora_memory.recall`.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aurora_memory.activation import USUAL, Weighing
from aurora_memory.store.access_times import AccessTimes
from aurora_memory.store.connection import connect_to_read, explained, lenient_text, not_text
from aurora_memory.store.kept_rows import KeptRows
from aurora_memory.store.part_vectors import PartVectors
from aurora_memory.store.word_index import WordIndex
from aurora_memory.views import Arc, ChunkHead, Commits

KEPT_CHUNKS = 16_384
"""Chunks of which what a rank depends on is kept between questions (8 MB): those of 200 questions."""

KEPT_SOURCES = 4096
"""Chunks of which relations are kept (6 MB)."""

KEPT_FILES = 4096


class Reader:
    """Read-only connection to one memory file. `weighing` has the numbers by which what is read is weighed."""

    def __init__(self, path: Path, weighing: Weighing = USUAL) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._known: dict[str, tuple[int, list[Any]]] = {}
        self.weighing = weighing
        self.writes = 0
        """Counted up by the store at each commit: what is remembered of earlier answers may no longer hold."""
        self.words = WordIndex(self.rows)
        self.vectors = PartVectors(self.rows)
        self.times = AccessTimes(self.rows)
        self._keep_anew()

    def connect(self) -> sqlite3.Connection:
        """Connect to the file as it is now, for the calling thread. Raises a `StoreError` that says what to do."""
        self._db = connect_to_read(self._path)
        self.writes += 1
        self.forget_words()
        return self._db

    def forget_words(self) -> None:
        """Read the whole word index anew: it was made again, and nothing in a block says so."""
        self.words = WordIndex(self.rows)
        self.vectors = PartVectors(self.rows)
        self.times = AccessTimes(self.rows)
        self._keep_anew()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that answer a question. Raises a `StoreError` that says what to do."""
        assert self._db is not None, "opened before anything is asked"
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            if not_text(error) and self._db.text_factory is str:
                self._db.text_factory = lenient_text  # slower, so only where one bit made it necessary
                return self.rows(sql, values)
            raise explained(error, self._path) from error

    def give_memory_back(self) -> None:
        """Eviction of the caches (memory pressure): let go of the pages, entries of words, times and many vectors that
        are kept; the next questions read them anew.
        """
        self.words.give_memory_back()
        if not self.vectors.stay():
            self.vectors = PartVectors(self.rows)
        self.times = AccessTimes(self.rows)
        self._keep_anew()
        self.rows("PRAGMA shrink_memory")

    def _keep_anew(self) -> None:
        self.heads: KeptRows[int, ChunkHead] = KeptRows(self.rows, KEPT_CHUNKS)
        self.commit_times: KeptRows[int, Commits] = KeptRows(self.rows, KEPT_CHUNKS)
        self.arcs: dict[int, KeptRows[int, tuple[list[Arc], list[Arc]]]] = defaultdict(
            lambda: KeptRows(self.rows, KEPT_SOURCES)
        )
        self.mtimes: KeptRows[str, float] = KeptRows(self.rows, KEPT_FILES)

    def lasting(self, sql: str) -> list[Any]:
        """Cached query: the rows that answer a question without values; asked again only when something was written."""
        known = self._known.get(sql)
        if known is None or known[0] != self.writes:
            writes = self.writes
            known = self._known[sql] = (writes, self.rows(sql))
        return known[1]

    def single(self, sql: str) -> Any:
        """The one value that answers a question without values; asked again only when something was written."""
        return self.lasting(sql)[0][0]
