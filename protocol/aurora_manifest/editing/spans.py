"""Folding and selection ranges, stretches of a text that belong together: what to fold, and what to select by
and by.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from aurora_manifest.editing.cursor import is_closed
from aurora_manifest.json.document import Array, JsonDocument, Node, Object, Scalar
from aurora_protocol.positions import LineIndex

_LINE_COMMENT = ("//", "#")


class Fold(Struct, frozen=True, order=True):
    """Folding range: lines that can be folded into the first; the last one shown is the one after `end_line`."""

    start_line: int
    end_line: int
    comment: bool = False


def folds(document: JsonDocument, lines: LineIndex) -> list[Fold]:
    """Folding ranges: every object and array on several lines, and every comment on several lines, in the order of the
    text."""
    found = {Fold(*each) for node in _containers(document.root) if (each := _lines(document, lines, node))}
    return sorted(found | set(_comments(document, lines)))


def selections(document: JsonDocument, offset: int) -> list[tuple[int, int]]:
    """Selection ranges (expand selection): stretches to select around `offset`, the smallest first, each within the
    next, up to the whole text."""
    text = document.text
    spans: list[tuple[int, int]] = [(0, len(text))]
    node = document.root
    while node is not None and node.start <= offset <= node.end:
        spans.append((node.start, node.end))
        if isinstance(node, Scalar):
            spans += _string(text, node.start, node.end, offset)
            break
        if not isinstance(node, Object | Array):
            break
        if node.start < offset < node.end:
            spans.append((node.start + 1, max(node.start + 1, node.end - 1)))
        inner: Node | None = None
        if isinstance(node, Object):
            index = node.index_at(offset)
            member = node.members[index] if index >= 0 else None
            if member is not None and offset <= max(member.value.end, member.name_end):
                spans.append((member.name_start, max(member.value.end, member.name_end)))
                if offset <= member.name_end:
                    spans.append((member.name_start, member.name_end))
                    spans += _string(text, member.name_start, member.name_end, offset)
                else:
                    inner = member.value
        else:
            inner = next((each for each in node.items if each.start <= offset <= each.end), None)
        node = inner
    nested: list[tuple[int, int]] = []
    for start, end in spans:
        if not nested or (nested[-1] != (start, end) and nested[-1][0] <= start and end <= nested[-1][1]):
            nested.append((start, end))
    return nested[::-1]


def _string(text: str, start: int, end: int, offset: int) -> list[tuple[int, int]]:
    if end - start >= 2 and text[start] == '"' == text[end - 1] and start < offset < end:
        return [(start + 1, end - 1)]
    return []


def _containers(root: Node | None) -> Iterator[Object | Array]:
    """Objects and arrays of a document, all of them."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Object):
            yield node
            pending += (each.value for each in node.members if isinstance(each.value, Object | Array))
        elif isinstance(node, Array):
            yield node
            pending += (each for each in node.items if isinstance(each, Object | Array))


def _lines(document: JsonDocument, lines: LineIndex, node: Object | Array) -> tuple[int, int] | None:
    """Lines of a fold; None for what is on one line."""
    first = lines.line_of(node.start)
    last = lines.line_of(max(node.start, node.end - 1))
    last = last - 1 if is_closed(document.text, node) else last
    return (first, last) if last > first else None


def _comments(document: JsonDocument, lines: LineIndex) -> Iterator[Fold]:
    """Block comments on several lines, and runs of line comments."""
    run: list[tuple[int, int]] = []
    for problem in document.problems:
        if problem.rule != "json-comment":
            continue
        first = lines.line_of(problem.start)
        last = lines.line_of(problem.end)
        if last > first:
            yield Fold(first, last, comment=True)
        elif document.text.startswith(_LINE_COMMENT, problem.start) and _begins_line(lines, problem.start):
            if run and first == run[-1][1] + 1:
                run[-1] = (run[-1][0], first)
            else:
                run.append((first, first))
    yield from (Fold(first, last, comment=True) for first, last in run if last > first)


def _begins_line(lines: LineIndex, offset: int) -> bool:
    return not lines.text[lines.line_start(lines.line_of(offset)) : offset].strip()
