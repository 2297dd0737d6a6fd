"""A stretch of text, and what is known of its chunk, as a searchable part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aurora_indexer.parse.field_terms import every_term, text_terms
from aurora_memory.chunks import Part
from aurora_memory.term_counts import Field, add_terms, packed, together

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
) -> Part:
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
            terms = every_term(text)
            add_terms(occurrences, field, terms)
            length += len(terms)
    get = occurrences.get
    for known in (name, path):
        for term, value in known.items():
            occurrences[term] = get(term, 0) | value
    return Part(*lines, occurrences, length, len(name))


def later_part(lines: tuple[int, int], name: Packed, body: bytes) -> Part:
    """A further piece of a long chunk: its own text, under the chunk's name."""
    words = text_terms(body)
    return Part(*lines, together((packed("body", words), name)), sum(words.values()), len(name))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
