"""Places that a text says (`src/a.py:12-20`, "lines 3 to 9 of a.py", a bare path), and the lines of code there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from aurora_indexer.files.scan import known_by_name
from aurora_orchestration.soar.workspace_text import WorkspaceText

NEAR = 3
"""Lines around a place in which a name may stand."""

MAX_BLOCK = 400

_DIGITS = 12
MAX_MEANT = 50
"""Files of one name that a place may mean."""

_PATH = r"(?:[\w.@+-]+/)*[\w.@+-]*\.?[A-Za-z][\w+-]*"
_DOTTED = r"(?:[\w.@+-]+/)*[\w.@+-]+\.[A-Za-z]\w*"
_DASH = r"\s*(?:[-–—]|to|through|until|and)\s*"
_LINE = r"(?:[Ll]ines?\s+|ln\.?\s*|ll?\.\s*|L)"
_PLACE = re.compile(
    rf"(?<![\w/:.@])(?:code:)?(?P<file>{_PATH})(?::[A-Za-z_][\w.]*)?(?::L?|\#L)(?P<first>\d++)"
    rf"(?:\s?[-–]\s?L?(?P<last>\d++))?(?![\w.]*\w)"
    rf"|\b{_LINE}(?P<first2>\d++)(?:{_DASH}L?(?P<last2>\d++))?\s+(?:(?:of|in)\s+|\()`?(?P<file2>{_PATH})"
    rf"|(?<![\w/:.@])(?P<file3>{_DOTTED})`?\s*[,(@]?\s*"
    rf"(?:(?:at|on|from|around|near|between|starting (?:at|on|from))\s+)?{_LINE}(?P<first3>\d++)"
    rf"(?:{_DASH}L?(?P<last3>\d++))?"
)
_BARE_PATH = re.compile(
    r"(?<![\w/:.@`-])`?(?P<file>(?:[\w.@+-]+/)+[\w.@+-]+\.[A-Za-z]\w{0,5}|[\w-]+\.[A-Za-z]\w{0,5})`?(?![\w/(-])"
)

_AHEAD = ("@", "#", "[", "template", "//", "/*", "*", "--")
"""How lines begin that stand before what they are about."""


class SaidPlace(Struct, frozen=True):
    file: str
    first: int
    last: int
    begin: int
    end: int
    """Where the place stands in the text."""


def places_of(text: str) -> Iterator[tuple[str, int, int, int, int]]:
    """The places that a text names: file, first and last line, and where it says so (begin, end)."""
    for place in found_places(text):
        yield place.file, place.first, place.last, place.begin, place.end


def found_places(text: str) -> Iterator[SaidPlace]:
    """Places of code that a text says (parser, by regular expression), lazily."""
    for match in _PLACE.finditer(text):
        for mark in ("", "2", "3"):
            file = match[f"file{mark}"]
            if file is not None and ("." in file or known_by_name(file.rpartition("/")[2])):
                first = _number(match[f"first{mark}"])
                last = _number(match[f"last{mark}"] or match[f"first{mark}"])
                yield SaidPlace(file.removeprefix("./"), first, last, match.start(), match.end())


def _number(digits: str) -> int:
    """A line's number; of one that no file has, as much as is compared quickly."""
    return int(digits[:_DIGITS])


def bare_files(sentence: str, places: Sequence[SaidPlace]) -> Iterator[SaidPlace]:
    """Paths without lines that can only be files, as places of no line."""
    for match in _BARE_PATH.finditer(sentence):
        file = match["file"]
        if any(place.begin <= match.start() < place.end for place in places):
            continue
        if "://" not in sentence[max(0, match.start() - 8) : match.start()] and known_by_name(file.rpartition("/")[2]):
            yield SaidPlace(file.removeprefix("./"), 0, 0, match.start(), match.end())


def lines_of(place: SaidPlace, workspace: WorkspaceText) -> tuple[list[tuple[str, list[str]]], str]:
    """The files that a place can mean, with their lines, or what is wrong with it."""
    files = workspace.files_named(place.file)
    if not files:
        return [], f"there is no file {place.file}"
    most = 0
    fitting = []
    for file in files[:MAX_MEANT]:
        lines = workspace.lines(file) or []
        most = max(most, len(lines))
        if 1 <= place.first <= place.last <= len(lines):
            fitting.append((file, lines))
    return fitting, "" if fitting else f"there is no line {shown(place)} in {place.file}, which has {most}"


def shown(place: SaidPlace) -> str:
    return f"{place.first}" if place.first == place.last else f"{place.first}-{place.last}"


def body_at(place: SaidPlace, lines: Sequence[str]) -> str:
    """The lines of a place and those near it, and of a single line the block that it begins."""
    block = block_of(lines, place.first - 1) if place.first == place.last else ()
    return "\n".join((_window(place, lines), *block))


def _window(place: SaidPlace, lines: Sequence[str]) -> str:
    """The lines of a place and those near it; of a single line that begins a block also its first ones."""
    return "\n".join(lines[max(0, place.first - 1 - NEAR) : place.last + NEAR])


def block_of(lines: Sequence[str], begin: int) -> list[str]:
    """The lines from one on that belong to it: those that are indented more, and the closing one.

    A comment, a decorator or an attribute belongs to what follows it.
    """
    indent = _indent(lines[begin])
    found = [lines[begin]]
    inside = not lines[begin].lstrip().startswith(_AHEAD)
    for line in lines[begin + 1 : begin + MAX_BLOCK]:
        text = line.strip()
        if text and _indent(line) <= indent and text[0] not in ")}]:{" and not text.startswith(("end", "->", "where")):
            if inside:
                break
            inside = not text.startswith(_AHEAD)
        found.append(line)
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
