"""Two rankings made one: what words, relations and history say, and what an embedding says. Pure.

Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009): a hit gets 1 / (K + rank) from each ranking it is in. Only
ranks count, so a cosine and log odds need not be made comparable.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

import msgspec

from aurora_memory.recall.ranking import Hit, Nearness

K = 60
"""How little the first places count more than those behind them."""

SHARE = 0.25
"""How much the embedding's ranking counts beside the other: a weak model at equal share costs more than it brings."""

Key = TypeVar("Key", bound=Hashable)


def reciprocal_ranks(
    rankings: Sequence[Sequence[Key]], shares: Sequence[float] | None = None, k: int = K
) -> dict[Key, float]:
    """What each entry of any ranking gets from all of them; an entry that stands twice in one counts once.

    `shares` say how much each ranking counts; all the same where it is None.
    """
    sums: dict[Key, float] = {}
    for ranking, share in zip(rankings, shares or [1.0] * len(rankings), strict=True):
        for rank, key in enumerate(dict.fromkeys(ranking), 1):
            sums[key] = sums.get(key, 0.0) + share / (k + rank)
    return sums


def fuse(
    hits: Sequence[Hit],
    near: Sequence[tuple[int, float]],
    by_words: Collection[int],
    pinned: Collection[int] = (),
    share: float = SHARE,
) -> list[Hit]:
    """Order `hits` (best first by strength) by both rankings.

    `near` is the embedding's, best first; `by_words` are the chunks that recall finds without it: only those have a
    place in the other ranking. `pinned` chunks stay in front, as they are: the query spells their names. What ranks
    behind by its kind (tests, module remainders) does so in the embedding's ranking as well.

    Each hit takes the strength of the place it comes to, so that the order stays comparable with hits of other recalls.
    """
    front = [hit for hit in hits if hit.chunk.id in pinned]
    rest = [hit for hit in hits if hit.chunk.id not in pinned]
    known = {hit.chunk.id: hit for hit in hits}
    alike = [(chunk, similarity) for chunk, similarity in near if chunk in known]
    nearness = {chunk: Nearness(rank, similarity) for rank, (chunk, similarity) in enumerate(alike, 1)}
    semantic = sorted((chunk for chunk, _ in alike if chunk not in pinned), key=lambda chunk: _behind(known[chunk]))
    words = [hit.chunk.id for hit in rest if hit.chunk.id in by_words]
    sums = reciprocal_ranks([words, semantic], (1.0, share))
    order = sorted(rest, key=lambda hit: -sums.get(hit.chunk.id, 0.0))
    placed = [
        msgspec.structs.replace(hit, strength=place.strength, score=place.score)
        for hit, place in zip(order, rest, strict=True)
    ]
    return [
        msgspec.structs.replace(hit, nearness=nearness[hit.chunk.id]) if hit.chunk.id in nearness else hit
        for hit in [*front, *placed]
    ]


def _behind(hit: Hit) -> bool:
    return bool(hit.signals.test or hit.signals.remainder)
