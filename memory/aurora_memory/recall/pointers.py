"""Pointers (stack traces, links to code): the files, lines and functions that a report points at.

Who writes a report links to the lines he suspects, names a file, or pastes a traceback. Words cannot say as much: a
link leaves with the other addresses, and a path is a few words among hundreds. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from aurora_memory.chunks import KNOWLEDGE_KINDS
from aurora_memory.recall.places import from_top, is_aside, is_test
from aurora_memory.recall.question import Question
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.report_text import COMMENT
from aurora_memory.store import chunk_reader, file_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView

POINTING: frozenset[QuestionKind] = frozenset({"issue", "error"})
"""Kinds of questions that point at code; who names a place in a short one asks for that place (`line_answer.py`)."""

MAX_POINTERS = 24
"""Pointers of a report that are looked up: its links and paths, then its frames, those that raised first."""

FARTHER = 0.4
"""What each frame of a traceback counts of the one that it called."""

_LINK = re.compile(
    r"https?://[^\s<>\"')\]]{1,200}?/(?:blob|blame|raw|src)/[^\s/]{1,100}/"
    r"([^\s<>\"')\]#?]{1,300}\.[A-Za-z]\w{0,5})\b(?:\?[^\s#)]{0,100})?(?:#(?:L|lines-)(\d{1,7}))?"
)
"""A file in a forge, of some branch or commit, and the first of its lines that are meant."""

_ADDRESS = re.compile(r"\bhttps?://\S{1,2000}")
_JAVA = re.compile(r"\bat ((?:[\w$]{1,100}\.){1,12})[\w$]{1,100}\.([\w$<>]{1,100})\((\w{1,100}\.\w{2,6}):(\d{1,7})\)")
_PATH = re.compile(
    r"(?:\bat (?:async |new )?(?P<caller>[\w$.<>]{1,100}) \()?"
    r"(?<![\w.@+\\/~-])(?P<path>(?:[A-Za-z]:)?[\w.@+\\/~-]{1,300}\.[A-Za-z]\w{0,5})\b"
    r"(?:(?:\"?, line |:line | on line |:|\((?=\d))(?P<line>\d{1,7})(?::\d{1,7})?)?"
    r"(?:[:,]? ?in [`']?(?P<name>[\w.<>]{1,100}))?"
)


class Pointer(NamedTuple):
    """Pointer: a path as a report spells it, a 1-based line in it, a function's name, and whether it is a frame."""

    path: str
    line: int | None = None
    name: str | None = None
    is_frame: bool = False


class Pointed(Struct, frozen=True):
    """Files by path and chunks by row id that a report points at, each with how much it counts, in (0, 1]."""

    files: Mapping[str, float] = {}
    chunks: Mapping[int, float] = {}


def pointers_in(text: str) -> list[Pointer]:
    """Links to code and paths in a report, then the frames of its tracebacks, what raised before what called it."""
    text = COMMENT.sub(" ", text)
    named = [Pointer(path, int(line) if line else None) for path, line in _LINK.findall(text)]
    text = _ADDRESS.sub(" ", text)
    frames = [
        Pointer(f"{package.replace('.', '/')}{file}", int(line), name, is_frame=True)
        for package, name, file, line in _JAVA.findall(text)
    ]
    of_python: list[Pointer] = []
    for found in _PATH.finditer(_JAVA.sub(" ", text)):
        path = found["path"].replace("\\", "/").lstrip("~./")
        line, name = found["line"], found["name"] or found["caller"]
        if line or name:
            frame = Pointer(path, int(line) if line else None, name, is_frame=True)
            (of_python if path.endswith(".py") else frames).append(frame)
        elif "/" in path:
            named.append(Pointer(path))
    return list(dict.fromkeys([*named, *frames, *reversed(of_python)]))  # Python prints what raised last


def pointed_at(reader: Reader, question: Question) -> Pointed:
    """The known files and chunks that a question of a kind which points at code does point at; tests are not meant."""
    if question.kind not in POINTING:
        return Pointed()
    files: dict[str, float] = {}
    chunks: dict[int, float] = {}
    frames: dict[tuple[str, str], float] = {}
    for pointer in pointers_in(question.text)[:MAX_POINTERS]:
        path = _known(reader, pointer.path)
        if path is None or is_test(path) or is_aside(path):
            continue
        inside = chunk_reader.of_file(reader, path)
        if all(each.kind in KNOWLEDGE_KINDS for each in inside):  # what a form asks to be read first
            continue
        share = 1.0
        if pointer.is_frame:
            share = frames.setdefault((path, _last(pointer.name or "")), FARTHER ** len(frames))
        files[path] = max(share, files.get(path, 0.0))
        for chunk in _meant(pointer, inside):
            chunks[chunk.id] = max(share, chunks.get(chunk.id, 0.0))
    return Pointed(files, chunks)


def _known(reader: Reader, path: str) -> str | None:
    """The indexed file that a path of another disk, commit or installation means; None where none or several may be."""
    path = from_top(path)
    ends = list(_ends(path))
    exact = file_reader.files_of(reader, ends)
    if exact:
        return max(exact, key=len)
    found = file_reader.files_like(reader, ends[-1], 2)
    return found[0] if len(found) == 1 else None


def _ends(path: str) -> Iterator[str]:
    """A path without its first folders, as long as it has one."""
    pieces = path.split("/")
    for place in range(max(1, len(pieces) - 1)):
        yield "/".join(pieces[place:])


def _meant(pointer: Pointer, chunks: Sequence[ChunkView]) -> list[ChunkView]:
    """Of a file's chunks the function of that name, the nearest to the line; without a name the innermost there."""
    line = pointer.line or 0
    if pointer.name is not None:
        named = [each for each in chunks if _last(each.name) == _last(pointer.name)]
        return [min(named, key=lambda each: (_away(each, line), each.line_start))] if named else []
    around = [each for each in chunks if each.line_start <= line <= each.line_end]
    return [min(around, key=lambda each: each.line_end - each.line_start)] if around else []


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _away(chunk: ChunkView, line: int) -> int:
    return max(chunk.line_start - line, line - chunk.line_end, 0)
