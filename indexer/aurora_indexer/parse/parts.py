"""Searchable part of a chunk (tokens for the full-text index): a stretch of its text as counted terms, with what is
known of the chunk.

The terms are those of `aurora_memory.tokens`, each distinct word split once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, islice

from aurora_memory.chunks import ChunkPart
from aurora_memory.term_counts import Field, add_terms, packed, together
from aurora_memory.tokens import MAX_WORD, plain_terms, terms

MAX_TERMS = 3000
"""Distinct terms kept of one text."""

_FEW = 12
"""Words up to which counting them one by one costs less than setting up a counter."""

MAX_REMEMBERED = 12_288
"""Words; at some 200 bytes each. Of 24,802 in 473 files of five repositories, all took no less time."""

# Bytes that no word holds become spaces; beyond ASCII, `terms` decides.
_SPACED = bytes(b if b >= 128 or bytes((b,)).isalnum() or b == ord("_") else ord(" ") for b in range(256))


class _SplitWords(dict[bytes, tuple[str, ...]]):
    """The terms of each word met so far."""

    def __missing__(self, word: bytes) -> tuple[str, ...]:
        split = plain_terms(word.decode("ascii")) if word.isascii() else tuple(terms(word.decode("utf-8", "replace")))
        if len(word) <= MAX_WORD:
            if len(self) >= MAX_REMEMBERED:
                self.clear()
            self[word] = split
        return split


_terms_of = _SplitWords().__getitem__


def every_term(text: bytes) -> list[str]:
    """The terms of a short text (a path, a signature, names) in order, with repeats."""
    return list(chain.from_iterable(map(_terms_of, text.translate(_SPACED).split())))


def text_terms(text: bytes) -> dict[str, int]:
    """Term frequencies: count the terms of a text; the first 3,000 distinct ones are kept."""
    words = text.translate(_SPACED).split()
    if len(words) > _FEW:
        counts: dict[str, int] = Counter(chain.from_iterable(map(_terms_of, words)))
        return counts if len(counts) <= MAX_TERMS else dict(islice(counts.items(), MAX_TERMS))
    counts = {}
    get = counts.get
    for word in words:
        for term in _terms_of(word):
            counts[term] = get(term, 0) + 1
    return counts


Packed = Mapping[str, int]


def packed_name(name: str) -> Packed:
    """The terms of a qualified name; none where it stands for what has no name (`<module>`)."""
    return {} if name.startswith("<") else _packed("name", name)


def packed_path(path: str) -> Packed:
    """The terms of a path without its suffix."""
    return _packed("path", path)


def _packed(field: Field, text: str) -> Packed:
    found: dict[str, int] = {}
    add_terms(found, field, every_term(_encoded(text)))
    return found


def first_part(
    lines: tuple[int, int],
    name: Packed,
    path: Packed,
    *,
    heading: str,
    docstring: bytes,
    calls: Iterable[str],
    body: bytes,
) -> ChunkPart:
    """The part that speaks for its chunk: all fields, and the body or the beginning of it."""
    words = text_terms(body)
    length = sum(words.values())
    occurrences = packed("body", words)
    fields: tuple[tuple[Field, bytes], ...] = (
        ("signature", _encoded(heading)),
        ("doc", docstring),
        ("calls", _encoded(" ".join(calls))),
    )
    for field, text in fields:
        if text:
            said = every_term(text)
            add_terms(occurrences, field, said)
            length += len(said)
    get = occurrences.get
    for known in (name, path):
        for term, value in known.items():
            occurrences[term] = get(term, 0) | value
    return ChunkPart(*lines, occurrences, length, len(name))


def later_part(lines: tuple[int, int], name: Packed, body: bytes) -> ChunkPart:
    """A further piece of a long chunk: its own text, under the chunk's name."""
    words = text_terms(body)
    return ChunkPart(*lines, together((packed("body", words), name)), sum(words.values()), len(name))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
