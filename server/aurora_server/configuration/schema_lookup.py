"""Lookup in `configuration.schema.json`: unknown settings found, what a setting may be, and which one a typo meant
("did you mean").

Asked only when something is wrong or somebody wants to know: reading configuration does without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

import aurora_schemas
from aurora_protocol import spelling
from aurora_schemas.retired_settings import RETIRED

NAME = "configuration"
MAX_UNKNOWN = 50


class Unknown(Struct, frozen=True):
    """A member that nothing reads, and the member it may have meant, both with dots between the steps."""

    member: str
    meant: str | None

    @property
    def line(self) -> str:
        """`'scoring.max_retry' is not a setting; did you mean 'scoring.max_retries'?`"""
        hint = f"did you mean '{self.meant}'?" if self.meant else "aurora config show-defaults lists all"
        return f"'{self.member}' is not a setting; {hint}"


def member(path: str, schema: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The schema at a dotted path, references followed; None where it names no such member.

    The step `*` is whatever a list or a mapping holds. `schema` is another than the one on file.
    """
    whole = aurora_schemas.load(NAME) if schema is None else schema
    place: dict[str, Any] = whole
    for step in path.split(".") if path else ():
        place = _resolved(place, whole)
        inner = place.get("properties", {}).get(step) or _free(place) or (place.get("items") if step == "*" else None)
        if inner is None:
            return None
        place = inner
    return _resolved(place, whole)


def allowed(path: str, schema: dict[str, Any] | None = None) -> str:
    """Allowed values of a member in words: `one of daily, weekly`, `a number from 0 to 1`; empty when unknown."""
    said = member(path, schema)
    if said is None:
        return ""
    if "enum" in said:
        return "one of " + ", ".join("null" if each is None else str(each) for each in said["enum"])
    kinds = said.get("type", "object" if "properties" in said else [])
    words = [_KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(words) + _bounds(said)


def unknown(document: Any) -> tuple[Unknown, ...]:
    """The members of a document that nothing reads, MAX_UNKNOWN at most."""
    found: list[Unknown] = []
    for each in _unknown(document, aurora_schemas.load(NAME), ""):
        found.append(each)
        if len(found) == MAX_UNKNOWN:
            break
    return tuple(found)


def closest(path: str) -> str | None:
    """Typo suggestion: the known member that a dotted path may have meant."""
    parent, _, name = path.rpartition(".")
    place = member(parent)
    return _closest(name, place, parent) if place is not None else closest(parent)


def unknown_hint(path: str) -> str:
    """Hint about a name that is no setting, for the end of a sentence."""
    if path in RETIRED:
        return "it did nothing in earlier versions and is gone; leave it out"
    meant = closest(path)
    return f"did you mean '{meant}'?" if meant else "aurora config show-defaults lists all"


_KINDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _bounds(said: dict[str, Any]) -> str:
    """Range of a number in words."""
    low, above, high = said.get("minimum"), said.get("exclusiveMinimum"), said.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if above is not None:
        return f" above {above}" + (f", at most {high}" if high is not None else "")
    if low is not None:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def _unknown(value: Any, schema: dict[str, Any], path: str) -> Iterator[Unknown]:
    """Unknown members (typos), recursively, by the schema."""
    place = _resolved(schema, aurora_schemas.load(NAME))
    if not isinstance(value, dict) or ("properties" not in place and "additionalProperties" not in place):
        return
    for name, inner in value.items():
        known = place.get("properties", {}).get(name)
        if known is None:
            known = _free(place)
        if known is None and _joined(path, name) in RETIRED:
            continue
        if known is None:
            yield Unknown(_joined(path, name), _closest(name, place, path))
        else:
            yield from _unknown(inner, known, _joined(path, name))


def _free(place: dict[str, Any]) -> dict[str, Any] | None:
    """Schema of members that have no name of their own; None where there may be none."""
    free = place.get("additionalProperties")
    if free is True:
        return {}
    return free if isinstance(free, dict) else None


def _closest(name: str, place: dict[str, Any], path: str) -> str | None:
    found = spelling.closest(name, place.get("properties", {}), spelling.OF_FEW)
    return _joined(path, found) if found else None


def _resolved(place: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Schema with its `$ref` followed."""
    while "$ref" in place:
        place = schema["$defs"][place["$ref"].rpartition("/")[2]]
    return place


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
