"""The keywords of JSON Schema 2020-12: what each one's value must be, and which types it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aurora_manifest.subschemas import NAMED

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

Test = Callable[[Any], bool]
_SCHEMA_TYPES = (dict, bool)
_NUMBER_TYPES = (int, float)


def _schema(value: Any) -> bool:
    return isinstance(value, _SCHEMA_TYPES)


def _are_schemas(values: Iterable[Any]) -> bool:
    return all(isinstance(each, _SCHEMA_TYPES) for each in values)


def _schemas_by_name(value: Any) -> bool:
    return isinstance(value, dict)


def _schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and _are_schemas(value)


def is_number(value: Any) -> bool:
    """Whether JSON Schema takes the value for a number: `true` is none."""
    return isinstance(value, _NUMBER_TYPES) and not isinstance(value, bool)


def _above_zero(value: Any) -> bool:
    return is_number(value) and value > 0


def is_count(value: Any) -> bool:
    """Whether the value is a whole number from 0 on; `2.0` is."""
    return is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _names_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(_names(each) for each in value.values())


_SCHEMA = (_schema, "a schema: an object, true or false")
_BY_NAME = (_schemas_by_name, "an object of schemas")
_LISTED = (_schemas, "a list of at least one schema")
_COUNT = (is_count, "a whole number from 0 on")
_NUMBER = (is_number, "a number")
_TEXT = (_text, "a string")
_YES_OR_NO = (_boolean, "true or false")

KEYWORDS: dict[str, tuple[Test, str]] = {
    **dict.fromkeys(
        ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"), _SCHEMA
    ),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), _SCHEMA),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _BY_NAME),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _LISTED),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("title", "description", "format", "pattern", "contentEncoding", "contentMediaType"), _TEXT),
    **dict.fromkeys(("$ref", "$id", "$anchor", "$schema", "$comment", "$dynamicRef", "$dynamicAnchor"), _TEXT),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _YES_OR_NO),
    "multipleOf": (_above_zero, "a number above 0"),
    "enum": (_list, "a list"),
    "examples": (_list, "a list"),
    "required": (_names, "a list of names"),
    "dependentRequired": (_names_by_name, "an object of lists of names"),
}
"""What the value of a keyword must be: a test, and the same in words. `type`, `const` and `default` are not here."""

FOR_TYPES: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"), frozenset({"string"})
    ),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), frozenset({"number", "integer"})
    ),
    **dict.fromkeys(
        ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
        frozenset({"array"}),
    ),
    **dict.fromkeys(
        ("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
        frozenset({"object"}),
    ),
    **dict.fromkeys(("maxProperties", "dependentRequired", "dependentSchemas"), frozenset({"object"})),
}
"""The types a keyword says something about; of a value of another type it says nothing."""

LIMITS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
"""The pairs of a least and a greatest."""


def is_of_type(value: Any, kind: str) -> bool:
    """Whether a JSON value is of a JSON Schema type."""
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "number":
            return is_number(value)
        case "integer":
            return is_number(value) and (isinstance(value, int) or value.is_integer())
    return True


_TYPES = frozenset(TYPES)
_FOREIGN = {kind: frozenset(name for name, kinds in FOR_TYPES.items() if kind not in kinds) for kind in TYPES}


_USUAL: dict[str, type] = {name: str for name, (test, _) in KEYWORDS.items() if test is _text}
_USUAL |= {name: dict for name, (test, _) in KEYWORDS.items() if test in (_schema, _schemas_by_name)}
"""The type by which most values of a keyword are known to be allowed."""


def is_type(kind: Any) -> bool:
    """Whether the value of `type` is the name of one type."""
    return isinstance(kind, str) and kind in _TYPES


def has_foreign_keyword(schema: dict[str, Any]) -> bool:
    """Whether a schema has a keyword that says nothing about values of its type."""
    kind = schema.get("type")
    return isinstance(kind, str) and kind in _FOREIGN and not _FOREIGN[kind].isdisjoint(schema)


def keywords_are_sane(schemas: Mapping[str, Iterable[dict[str, Any]]]) -> bool:
    """Whether each keyword has a value that it may have, given the schemas that have it.

    Schemas as values are looked at by their kind only.
    """
    for name, having in schemas.items():
        test = KEYWORDS.get(name)
        if test is None:
            continue
        is_allowed, usual = test[0], _USUAL.get(name)
        for schema in having:
            value = schema[name]
            if type(value) is not usual and not is_allowed(value):
                return False
            if name in NAMED and not _are_schemas(value.values()):
                return False
    return True
