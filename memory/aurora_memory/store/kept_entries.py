"""Kept entries: where terms stand, as it was read, until their blocks change.

Parts are only ever added at the end. So a save changes some blocks, and words that every other question says need not
be read from all of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aurora_memory.store.postings import BLOCK, BLOCK_BITS
from aurora_memory.store.statements import as_list

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int32]
    Entries = tuple[Numbers, Numbers]

MOST_BYTES = 16 << 20
"""Bytes that are kept of one memory file: of 40,000 chunks all words of many questions, of a million those of the last
ten."""

_OVERHEAD = 400
"""Bytes that a term takes beside its entries."""

Rows = Callable[[str, Sequence[Any]], list[Any]]


class _Kept(NamedTuple):
    """Cache entry: where one term stands."""

    entries: Entries
    generation: int
    """Of the index, when it was read."""

    @property
    def size(self) -> int:
        return self.entries[0].nbytes + self.entries[1].nbytes + _OVERHEAD


class KeptEntries:
    """LRU cache of postings: entries of the terms that were asked last, at most MOST_BYTES of them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._kept: dict[str, _Kept] = {}
        self._changed: dict[int, int] = {}
        self._generation = 0
        self.size = 0

    def changed(self, blocks: Iterable[int]) -> None:
        """Hear that blocks are not what they were, or are there no more."""
        self._generation += 1
        self._changed.update(dict.fromkeys(blocks, self._generation))

    def of(self, terms: Collection[str], blocks: Sequence[int]) -> dict[str, Entries]:
        """For each term: part numbers, and the packed counts there. `blocks` are all that are known."""
        known = {term: kept for term in terms if (kept := self._kept.pop(term, None)) is not None}
        self.size -= sum(kept.size for kept in known.values())
        found = _read(self._rows, [term for term in terms if term not in known], blocks)
        for generation in {kept.generation for kept in known.values()}:
            stale = [block for block, changed in self._changed.items() if changed > generation]
            some = {term: kept.entries for term, kept in known.items() if kept.generation == generation}
            found.update(self._renewed(some, stale) if stale else some)
        for term, entries in found.items():  # those asked last are the last to go
            self._kept[term] = _Kept(entries, self._generation)
            self.size += self._kept[term].size
        while self.size > MOST_BYTES:
            self.size -= self._kept.pop(next(iter(self._kept))).size
        return {term: found[term] for term in terms}

    def _renewed(self, known: Mapping[str, Entries], stale: Sequence[int]) -> dict[str, Entries]:
        """The entries of terms with those of some blocks read again."""
        import numpy as np

        fresh = _read(self._rows, list(known), stale)
        found: dict[str, Entries] = {}
        for term, (numbers, packed) in known.items():
            stays = ~np.isin(numbers >> BLOCK_BITS, stale)
            more, values = fresh[term]
            if not len(more) and stays.all():
                found[term] = numbers, packed
                continue
            numbers, packed = np.concatenate([numbers[stays], more]), np.concatenate([packed[stays], values])
            order = np.argsort(numbers >> BLOCK_BITS, kind="stable")
            found[term] = numbers[order], packed[order]
        return found


def _read(rows: Rows, terms: Sequence[str], blocks: Sequence[int]) -> dict[str, Entries]:
    """The entries of terms in some blocks, block by block: their numbers are given, for a look through the table of
    blocks, of which each fills pages of its own, takes longer than what is looked for.
    """
    import numpy as np

    if not terms:
        return {}
    read = rows(
        """SELECT postings.term, postings.block, postings.entries
           FROM json_each(?) AS blocks CROSS JOIN json_each(?) AS wanted
           CROSS JOIN postings ON postings.block = blocks.value AND postings.term = wanted.value""",
        (as_list(blocks), as_list(sorted(terms))),
    )
    found: dict[str, list[tuple[int, bytes]]] = {term: [] for term in terms}
    for term, block, blob in read:
        found[term].append((block, blob))
    result: dict[str, Entries] = {}
    for term, pieces in found.items():
        packed = np.frombuffer(b"".join([blob for _, blob in pieces]), dtype="<u4")
        sizes = [len(blob) // 4 for _, blob in pieces]
        numbers = np.repeat(np.array([block * BLOCK for block, _ in pieces], dtype=np.int32), sizes)
        numbers += (packed & np.uint32(BLOCK - 1)).view(np.int32)
        result[term] = numbers, (packed >> np.uint32(BLOCK_BITS)).view(np.int32)
    return result
