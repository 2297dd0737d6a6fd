"""Term counts (term frequencies by field): how often a term stands in each field of a part, packed into 20 bits.

The packed form is what the indexer's workers send, the store keeps and recall weighs: one integer per term and part.
Counts saturate; what a term's tenth use would add to a score is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Field = Literal["name", "signature", "path", "doc", "calls", "body"]

FIELD_BITS: dict[Field, int] = {"name": 3, "signature": 3, "calls": 3, "path": 2, "doc": 4, "body": 5}
"""Bits of each field, from the lowest."""

SHIFTS: dict[Field, int] = {}
for _field in FIELD_BITS:
    SHIFTS[_field] = sum(FIELD_BITS[earlier] for earlier in SHIFTS)
LIMITS: dict[Field, int] = {field: (1 << bits) - 1 for field, bits in FIELD_BITS.items()}

_VALUES = {field: tuple(count << SHIFTS[field] for count in range(limit + 1)) for field, limit in LIMITS.items()}
"""Each count up to the limit, packed."""


def packed(field: Field, counts: Mapping[str, int]) -> dict[str, int]:
    """Bit packing: counts of one field's terms."""
    values = _VALUES[field]
    limit, most = LIMITS[field], values[-1]
    found = dict(counts)  # of its full size at once: one that grows is filled anew each time
    for term, count in counts.items():
        found[term] = values[count] if count < limit else most
    return found


def add_terms(found: dict[str, int], field: Field, terms: Iterable[str]) -> None:
    """Count the terms of one field among others."""
    one, most = 1 << SHIFTS[field], LIMITS[field] << SHIFTS[field]
    get = found.get
    for term in terms:
        value = get(term, 0)
        if value & most != most:
            found[term] = value + one


def together(fields: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Packed counts of different fields as one."""
    found: dict[str, int] = {}
    for field in fields:
        if not found:
            found = dict(field)
            continue
        for term, value in field.items():
            found[term] = found.get(term, 0) | value
    return found


def most_of(one: int, other: int) -> int:
    """Of two packed counts, the larger of each field."""
    if not one:
        return other
    masks = [LIMITS[field] << SHIFTS[field] for field in FIELD_BITS]
    return sum(max(one & mask, other & mask) for mask in masks)


def unpacked(value: int) -> dict[Field, int]:
    """The counts in a packed integer, those that are not zero."""
    found = {field: (value >> SHIFTS[field]) & LIMITS[field] for field in FIELD_BITS}
    return {field: count for field, count in found.items() if count}


def terms_in(field: Field, occurrences: Mapping[str, int]) -> frozenset[str]:
    """The terms that stand in one field."""
    mask = LIMITS[field] << SHIFTS[field]
    return frozenset(term for term, value in occurrences.items() if value & mask)
