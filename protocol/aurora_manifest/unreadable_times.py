"""Times in a document that nothing reads as such (invalid timestamps): texts where the schema asks for a
`date-time`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aurora_manifest.findings import Finding, finding
from aurora_manifest.json.document import Array, JsonDocument, Node, Object, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_protocol.rfc3339 import parsed


def unreadable_times(document: JsonDocument, schema: dict[str, Any]) -> Iterator[Finding]:
    """`schema-constraint` for each text that is no time. What the importer reads is one: both read by `rfc3339`."""
    seen: set[int] = set()
    for node, name in _times(document.root, schema, schema, ""):
        if node.start in seen or _is_time(str(node.value)):
            continue
        seen.add(node.start)
        message = f'{quoted(name)} must be a time such as "2026-02-26T10:00:00Z", not {quoted(str(node.value))}'
        yield finding("schema-constraint", message, document.pointer_at(node.start), node.start, node.end)


def _times(node: Node | None, schema: dict[str, Any], whole: dict[str, Any], name: str) -> Iterator[tuple[Scalar, str]]:
    """Texts that the schema says are a `date-time`, each with its name."""
    if "$ref" in schema:
        yield from _times(node, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, name)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from _times(node, branch, whole, name)
    if isinstance(node, Object):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for member in node.members:
            inner: Any = known.get(member.name, others)
            if isinstance(inner, dict):
                yield from _times(member.value, inner, whole, member.name)
    elif isinstance(node, Array):
        items: Any = schema.get("items", {})
        for item in node.items:
            yield from _times(item, items, whole, name)
    elif schema.get("format") == "date-time" and isinstance(node, Scalar) and isinstance(node.value, str):
        yield node, name


def _is_time(text: str) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True
