"""What was done before: commits whose messages resemble the question prime the functions they changed. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.activation import SPREAD_FACTOR
from aurora_memory.store.history import SimilarCommit

COMMITS = 60
"""Commits that are asked; the most alike."""

LEAST = 0.1
"""Likeness below which a message only shares a word with the question."""

SHOWN = 3


class Episode(Struct, frozen=True):
    """A commit that speaks for a chunk, and how much."""

    hash: str
    subject: str
    amount: float


class Primed(Struct, frozen=True):
    """What episodes bring one chunk: the amount in [0, 1], and the commits that brought most."""

    amount: float
    episodes: tuple[Episode, ...]


def telling(similar: Sequence[SimilarCommit]) -> list[SimilarCommit]:
    """The commits that share more than a word with the question."""
    return [commit for commit in similar if commit.likeness >= LEAST]


def prime(
    similar: Sequence[SimilarCommit], changed: Mapping[int, Sequence[int]], per_hop: float = SPREAD_FACTOR
) -> dict[int, Primed]:
    """Activation of the chunks that similar commits changed.

    One hop from each commit, divided among what it changed by the root of their number; several commits that say the
    same add up, with less from each.
    """
    brought: dict[int, list[Episode]] = {}
    for commit in similar:
        chunks = changed.get(commit.id, ())
        if not chunks:
            continue
        amount = per_hop * commit.likeness**2 / math.sqrt(len(chunks))
        for chunk in chunks:
            brought.setdefault(chunk, []).append(Episode(commit.hash, commit.subject, amount))
    return {
        chunk: Primed(
            min(1.0, math.fsum(episode.amount for episode in episodes)),
            tuple(sorted(episodes, key=lambda episode: -episode.amount)[:SHOWN]),
        )
        for chunk, episodes in brought.items()
    }
