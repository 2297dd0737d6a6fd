"""Part vectors (a vector index in RAM): the word vectors of every part of a memory file, made anew from its words.

Nothing of them is on disk. Parts are only ever appended, by number, until the word index is made anew; so each is read
once, some at a time, and who is struck out stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aurora_memory.store.postings import decode_occurrences
from aurora_memory.word_vectors import DIMENSIONS, word_vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

AT_ONCE = 1000
"""Missing parts that a question reads itself (some 30 ms); of more, some at a time are read beside questions."""

STEP = 200
"""Parts that are read beside questions at a time: the next question waits for no more."""

MOST = 400_000
"""Parts of which vectors are held (38 MB). A larger memory is recalled by words, relations and history alone."""

KEPT = 100_000
"""Parts of which vectors are held also while nobody asks (10 MB): who asks once an hour asks by meaning, too."""

_BLOCK = 4096
_PIECE = 1024
"""Vectors that are held together, and those that are weighed at a time: few enough for the processor's cache, and for
what else of a question is in it.
"""

Rows = Callable[[str, Sequence[Any]], list[Any]]


class PartVectors:
    """Part vectors of one memory file, by part number."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._blocks: list[npt.NDArray[np.int8]] = []
        self._next = 0
        self._cosines: Floats | None = None
        self._wide: Floats | None = None

    def holds(self, count: int) -> bool:
        """Whether a memory of so many parts is small enough."""
        return count <= MOST

    def stay(self, count: int | None = None) -> bool:
        """Whether they, or those of so many parts, are few enough to be held while nobody asks."""
        return (self._next if count is None else count) <= KEPT

    def missing(self, count: int) -> int:
        """How many of the first `count` numbers are not read yet; none of a memory that is too large."""
        return max(0, count - self._next) if self.holds(count) else 0

    def read(self, count: int, most: int) -> None:
        """Read parts below the number `count` that are missing, `most` of them."""
        import numpy as np

        found = self._rows(
            "SELECT id, occurrences FROM parts WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (self._next, count, most)
        )
        while len(self._blocks) * _BLOCK < count:
            self._blocks.append(np.zeros((_BLOCK, DIMENSIONS), dtype=np.int8))
        rows = word_vectors().of_parts([decode_occurrences(blob) for _, blob in found])
        for (number, _), row in zip(found, rows, strict=True):
            self._blocks[number // _BLOCK][number % _BLOCK] = row
        self._next = found[-1][0] + 1 if len(found) == most else count

    def alike(self, vector: Floats, count: int) -> Floats:
        """The cosine of a vector with that of each of the first `count` parts, until it is asked again."""
        import numpy as np

        if self._cosines is None or self._wide is None or len(self._cosines) != len(self._blocks) * _BLOCK:
            self._cosines = np.empty(len(self._blocks) * _BLOCK, dtype=np.float32)
            self._wide = np.empty((_PIECE, DIMENSIONS), dtype=np.float32)
        found, wide = self._cosines, self._wide
        pieces = (block[at : at + _PIECE] for block in self._blocks for at in range(0, _BLOCK, _PIECE))
        for number, piece in enumerate(pieces):
            wide[...] = piece
            np.dot(wide, vector, out=found[number * _PIECE : (number + 1) * _PIECE])
        found *= np.float32(1 / 127)
        return found[:count]
