"""Deduplication of ranked results: of near-duplicates (copies, twins for another type, generated siblings) one answers
for all. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from msgspec import Struct

from aurora_memory.term_counts import LIMITS, SHIFTS

ALIKE = 0.9
"""Share of terms two chunks must have in common to say the same."""

TELLING = 12
"""Chunks of fewer distinct terms look like many others."""

_CONTENT = sum(LIMITS[field] << SHIFTS[field] for field in ("signature", "doc", "calls", "body"))


class Folded(Struct, frozen=True):
    """Results without near-duplicates: places that stay, and the places each of them answers for."""

    kept: list[int]
    similar: dict[int, list[int]]


def content_terms(occurrences: Mapping[str, int]) -> frozenset[str]:
    """Terms of a chunk's content, apart from its name and path."""
    return frozenset([term for term, value in occurrences.items() if value & _CONTENT])


def fold_near_duplicates(
    contents: Sequence[frozenset[str]], enough: int, overloads: Sequence[Hashable | None] = ()
) -> Folded:
    """Deduplication of ranked results: `enough` that differ stay, near-duplicates go under the first like them.

    Places of which `overloads` says the same are alike, whatever they contain; None is like no other.
    """
    kept: list[int] = []
    similar: dict[int, list[int]] = {}
    first: dict[Hashable, int] = {}
    for place, terms in enumerate(contents):
        own = overloads[place] if overloads else None
        twin = first.get(own) if own is not None else None
        if twin is None and len(terms) >= TELLING:
            twin = next((other for other in kept if _alike(terms, contents[other])), None)
        if twin is not None:
            similar.setdefault(twin, []).append(place)
        elif len(kept) < enough:
            kept.append(place)
            if own is not None:
                first[own] = place
    return Folded(kept, similar)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Jaccard similarity above the threshold; sizes that differ much spare the comparison."""
    smaller, larger = len(one), len(other)
    if smaller > larger:
        smaller, larger = larger, smaller
    if smaller < TELLING or smaller < ALIKE * larger:
        return False
    common = len(one & other)
    return common >= ALIKE * (smaller + larger - common)
