"""Line diff of two texts, without git: a diff of the work tree by git would run the repository's own filters.

Lines that stand once in both texts anchor the comparison (patience diff); between anchors, small stretches are compared
in full and large ones count as one hunk, so that no text takes long.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher

from aurora_indexer.git.line_moves import Hunk

_COMPARED = 150
"""Stretches of at most so many lines are compared line by line."""


def hunks_between(old: bytes, new: bytes) -> list[Hunk]:
    """Line diff: the edits that turn `old` into `new`, in line order.

    Line ends (LF, CRLF) don't count as differences.
    """
    before, after = _lines(old), _lines(new)
    found: list[Hunk] = []
    done = (0, 0)
    for anchor in [*_anchors(before, after), (len(before), len(after))]:
        found.extend(_between(before, after, done, anchor))
        done = (anchor[0] + 1, anchor[1] + 1)
    return found


def _lines(text: bytes) -> list[bytes]:
    """Lines of a text, whichever its line endings (CRLF, LF)."""
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    if not lines[-1]:
        lines.pop()
    return lines


def _anchors(before: list[bytes], after: list[bytes]) -> list[tuple[int, int]]:
    """Longest increasing subsequence of unique common lines: those in order in both texts, as places in them."""
    once_before, once_after = Counter(before), Counter(after)
    where = {line: place for place, line in enumerate(after) if once_after[line] == 1}
    pairs = [(n, where[line]) for n, line in enumerate(before) if once_before[line] == 1 and line in where]
    tails: list[int] = []  # the smallest place in `after` that ends an increasing run of each length
    ends: list[int] = []
    back: list[int] = []
    for n, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        back.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [n]
    chain: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chain.append(pairs[n])
        n = back[n]
    return chain[::-1]


def _between(before: list[bytes], after: list[bytes], start: tuple[int, int], end: tuple[int, int]) -> list[Hunk]:
    """Common prefix and suffix taken off, what is left compared line by line where it is short."""
    (a, b), (a_end, b_end) = start, end
    while a < a_end and b < b_end and before[a] == after[b]:
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and before[a_end - 1] == after[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
    if a == a_end and b == b_end:
        return []
    if min(a_end - a, b_end - b) == 0 or max(a_end - a, b_end - b) > _COMPARED:
        return [_hunk(a_end - a, b, b_end)]
    matcher = SequenceMatcher(None, before[a:a_end], after[b:b_end], autojunk=False)
    return [_hunk(i2 - i1, b + j1, b + j2) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]


def _hunk(removed: int, start: int, end: int) -> Hunk:
    """Places start at 0, hunks count lines from 1; a hunk that adds nothing names the line before."""
    return Hunk(removed, start + 1 if end > start else start, end - start)
