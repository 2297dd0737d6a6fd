"""Text of a chunk: what is shown of it, with long bodies folded to signatures (skeleton, elision), and what it costs in
tokens. Pure.

A class, a module or an API description holds other chunks. Short ones are shown as they stand; in long ones, each
definition within is folded to its signature. The indexer counts tokens by this text and answers show it, so both agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from typing import Protocol, TypeVar

import msgspec

from aurora_memory.chunks import CodeChunk
from aurora_memory.token_cost import estimated_tokens

SHORT = 60
"""Lines up to which a chunk is shown with all it holds."""

GAP = 0
"""The number of a line that stands for lines left out."""

ELLIPSIS = "…"

_WHOLE = frozenset({"function", "method", "macro", "section", "reasoning"})
_KEPT = 2
"""Lines of a definition within that folding would not shorten."""

Line = tuple[int, str]
"""A line with its 1-based number in the file, or GAP."""


class Placed(Protocol):
    """A chunk as far as its text goes, parsed or remembered."""

    @property
    def kind(self) -> str: ...
    @property
    def line_start(self) -> int: ...
    @property
    def line_end(self) -> int: ...
    @property
    def signature(self) -> str: ...


_Chunk = TypeVar("_Chunk", bound=Placed)


def folds(chunk: Placed) -> bool:
    """Code folding: whether what a chunk holds is folded: only then are its file's other chunks needed for its text."""
    return chunk.kind not in _WHOLE and chunk.line_end - chunk.line_start >= SHORT


def in_order(chunks: Sequence[_Chunk]) -> list[_Chunk]:
    """A file's chunks as `own_lines` needs them: by first line, what is around before what is within."""
    return sorted(chunks, key=lambda each: (each.line_start, -each.line_end))


def own_lines(chunk: Placed, lines: Sequence[str], others: Sequence[Placed] = ()) -> list[Line]:
    """A chunk's text, line by line. `lines` are its file's, `others` the file's chunks `in_order`."""
    end = min(chunk.line_end, len(lines))
    at = chunk.line_start
    found: list[Line] = []
    if folds(chunk):
        place = bisect_left(others, at, key=lambda each: each.line_start)
        for each in islice(others, place, None):
            if each.line_start > end:
                break
            if each.line_start < at or not _within(each, chunk, end):
                continue
            found += [(number, lines[number - 1]) for number in range(at, each.line_start)]
            number = header_line(each, lines)
            first = lines[number - 1]
            indent = first[: len(first) - len(first.lstrip())]
            found.append((number, f"{indent}{each.signature} {ELLIPSIS}"))
            at = each.line_end + 1
    return found + [(number, lines[number - 1]) for number in range(at, end + 1)]


def header_line(chunk: Placed, lines: Sequence[str]) -> int:
    """The line on which a chunk's signature starts: below its comments and decorators."""
    wanted = chunk.signature
    for number in range(chunk.line_start, min(chunk.line_end, len(lines)) + 1):
        text = " ".join(lines[number - 1].split()).rstrip(" {:=;")
        if text and wanted and (wanted.startswith(text) or text.startswith(wanted)):
            return number
    return chunk.line_start


def joined(lines: Sequence[Line]) -> str:
    """Numbered lines as one text."""
    return "\n".join(text for _, text in lines)


def cost(text: str) -> int:
    """Token cost of a text."""
    return estimated_tokens(text.encode("utf-8", "replace"))


def with_own_tokens(chunks: Sequence[CodeChunk], source: bytes) -> tuple[CodeChunk, ...]:
    """A file's chunks, with `tokens` of what is shown of those that hold others."""
    if not any(each.kind == "module" or folds(each) for each in chunks):
        return tuple(chunks)
    lines = source.decode("utf-8", "replace").split("\n")
    others = in_order(chunks)
    return tuple(
        msgspec.structs.replace(each, tokens=cost(joined(own_lines(each, lines, others))))
        if each.kind == "module" or folds(each)
        else each
        for each in chunks
    )


def _within(inner: Placed, outer: Placed, end: int) -> bool:
    """Whether a chunk lies in another on lines of its own, and is long enough to be folded."""
    return (
        inner is not outer
        and inner.kind != "module"
        and bool(inner.signature)
        and inner.line_end <= end
        and (inner.line_start, inner.line_end) != (outer.line_start, outer.line_end)
        and inner.line_end - inner.line_start >= _KEPT
    )
