"""JSON Schemas as providers take them for structured output, made from msgspec structs. Pure.

Providers take a part of JSON Schema: every object closed, every member required, no references, no bounds. What is left
out (lengths, ranges, patterns) is told in descriptions, and still checked when the answer is decoded.
"""

from __future__ import annotations

from typing import Any

import msgspec

_KEPT = ("type", "enum", "const", "description")
_TOLD = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "a {}",
}

_MADE: dict[type[Any], dict[str, Any]] = {}
"""Shapes made before: one takes several milliseconds, and there is one per kind of question."""


def shape_of(kind: type[Any]) -> dict[str, Any]:
    """The schema of a struct. Raises `TypeError` for a struct that holds itself."""
    if kind not in _MADE:
        schema = msgspec.json.schema(kind)
        _MADE[kind] = _plain(schema, schema.get("$defs", {}), ())
    return _MADE[kind]


def is_closed(schema: Any) -> bool:
    """Whether every part of a schema is spelled out: no `Any`, no dictionary of unknown names."""
    if not isinstance(schema, dict) or not schema.keys() & {"type", "anyOf", "enum", "const"}:
        return False
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    if schema.get("type") == "array":
        parts.append(schema.get("items"))
    return all(is_closed(part) for part in parts)


def _plain(node: dict[str, Any], named: dict[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    """A schema with its references inlined and only keywords that providers take; recursive ones are refused."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        if name in above:
            raise TypeError(f"{name} holds itself; providers take no such shape")
        rest = {key: value for key, value in node.items() if key == "description"}
        return {**_plain(named[name], named, (*above, name)), **rest}
    kept = {key: node[key] for key in _KEPT if key in node}
    told = [text.format(node[key]) for key, text in _TOLD.items() if key in node and "prefixItems" not in node]
    if "properties" in node:
        kept.pop("description", None)  # a struct's docstring: written for who reads the code
        kept["properties"] = {key: _plain(part, named, above) for key, part in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    elif isinstance(node.get("additionalProperties"), dict):
        kept["additionalProperties"] = _plain(node["additionalProperties"], named, above)
    if "prefixItems" in node:
        parts = [_plain(part, named, above) for part in node["prefixItems"]]
        kept["items"] = parts[0] if all(part == parts[0] for part in parts) else {"anyOf": parts}
        told.append(f"exactly {len(parts)} items")
    elif isinstance(node.get("items"), dict):
        kept["items"] = _plain(node["items"], named, above)
    if "anyOf" in node:
        kept["anyOf"] = [_plain(part, named, above) for part in node["anyOf"]]
    if told:
        kept["description"] = "; ".join([*([kept["description"]] if "description" in kept else []), *told])
    return kept
