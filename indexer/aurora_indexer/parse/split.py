"""Split (chunking) of long definitions into parts for search, where the syntax tree has its borders (cAST; AURORA
§6.3.5).

Sizes are bytes other than white space. Siblings that fit together are merged greedily; a sibling too large on its own
is entered, and a leaf too large is cut between lines. What belongs to other chunks weighs nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tree_sitter import Node

from aurora_indexer.parse.fingerprint import WHITE_SPACE
from aurora_indexer.parse.spans import Span

MAX_PART = 4000
MAX_PARTS = 60

_MAX_ENTERED = 50_000
"""Children looked at while entering a chunk; past that, what is still too large is cut between lines."""

_TINY = 6
"""A part under a sixth of the limit is not worth being one: it goes with its neighbour."""

_BLOCK = 256
"""Bytes whose weight is counted together."""


def is_long(text: bytes) -> bool:
    """Whether a text must be split."""
    return len(text) > MAX_PART and len(text.translate(None, WHITE_SPACE)) > MAX_PART


def split(node: Node, text: bytes, offset: int) -> list[Span]:
    """Parts of a chunk: of about 4,000 bytes, at most 60.

    `text` is the chunk's own text, `offset` its place in the source, what belongs to other chunks blanked. The spans
    are byte positions in the source; together they cover the text in order.
    """
    weights = _Weights(text)
    return _parts(_unit_starts(node, text, offset, weights), text, offset, weights)


def split_at(borders: Sequence[int], text: bytes) -> list[Span]:
    """Parts of a text without a syntax tree, as `split` cuts them. `borders` are byte positions where blocks start."""
    weights = _Weights(text)
    starts: list[int] = []
    edges = sorted({0, *(border for border in borders if 0 < border < len(text))})
    for low, high in zip(edges, [*edges[1:], len(text)], strict=True):
        starts.append(low)
        if weights[high] - weights[low] > MAX_PART:
            starts.extend(_line_starts(text, low, high, 0, weights))
    return _parts(starts, text, 0, weights)


class _Weights(Sequence[int]):
    """Prefix sums: number of bytes other than white space before each position. Few of them are asked for: counted
    then.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        blocks = range(0, len(text), _BLOCK)
        self._before = [0, *accumulate(len(text[at : at + _BLOCK].translate(None, WHITE_SPACE)) for at in blocks)]

    def __len__(self) -> int:
        return len(self._text) + 1

    def __getitem__(self, place: Any) -> Any:
        if place < 0:
            place += len(self)
        block = place // _BLOCK
        return self._before[block] + len(self._text[block * _BLOCK : place].translate(None, WHITE_SPACE))


def _parts(starts: list[int], text: bytes, offset: int, weights: Sequence[int]) -> list[Span]:
    """Parts from start to start, so large that there are MAX_PARTS at most."""
    limit = max(MAX_PART, 2 * weights[-1] // MAX_PARTS)
    before = [weights[start - offset] for start in starts]
    cuts = _merged(starts, before, weights[-1], limit)
    while len(cuts) > MAX_PARTS:
        limit = limit * 3 // 2
        cuts = _merged(starts, before, weights[-1], limit)
    ends = [*cuts[1:], offset + len(text)]
    return list(zip(cuts, ends, strict=True))


def _unit_starts(node: Node, text: bytes, offset: int, weights: Sequence[int]) -> list[int]:
    """Starts of the pieces that are small enough, or can't be made smaller."""
    last = len(text)
    starts = [offset]
    entered = 0
    todo = [node]
    while todo:
        current = todo.pop()
        start, end = current.byte_range
        low, high = min(max(start - offset, 0), last), min(max(end - offset, 0), last)
        if low == high or text[low:high].isspace():
            continue
        if start > starts[-1]:
            starts.append(start)
        if high - low <= MAX_PART or weights[high] - weights[low] <= MAX_PART:
            continue
        if 0 < current.child_count <= _MAX_ENTERED - entered:
            children = current.children
            entered += len(children)
            children.reverse()
            todo.extend(children)
        else:
            starts.extend(_line_starts(text, low, high, offset, weights))
    return starts


def _line_starts(text: bytes, low: int, high: int, offset: int, weights: Sequence[int]) -> list[int]:
    """Cuts of a stretch at line starts, found by binary search."""
    starts = []
    while weights[high] - weights[low] > MAX_PART:
        # The furthest line start that keeps the piece within the limit, or else the end of a line too long for it.
        reach = bisect_left(weights, weights[low] + MAX_PART, low, high)
        cut = text.rfind(b"\n", low, reach) + 1
        if cut <= low or weights[cut] == weights[low]:
            cut = text.find(b"\n", reach, high) + 1
        if cut <= low:
            break
        starts.append(offset + cut)
        low = cut
    return starts


def _merged(starts: list[int], before: list[int], whole: int, limit: int) -> list[int]:
    """Greedy merge: keep the starts that begin a new part, so that each part but the last is as full as the pieces
    allow.

    `before` weighs what stands before each start, `whole` everything.
    """
    cuts = [starts[0]]
    begun = before[0]
    for start, low, high in zip(starts, before, [*before[1:], whole], strict=True):
        if high - begun > limit and low - begun >= limit // _TINY:
            cuts.append(start)
            begun = low
    if len(cuts) > 1 and whole - begun < limit // _TINY:
        cuts.pop()
    return cuts
