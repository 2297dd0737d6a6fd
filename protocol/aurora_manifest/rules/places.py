"""Parameter places (path, query, header, body): where an action's names come from and go to: parameters by pointer, and
the parts of a request.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from msgspec import Struct

from aurora_manifest.json.document import Array, Object
from aurora_manifest.misspellings import Guesses
from aurora_manifest.model import Capability, obj, value
from aurora_manifest.schema_keywords import TYPES
from aurora_manifest.templates import placed

IGNORE = "x-aurora-ignore"

_INDEX = re.compile(r"0|[1-9][0-9]*")
_OPEN_ENDED = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"}
)


class Reached(Struct, frozen=True):
    """Reach of a JSON Pointer, how far it leads into `parameters`.

    `schema` is the schema it ends at. None with `known` means that there is no such parameter: `step` is the step that
    fails, `choices` the names it could have been, and `in_array` tells that an index was due. Without `known`, nothing
    can be said.
    """

    schema: Object | None
    known: bool
    step: int = 0
    choices: Collection[str] = ()
    in_array: bool = False


GUESSES = 2_000
"""How many names one rule may compare in one capability to guess what was meant."""


def reach(capability: Capability, steps: tuple[str, ...]) -> Reached:
    """Follow the steps of a JSON Pointer into the arguments that `parameters` describes."""
    schema = capability.parameters
    if schema is None:
        return Reached(None, value(capability.node, "parameters") is None and bool(steps))
    for number, step in enumerate(steps):
        if schema.broken or not _OPEN_ENDED.isdisjoint(schema.value):
            return Reached(None, False)
        if _is_array(schema.value):
            if not _INDEX.fullmatch(step):
                return Reached(None, True, number, (), True)
            items, listed = value(schema, "items"), value(schema, "prefixItems")
            if isinstance(listed, Array) and len(step) < 4 and int(step) < len(listed.items):
                items = listed.items[int(step)]
            if not isinstance(items, Object):
                return Reached(None, False)
            schema = items
            continue
        properties = obj(schema, "properties")
        member = properties.member(step) if properties else None
        if member is None:
            others = value(schema, "additionalProperties")
            if isinstance(others, Object):
                schema = others
                continue
            if (others is not None and others.value is not False) or (properties is not None and properties.broken):
                return Reached(None, False)
            return Reached(None, True, number, properties.value.keys() if properties else ())
        if not isinstance(member.value, Object):
            return Reached(None, False)
        schema = member.value
    return Reached(schema, True)


def _is_array(schema: dict[str, Any]) -> bool:
    """Whether a schema, as a plain value, is one of a list."""
    kind = schema.get("type")
    return kind == "array" or (kind is None and "items" in schema and "properties" not in schema)


def types_of_variable(capability: Capability, name: str) -> frozenset[str]:
    """The JSON types of the parameter that fills a variable; empty where that is not known."""
    source = capability.mapped.get(name)
    schema = reach(capability, source.steps).schema if source is not None and source.steps is not None else None
    kind = schema.value.get("type") if schema else None
    if schema is not None and any(member.value.value != kind for member in schema.members if member.name == "type"):
        return frozenset()  # it is told twice: which of them is meant, nobody knows
    # Of a word that is no type (`list`) nobody knows yet what it will be.
    return frozenset({kind}) if isinstance(kind, str) and kind in TYPES else frozenset()


def first_steps(capability: Capability) -> set[str]:
    """The names of the parameters that the mapping uses, in whole or in part; "" when it uses all arguments at once."""
    return {each.steps[0] if each.steps else "" for each in capability.mapped.values() if each.steps is not None}


def mistaken(capability: Capability) -> dict[str, str]:
    """The variables of `urlTemplate` that are not mapped, with the mapped name each seems to stand for.

    A variable that is itself the name of a parameter stands for that.
    """
    mapped = capability.mapping.value if capability.mapping else {}
    variables = placed(capability.template)
    guesses, free = Guesses(GUESSES), [each for each in mapped if each not in variables and each != IGNORE]
    found = {}
    for name in variables:
        if name not in mapped and name not in capability.properties:
            meant = guesses.closest(name, free, "names")
            if meant:
                found[name] = meant
    return found
