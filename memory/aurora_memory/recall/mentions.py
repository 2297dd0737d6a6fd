"""Mentions (import aliases): names of a question as memory knows them, without what only the asker's file calls so
(`xr.where`).

Who writes of `xr.where` has imported a package by another name, who writes of `ds.swap_dims` has a variable, and whose
package is `click` asks for `click.Option`: none of these is in the code that is searched, but what stands behind the
dot is. What only begins a member's name (`Session.req`) is asked for as what it may become. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from msgspec.structs import replace

from aurora_memory.recall.question import Question
from aurora_memory.store import chunk_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader

_LOOKED_AT = 400
"""Chunks of such names that are looked at: many are called as the last part of one is."""

_BECOMING = 12
"""Members that the beginning of a member's name stands for."""


def with_known_names(reader: Reader, question: Question) -> Question:
    """Query rewriting: the question with the longest end of each dotted name that something is called; the same where
    none has to go.

    A phrasal verb (`sign in`) that something is called, spelled as one, is a question for that name.
    """
    if question.called and chunk_reader.named(reader, question.called, 1):
        return replace(question, identifiers=question.called, by_name=True, kind="name")
    if question.by_name:
        question = _with_marks(reader, question)
    dotted = [name for name in question.identifiers if "." in name and not _is_file(reader, question, name)]
    if not dotted:
        return question
    ends = {end for name in dotted for end in _ends(name)}
    known = {chunk.name.lower() for chunk in chunk_reader.named(reader, sorted(ends), _LOOKED_AT)}
    names = [_known_end(name, known) if name in dotted else name for name in question.identifiers]
    alone = re.sub("::|#", ".", question.text.strip())
    if question.by_name and names == [alone] and not _is_known(alone, known):
        begun = (chunk_reader.members_from(reader, end, _BECOMING) for end in _ends(names[0]) if "." in end)
        names = next((some for some in begun if some), names)
    return replace(question, identifiers=tuple(dict.fromkeys(names)))


def without_unknown_fronts(reader: Reader, name: str) -> Iterator[str]:
    """The ends of a dotted name that may be meant by it, longest first, itself not: `click.core.Option` may be
    `core.Option` or `Option`. A front that something here is called ends them: that has no such member; so does one
    that is spelled as a class whose member is meant (`Cart.sell`).
    """
    pieces = name.split(".")
    for n, (front, after) in enumerate(pairwise(pieces), 1):
        if relation_reader.definitions(reader, front) or (front[:1].isupper() and after[:1].islower()):
            return
        yield ".".join(pieces[n:])


def _with_marks(reader: Reader, question: Question) -> Question:
    """The question with names as Ruby spells them that have a mark at their end, where something is called so."""
    names = []
    for name in question.identifiers:
        last = name.rpartition(".")[2]
        mark = re.search(rf"(?<!\w){re.escape(last)}([!?=])(?!=)", question.text)
        marked = f"{name}{mark[1]}" if mark else name
        is_called_so = mark is not None and chunk_reader.named(reader, _ends(marked), 1)
        names.append(marked if is_called_so else name)
    return replace(question, identifiers=tuple(names))


def _is_file(reader: Reader, question: Question, name: str) -> bool:
    """Whether a name with a dot is that of a file here: `parser.go` does not ask for what is called `go`."""
    return any(place.path == name for place in question.places) and bool(file_reader.files_like(reader, name, 1))


def _known_end(name: str, known: Collection[str]) -> str:
    """Longest known suffix: the name without its beginning, where it is only so that something is called it."""
    return next((end for end in _ends(name) if _is_known(end, known)), name)


def _is_known(name: str, known: Collection[str]) -> bool:
    wanted = name.lower()
    return any(each == wanted or each.endswith(f".{wanted}") for each in known)


def _ends(name: str) -> list[str]:
    pieces = name.split(".")
    return [".".join(pieces[place:]) for place in range(len(pieces))]
