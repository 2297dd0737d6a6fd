"""Nodes of a JSON or YAML document (syntax tree): looked up by path, their members, words, and the names they refer to
(`$ref`).
"""

from __future__ import annotations

from collections.abc import Iterator

from aurora_manifest.json.document import Array, Member, Node, Object, Scalar

MAX_REFERENCES = 200
_WIDEST_INDENT = 200


def member(node: Node | None, *names: str) -> Node | None:
    """The value at the end of a path of names; None where it breaks off."""
    for name in names:
        found = node.member(name) if isinstance(node, Object) else None
        if found is None:
            return None
        node = found.value
    return node


def members(node: Node | None) -> list[Member]:
    """The members of an object; nothing for anything else."""
    return [each for each in node.members if each.name] if isinstance(node, Object) else []


def string(node: Node | None, *names: str) -> str:
    """The string at the end of a path of names; empty where there is none."""
    found = member(node, *names)
    return found.value if isinstance(found, Scalar) and isinstance(found.value, str) else ""


def documentation(node: Node | None, *names: str) -> str:
    """The strings of those names, as paragraphs."""
    return "\n\n".join(text for name in names if (text := string(node, name).strip()))


def line_start(text: str, position: int) -> int:
    """Start of the line, if nothing but indentation stands between; else the position itself."""
    start = text.rfind("\n", max(0, position - _WIDEST_INDENT), position) + 1
    return start if text[start:position].isspace() and position - start <= _WIDEST_INDENT else position


def referred(node: Node) -> list[str]:
    """The last segments of the `$ref`s in a node, each once, in order."""
    found: dict[str, None] = {}
    for name, value in _walk(node):
        if name == "$ref" and isinstance(value, Scalar) and isinstance(value.value, str):
            last = value.value.rsplit("/", 1)[-1]
            if last and last != "#":
                found[last] = None
        if len(found) >= MAX_REFERENCES:
            break
    return list(found)


def _walk(node: Node) -> Iterator[tuple[str, Node]]:
    """Depth-first traversal of a syntax tree, in the order of the text."""
    todo: list[tuple[str, Node]] = [("", node)]
    while todo:
        name, current = todo.pop()
        yield name, current
        if isinstance(current, Object):
            todo.extend([(each.name, each.value) for each in reversed(current.members)])
        elif isinstance(current, Array):
            todo.extend([("", item) for item in reversed(current.items)])
