"""Similar commits (episodic memory): what was done before: commits whose messages resemble the question prime the
functions they changed. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.activation import SPREAD_FACTOR
from aurora_memory.views import SimilarCommit

COMMITS = 60
"""Commits that are asked; the most alike."""

LEAST = 0.1
"""Likeness below which a message only shares a word with the question."""

SHOWN = 3


class Episode(Struct, frozen=True):
    """Episode: a commit that speaks for a chunk, and how much."""

    hash: str
    subject: str
    amount: float


class Primed(Struct, frozen=True):
    """Priming of one chunk by episodes: the amount in [0, 1], and each commit with what it brought."""

    amount: float
    commits: Sequence[tuple[float, SimilarCommit]]

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The commits that brought most."""
        most = sorted(self.commits, key=lambda brought: -brought[0])[:SHOWN]
        return tuple(Episode(commit.hash, commit.subject, amount) for amount, commit in most)


def similar_enough(similar: Sequence[SimilarCommit]) -> list[SimilarCommit]:
    """The commits that share more than a word with the question."""
    return [commit for commit in similar if commit.likeness >= LEAST]


def prime(
    similar: Sequence[SimilarCommit], changed: Mapping[int, Sequence[int]], per_hop: float = SPREAD_FACTOR
) -> dict[int, Primed]:
    """Activation of the chunks that similar commits changed.

    One hop from each commit, divided among what it changed by the root of their number; several commits that say the
    same add up, with less from each.
    """
    found: dict[int, Primed] = {}
    several: dict[int, list[tuple[float, SimilarCommit]]] = {}
    for commit in similar:
        chunks = changed.get(commit.id, ())
        if not chunks:
            continue
        one = per_hop * commit.likeness**2 / math.sqrt(len(chunks)), commit
        alone = Primed(min(1.0, one[0]), [one])  # most are primed by one commit
        for chunk in chunks:
            known = found.setdefault(chunk, alone)
            if known is not alone:
                several.setdefault(chunk, list(known.commits)).append(one)
    for chunk, commits in several.items():
        found[chunk] = Primed(min(1.0, math.fsum([amount for amount, _ in commits])), commits)
    return found
