"""Word index (inverted index for full-text search) as it is read: what every part is, and where terms stand, as arrays
ready to be weighed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aurora_memory.bm25 import Parts
from aurora_memory.store.kept_entries import KeptEntries
from aurora_memory.store.part_columns import PartColumns
from aurora_memory.store.statements import as_list

if TYPE_CHECKING:
    from aurora_memory.store.kept_entries import Entries

_FEW_LETTERS = 4
_SAMPLED = 24
"""Blocks, of 4,096 parts each, in which terms are looked for that begin with few letters."""

Rows = Callable[[str, Sequence[Any]], list[Any]]


class WordIndex:
    """Word index of one memory file, kept as arrays between questions; only blocks that changed are read again."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._states: dict[int, tuple[int, ...]] = {}
        self._columns: PartColumns | None = None
        self._parts: Parts | None = None
        self._writes = -1
        self._kept = KeptEntries(rows)

    def parts(self, writes: int) -> Parts:
        """Searchable parts now; `writes` tells whether anything was written since it was asked last."""
        if writes == self._writes and self._parts is not None:
            return self._parts
        self._writes = writes
        states = {
            block: tuple(state)
            for block, *state in self._rows("SELECT block, dead, length(parts) FROM blocks ORDER BY block", ())
        }
        if self._parts is not None and states == self._states:
            return self._parts
        if self._columns is None:
            self._columns = PartColumns()
        gone = self._states.keys() - states.keys()
        stale = [block for block, state in states.items() if self._states.get(block) != state]
        self._kept.changed([*gone, *stale])
        for block in gone:
            self._columns.drop(block)
        for block in stale:
            rows = self._rows("SELECT dead, parts FROM blocks WHERE block = ?", (block,))
            if not rows:  # it went meanwhile
                self._columns.drop(block)
                del states[block]
            for dead, packed in rows:
                self._columns.put(block, packed)
                states[block] = dead, len(packed)
        self._states = states
        self._parts = self._columns.parts()
        return self._parts

    def entries(self, terms: Sequence[str]) -> dict[str, Entries]:
        """For each term that stands in any of the parts as they were read last: part numbers, and the packed counts
        there.
        """
        return {term: entries for term, entries in self._kept.of(terms, list(self._states)).items() if len(entries[0])}

    def give_memory_back(self) -> None:
        """Let go of the entries that are kept, and of the room in which they are weighed."""
        self._kept = KeptEntries(self._rows)
        if self._columns is not None:
            self._columns.room.clear()

    def has(self, term: str) -> bool:
        """Sight of a term in any block: it stands somewhere, or stood there until lately."""
        sql = "SELECT 1 FROM blocks CROSS JOIN postings ON postings.block = blocks.block AND postings.term = ? LIMIT 1"
        return bool(self._rows(sql, (term,)))

    def beginning(self, letters: str, limit: int) -> list[str]:
        """Prefix search: the terms that begin with those letters, the most frequent first.

        Few letters begin many terms: of a large index they are looked for in a sample of blocks, spread over all.
        """
        blocks = [block for (block,) in self._rows("SELECT block FROM blocks ORDER BY block", ())]
        step = max(1, len(blocks) // _SAMPLED) if len(letters) <= _FEW_LETTERS else 1
        rows = self._rows(
            """SELECT postings.term, sum(length(postings.entries)) AS size
               FROM json_each(?) AS wanted CROSS JOIN postings
                 ON postings.block = wanted.value AND postings.term >= ? AND postings.term < ?
               GROUP BY postings.term ORDER BY size DESC, postings.term LIMIT ?""",
            (as_list(blocks[::step]), letters, letters + "\U0010ffff", limit),
        )
        return [term for term, _ in rows]
