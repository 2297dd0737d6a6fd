"""Near-duplicates: copies, twins for another type, generated siblings. One of them answers for all. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.term_counts import LIMITS, SHIFTS

ALIKE = 0.9
"""Share of terms two chunks must have in common to say the same."""

TELLING = 12
"""Chunks of fewer distinct terms look like many others."""

_CONTENT = sum(LIMITS[field] << SHIFTS[field] for field in ("signature", "doc", "calls", "body"))


class Folded(Struct, frozen=True):
    """What stays, by place in the list, and which places each of them answers for."""

    kept: list[int]
    similar: dict[int, list[int]]


def content_terms(occurrences: Mapping[str, int]) -> frozenset[str]:
    """What a chunk says, apart from its name and path."""
    return frozenset([term for term, value in occurrences.items() if value & _CONTENT])


def fold(contents: Sequence[frozenset[str]], enough: int) -> Folded:
    """Go through ranked chunks, keep `enough` that differ, and put each near-duplicate under the first of its kind."""
    kept: list[int] = []
    similar: dict[int, list[int]] = {}
    for place, terms in enumerate(contents):
        twin = None
        if len(terms) >= TELLING:
            twin = next((other for other in kept if _alike(terms, contents[other])), None)
        if twin is not None:
            similar.setdefault(twin, []).append(place)
        elif len(kept) < enough:
            kept.append(place)
    return Folded(kept, similar)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    smaller, larger = len(one), len(other)
    if smaller > larger:
        smaller, larger = larger, smaller
    if smaller < TELLING or smaller < ALIKE * larger:
        return False
    common = len(one & other)
    return common >= ALIKE * (smaller + larger - common)
