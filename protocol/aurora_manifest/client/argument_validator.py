"""Validator of arguments (JSON Schema validation of a call): a manifest's `parameters` as a JSON Schema, in the dialect
it names, else 2020-12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aurora_manifest.client.expressions import as_python
from aurora_manifest.client.formats import format_checker
from aurora_manifest.rules.places import IGNORE
from aurora_manifest.subschemas import LISTED, NAMED, ONE

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_BOTH_WAYS = frozenset({"not", "if", "oneOf", "contains"})
"""Keywords that may refuse what fits a schema in them: such a schema is whole, or it says nothing."""

_OTHERS = frozenset({"additionalProperties", "unevaluatedProperties"})


def validator_of(parameters: Any) -> Validator:
    """Validator of arguments. References are never fetched. Raises jsonschema's SchemaError for what is no schema.

    Patterns mean what ECMA-262 says (`expressions.as_python`); those Python cannot match are not checked.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    plain = _without_ignore(parameters)
    named = isinstance(plain, dict) and isinstance(plain.get("$schema"), str)
    kind: Any = validator_for(plain, default=Draft202012Validator) if named else Draft202012Validator
    checker = format_checker()
    kind.check_schema(plain, format_checker=checker)
    registry: Registry[Any] = Registry()
    made: Validator = kind(_Translated().schema(plain), format_checker=checker, registry=registry)
    return made


def _without_ignore(schema: Any) -> Any:
    """The schema without what silences rules in it: within `properties` that would be a parameter, and no schema."""
    if isinstance(schema, dict):
        return {name: _without_ignore(each) for name, each in schema.items() if name != IGNORE}
    return [_without_ignore(each) for each in schema] if isinstance(schema, list) else schema


class _Translated:
    """Schemas with Python's patterns; `lost` counts those that have none."""

    def __init__(self) -> None:
        self.lost = 0

    def schema(self, schema: Any) -> Any:
        """One schema, and all in it. Raises nothing that a checked schema could bring about."""
        if not isinstance(schema, dict):
            return schema
        found: dict[str, Any] = {}
        lost_names = False
        for name, value in schema.items():
            before = self.lost
            if name == "pattern" and isinstance(value, str):
                found[name] = self._pattern(value)
            elif name == "patternProperties" and isinstance(value, dict):
                found[name] = {self._pattern(key): self.schema(each) for key, each in value.items()}
                lost_names = None in found[name]
                found[name].pop(None, None)
            elif name in NAMED and isinstance(value, dict):
                found[name] = {key: self.schema(each) for key, each in value.items()}
            elif name in ONE:
                found[name] = self.schema(value)
            elif name in LISTED and isinstance(value, list):
                found[name] = [self.schema(each) for each in value]
            else:
                found[name] = value
            if (name == "pattern" and found[name] is None) or (name in _BOTH_WAYS and self.lost > before):
                del found[name]
        if lost_names:  # which members are the others, nobody can tell
            found = {name: value for name, value in found.items() if name not in _OTHERS}
        return found

    def _pattern(self, pattern: str) -> str | None:
        python = as_python(pattern)
        self.lost += python is None
        return python
