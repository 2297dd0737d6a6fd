"""Positions in a text (line and column, UTF-16 code units): code point offsets to and from LSP positions (LSP 3.17
"Position", `positionEncoding`).

Offsets are code points, as Python slices count them. Lines end at `\\n`, `\\r\\n` or `\\r`, and at nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Literal

from msgspec import Struct

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""Unit of `character` in a session: bytes, UTF-16 units (LSP's default), or code points."""

_LINE_END = re.compile(r"\n|\r(?!\n)")
_BLOCK = 512
_LINES_BLOCK = 4096


class Pos(Struct, frozen=True, order=True):
    """A place between two characters. `line` and `character` are 0-based."""

    line: int
    character: int


class Range(Struct, frozen=True, order=True):
    """A stretch of text; `end` is exclusive."""

    start: Pos
    end: Pos


class LineIndex:
    """Line index (table of line offsets) of one text. Built in O(n); each look-up afterwards takes O(log n), however
    long the lines are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = _Lines(text)
        self._ascii = text.isascii()

    def edited(self, start: int, end: int, inserted: str) -> LineIndex:
        """The index of the text with `inserted` between two offsets."""
        return LineIndex(f"{self.text[:start]}{inserted}{self.text[end:]}")

    @property
    def line_count(self) -> int:
        """How many lines there are: at least 1, and one more when the text ends in a line end."""
        return self._lines.count

    def line_start(self, line: int) -> int:
        """The offset at which `line` begins."""
        return self._lines.start(line)

    def line_end(self, line: int) -> int:
        """The offset at which `line`'s text ends, before its line end."""
        if line + 1 == self._lines.count:
            return len(self.text)
        after = self._lines.start(line + 1)
        if not self._lines.returns or not self.text.startswith("\r\n", after - 2):
            return after - 1
        return after - 2 if after - 2 >= self._lines.start(line) else after - 1

    def position(self, offset: int, encoding: Encoding = "utf-16") -> Pos:
        """The position of `offset`. Outside the text means its border; inside `\\r\\n` means before it."""
        offset = max(0, min(offset, len(self.text)))
        line = self._lines.of(offset)
        start, offset = self._lines.start(line), min(offset, self.line_end(line))
        if self._ascii or encoding == "utf-32":
            return Pos(line, offset - start)
        if offset - start <= _BLOCK:
            return Pos(line, _count(self.text[start:offset], encoding))
        return Pos(line, self._units(offset, encoding) - self._units(start, encoding))

    def line_of(self, offset: int) -> int:
        """The line that `offset` is in."""
        return self._lines.of(max(0, min(offset, len(self.text))))

    def offset(self, position: Pos, encoding: Encoding = "utf-16") -> int:
        """The offset of `position`. Past the end of its line means that end; inside a character means before it."""
        if position.line < 0:
            return 0
        if position.line >= self._lines.count:
            return len(self.text)
        start = self._lines.start(position.line)
        line = self.text[start : min(self.line_end(position.line), start + _BLOCK)]
        if position.character < len(line) and line.isascii():
            return start + max(0, position.character)
        units = self._units(start, encoding) + max(0, position.character)
        return max(start, min(self._offset_of_units(units, encoding), self.line_end(position.line)))

    def range(self, start: int, end: int, encoding: Encoding = "utf-16") -> Range:
        """The range from offset `start` up to offset `end`."""
        return Range(self.position(start, encoding), self.position(end, encoding))

    def byte(self, offset: int) -> int:
        """How many UTF-8 bytes come before `offset`."""
        return self._units(offset, "utf-8")

    def _units(self, offset: int, encoding: Encoding) -> int:
        if self._ascii or encoding == "utf-32":
            return offset
        return (self._utf8 if encoding == "utf-8" else self._utf16).before(offset)

    def _offset_of_units(self, units: int, encoding: Encoding) -> int:
        if self._ascii or encoding == "utf-32":
            return min(units, len(self.text))
        return (self._utf8 if encoding == "utf-8" else self._utf16).offset(units)

    @cached_property
    def _utf8(self) -> _CodeUnits:
        return _CodeUnits(self.text, "utf-8")

    @cached_property
    def _utf16(self) -> _CodeUnits:
        return _CodeUnits(self.text, "utf-16")


class _Lines:
    """Line starts, by prefix sums and binary search: how many end in each block is counted; where in one, it is asked
    first.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.returns = "\r" in text
        blocks = (self._ends(start, start + _LINES_BLOCK) for start in range(0, len(text), _LINES_BLOCK))
        self._totals = list(accumulate(blocks, initial=0))
        self._known: dict[int, list[int]] = {}
        self.count = self._totals[-1] + 1

    def start(self, line: int) -> int:
        """The offset at which a line begins."""
        if line <= 0:
            return 0
        block = bisect_left(self._totals, line) - 1
        known = self._known.get(block)
        if known is None:
            begin = block * _LINES_BLOCK
            # One more, to see whether a `\r` is the first half of a line end.
            found = _LINE_END.finditer(self._text, begin, begin + _LINES_BLOCK + 1)
            known = self._known[block] = [end for match in found if (end := match.end()) <= begin + _LINES_BLOCK]
        return known[line - self._totals[block] - 1]

    def of(self, offset: int) -> int:
        """The line that `offset`, inside of the text, is in."""
        block = offset // _LINES_BLOCK
        known = self._known.get(block)
        more = self._ends(block * _LINES_BLOCK, offset) if known is None else bisect_right(known, offset)
        return self._totals[block] + more

    def _ends(self, start: int, end: int) -> int:
        """How many lines end in a stretch: at each `\n`, and at each `\r` that no `\n` follows."""
        text = self._text
        found = text.count("\n", start, end)
        return found + text.count("\r", start, end) - text.count("\r\n", start, end + 1) if self.returns else found


class _CodeUnits:
    """Prefix sums of code units: how many precede each offset, by totals per block and encoding part of one block."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._text = text
        self._encoding = encoding
        blocks = (self._count(start, start + _BLOCK) for start in range(0, len(text), _BLOCK))
        self._totals = list(accumulate(blocks, initial=0))

    def _count(self, start: int, end: int) -> int:
        return _count(self._text[start:end], self._encoding)

    def before(self, offset: int) -> int:
        block = offset // _BLOCK
        return self._totals[block] + self._count(block * _BLOCK, offset)

    def offset(self, units: int) -> int:
        return bisect_right(range(len(self._text) + 1), units, key=self.before) - 1


def _count(text: str, encoding: Encoding) -> int:
    """How many code units a text takes."""
    if text.isascii() or encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
