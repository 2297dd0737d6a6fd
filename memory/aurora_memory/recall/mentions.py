"""Mentions: names of a question as memory knows them, without what only the asker's file calls so (`xr.where`).

Who writes of `xr.where` has imported a package by another name, who writes of `ds.swap_dims` has a variable: neither is
in the code that is searched, but what stands behind the dot is. Reads only.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from aurora_memory.recall.question import Question
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader

_LOOKED_AT = 400
"""Chunks of such names that are looked at: many are called as the last part of one is."""


def with_known_names(reader: Reader, question: Question) -> Question:
    """The question with the longest end of each dotted name that something is called; the same where none has to go.

    A phrasal verb (`sign in`) that something is called, spelled as one, is a question for that name.
    """
    if question.called and chunk_reader.named(reader, question.called, 1):
        return replace(question, identifiers=question.called, by_name=True, kind="name")
    dotted = [name for name in question.identifiers if "." in name]
    if not dotted or question.by_name:
        return question
    ends = {end for name in dotted for end in _ends(name)}
    known = {chunk.name.lower() for chunk in chunk_reader.named(reader, sorted(ends), _LOOKED_AT)}
    names = [_known_end(name, known) if "." in name else name for name in question.identifiers]
    return replace(question, identifiers=tuple(dict.fromkeys(names)))


def _known_end(name: str, known: Collection[str]) -> str:
    """The name without its beginning, where it is only so that something is called it."""
    for end in _ends(name):
        wanted = end.lower()
        if any(each == wanted or each.endswith(f".{wanted}") for each in known):
            return end
    return name


def _ends(name: str) -> list[str]:
    pieces = name.split(".")
    return [".".join(pieces[place:]) for place in range(len(pieces))]
