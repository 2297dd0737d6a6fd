"""Settings in a configuration that nothing reads (unknown keys): names the schema does not know, however far from those
it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aurora_manifest.edits import renaming
from aurora_manifest.findings import Finding, finding
from aurora_manifest.json.document import JsonDocument, Node, Object
from aurora_manifest.json.value_text import quoted
from aurora_protocol.spelling import OF_FEW, closest
from aurora_schemas.retired_settings import RETIRED


def unread_settings(document: JsonDocument, schema: dict[str, Any]) -> Iterator[Finding]:
    """`schema-unknown-member`, a warning, for each; the nearest name of the same section is its fix."""
    yield from _unread(document, document.root, schema, schema, "")


def _unread(
    document: JsonDocument, node: Node | None, schema: dict[str, Any], whole: dict[str, Any], path: str
) -> Iterator[Finding]:
    """Findings about unknown settings, at any depth."""
    while "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    if not isinstance(node, Object) or ("properties" not in schema and "additionalProperties" not in schema):
        return
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for member in node.members:
        name = f"{path}.{member.name}" if path else member.name
        inner: Any = known.get(member.name, others)
        if isinstance(inner, dict):
            yield from _unread(document, member.value, inner, whole, name)
        elif inner is not True and name not in RETIRED:
            start, end = member.name_start, member.name_end
            meant = closest(member.name, [each for each in known if each not in node.value], OF_FEW)
            advice = f"; did you mean {quoted(meant)}?" if meant else ""
            message = f"{quoted(member.name)} is not a setting here: nothing reads it{advice}"
            fix = renaming(start, end, meant) if meant else None
            where = document.pointer_at(start)
            yield finding("schema-unknown-member", message, where, start, end, "warning", fix=fix)
