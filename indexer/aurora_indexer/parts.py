"""A stretch of text, and what is known of its chunk, as a searchable part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aurora_indexer.field_terms import all_terms, names_terms, text_terms
from aurora_memory.chunks import Part
from aurora_memory.occurrences import Field, add_field, packed, together

Packed = Mapping[str, int]


def packed_name(name: str) -> Packed:
    """The terms of a qualified name; none where it stands for what has no name (`<module>`)."""
    return {} if name.startswith("<") else packed("name", names_terms((name,)))


def packed_path(path: str) -> Packed:
    """The terms of a path without its suffix."""
    return packed("path", all_terms(path))


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
    fields: tuple[tuple[Field, Mapping[str, int]], ...] = (
        ("signature", all_terms(heading)),
        ("doc", text_terms(docstring)),
        ("calls", names_terms(calls)),
    )
    for field, counts in fields:
        if counts:
            add_field(occurrences, field, counts)
            length += sum(counts.values())
    get = occurrences.get
    for known in (name, path):
        for term, value in known.items():
            occurrences[term] = get(term, 0) | value
    return Part(*lines, occurrences, length, len(name))


def later_part(lines: tuple[int, int], name: Packed, body: bytes) -> Part:
    """A further piece of a long chunk: its own text, under the chunk's name."""
    words = text_terms(body)
    return Part(*lines, together((packed("body", words), name)), sum(words.values()), len(name))
