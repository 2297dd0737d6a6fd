"""Synonyms (query expansion by a thesaurus): what code may call the things of software that a question speaks of. Who
asks for the eviction of what is old may mean what is purged, and by a leader a primary.

`synonyms.txt` has them. Each stands for a word as it is stemmed, or for two that follow each other; both ways only
where the file has both. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from aurora_memory.tokens import stem_word


def synonyms_of(words: Sequence[str]) -> Iterator[str]:
    """Terms, stemmed, that code may have for a question's words, in their order."""
    stems = [stems[-1] for word in words if (stems := stem_word(word))]
    known = _known()
    for key in (*stems, *map(" ".join, pairwise(stems))):
        for word in known.get(key, "").split():
            yield from stem_word(word)


@cache
def _known() -> dict[str, str]:
    """What is said, stemmed, and the words it may stand for as they are written: most of them are never asked for."""
    known: dict[str, str] = {}
    for line in Path(__file__).with_name("synonyms.txt").read_text("utf-8").splitlines():
        said, _, meant = line.partition(": ")
        if not line.startswith("#"):
            key = " ".join(stem_word(word)[-1] for word in said.split())
            known[key] = meant
    return known
