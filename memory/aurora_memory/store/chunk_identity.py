"""Chunk identity (rename detection, matching across edits): which stored chunk a parsed one is, of those of the same
name, and of those that have most words in common. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence

from msgspec import Struct

from aurora_memory.chunks import CodeChunk
from aurora_memory.term_counts import terms_in

RENAME_SIMILARITY = 0.6
"""Share of terms two bodies must have in common to be one function renamed and edited in the same save."""


class StoredChunk(Struct, frozen=True, array_like=True, gc=False):
    """Known chunk: what the store has of it, as far as comparing needs it."""

    id: int
    path: str
    name: str
    ordinal: int
    kind: str
    parent: str | None
    line_start: int
    line_end: int
    body_hash: bytes
    shape_hash: bytes
    part_count: int
    lead: int
    gone: bool


def wherever(kind: str) -> str:
    """A kind, the same for what is a function at one place and a method at another."""
    return "function" if kind == "method" else kind


def leaf(name: str) -> str:
    """The simple name: `login` of `AuthService.login`."""
    return name.rpartition(".")[2]


def match_names(
    stored: Sequence[StoredChunk], parsed: Sequence[CodeChunk], terms: Mapping[int, frozenset[str]] | None
) -> dict[tuple[str, int], StoredChunk]:
    """The stored chunk of the same name that a parsed one is, by the parsed one's name and ordinal.

    Of several of one name the same text comes first, then the same shape, then the place between those; where that
    leaves a choice, `terms` (None: not loaded yet, leave it open), and last the order. What is gone comes after what
    lives.
    """
    by_name: dict[str, list[StoredChunk]] = {}
    for old in stored:
        by_name.setdefault(old.name, []).append(old)
    groups: dict[str, list[CodeChunk]] = {}
    for chunk in parsed:
        groups.setdefault(chunk.name, []).append(chunk)
    found: dict[tuple[str, int], StoredChunk] = {}
    for name, chunks in groups.items():
        olds = by_name.get(name)
        if olds is None:
            continue
        if len(olds) == len(chunks) == 1:
            found[name, chunks[0].ordinal] = olds[0]
            continue
        olds.sort(key=lambda old: (old.gone, old.ordinal))
        for n, m in _Namesakes(chunks, olds).pairs(terms).items():
            found[name, chunks[n].ordinal] = olds[m]
    return found


class _Namesakes:
    """The chunks of one name: the parsed ones (`n`) and the stored ones (`m`), each in their order."""

    def __init__(self, chunks: Sequence[CodeChunk], olds: Sequence[StoredChunk]) -> None:
        self._chunks = chunks
        self._olds = olds
        self._found: dict[int, int] = {}
        self._taken: set[int] = set()

    def pairs(self, terms: Mapping[int, frozenset[str]] | None) -> dict[int, int]:
        """Matches: the `m` that each `n` is, of those that are known again."""
        self._alike(lambda chunk: chunk.body_hash)
        self._alike(lambda chunk: chunk.shape_hash)
        self._between(range(len(self._chunks)), range(len(self._olds)))
        self._between(range(len(self._chunks))[::-1], range(len(self._olds))[::-1])
        living = any(not self._olds[m].gone for m in self._left())
        if terms is None and living and self._new():
            return self._found
        if terms:
            new, left = self._new(), self._left()
            places = {self._chunks[n].ordinal: n for n in new}, {self._olds[m].id: m for m in left}
            alike, _, _ = match_by_terms([self._chunks[n] for n in new], [self._olds[m] for m in left], terms)
            for old, chunk in alike:
                self._pair(places[0][chunk.ordinal], places[1][old.id])
        for n, m in zip(self._new(), self._left(), strict=False):
            self._pair(n, m)
        return self._found

    def _pair(self, n: int, m: int) -> None:
        self._found[n] = m
        self._taken.add(m)

    def _new(self) -> list[int]:
        return [n for n in range(len(self._chunks)) if n not in self._found]

    def _left(self) -> list[int]:
        return [m for m in range(len(self._olds)) if m not in self._taken]

    def _alike(self, hashed: Callable[[CodeChunk | StoredChunk], Hashable]) -> None:
        """Matches of equal hash, each in its order."""
        waiting: dict[Hashable, deque[int]] = {}
        for m in self._left():
            waiting.setdefault(hashed(self._olds[m]), deque()).append(m)
        for n in self._new():
            queue = waiting.get(hashed(self._chunks[n]))
            if queue:
                self._pair(n, queue.popleft())

    def _between(self, numbers: Sequence[int], places: Sequence[int]) -> None:
        """Pair what follows the same known chunk, where as many were there as are now."""
        new: dict[int, list[int]] = {}
        last = -1
        for n in numbers:
            if n in self._found:
                last = self._found[n]
            else:
                new.setdefault(last, []).append(n)
        left: dict[int, list[int]] = {}
        last = -1
        for m in places:
            if self._olds[m].gone:
                continue
            if m in self._taken:
                last = m
            else:
                left.setdefault(last, []).append(m)
        for known, ns in new.items():
            ms = left.get(known, [])
            if len(ms) == len(ns):
                for n, m in zip(ns, ms, strict=True):
                    self._pair(n, m)


def match_by_terms(
    strangers: list[CodeChunk], missing: list[StoredChunk], terms: Mapping[int, frozenset[str]]
) -> tuple[list[tuple[StoredChunk, CodeChunk]], list[CodeChunk], list[StoredChunk]]:
    """Rename detection: greedy matching by Jaccard similarity of what is left when a function was renamed, or moved
    into a class or out of it, and edited at once.

    The kind is the same, the parent or the simple name too, and most terms.
    """
    scored: list[tuple[float, int, int]] = []
    if not missing or not terms:
        return [], strangers, missing
    for n, chunk in enumerate(strangers):
        new_terms = body_terms(chunk)
        for m, old in enumerate(missing):
            near = old.parent == chunk.parent or leaf(old.name) == leaf(chunk.name)
            if near and wherever(old.kind) == wherever(chunk.kind) and old.id in terms:
                union = len(new_terms | terms[old.id])
                score = len(new_terms & terms[old.id]) / union if union else 0.0
                if score >= RENAME_SIMILARITY:
                    scored.append((score, n, m))
    pairs: list[tuple[StoredChunk, CodeChunk]] = []
    used_new: set[int] = set()
    used_old: set[int] = set()
    for _, n, m in sorted(scored, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if n not in used_new and m not in used_old:
            used_new.add(n)
            used_old.add(m)
            pairs.append((missing[m], strangers[n]))
    return (
        pairs,
        [chunk for n, chunk in enumerate(strangers) if n not in used_new],
        [old for m, old in enumerate(missing) if m not in used_old],
    )


def body_terms(chunk: CodeChunk) -> frozenset[str]:
    """The distinct body terms of a parsed chunk."""
    return frozenset().union(*(terms_in("body", part.occurrences) for part in chunk.parts))
