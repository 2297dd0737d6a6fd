"""Overloads: several definitions (signatures) of one name in one file, as a type checker or a compiler is told them, as
one result. Pure.

Where a function is declared once for each way of calling it, five of ten answers were that function. Its longest
definition answers, the others are told under it. Two of one name are a getter and its setter, and both are answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from aurora_memory.recall.ranking import Rank
from aurora_memory.views import ChunkHead

Chunk = TypeVar("Chunk", bound=ChunkHead)

FEWEST = 3
"""Definitions of one name that are overloads."""

_KINDS = frozenset({"function", "method"})

Name = tuple[str, str]
"""(path, qualified name)"""


def overloaded(heads: Sequence[ChunkHead]) -> dict[Name, int]:
    """Names that are defined so often in their file, each with the row id of its longest definition."""
    functions = [head for head in heads if head.kind in _KINDS]
    if len(functions) - len({(head.path, head.name) for head in functions}) < FEWEST - 1:
        return {}  # as nearly always: no name is there so often
    found: dict[Name, list[ChunkHead]] = {}
    for head in functions:
        found.setdefault((head.path, head.name), []).append(head)
    return {
        name: max(them, key=lambda head: (head.line_end - head.line_start, head.line_start)).id
        for name, them in found.items()
        if len(them) >= FEWEST
    }


def without_declarations(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks without those of overloaded names that the longest answers for."""
    longest = overloaded(chunks)
    return [each for each in chunks if longest.get((each.path, each.name), each.id) == each.id]


def longest_first(heads: Sequence[ChunkHead], ranks: Sequence[Rank], names: dict[Name, int]) -> list[Rank]:
    """The ranks, the longest definition of each overloaded name in the place of the best of them."""
    if not names:
        return list(ranks)
    found = list(ranks)
    places = {rank.id: place for place, rank in enumerate(ranks)}
    done: set[Name] = set()
    for place, rank in enumerate(ranks):
        name = (heads[rank.place].path, heads[rank.place].name)
        longest = places.get(names.get(name, -1), place)
        if name in names and name not in done and longest != place:
            other = ranks[longest]
            found[place] = other.as_strong(rank.strength)
            found[longest] = rank.as_strong(other.strength)
        done.add(name)
    return found
