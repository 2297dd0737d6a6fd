"""Declarations of constants and variables at a file's top level: no chunk is called so, a remainder holds the line.

The index does not tell a declaration from a use. So the few remainders in which the name stands are read when it is
asked for: only where the query is nothing but names and no definition is called so. Other questions that spell such a
name are rather about the functions that use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from aurora_memory.chunks import MODULE_NAME, type_of
from aurora_memory.recall.places import is_test
from aurora_memory.recall.question import Question
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import LIMITS, SHIFTS
from aurora_memory.tokens import stem_word
from aurora_memory.views import ChunkView

if TYPE_CHECKING:
    from aurora_memory.bm25 import Entries, Parts

MAX_NAMES = 3
MAX_READ = 24
"""Names of a question that are looked for, and files that are read for each."""

_TYPED = frozenset({"c", "cpp", "java"})
"""Languages that declare by a type before the name."""

_LISTED = frozenset({"go"})
"""Languages whose constants may stand alone on a line."""

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([^)\n]*\))?|public|private|protected|internal|static|final|constexpr|inline"
    r"|extern|readonly|thread_local|unsafe)[ \t]+)*"
)
_NO_TYPE = (
    r"(?!(?:return|import|export|using|package|throw|goto|delete|new|from|else|case|await|yield|typedef|friend)\b)"
)


def remainder_declarations(
    reader: Reader,
    question: Question,
    called: Sequence[ChunkView],
    parts: Parts,
    entries: Mapping[str, Entries],
    read: Callable[[str], str],
    most: int = MAX_READ,
) -> dict[int, tuple[ChunkView, int]]:
    """By row id the remainders that declare a name which the question spells, each with the line.

    `called` are the chunks that bear one of the question's names. A name that a definition has is looked for no more,
    unless only tests define it. `most` files are read for each.
    """
    known = {_leaf(chunk.name) for chunk in called if type_of(chunk.kind) == "code" and not is_test(chunk.path)}
    found: dict[int, tuple[ChunkView, int]] = {}
    names = [name for name in dict.fromkeys(map(_leaf, question.identifiers)) if name not in known]
    for name in names[:MAX_NAMES]:
        spelled = stem_word(name)
        if not spelled or spelled[-1] not in entries:  # the last is all of the name in one
            continue
        for chunk in _holding(reader, parts, entries[spelled[-1]], most):
            line = _declared(reader, chunk, name, read(chunk.path))
            if line is not None:
                found.setdefault(chunk.id, (chunk, line))
    return found


def declarations(name: str, text: str, language: str) -> Iterator[int]:
    """The 1-based lines of a text that read as if they declared the name, at whatever level they stand."""
    pattern = _declaration(name, language)
    line, counted, at = 1, 0, text.find(name)
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = len(text) if end < 0 else end
        if pattern.match(text[start:end]):
            line += text.count("\n", counted, start)
            counted = start
            yield line
        at = text.find(name, end)


def _holding(reader: Reader, parts: Parts, standing: Entries, most: int) -> list[ChunkView]:
    """The remainders in which a term stands, those of tests last, those where it stands most often first."""
    import numpy as np

    numbers, counts = standing
    living = numbers < len(parts.chunks)
    chunks = parts.chunks[numbers[living]]
    often = (counts[living] >> SHIFTS["body"]) & LIMITS["body"]
    rest = np.isin(chunks, chunk_reader.remainders(reader)) & (often > 0)
    by_chunk: dict[int, int] = {}
    for chunk, count in zip(chunks[rest].tolist(), often[rest].tolist(), strict=True):
        by_chunk[chunk] = by_chunk.get(chunk, 0) + count
    views = chunk_reader.by_id(reader, sorted(by_chunk, key=lambda chunk: -by_chunk[chunk])[: 4 * most])
    return sorted(views.values(), key=lambda view: (is_test(view.path), -by_chunk[view.id], view.path))[:most]


def _declared(reader: Reader, chunk: ChunkView, name: str, text: str) -> int | None:
    lines = [line for line in declarations(name, text, chunk.language) if chunk.line_start <= line <= chunk.line_end]
    if not lines:
        return None
    others = [other for other in chunk_reader.of_file(reader, chunk.path) if other.name != MODULE_NAME]
    return next(
        (line for line in lines if not any(other.line_start <= line <= other.line_end for other in others)), None
    )


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]


@lru_cache(maxsize=64)
def _declaration(name: str, language: str) -> re.Pattern[str]:
    """Pattern of a line that declares a name."""
    spelled = re.escape(name)
    forms = [
        # `NAME = …`, `NAME: T = …`, `a, NAME = …`, in Go's blocks `NAME T = …`; not an argument of a call: `name=1,`
        rf"[ \t]*(?:\w+[ \t]*,[ \t]*)*{spelled}[ \t]*(?:,[ \t]*\w+[ \t]*)*(?::[^=\n]*|[ \t][\w.\[\]*]+[ \t]*)?"
        r"=(?![=>~]).*(?<!,)[ \t\r]*$",
        # `export const NAME`, `pub static NAME`, `var a, NAME`, `const {a, NAME} = …`
        rf"[ \t]*{_MODIFIERS}(?:const|let|var|static)[ \t]+(?:(?:mut|ref)[ \t]+)*"
        rf"(?:[{{\[][^=\n]*|(?:\w+[ \t]*,[ \t]*)*)\b{spelled}\b(?![ \t]*[(.])(?!:?[ \t]+as\b)",
        rf"[ \t]*#[ \t]*define[ \t]+{spelled}\b",
    ]
    if language == "python":
        forms.append(rf"{spelled}[ \t]*:[ \t]*\S")
    if language in _LISTED:
        forms.append(rf"[ \t]+{spelled}[ \t]*(?://.*)?\r?$")
    if language in _TYPED:
        forms.append(
            rf"[ \t]*{_NO_TYPE}(?:[\w<>,:*&.\[\]]+[ \t]+)+[*&]*{spelled}[ \t]*(?:\[[^\]\n]*\][ \t]*)*(?:=(?!=)|;|\{{)"
        )
    return re.compile("|".join(f"(?:{form})" for form in forms))
