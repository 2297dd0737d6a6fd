"""YAML parser, into the same nodes that JSON is read into: libyaml's events, never its constructed values.

Nothing recurses, depth is bounded, and an alias stays an alias, so that no document unfolds into a larger one (billion
laughs). libyaml's own composer, like the tree-sitter grammar, is killed by deep nesting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aurora_indexer import IndexerError
from aurora_manifest.json.document import Array, Broken, Member, Node, Object, Scalar
from aurora_manifest.json.scan_state import MAX_DEPTH

if TYPE_CHECKING:
    from yaml.events import Event


class TooDeep(IndexerError):
    """Error of a document that is nested more deeply than is looked at."""


class _Open:
    """A mapping or list whose end has not come yet; in a mapping, `name` is the key that waits for its value."""

    def __init__(self, start: int, *, is_list: bool) -> None:
        self.start = start
        self.is_list = is_list
        self.items: list[Node] = []
        self.members: list[Member] = []
        self.name: tuple[str, int, int] | None = None

    def add(self, node: Node) -> None:
        """Append to a list; in a mapping a key, or the value of the last key."""
        if self.is_list:
            self.items.append(node)
        elif self.name is None:
            said = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
            self.name = (said, node.start, node.end)
        else:
            self.members.append(Member(*self.name, node))
            self.name = None

    def closed(self, end: int) -> Node:
        if self.is_list:
            return Array(self.start, end, [], self.items)
        return Object(self.start, end, {}, self.members, {})


def parse_yaml(text: str) -> tuple[Node | None, int]:
    """Read the first document of a text: its root, and how many errors ended it early (0 or 1).

    Scalars are strings, as they are written. Raises `TooDeep`.
    """
    import yaml  # 20 ms that no other file needs

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    stack: list[_Open] = []
    nodes: list[Node] = []
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            _take(event, stack, nodes)
    except (yaml.YAMLError, UnicodeError):
        while stack:
            _place(stack.pop().closed(len(text)), stack, nodes)
        return (nodes[0] if nodes else None), 1
    return (nodes[0] if nodes else None), 0


def _take(event: Event, stack: list[_Open], nodes: list[Node]) -> None:
    """Event handler: what one event of libyaml does to the stack of open nodes. Raises TooDeep."""
    import yaml

    assert event.start_mark is not None and event.end_mark is not None, "read from a text"
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
        if len(stack) >= MAX_DEPTH:
            raise TooDeep(f"line {event.start_mark.line + 1} is nested more than {MAX_DEPTH} levels deep")
        stack.append(_Open(start, is_list=isinstance(event, yaml.SequenceStartEvent)))
    elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
        _place(stack.pop().closed(end), stack, nodes)
    elif isinstance(event, yaml.ScalarEvent):
        _place(Scalar(start, end, event.value), stack, nodes)
    elif isinstance(event, yaml.AliasEvent):
        _place(Broken(start, end), stack, nodes)


def _place(node: Node, stack: list[_Open], nodes: list[Node]) -> None:
    """Attachment of a node to the innermost open one, else as a root."""
    if stack:
        stack[-1].add(node)
    else:
        nodes.append(node)
