"""Kinship (semantic search): the parts that are about what a question is about, in whichever words, by cosine
similarity of the table's word vectors (embeddings).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aurora_memory.recall.question import Question, spelled_out
from aurora_memory.store.part_vectors import AT_ONCE, STEP
from aurora_memory.store.reader import Reader
from aurora_memory.word_vectors import word_vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]

KIN = 40
"""Parts nearest to a question that are looked at beside those that its words find."""

LEAST = 0.2
"""Cosine below which a part is about something else: of a small memory the nearest parts may be far. Nine of ten
answers that only vectors found are nearer.
"""


def kinship(reader: Reader, question: Question, count: int) -> Floats | None:
    """The cosine of each of the first `count` parts with the question; None as long as they are not all read."""
    vectors = reader.vectors
    missing = vectors.missing(count)
    if missing > AT_ONCE or not vectors.holds(count):
        return None
    vector = word_vectors().of_question(spelled_out(question))
    if vector is None:
        return None
    if missing:
        vectors.read(count, AT_ONCE)
    return vectors.alike(vector, count)


def share_told(question: Question, rarities: Mapping[str, float]) -> float:
    """The share of a question, by the rarity of its words here, of which the table knows what they mean."""
    said = {term: rarities[term] for term in question.terms if term in rarities}
    known = sum(rarity for term, rarity in said.items() if word_vectors().has(term))
    return known / sum(said.values()) if known else 1.0


def nearest(cosines: Floats) -> Places:
    """Nearest neighbours: the numbers of the nearest parts, those that are near at all."""
    (near,) = (cosines >= LEAST).nonzero()
    return near[(-cosines[near]).argpartition(KIN)[:KIN]] if len(near) > KIN else near


def vectors_stay(reader: Reader) -> bool:
    """Whether the vectors of all parts are few enough to be held while nobody asks."""
    return reader.vectors.stay(len(reader.words.parts(reader.writes).chunks))


def read_some(reader: Reader) -> bool:
    """Read a few vectors that the next question would miss; whether any are missing still."""
    count = len(reader.words.parts(reader.writes).chunks)
    if reader.vectors.missing(count):
        reader.vectors.read(count, STEP)
    return reader.vectors.missing(count) > 0
