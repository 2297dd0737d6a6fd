"""Rules about the values `parameters` allows: limits (minimum, maximum), enum, choices and defaults that fit each
other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aurora_manifest.edits import removing_item, removing_member, same, spelling, writing
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Node, Object
from aurora_manifest.json.literals import number_text
from aurora_manifest.json.value_text import described, quoted, type_in_words
from aurora_manifest.model import Capability, value
from aurora_manifest.rules.registry import RuleMatch, at, capability_rule
from aurora_manifest.schema_keywords import LIMITS, TYPES, is_count, is_number, is_of_type

_LONGEST = 40


@capability_rule("parameters-range", "warning")
def empty_range(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A least value in `parameters` is above the greatest: no value is allowed.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "minLength": 20, "maxLength": 10}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "minLength": 10, "maxLength": 20}}}}
    """
    for least, most in LIMITS:
        for schema in capability.schemas_with(least):
            smallest, largest = schema.node.value[least], schema.node.value.get(most)
            if not (is_number(smallest) and is_number(largest) and smallest > largest):
                continue
            low, high = value(schema.node, least), value(schema.node, most)
            if low is None or high is None:
                continue
            low_text, high_text = document.text[low.start : low.end], document.text[high.start : high.end]
            fix = Fix(
                f"Swap {least} and {most}",
                (Edit(low.start, low.end, high_text), Edit(high.start, high.end, low_text)),
            )
            message = (
                f"{quoted(most)} {number_text(high_text)[:40]} is below {quoted(least)} {number_text(low_text)[:40]}"
            )
            yield at(high, message, (*schema.path, most), fix)


@capability_rule("parameters-enum", "warning")
def useless_choices(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """An `enum` in `parameters` is empty, has a choice twice, or one that the `type` beside it does not allow.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "enum": ["a", 1]}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "enum": ["a", "b"]}}}}
    """
    for schema in capability.schemas_with("enum"):
        choices = value(schema.node, "enum")
        if not isinstance(choices, Array):
            continue
        path = (*schema.path, "enum")
        if not choices.items and not choices.broken:
            yield at(choices, '"enum" allows no value at all', path)
        kind = schema.node.value.get("type")
        seen: dict[str, Node] = {}
        for index, node in enumerate(choices.items):
            if node.start == node.end:
                continue
            key = _key(node.value)
            if key in seen:
                loss_free = same(document.text, seen[key], node)
                fix = removing_item(choices, index, "Remove the second", loss_free=loss_free)
                yield at(node, f"{described(node.value)} is in the list twice", (*path, index), fix)
            elif isinstance(kind, str) and kind in TYPES and not is_of_type(node.value, kind):
                message = f"{described(node.value)} can never be given: the type is {type_in_words(kind)}"
                yield at(node, message, (*path, index), removing_item(choices, index, "Remove it"))
            seen.setdefault(key, node)


@capability_rule("parameters-default", "warning")
def unfit_default(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A `default` in `parameters` is not allowed by the schema it stands in.

    Clients that fill in defaults send a call that the server has to refuse.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "default": 5}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "default": "five"}}}}
    """
    for schema in capability.schemas_with("default"):
        reason = _refused(schema.node.value["default"], schema.node.value)
        node = value(schema.node, "default") if reason else None
        if node is not None and node.start < node.end:
            place = next(index for index, each in enumerate(schema.node.members) if each.value is node)
            gone = removing_member(schema.node, place, 'Remove "default"')
            message, fix = f"the default is not allowed here: {reason}", _default_meant(schema.node, node)
            yield at(node, message, (*schema.path, "default"), fix, others=(gone,) if gone is not None else ())


def _default_meant(schema: Object, node: Node) -> Fix | None:
    """A number or a flag that was put into quotes, or a type that allows `null`."""
    kind, written = schema.value.get("type"), node.value
    if isinstance(written, str) and kind in ("integer", "number", "boolean"):
        return spelling(node, written.strip()) if is_of_type(_as_json(written), kind) else None
    if written is None and isinstance(kind, str) and (typed := value(schema, "type")) is not None:
        return writing(typed, [kind, "null"])
    return None


def _as_json(text: str) -> Any:
    try:
        return json.loads(text) if len(text) < _LONGEST else None
    except ValueError:
        return None


def _refused(default: Any, schema: dict[str, Any]) -> str | None:
    """Why a schema does not allow a default, in words; None where it does, or where only a validator could tell."""
    kind, choices = schema.get("type"), schema.get("enum")
    if default is None and schema.get("nullable") is True:  # `parameters-dialect` tells of that
        return None
    if isinstance(kind, str) and not is_of_type(default, kind):
        return f"{described(default)} is not {type_in_words(kind)}"
    if isinstance(choices, list) and choices and _key(default) not in {_key(each) for each in choices}:
        return f'{described(default)} is not in "enum"'
    if "const" in schema and _key(default) != _key(schema["const"]):
        return f"{described(default)} is not {described(schema['const'])}"
    if is_number(default):
        return _outside(default, schema, "minimum", "maximum", described(default)) or _beyond(default, schema)
    if isinstance(default, str):
        size = f"{quoted(default)} has {len(default)} characters and"
        return _outside(len(default), schema, "minLength", "maxLength", size)
    if isinstance(default, list):
        return _outside(len(default), schema, "minItems", "maxItems", f"a list of {len(default)}")
    return None


def _outside(size: Any, schema: dict[str, Any], least: str, most: str, subject: str) -> str | None:
    """Range check by inclusive bounds: what is wrong, in words."""
    low, high = schema.get(least), schema.get(most)
    usable = is_number if least == "minimum" else is_count
    if usable(low) and size < low:
        return f"{subject} is below {quoted(least)}"
    if usable(high) and size > high:
        return f"{subject} is above {quoted(most)}"
    return None


def _beyond(default: Any, schema: dict[str, Any]) -> str | None:
    """Range check by exclusive bounds: what is wrong, in words."""
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if is_number(low) and default <= low:
        return f'{described(default)} is not above "exclusiveMinimum"'
    if is_number(high) and default >= high:
        return f'{described(default)} is not below "exclusiveMaximum"'
    return None


def _key(value: Any) -> str:
    """Equal for values that JSON Schema takes for equal: 1 and 1.0, but not 1 and true."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """Canonical value: `1.0` as `1`, at any depth."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value
