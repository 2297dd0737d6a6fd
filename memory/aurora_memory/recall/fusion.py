"""Reciprocal rank fusion (hybrid search): one ranking of two, that of words, relations and history and that of an
embedding. Pure.

After Cormack, Clarke & Büttcher (2009): a chunk gets 1 / (K + rank) from each ranking it is in. Only
ranks count, so a cosine and log odds need not be made comparable.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from aurora_memory.recall.ranking import Nearness, Rank
from aurora_memory.recall.signals import remainder, test

K = 60
"""Damping of ranks: how little the first places count more than those behind them."""

SHARE = 0.25
"""Share of the embedding's ranking beside the other: a weak model at equal share costs more than it brings."""

Key = TypeVar("Key", bound=Hashable)


def reciprocal_ranks(
    rankings: Sequence[Sequence[Key]], shares: Sequence[float] | None = None, k: int = K
) -> dict[Key, float]:
    """Reciprocal ranks of each entry, summed over the rankings; an entry that stands twice in one counts once.

    `shares` say how much each ranking counts; all the same where it is None.
    """
    sums: dict[Key, float] = {}
    for ranking, share in zip(rankings, shares or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), 1):
            sums[key] = sums.get(key, 0.0) + share / (k + rank)
    return sums


def fuse(
    ranks: Sequence[Rank],
    near: Sequence[tuple[int, float]],
    by_words: Collection[int],
    pinned: Collection[int] = (),
    share: float = SHARE,
) -> list[Rank]:
    """Order `ranks` (best first by strength) by both rankings.

    `near` is the embedding's, best first; `by_words` are the chunks that recall finds without it: only those have a
    place in the other ranking. `pinned` chunks stay in front, as they are: the query spells their names. What ranks
    behind by its kind (tests, module remainders) does so in the embedding's ranking as well.

    Each takes the strength of the place it comes to, so that the order stays comparable with that of other recalls.
    """
    front = [rank for rank in ranks if rank.id in pinned]
    rest = [rank for rank in ranks if rank.id not in pinned]
    known = {rank.id: rank for rank in ranks}
    alike = [(chunk, similarity) for chunk, similarity in near if chunk in known]
    nearness = {chunk: Nearness(place, similarity) for place, (chunk, similarity) in enumerate(alike, 1)}
    semantic = sorted((chunk for chunk, _ in alike if chunk not in pinned), key=lambda chunk: _behind(known[chunk]))
    words = [rank.id for rank in rest if rank.id in by_words]
    sums = reciprocal_ranks([words, semantic], (1.0, share))
    order = sorted(rest, key=lambda rank: -sums.get(rank.id, 0.0))
    placed = [rank.as_strong(place.strength) for rank, place in zip(order, rest, strict=True)]
    return [replace(rank, nearness=nearness.get(rank.id)) for rank in [*front, *placed]]


def _behind(rank: Rank) -> bool:
    return bool(rank.signals[test] or rank.signals[remainder])
