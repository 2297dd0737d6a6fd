"""Line moves (line mapping through diff hunks): where lines were before a change: spans of lines carried backwards
through the hunks of a diff. Pure.

Numbers are those of `@@ -old,lines +new,lines @@` without context. A span the hunks leave alone only shifts. A span
that a hunk reaches into keeps its share of the lines that stood there before, so that a function rewritten together
with its neighbours does not inherit their history.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

NEW_FACTOR = 3
"""A span inside a hunk that put so many times more lines than it took away was written by that change."""


class Hunk(NamedTuple):
    """Hunk of a diff: `old_lines` lines were replaced by `new_lines` lines; with none of them, `new_start` is the line
    before.
    """

    old_lines: int
    new_start: int
    new_lines: int


class LineSpan(Struct, frozen=True, gc=False):
    """Lines of a chunk, 1-based and inclusive; empty when `end` is before `start`."""

    chunk_id: int
    start: int
    end: int


class LineMap:
    """The way back through one file's hunks, which are in line order."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        self._hunks: list[Hunk] = []
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._shifts = [0]
        for hunk in hunks:
            first = hunk.new_start if hunk.new_lines else hunk.new_start + 1
            if self._lasts and first <= self._lasts[-1]:
                continue  # not in order: no diff that git makes
            self._hunks.append(hunk)
            self._firsts.append(first)
            self._lasts.append(first + hunk.new_lines - 1)
            self._shifts.append(self._shifts[-1] + hunk.old_lines - hunk.new_lines)

    def before(self, span: LineSpan) -> tuple[bool, LineSpan]:
        """Line mapping: whether the change touched the span, and the span before it: empty when the change brought it
        in.
        """
        chunk_id, start, end = span.chunk_id, span.start, span.end
        low = bisect_left(self._lasts, start)
        high = bisect_right(self._firsts, end)
        if low >= high:
            return False, LineSpan(chunk_id, start + self._shifts[low], end + self._shifts[low])
        first, last = self._hunks[low], self._hunks[high - 1]
        begun = start - self._firsts[low]
        if (
            high - low == 1
            and begun >= 0
            and end <= self._lasts[low]
            and first.new_lines > NEW_FACTOR * first.old_lines
        ):
            return True, LineSpan(chunk_id, start, start - 1)
        old_start = start + self._shifts[low]
        if begun > 0:
            old_start = self._firsts[low] + self._shifts[low] + begun * first.old_lines // first.new_lines
        old_end = end + self._shifts[high]
        if end < self._lasts[high - 1]:
            reached = end - self._firsts[high - 1] + 1
            share = -(-reached * last.old_lines // last.new_lines)
            old_end = self._firsts[high - 1] + self._shifts[high - 1] + share - 1
        return True, LineSpan(chunk_id, old_start, old_end)

    def spares(self, span: LineSpan) -> bool:
        """Whether a span is surely as it was before: a line that was taken away beside it may have been its own."""
        beside = (
            (first, last, bool(hunk.old_lines))
            for hunk, first, last in zip(self._hunks, self._firsts, self._lasts, strict=True)
        )
        return not any(first - near <= span.end and span.start <= last + near for first, last, near in beside)


def own_spans(chunks: Sequence[LineSpan]) -> list[LineSpan]:
    """Each line given to the innermost chunk around it: a class keeps what is between its methods, in several spans."""
    spans: list[LineSpan] = []
    open_: list[tuple[LineSpan, int]] = []  # a chunk, and its first line not given away yet

    def give(until: int) -> None:
        chunk, begun = open_[-1]
        if begun <= until:
            spans.append(LineSpan(chunk.chunk_id, begun, until))

    for chunk in sorted(chunks, key=lambda span: (span.start, -span.end)):
        while open_ and open_[-1][0].end < chunk.start:
            give(open_[-1][0].end)
            done = open_.pop()[0].end
            if open_:
                open_[-1] = (open_[-1][0], max(open_[-1][1], done + 1))
        if open_:
            give(min(chunk.start - 1, open_[-1][0].end))
            open_[-1] = (open_[-1][0], max(open_[-1][1], chunk.start))
        open_.append((chunk, chunk.start))
    while open_:
        give(open_[-1][0].end)
        done = open_.pop()[0].end
        if open_:
            open_[-1] = (open_[-1][0], max(open_[-1][1], done + 1))
    return sorted(spans, key=lambda span: span.start)
