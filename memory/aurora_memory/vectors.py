"""Vectors of chunks in memory, and which of them are nearest to another. Pure arrays.

float16 in blocks: 100,000 chunks of 384 dimensions are 77 MB (256: 51 MB), and looking through them takes one block's
worth of float32 besides (13 MB).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BLOCK = 8192
"""Vectors that are weighed at a time."""

MOST_BYTES = 512 << 20
"""More than this is not held; what is left out can't be found by meaning, only by words."""


class Vectors:
    """One vector for each chunk (row id), of length 1. Not for two threads at once."""

    def __init__(self, dimensions: int, most_bytes: int = MOST_BYTES) -> None:
        self.dimensions = dimensions
        self.left_out = 0
        self._most = max(1, most_bytes // (2 * dimensions))
        self._blocks: list[npt.NDArray[np.float16]] = []
        self._ids: list[int] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def put(self, entries: Iterable[tuple[int, bytes]]) -> None:
        """Add or replace vectors, as little-endian float16; those of another size are not taken."""
        import numpy as np

        for chunk, row in entries:
            if len(row) != 2 * self.dimensions:
                continue
            place = self._places.get(chunk, len(self._ids))
            if place == len(self._ids):
                if place >= self._most:
                    self.left_out += 1
                    continue
                if place == BLOCK * len(self._blocks):
                    self._blocks.append(np.zeros((BLOCK, self.dimensions), dtype=np.float16))
                self._places[chunk] = place
                self._ids.append(chunk)
            self._blocks[place // BLOCK][place % BLOCK] = np.frombuffer(row, dtype="<f2")

    def nearest(self, row: bytes, count: int) -> list[tuple[int, float]]:
        """The chunks most alike, best first, each with its cosine; only those that have anything in common."""
        import numpy as np

        if not self._ids or len(row) != 2 * self.dimensions:
            return []
        question = np.frombuffer(row, dtype="<f2").astype(np.float32)
        pieces = [block.astype(np.float32) @ question for block in self._blocks]
        alike = np.concatenate(pieces)[: len(self._ids)]
        best = np.argpartition(-alike, count)[:count] if len(alike) > count else np.arange(len(alike))
        order: Sequence[int] = best[np.lexsort((best, -alike[best]))].tolist()
        return [(self._ids[place], float(alike[place])) for place in order if alike[place] > 0]
