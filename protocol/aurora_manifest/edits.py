"""Edits that mend a manifest and keep its layout: replace, put in, take out."""

from __future__ import annotations

import json
import re
from typing import Any

from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Node, Object

_HALF = re.compile("[\ud800-\udfff]")
_INDENT = re.compile(r"[\n\r]([ \t]*)\Z")


def spelt(value: Any) -> str:
    """A value as JSON text on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _HALF.search(text) is None else json.dumps(value)


def replacing(title: str, start: int, end: int, text: str) -> Fix:
    """Put `text` in place of what is there."""
    return Fix(title, (Edit(start, end, text),))


def writing(node: Node, value: Any) -> Fix:
    """Put a value in place of another."""
    text = spelt(value)
    return Fix(f"Write {text if len(text) <= 40 else f'{text[:39]}…'}", (Edit(node.start, node.end, text),))


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


def removing_member(node: Object, index: int, title: str) -> Fix | None:
    """Take a member out, with the comma it needed; None where the object is damaged."""
    if node.broken:
        return None
    this = node.members[index]
    if index + 1 < len(node.members):
        return Fix(title, (Edit(this.name_start, node.members[index + 1].name_start, ""),))
    start = node.members[index - 1].value.end if index else this.name_start
    return Fix(title, (Edit(start, this.value.end, ""),))


def removing_item(node: Array, index: int, title: str) -> Fix | None:
    """Take an item out, with the comma it needed; None where the array is damaged."""
    if node.broken:
        return None
    this = node.items[index]
    if index + 1 < len(node.items):
        return Fix(title, (Edit(this.start, node.items[index + 1].start, ""),))
    return Fix(title, (Edit(node.items[index - 1].end if index else this.start, this.end, ""),))


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
