"""Redaction of a call: what of a call is shown: its values without those that are secret by their name or their JSON
Schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aurora_manifest.client.consent import MASK, secret
from aurora_manifest.json.pointers import PointerError, from_pointer

_MAX_SCHEMAS = 500
_INDEX = re.compile(r"[0-9]{1,9}")
_ONE = ("if", "then", "else")
_LISTED = ("allOf", "anyOf", "oneOf")


class Hiding:
    """Mask of values by the schema of the arguments they are from; `$ref` within it and `allOf` and its like count."""

    def __init__(self, parameters: Any) -> None:
        self._root = parameters

    def sent(self, name: str, value: Any, pointer: str) -> Any:
        """A value as it may be shown: it is sent as `name`, and `pointer` found it in the arguments."""
        try:
            steps = from_pointer(pointer)
        except PointerError:
            steps = ()
        schemas = self._all(self._root)
        named = [name]
        for step in steps:
            if any(secret("", each) for each in schemas):
                return MASK
            schemas = self._below(schemas, step)
            if not _INDEX.fullmatch(step):  # an item goes by its list's name
                named = [name, step]
        return self._shown(value, named, schemas)

    def _shown(self, value: Any, names: list[str], schemas: list[Any]) -> Any:
        """Masked value: secret by its name or by one of its schemas, at any depth."""
        if value is None:
            return None
        if any(secret(name, each) for name in names for each in schemas or [None]):
            return MASK
        if isinstance(value, Mapping):
            return {name: self._shown(each, [name], self._below(schemas, name)) for name, each in value.items()}
        if isinstance(value, list):
            return [self._shown(each, [], self._below(schemas, str(index))) for index, each in enumerate(value)]
        return value

    def _below(self, schemas: list[Any], step: str) -> list[Any]:
        """The schemas of a member, or of an item."""
        found: list[Any] = []
        for schema in schemas:
            properties, listed = schema.get("properties"), schema.get("prefixItems")
            if isinstance(properties, Mapping) and step in properties:
                found.append(properties[step])
            elif isinstance(schema.get("additionalProperties"), Mapping):
                found.append(schema["additionalProperties"])
            if _INDEX.fullmatch(step):
                inside = isinstance(listed, list) and int(step) < len(listed)
                found.append(listed[int(step)] if inside else schema.get("items"))
        return [each for one in found for each in self._all(one)]

    def _all(self, schema: Any) -> list[Any]:
        """A schema and those that speak of the same value beside it."""
        found: list[Any] = []
        pending = [schema]
        while pending and len(found) < _MAX_SCHEMAS:
            each = pending.pop()
            if isinstance(each, Mapping) and not any(each is other for other in found):
                found.append(each)
                pending.extend(self._beside(each))
        return found

    def _beside(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Schemas of the same value (`allOf`, `anyOf`, `$ref`)."""
        yield from (schema.get(name) for name in _ONE)
        for name in _LISTED:
            listed = schema.get(name)
            yield from listed if isinstance(listed, list) else ()
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            yield self._at(reference[1:])

    def _at(self, pointer: str) -> Any:
        """Schema that a local `$ref` names (reference resolution); None where it leads nowhere."""
        place = self._root
        try:
            for step in from_pointer(pointer):
                place = place[int(step)] if isinstance(place, list) else place[step]
        except (PointerError, LookupError, TypeError, ValueError):
            return None
        return place


def secret_texts(value: Any, shown: Any) -> set[str]:
    """The texts in a value that are hidden where it is shown as `shown`."""
    if shown == MASK and value != MASK:
        return set(_texts(value))
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        return {text for name, each in value.items() for text in secret_texts(each, shown[name])}
    if isinstance(value, list) and isinstance(shown, list):
        return {text for each, other in zip(value, shown, strict=True) for text in secret_texts(each, other)}
    return set()


def _texts(value: Any) -> Iterator[str]:
    """Texts in a JSON value, at any depth."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif not isinstance(value, bool) and value not in (None, ""):
        yield str(value)
