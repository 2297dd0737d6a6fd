"""Subschemas (nested schemas) of a capability's `parameters`, every one (JSON Schema 2020-12 "applicators")."""

from __future__ import annotations

from msgspec import Struct

from aurora_manifest.json.document import Array, Object, Scalar

ONE = frozenset({"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"})
ONE |= {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_CLOSELY_CHECKED = frozenset({"items", "additionalProperties"})


class Subschema(Struct, frozen=True, gc=False):
    """A schema and the way to it from the root; `checked` where the manifest's schema checks types as well."""

    path: tuple[str | int, ...]
    node: Object
    checked: bool


def subschemas(path: tuple[str | int, ...], node: Object) -> list[Subschema]:
    """Schema traversal: the schema itself and all schemas in it, the outer before the inner."""
    found: list[Subschema] = []
    pending = [Subschema(path, node, True)]
    while pending:
        schema = pending.pop()
        found.append(schema)
        inner: list[Subschema] = []
        for member in schema.node.members:
            value = member.value
            if isinstance(value, Scalar):
                continue
            name = member.name
            if isinstance(value, Object):
                if name in NAMED:
                    inner.extend(
                        Subschema((*schema.path, name, each.name), each.value, False)
                        for each in value.members
                        if isinstance(each.value, Object)
                    )
                elif name in ONE:
                    checked = schema.checked and name in _CLOSELY_CHECKED
                    inner.append(Subschema((*schema.path, name), value, checked))
            elif isinstance(value, Array) and name in LISTED:
                inner.extend(
                    Subschema((*schema.path, name, index), each, False)
                    for index, each in enumerate(value.items)
                    if isinstance(each, Object)
                )
        pending.extend(reversed(inner))
    return found
