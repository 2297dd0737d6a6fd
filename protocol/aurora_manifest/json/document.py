"""JSON document (syntax tree) with the exact source position of everything in it, whole or broken (RFC 8259).

Places are code point offsets into `JsonDocument.text`; `lines` turns them into LSP positions. Nodes hold no link to
their parent, so that a document of many nodes is freed at once: `place` finds the way down from the root.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from aurora_manifest.json.pointers import from_pointer, to_pointer
from aurora_protocol.positions import LineIndex

SyntaxRule = Literal[
    "json-syntax",
    "json-comment",
    "json-trailing-comma",
    "json-duplicate-key",
    "json-byte-order-mark",
    "json-too-deep",
    "json-too-large",
]

_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


class Problem(Struct, frozen=True, gc=False):
    """Syntax error: what JSON does not allow, and where; `instead` is what was meant, where that is clear.

    `certain` tells that nothing else can have been meant: the text says with `instead` what it was read as. `also` are
    further places, from and to, with what was meant there.
    """

    rule: SyntaxRule
    message: str
    start: int
    end: int
    instead: str | None = None
    certain: bool = False
    also: tuple[tuple[int, int, str], ...] = ()


class Scalar(Struct, frozen=True, gc=False):
    """A string, number, `true`, `false` or `null`. Strings include their quotes in the range.

    Integers are `int` up to 600 digits; other numbers are `float` and may be infinite (`1e400`).
    """

    start: int
    end: int
    value: str | int | float | bool | None


class Broken(Struct, frozen=True, gc=False):
    """A value that is missing (then `start == end`), not JSON, or nested too deeply to look at."""

    start: int
    end: int
    value: None = None


class Member(Struct, frozen=True, gc=False):
    """A name and its value. The name's range includes its quotes; `name` is decoded."""

    name: str
    name_start: int
    name_end: int
    value: Node


class Object(Struct, frozen=True, gc=False):
    """Object of JSON: `members` in the order of the text, repeats included; `value` is the plain dict, where the last
    repeat wins.

    `broken` means that recovery had to leave something out, so a member that seems absent may only be unreadable.
    `by_name` is filled when first needed.
    """

    start: int
    end: int
    value: dict[str, Any]
    members: Sequence[Member]
    by_name: dict[str, Member]
    broken: bool = False

    def index_at(self, offset: int) -> int:
        """The index of the last member that begins at or before `offset`; -1 when there is none."""
        return bisect_right(self.members, offset, key=_name_start) - 1

    def member(self, name: str) -> Member | None:
        """The member that counts: the last of that name."""
        if not self.by_name:
            self.by_name.update({member.name: member for member in self.members})
        return self.by_name.get(name)


class Array(Struct, frozen=True, gc=False):
    """Array of JSON: `items` in order; `value` is the plain list. `broken` as for objects."""

    start: int
    end: int
    value: list[Any]
    items: Sequence[Node]
    broken: bool = False


Node = Object | Array | Scalar | Broken


class NodePlace(Struct, frozen=True):
    """Place of an offset: the way down to it, the innermost node, and the member it belongs to, if any.

    `in_name` tells that the offset is in the member's name and not in its value.
    """

    path: tuple[str | int, ...]
    node: Node
    member: Member | None
    in_name: bool

    @property
    def pointer(self) -> str:
        """The JSON Pointer of the place."""
        return to_pointer(self.path)


class JsonDocument:
    """A text read as JSON. `root` is None when the text holds no value, or more than may be looked at.

    `nodes` is how many values there are, or a few more. `torn` is from where on brackets do not match, so that nobody
    knows what belongs to what.
    """

    def __init__(
        self,
        text: str,
        root: Node | None,
        problems: tuple[Problem, ...],
        nodes: int = 0,
        torn: int | None = None,
    ) -> None:
        self.nodes = nodes
        self.torn = torn
        self.text = text
        self.root = root
        self.problems = problems

    @cached_property
    def lines(self) -> LineIndex:
        """The line index of the text, built when first needed."""
        return LineIndex(self.text)

    def place(self, offset: int, *, touching: bool = True) -> NodePlace | None:
        """Place of `offset`; None outside the root value.

        A cursor right behind a value is at that value (`touching`); the character there is not.
        """
        node = self.root
        reach = offset if touching else offset + 1
        if node is None or offset < node.start or reach > node.end:
            return None
        path: list[str | int] = []
        within: Member | None = None
        while True:
            if isinstance(node, Object):
                index = node.index_at(offset)
                if index < 0 or reach > node.members[index].value.end:
                    return NodePlace(tuple(path), node, within, False)
                within = node.members[index]
                path.append(within.name)
                if offset < within.value.start:
                    return NodePlace(tuple(path), within.value, within, offset <= within.name_end)
                node = within.value
            elif isinstance(node, Array):
                index = bisect_right(node.items, offset, key=_start) - 1
                if index < 0 or reach > node.items[index].end:
                    return NodePlace(tuple(path), node, within, False)
                path.append(index)
                node = node.items[index]
                within = None
            else:
                return NodePlace(tuple(path), node, within, False)

    def pointer_at(self, offset: int) -> str:
        """The JSON Pointer of what holds the character at `offset`; outside the root value, the whole document's."""
        place = self.place(offset, touching=False)
        return place.pointer if place else ""

    def node(self, pointer: str) -> Node | None:
        """The node a JSON Pointer names, or None. Raises PointerError when it is no pointer."""
        return self.follow(from_pointer(pointer))[0]

    def follow(self, path: tuple[str | int, ...]) -> tuple[Node | None, Member | None]:
        """Go down member names and indices: the node there and, where it is a member's value, that member."""
        node, within = self.root, None
        for step in path:
            if isinstance(node, Object):
                within = node.member(str(step))
                node = within.value if within else None
            elif isinstance(node, Array) and _INDEX.fullmatch(str(step)) and int(step) < len(node.items):
                node, within = node.items[int(step)], None
            else:
                return None, None
        return node, within


def _name_start(member: Member) -> int:
    return member.name_start


def _start(node: Node) -> int:
    return node.start
