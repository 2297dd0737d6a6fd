"""Edits (text edits) that mend a manifest and keep its layout: replace, insert, remove a member."""

from __future__ import annotations

import json
import re
from typing import Any

from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Node, Object, Scalar

_HALF = re.compile("[\ud800-\udfff]")
_INDENT = re.compile(r"[\n\r]([ \t]*)\Z")


def spelt(value: Any) -> str:
    """A value as JSON text on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _HALF.search(text) is None else json.dumps(value)


def replacing(title: str, start: int, end: int, text: str) -> Fix:
    """Put `text` in place of what is there."""
    return Fix(title, (Edit(start, end, text),))


def writing(node: Node, value: Any, *, loss_free: bool = False) -> Fix:
    """Put a value in place of another."""
    return spelling(node, spelt(value), loss_free=loss_free)


def spelling(node: Node, text: str, *, loss_free: bool = False) -> Fix:
    """Put JSON text in place of a value."""
    title = f"Write {text if len(text) <= 40 else f'{text[:39]}…'}"
    return Fix(title, (Edit(node.start, node.end, text),), loss_free)


def renaming(start: int, end: int, name: str) -> Fix:
    """Put a name in place of the one between the offsets, quotes included."""
    return Fix(f"Rename to {spelt(name)}", (Edit(start, end, spelt(name)),))


def adding_member(document: JsonDocument, node: Object | None, name: str, value: Any, title: str = "") -> Fix | None:
    """Put a member at the end of an object, laid out as the members before it; None where the object is damaged."""
    if node is None or node.broken or name in node.value:
        return None
    title = title or f"Add {spelt(name)}"
    if not node.members:
        return Fix(title, (Edit(node.start + 1, node.start + 1, f"{spelt(name)}: {spelt(value)}"),))
    first, last = node.members[0], node.members[-1]
    lead = _lead(document.text, node.start, first.name_start)
    return Fix(title, (Edit(last.value.end, last.value.end, f",{lead}{spelt(name)}: {_laid_out(value, lead)}"),))


def adding_item(document: JsonDocument, node: Array | None, value: Any, title: str = "") -> Fix | None:
    """Put an item at the end of an array, laid out as the items before it; None where the array is damaged."""
    if node is None or node.broken:
        return None
    title = title or f"Add {spelt(value)}"
    if not node.items:
        return Fix(title, (Edit(node.start + 1, node.start + 1, spelt(value)),))
    lead = _lead(document.text, node.start, node.items[0].start)
    return Fix(title, (Edit(node.items[-1].end, node.items[-1].end, f",{lead}{spelt(value)}"),))


def removing_member(node: Object, index: int, title: str, *, loss_free: bool = False) -> Fix | None:
    """Take a member out, with the comma it needed; None where the object is damaged."""
    return None if node.broken else Fix(title, (without_member(node, index),), loss_free)


def without_member(node: Object, index: int) -> Edit:
    """Take a member out, with the comma it needed, from an object in which there is one between each two."""
    this = node.members[index]
    if index + 1 < len(node.members):
        return Edit(this.name_start, node.members[index + 1].name_start, "")
    return Edit(node.members[index - 1].value.end if index else this.name_start, this.value.end, "")


def removing_item(node: Array, index: int, title: str, *, loss_free: bool = False) -> Fix | None:
    """Take an item out, with the comma it needed; None where the array is damaged."""
    if node.broken:
        return None
    this = node.items[index]
    if index + 1 < len(node.items):
        return Fix(title, (Edit(this.start, node.items[index + 1].start, ""),), loss_free)
    return Fix(title, (Edit(node.items[index - 1].end if index else this.start, this.end, ""),), loss_free)


def same(text: str, one: Node, other: Node) -> bool:
    """Whether two values are the same to everyone: equal strings, numbers of one spelling, the same members."""
    if isinstance(one, Object) and isinstance(other, Object):
        if one.broken or other.broken or len(one.members) != len(one.value) or len(other.members) != len(one.value):
            return False
        pairs = ((each.value, other.member(each.name)) for each in one.members)
        return all(there is not None and same(text, here, there.value) for here, there in pairs)
    if isinstance(one, Array) and isinstance(other, Array):
        alike = not one.broken and not other.broken and len(one.items) == len(other.items)
        return alike and all(same(text, here, there) for here, there in zip(one.items, other.items, strict=True))
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        if isinstance(one.value, str) or isinstance(other.value, str):
            return one.value == other.value
        return text[one.start : one.end] == text[other.start : other.end]
    return False


def _lead(text: str, opened: int, first: int) -> str:
    """Space between a separator and the next member: a line end with its indent, or a space, or nothing."""
    before = text[opened + 1 : first]
    match = _INDENT.search(before)
    if match:
        return ("\r\n" if "\r\n" in before else "\n") + match[1]
    return " " if before or ", " in text[opened : opened + 400] or "\n" not in text[:opened] else ""


def _laid_out(value: Any, lead: str) -> str:
    if not isinstance(value, dict) or not value or "\n" not in lead:
        return spelt(value)
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", lead)
