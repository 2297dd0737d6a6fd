"""Ranking: candidates sorted by score, which is what their signals amount to, and the best of them as hits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from aurora_memory.activation import Activation, Weighing
from aurora_memory.recall.candidates import Candidates
from aurora_memory.recall.signals import Signals, SignalTable, Weights, weights_of
from aurora_memory.recall.similar_commits import Episode
from aurora_memory.recall.spreading_activation import Hop
from aurora_memory.views import ChunkView

_MIDDLE = 5.5
_SLOPE = 2.0


class Nearness(Struct, frozen=True):
    """Nearness by an embedding: where it ranks a chunk for the question (1 is best), and its cosine with it."""

    rank: int
    similarity: float


class Rank(Struct, frozen=True, gc=False):
    """Rank of a candidate: its place among the candidates, its row id, its strength (log odds) and what that is of."""

    place: int
    id: int
    strength: float
    signals: Signals
    nearness: Nearness | None = None

    def as_strong(self, strength: float) -> Rank:
        """The same rank of another strength; `replace` takes three times as long."""
        return Rank(self.place, self.id, strength, self.signals, self.nearness)


class Hit(Struct, frozen=True):
    """Recalled chunk with the reasons for its rank. Times are Unix seconds; `focus` are the lines that answer.

    `strength` is in log odds, `score` the same in (0, 1). `matched` are the question's terms that stand in it, `path`
    is the strongest way activation spread to it, `episodes` the commits that speak for it; `similar` are
    near-duplicates that it answers for, `also` other members of its file that answer as well; `nearness` is there
    where a model was asked and finds it near. Where the last change is not known, `modified_before` may be. To a
    question about relations, one that `is_likely` only may be related; `relation` says how, where the question does
    not, and what it has to do with a constant that is asked for or whose text is quoted.
    """

    chunk: ChunkView
    score: float
    strength: float
    signals: Signals
    activation: Activation
    last_used: float | None
    last_modified: float | None
    focus: tuple[int, int]
    matched: tuple[str, ...]
    history: tuple[float, ...]
    path: tuple[Hop, ...] = ()
    episodes: tuple[Episode, ...] = ()
    similar: tuple[ChunkView, ...] = ()
    also: tuple[ChunkView, ...] = ()
    nearness: Nearness | None = None
    modified_before: float | None = None
    is_likely: bool = False
    relation: str = ""


def ranks_of(candidates: Candidates, weights: Weights | None = None, table: SignalTable | None = None) -> list[Rank]:
    """The rank of each candidate, in their order. `table` has their signals, where they are known already."""
    used = weights_of(candidates.question.kind) if weights is None else weights
    known = SignalTable.of(candidates) if table is None else table
    return [
        Rank(n, head.id, strength, own)
        for n, (head, strength, own) in enumerate(zip(candidates.heads, known.strengths(used), known.rows, strict=True))
    ]


def ranked(
    candidates: Candidates, weighing: Weighing, weights: Weights | None = None, table: SignalTable | None = None
) -> list[Rank]:
    """The candidates that are remembered well enough to be recalled, best first."""
    ranks = ranks_of(candidates, weights, table)
    if weighing.retrieval_threshold is not None:
        ranks = [rank for rank in ranks if not weighing.forgets(candidates.activation(rank.place))]
    return _best_first(ranks)


def ranked_anew(ranks: Sequence[Rank], table: SignalTable, weights: Weights) -> list[Rank]:
    """Re-ranking by other weights, best first: their signals stay, and are most of what ranking costs."""
    strengths = table.strengths(weights)
    return _best_first([rank.as_strong(strengths[rank.place]) for rank in sorted(ranks, key=attrgetter("place"))])


def _best_first(ranks: Sequence[Rank]) -> list[Rank]:
    """Sort by strength. What is as strong stays in the candidates' order, by path and line (`chunk_reader.heads`)."""
    return sorted(ranks, key=attrgetter("strength"), reverse=True)


def score(strength: float) -> float:
    """Sigmoid (logistic function): log odds as a score in (0, 1)."""
    return 1.0 / (1.0 + math.exp(min(700.0, (_MIDDLE - strength) / _SLOPE)))
