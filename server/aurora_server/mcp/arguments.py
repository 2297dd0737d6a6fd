"""Arguments of a tool, as models send them, validated and coerced, and the JSON Schemas that tell clients what they
are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from aurora_protocol import typed
from aurora_protocol.spelling import OF_FEW, closest

Given = TypeVar("Given", bound=Struct)


class BadArguments(Exception):
    """The arguments are not a tool's; the message says which one, and what it should be."""


def given_as(kind: type[Given], arguments: Mapping[str, Any]) -> Given:
    """Validated and coerced arguments: numbers and lists that a model wrote as text are read as meant.

    Raises BadArguments.
    """
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    unknown = [name for name in arguments if name not in fields]
    if unknown:
        raise BadArguments(f"{unknown_name(unknown[0], list(fields))}; it takes {', '.join(fields)}")
    known = {name: _unwrapped(value) if _takes_json(fields[name].type) else value for name, value in arguments.items()}
    for name, value in known.items():
        inner = _bare(fields[name].type)
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, Struct):
            known[name] = given_as(inner, value)
    try:
        return typed.convert(known, kind, strict=False, from_attributes=True)
    except msgspec.ValidationError as error:
        raise BadArguments(str(error)) from error


def unknown_name(name: str, known: list[str]) -> str:
    """Says that there is no such name, and which one was perhaps meant."""
    close = closest(name, known, OF_FEW)
    return f"there is no `{name[:80]}`" + (f"; did you mean `{close}`?" if close else "")


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Input schema (JSON Schema) of a struct in one piece and in plain words: some clients follow no references, and
    some models' APIs take neither `null` beside a type nor an `enum` without one."""
    schema = msgspec.json.schema(kind)
    plain: dict[str, Any] = _plain(schema, schema.get("$defs", {}))
    return plain


LIMIT = "max_tokens"
"""Argument that tools have in common: told once, in the server's instructions."""
_LEFT_OUT = frozenset(
    {"default", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "additionalProperties"}
)
"""What a wrong argument is told of anyway, so that the list of tools need not."""


def brief_schema(kind: type[Struct]) -> dict[str, Any]:
    """`schema_of`, as short as the list of tools has it: objects within are told of in the tool's resource alone."""
    return {
        name: {key: _brief(member) for key, member in part.items() if key != LIMIT} if name == "properties" else part
        for name, part in schema_of(kind).items()
        if name in ("type", "properties", "required")
    }


def _brief(schema: Any) -> Any:
    """Schema shortened: without bounds and defaults, to save tokens."""
    if isinstance(schema, list):
        return [_brief(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _brief(value) for key, value in schema.items() if key not in _LEFT_OUT}
    if kept.get("type") == "object":
        kept = {key: value for key, value in kept.items() if key in ("type", "description")}
    return kept


def _plain(schema: Any, defs: Mapping[str, Any]) -> Any:
    """Schema with references inlined and unions simplified."""
    if isinstance(schema, list):
        return [_plain(each, defs) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        outer = {key: value for key, value in schema.items() if key not in ("$ref", "default")}
        return _plain({**defs[schema["$ref"].rpartition("/")[2]], **outer}, defs)
    arms = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(arms) == 1:
        outer = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return _plain({**arms[0], **outer}, defs)
    kept = {
        key: {name: _plain(each, defs) for name, each in value.items()} if key == "properties" else _plain(value, defs)
        for key, value in schema.items()
        if key not in ("$defs", "title") and not (key == "required" and not value)
    }
    if "enum" in kept and "type" not in kept and all(isinstance(each, str) for each in kept["enum"]):
        kept["type"] = "string"
    return kept


def _takes_json(kind: Any) -> bool:
    """Whether a list or an object is wanted, so that text can only be JSON."""
    told = msgspec.json.schema(kind)
    arms = told.get("anyOf", [told])
    return all("$ref" in each or each.get("type") in ("array", "object", "null") for each in arms)


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _unwrapped(value: Any) -> Any:
    """Value of a string that a model encoded as JSON once too often."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
