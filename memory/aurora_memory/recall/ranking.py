"""Ordering what was found: by its words, by what its relations and history say, by what kind of thing it is. Pure.

The weights are fitted on one half of the recall benchmark's repositories and reported on the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from operator import mul

from msgspec import Struct
from msgspec.structs import astuple

from aurora_memory.activation import Activation
from aurora_memory.chunks import KNOWLEDGE_KINDS, MODULE_NAME
from aurora_memory.recall.question import Question
from aurora_memory.recall.similar_commits import Episode
from aurora_memory.recall.spreading_activation import Step
from aurora_memory.store.reader import ChunkView, Sketch

_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|spec|specs|__tests__)(/|$)|(^|/)test_|_test\.|\.(test|spec)\.|conftest\."
)


class Signals(Struct, frozen=True):
    """What speaks for a chunk. Shares of the question are in [0, 1]; activation terms as AURORA §6.3 has them."""

    words: float = 0.0
    cover: float = 0.0
    name_cover: float = 0.0
    name_share: float = 0.0
    file_cover: float = 0.0
    file_best: float = 0.0
    spreading: float = 0.0
    episodes: float = 0.0
    file_episodes: float = 0.0
    context_boost: float = 0.0
    recency: float = 0.0
    learned: float = 0.0
    type_like: float = 0.0
    remainder: float = 0.0
    document: float = 0.0
    test: float = 0.0


WEIGHTS = Signals(
    words=2.8,
    cover=1.3,
    name_cover=1.0,
    name_share=2.3,
    file_cover=0.5,
    file_best=4.0,
    spreading=3.5,
    episodes=5.0,
    file_episodes=2.8,
    context_boost=2.0,
    recency=0.25,
    learned=1.0,
    type_like=-2.0,
    remainder=-3.5,
    document=-3.0,
    test=-2.2,
)

_CALLED = frozenset({"function", "method", "macro"})

_MIDDLE = 5.5
_SLOPE = 2.0
NAMED = 20.0
"""What a chunk gets that a query of nothing but names spells: more than any words can bring."""

MENTIONED = 0.4
"""What a chunk gets whose name stands in a question among other words."""


class Nearness(Struct, frozen=True):
    """Where an embedding ranks a chunk for the question (1 is best), and its cosine with it."""

    rank: int
    similarity: float


class Hit(Struct, frozen=True):
    """One recalled chunk. Times are Unix seconds; `focus` are the lines of its best-matching part.

    `path` is the strongest way activation spread to it, `episodes` the commits that speak for it; `similar` are
    near-duplicates that were folded into it; `nearness` is there where a model was asked and finds it near. `named` is
    what of its strength it has for being spelled in the query.
    """

    chunk: ChunkView
    score: float
    activation: Activation
    last_used: float | None
    last_modified: float | None
    focus: tuple[int, int]
    matched: tuple[str, ...]
    history: tuple[float, ...]
    strength: float = 0.0
    named: float = 0.0
    signals: Signals = Signals()
    path: tuple[Step, ...] = ()
    episodes: tuple[Episode, ...] = ()
    similar: tuple[ChunkView, ...] = ()
    nearness: Nearness | None = None


def strength(signals: Signals, bonus: float = 0.0, weights: Signals = WEIGHTS) -> float:
    """What the signals amount to, as log odds."""
    return amount(astuple(signals), bonus, astuple(weights))


def amount(signals: Sequence[float], bonus: float, weights: Sequence[float]) -> float:
    """As `strength`, for many chunks: signals and weights as plain values, in the order of `Signals`."""
    return float(bonus + sum(map(mul, weights, signals)))


def score(strength: float) -> float:
    """Log odds as a score in (0, 1)."""
    return 1.0 / (1.0 + math.exp(min(700.0, (_MIDDLE - strength) / _SLOPE)))


@lru_cache(maxsize=4096)
def is_test(path: str) -> bool:
    """Whether a file is there to test others, by its name or folder."""
    return _TEST_PATH.search(path) is not None


def kind_signals(
    chunk: Sketch | ChunkView, question: Question, *, declares: bool = False
) -> tuple[float, float, float, float]:
    """(type-like, module remainder, document, test): what ranks behind functions of the source.

    A remainder that declares what the question names stands for that, not for a remainder.
    """
    kind = chunk.kind
    test = 1.0 if not question.about_tests and is_test(chunk.path) else 0.0
    document = 1.0 if kind in KNOWLEDGE_KINDS else 0.0
    if chunk.name == MODULE_NAME:
        return 0.0, 0.0 if declares else 1.0, document, test
    return 0.0 if document or kind in _CALLED else 1.0, 0.0, document, test


def name_bonus(
    chunk: Sketch | ChunkView, question: Question, standing: float = 0.0, *, declares: bool = False
) -> float:
    """What a chunk gets for its name or place being spelled in the query: the exact spelling before any other case.

    `standing` is how exactly it is what a place in the query means, `declares` that it is a remainder which declares a
    name of the query. Of names, those of the top level come first.
    """
    if not question.identifiers and not standing:
        return 0.0
    best = 1.0 if declares else 0.0
    name = chunk.name
    if _last_name(name) in _last_names(question.identifiers):  # which hardly any chunk is called
        for wanted in question.identifiers:
            bonus = _spelled(name, wanted)
            if bonus == 0.0:
                bonus = 0.8 * _spelled(name.lower(), wanted.lower())
            if bonus > best:
                best = bonus
    if question.by_name:
        return NAMED * (best + standing) + (1.0 if best and chunk.parent is None else 0.0)
    return MENTIONED * (best + standing)


@lru_cache(maxsize=64)
def _last_names(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_last_name, names))


def _last_name(name: str) -> str:
    """What two spellings of a name have in common, whatever stands before it and in whichever case."""
    return name.lower().rpartition(".")[2]


def _spelled(name: str, wanted: str) -> float:
    if name == wanted:
        return 1.0
    if "." in wanted:
        return 0.95 if name.endswith("." + wanted) else 0.0
    return 0.9 if name.rpartition(".")[2] == wanted else 0.0
