"""Word vectors (static embeddings, quantized to int8): what a question and a part of a chunk are about, as points that
lie near each other where both are about the same, in whichever words.

A text is the sum of its words' vectors, each by a learned weight; in a part, a word counts by the fields it stands in
and how often. The table (`word_vectors.npz`) is written by `tests/benchmarks/word_vectors.py`, of the repositories that
`word_vectors.json` lists; it is read when the first question needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_memory.term_counts import FIELD_BITS, LIMITS, SHIFTS, Field

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Row = npt.NDArray[np.int8]

DIMENSIONS = 96

_LOW_BITS = SHIFTS["path"]


class WordVectors:
    """Word vectors by term: the table, as it is read from a file."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        with np.load(path) as given:
            words = bytes(given["words"]).decode().split("\n")
            self._vectors: npt.NDArray[np.int8] = given["vectors"]
            self._asked: Floats = given["asked"].astype(np.float32)
            self._told: Floats = given["told"].astype(np.float32)
            fields = given["fields"].tolist()
        self._places = {word: place for place, word in enumerate(words)}
        self._low, self._high = (
            _weighted(dict(zip(FIELD_BITS, fields, strict=True)), start, end)
            for start, end in ((0, _LOW_BITS), (_LOW_BITS, sum(FIELD_BITS.values())))
        )

    def __len__(self) -> int:
        return len(self._places)

    def has(self, term: str) -> bool:
        """Whether the table knows a term."""
        return term in self._places

    def is_common(self, term: str, most: int) -> bool:
        """Whether a term is among the `most` that occur most; the table has them first."""
        return self._places.get(term, most) < most

    def of_question(self, terms: Iterable[str]) -> Floats | None:
        """The vector of a question's terms, of length 1; None where the table knows none of them."""
        import numpy as np

        places = [self._places[term] for term in terms if term in self._places]
        if not places:
            return None
        vector: Floats = self._asked[places] @ self._vectors[places].astype(np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-9)

    def of_parts(self, parts: Sequence[Mapping[str, int]]) -> Row:
        """The vectors of parts, one row each, by their packed counts: of length 127, zeros where nothing is known."""
        import numpy as np

        places: list[int] = []
        packed: list[int] = []
        starts: list[int] = []
        known = self._places.get
        for occurrences in parts:
            starts.append(len(places))
            for term, value in occurrences.items():
                place = known(term)
                if place is not None:
                    places.append(place)
                    packed.append(value)
        found = np.zeros((len(parts), DIMENSIONS), dtype=np.int8)
        starts.append(len(places))
        filled = [number for number, (start, end) in enumerate(pairwise(starts)) if end > start]
        if filled:
            at, counts = np.array(places), np.array(packed)
            weights = self._low[counts & ((1 << _LOW_BITS) - 1)] + self._high[counts >> _LOW_BITS]
            rows = self._vectors[at] * (weights * self._told[at])[:, None]
            sums = np.add.reduceat(rows, np.array(starts)[filled], axis=0)
            sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
            found[filled] = np.rint(sums * 127)
        return found


@cache
def word_vectors() -> WordVectors:
    """The table that the package has."""
    return WordVectors(Path(__file__).with_name("word_vectors.npz"))


def _weighted(fields: Mapping[Field, float], start: int, end: int) -> Floats:
    """Logarithmic term weighting: what a packed count weighs, by the fields within those bits, so that repeats count
    less.
    """
    import numpy as np

    values = np.arange(1 << (end - start), dtype=np.uint32)
    table = np.zeros(len(values), dtype=np.float32)
    for field, weight in fields.items():
        if start <= SHIFTS[field] < end:
            table += np.float32(weight) * np.log1p((values >> (SHIFTS[field] - start)) & LIMITS[field])
    return table
