"""Incremental parse: a text after an edit, with what did not change taken over and its places moved.

Of a manifest of a thousand capabilities (1.3 MB) an edit is read in 2 ms, where all of it takes 70.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

from msgspec.structs import replace

from aurora_manifest.json.document import Array, Broken, JsonDocument, Member, Node, Object, Problem, Scalar
from aurora_manifest.json.parser import in_order, parse, too_large
from aurora_manifest.json.scan import Scan
from aurora_manifest.json.scan_state import MAX_DEPTH, MAX_NODES

_LEVELS = 2
"""How deep to look for the value the edit is in: a capability is two levels down."""

_BLOCK = 16 * 1024
_Part = TypeVar("_Part")
_making = threading.RLock()


def reparse(before: JsonDocument, text: str) -> JsonDocument:
    """As `parse(text)`, but quick where the text differs from a sound `before` inside one capability or the like.

    What was typed may be broken JSON, as it mostly is between two keys: as long as the object it is in still ends where
    it did, nothing outside of it reads differently. `before` stays as it is.
    """
    if before.text == text:
        return before
    root = before.root
    if before.problems or not isinstance(root, Object) or too_large(text):
        return parse(text)
    start, end, by = _difference(before.text, text)
    way = _way_to(root, start, end)
    if not way:
        return parse(text)
    old = way[-1][0].members[way[-1][1]].value
    piece = text[old.start : old.end + by]
    if piece.count("{") + piece.count("[") > MAX_DEPTH - _LEVELS:
        return parse(text)
    scan = Scan(piece)
    scan.whole_value()
    nodes = before.nodes + scan.nodes
    if scan.root is None or scan.torn is not None or scan.was_cut or scan.pos < len(piece) or nodes > MAX_NODES:
        return parse(text)
    if scan.problems and not isinstance(old, Object):  # a bracket could close an array here, or what is around it
        return parse(text)
    if scan.doubled:  # whether a bracket is one too many is told by what follows, which may stand behind the piece
        return parse(text)
    if scan.problems and max(each.end for each in scan.problems) > max(piece.rfind("\n"), piece.rfind("\r")):
        return parse(text)  # what is missing there may stand behind the piece, on the same line
    node: Node = moved(scan.root, old.start)
    for around, index in reversed(way):
        node = _with(around, index, node, by)
    problems = [_moved_problem(each, old.start) for each in scan.problems]
    return JsonDocument(text, node, in_order(problems), nodes)


def _moved_problem(each: Problem, by: int) -> Problem:
    also = tuple((start + by, end + by, text) for start, end, text in each.also)
    return replace(each, start=each.start + by, end=each.end + by, also=also)


def _difference(before: str, after: str) -> tuple[int, int, int]:
    """Common prefix and suffix: where the texts begin to differ, where the difference ends in the first, and how much
    longer the second is.
    """
    most = min(len(before), len(after))
    start = _alike(most, lambda low, high: before[low:high] == after[low:high])
    ends = len(before), len(after)
    behind = _alike(
        most - start,
        lambda low, high: before[ends[0] - high : ends[0] - low] == after[ends[1] - high : ends[1] - low],
    )
    return start, len(before) - behind, len(after) - len(before)


def _alike(most: int, same: Callable[[int, int], bool]) -> int:
    """Binary search of how many characters are alike, `most` at most; `same` compares those from one number of them to
    another.
    """
    low = 0
    while low + _BLOCK <= most and same(low, low + _BLOCK):
        low += _BLOCK
    high = min(most, low + _BLOCK)
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _way_to(root: Object, start: int, end: int) -> list[tuple[Object, int]]:
    """The members to go down to the object or array that the whole difference is inside of."""
    way: list[tuple[Object, int]] = []
    node: Node = root
    while isinstance(node, Object) and len(way) < _LEVELS:
        index = node.index_at(start)
        if index < 0:
            break
        value = node.members[index].value
        if not isinstance(value, Object | Array) or not (value.start < start and end < value.end):
            break
        way.append((node, index))
        node = value
    return way


def _with(around: Object, index: int, node: Node, by: int) -> Object:
    """The object with another value for one member, and what follows moved."""
    this = around.members[index]
    members = [*around.members[:index], Member(this.name, this.name_start, this.name_end, node)]
    later = around.members[index + 1 :]
    members += [_moved_member(each, by) for each in later] if by else later
    return Object(around.start, around.end + by, {**around.value, this.name: node.value}, members, {})


class Moved(Sequence[_Part]):
    """Members or items at another place, made when first asked for: most are never looked at between two edits.

    After an edit in a manifest of a thousand capabilities, making them all at once takes longer than the whole check.
    """

    __slots__ = ("_by", "_made", "_move", "_origin")

    def __init__(self, origin: Sequence[_Part], by: int, move: Callable[[_Part, int], _Part]) -> None:
        if isinstance(origin, Moved) and origin._made is None:
            by += origin._by
            origin = origin._origin
        self._origin: Sequence[_Part] = origin
        self._by: int = by
        self._move = move
        self._made: list[_Part] | None = None

    def _all(self) -> list[_Part]:
        """Lazy copies, made once."""
        if self._made is None:
            with _making:  # of two threads that ask at once, both must get the same nodes
                if self._made is None:
                    self._made = [self._move(each, self._by) for each in self._origin]
        return self._made

    @overload
    def __getitem__(self, index: int) -> _Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Part]: ...
    def __getitem__(self, index: int | slice) -> _Part | list[_Part]:
        return self._all()[index]

    def __iter__(self) -> Iterator[_Part]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._origin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == list(other)

    def __repr__(self) -> str:
        return repr(self._all())


def moved(node: Node, by: int) -> Node:
    """The same node at another place; plain values are shared."""
    if isinstance(node, Scalar):
        return Scalar(node.start + by, node.end + by, node.value)
    if isinstance(node, Object):
        members = Moved(node.members, by, _moved_member)
        return Object(node.start + by, node.end + by, node.value, members, {}, node.broken)
    if isinstance(node, Array):
        return Array(node.start + by, node.end + by, node.value, Moved(node.items, by, moved), node.broken)
    return Broken(node.start + by, node.end + by)


def _moved_member(each: Member, by: int) -> Member:
    return Member(each.name, each.name_start + by, each.name_end + by, moved(each.value, by))
