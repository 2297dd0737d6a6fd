"""Co-change (change coupling, lift): whether two things change together more often than by chance, and how surely.

What changes with everything (a changelog, a version, what a formatter went over) changes with nothing in particular:
it does so in the other commits as well. Pure.
"""

from __future__ import annotations

import posixpath

FEW_FILES = 10
"""Files from which on a commit counts less the more it changed: half with twice as many."""

LEAST_WEIGHT = 0.5
"""What the commits weigh together, at least, that changed two things: what two with 40 files do, or one with 20."""

LIFT = 2.0
"""How many times as often as elsewhere something has to change in one's commits, to change with it."""

ELSEWHERE = 3.0
"""Commits in which something has to change without the other, before that speaks against it: of fewer none can tell."""


def is_beyond_chance(shared: float, changed: float, other: float, total: float) -> bool:
    """Whether two things change together more often than chance has it.

    Of `total` commits `changed` changed the one, `other` the other, `shared` both; each by its weight.
    """
    rest = max(0.0, total - changed)
    elsewhere = min(max(0.0, other - shared), rest)
    return elsewhere < ELSEWHERE or LIFT * elsewhere * changed <= shared * rest


def nearness(path: str, other: str) -> int:
    """How near two files lie: 2 is the same one, 1 the same folder."""
    return 2 if path == other else int(posixpath.dirname(path) == posixpath.dirname(other))
