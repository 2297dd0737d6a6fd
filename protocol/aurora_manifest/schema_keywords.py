"""Keywords of JSON Schema: what each one's value must be, which types it is for, and which dialects have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

Test = Callable[[Any], bool]
_SCHEMA_TYPES = (dict, bool)
_NUMBER_TYPES = (int, float)


def _schema(value: Any) -> bool:
    return isinstance(value, _SCHEMA_TYPES)


def _schemas_by_name(value: Any) -> bool:
    return isinstance(value, dict)


def _schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_schema, value))


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


def _dependencies(value: Any) -> bool:
    return isinstance(value, dict) and all(_schema(each) or _names(each) for each in value.values())


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
    "dependencies": (_dependencies, "an object of schemas or lists of names"),
    "additionalItems": _SCHEMA,
}
"""Requirement on the value of a keyword: a test, and the same in words. `type`, `const` and `default` are not here."""

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

NEWEST = "2020-12"
"""The dialect of a schema that names none."""

_DIALECT = re.compile(r"https?://json-schema\.org/(?:draft[-/])?(2019-09|2020-12|0[467])/schema#?")
_NOT_BEFORE = {
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties"), "2019-09"),
    **dict.fromkeys(("minContains", "maxContains", "$anchor", "$defs"), "2019-09"),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), "2020-12"),
    **dict.fromkeys(("if", "then", "else"), "07"),
    **dict.fromkeys(("const", "contains", "propertyNames"), "06"),
}
_NOT_AFTER = {"dependencies": "07", "additionalItems": "2019-09"}


OPENAPI = frozenset({"nullable", "example"})
"""Keywords of OpenAPI's schemas that no dialect of JSON Schema has."""


def dialect_of(schema: Any) -> str | None:
    """Dialect that a schema names: `04`, `06`, `07`, `2019-09` or `2020-12`; the newest where it names none.

    None for dialects that are not known here.
    """
    address = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(address, str):
        return NEWEST
    match = _DIALECT.fullmatch(address)
    return match[1] if match else None


def has_keyword(dialect: str, keyword: str) -> bool:
    """Whether a dialect gives a keyword a meaning."""
    if keyword in OPENAPI:
        return False
    return _NOT_BEFORE.get(keyword, dialect) <= dialect <= _NOT_AFTER.get(keyword, dialect)


def fits_dialect(dialect: str | None, keyword: str, value: Any) -> bool:
    """Whether another dialect than 2020-12 has a form of its own for the value of a keyword."""
    if dialect is None:
        return True
    if keyword == "items" and dialect != "2020-12":
        return isinstance(value, list) and all(map(_schema, value))
    return dialect == "04" and keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool)


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
