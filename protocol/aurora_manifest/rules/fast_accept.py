"""Capabilities and resources as most are: those that surely no rule has anything to say of, known at one look.

The types here say what is ordinary, and msgspec looks whether plain values are of them. They may be wrong in one way
only: what they do not know is not ordinary, and then the schema and every rule are asked. Who makes a rule about a
capability or a resource stricter does so here as well; the tests hold the bad example of every rule against this file.
"""

from __future__ import annotations

import re
import sys
from math import inf
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError

from aurora_manifest.model import Capability, Resource
from aurora_manifest.rules.descriptions import says_nothing
from aurora_manifest.rules.parameters import FORMATS
from aurora_manifest.rules.patterns import bad_pattern
from aurora_manifest.rules.transport import BODILESS
from aurora_protocol.typed import convert

_LITERAL = r"(?:[^\x00-\x20\"'<>\\^`|\x7f%{}?#]++|%[0-9A-Fa-f]{2})"
_TEMPLATE = re.compile(
    rf"/(?:{_LITERAL}|\{{\w++\}})*+(?:\{{\?(?P<query>\w++\*?+(?:,\w++\*?+)*+)\}})?+", re.ASCII
).fullmatch
_IN_PATH = re.compile(r"\{(\w++)\}", re.ASCII).findall
_REFUSED = (ValidationError, ValueError, OverflowError, RecursionError)

_Count = Annotated[int, Meta(ge=0)]
_Number = int | float


class _Schema(Struct, tag_field="type", forbid_unknown_fields=True, frozen=True, gc=False):
    """A schema in `parameters`, told apart by its `type`: none has a keyword that is for values of another type."""

    title: str = ""
    description: str | UnsetType = UNSET
    examples: list[Any] = []
    deprecated: bool = False
    readOnly: bool = False
    writeOnly: bool = False

    def __post_init__(self) -> None:
        if (self.description is not UNSET and says_nothing(self.description)) or not self.fits():
            raise ValueError

    def fits(self) -> bool:
        """Whether limits, choices and default surely fit each other."""
        return True


class _Text(_Schema, frozen=True, tag="string"):
    minLength: _Count = 0
    maxLength: _Count = sys.maxsize
    format: str | UnsetType = UNSET
    pattern: str | UnsetType = UNSET
    enum: list[str] | UnsetType = UNSET
    default: str | UnsetType = UNSET

    def fits(self) -> bool:
        return (
            self.minLength <= self.maxLength
            and (self.default is UNSET or self.minLength <= len(self.default) <= self.maxLength)
            and (self.enum is UNSET or _are_choices(self.enum, self.default))
            and (self.format is UNSET or self.format in FORMATS)
            and (self.pattern is UNSET or bad_pattern(self.pattern) is None)
        )


class _Whole(_Schema, frozen=True, tag="integer"):
    minimum: _Number = -inf
    maximum: _Number = inf
    enum: list[int] | UnsetType = UNSET
    default: int | UnsetType = UNSET

    def fits(self) -> bool:
        return (
            self.minimum <= self.maximum
            and (self.default is UNSET or self.minimum <= self.default <= self.maximum)
            and (self.enum is UNSET or _are_choices(self.enum, self.default))
        )


class _Float(_Schema, frozen=True, tag="number"):
    minimum: _Number = -inf
    maximum: _Number = inf
    default: _Number | UnsetType = UNSET

    def fits(self) -> bool:
        return self.minimum <= self.maximum and (self.default is UNSET or self.minimum <= self.default <= self.maximum)


class _YesOrNo(_Schema, frozen=True, tag="boolean"):
    default: bool | UnsetType = UNSET


class _List(_Schema, frozen=True, tag="array"):
    items: _AnySchema | UnsetType = UNSET
    minItems: _Count = 0
    maxItems: _Count = sys.maxsize
    uniqueItems: bool = False
    default: list[Any] | UnsetType = UNSET

    def fits(self) -> bool:
        return self.minItems <= self.maxItems and (
            self.default is UNSET or self.minItems <= len(self.default) <= self.maxItems
        )


class _Object(_Schema, frozen=True, tag="object"):
    properties: dict[str, _AnySchema] = {}
    required: list[str] = []
    additionalProperties: _AnySchema | bool = True

    def fits(self) -> bool:
        names = set(self.required)
        return len(names) == len(self.required) and names <= self.properties.keys()


_AnySchema = _Text | _Whole | _Float | _YesOrNo | _List | _Object


class _Action(Struct, frozen=True, gc=False):
    type: Literal["HTTP"]
    method: Literal["GET", "POST", "PUT", "DELETE"]
    urlTemplate: str
    parameterMapping: dict[str, str]
    cors: bool = False
    encoding: Literal["json", "query"] | UnsetType = UNSET
    parameterLocation: dict[str, Literal["path", "query", "header", "body"]] = {}


class _Capability(Struct, frozen=True, gc=False):
    id: str
    v: Annotated[int, Meta(ge=1)]
    description: str
    action: _Action
    parameters: _Object = _Object()


class _Operation(Struct, frozen=True, gc=False):
    capabilityId: str


class _Operations(Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    GET: _Operation | UnsetType = UNSET
    POST: _Operation | UnsetType = UNSET
    PUT: _Operation | UnsetType = UNSET
    DELETE: _Operation | UnsetType = UNSET


class _Resource(Struct, frozen=True, gc=False):
    uriPattern: str
    description: str
    operations: _Operations


_IN_CAPABILITY = frozenset(_Capability.__struct_fields__)
_IN_ACTION = frozenset(_Action.__struct_fields__)
_IN_RESOURCE = frozenset(_Resource.__struct_fields__)
_IN_OPERATION = frozenset(_Operation.__struct_fields__)


def is_ordinary(part: Capability | Resource) -> bool:
    """Whether a part surely meets the schema, and every rule about one such part.

    It may have members of its own, which the schema allows and those rules do not look at.
    """
    plain = part.node.value
    if not part.sound or not isinstance(plain, dict):
        return False
    try:
        return _capability(part.name, plain) if isinstance(part, Capability) else _resource(plain)
    except _REFUSED:
        return False


def has_known_names(part: Capability | Resource) -> bool:
    """Whether an ordinary part has no members of its own but those that are named so, `x-…`."""
    plain: dict[str, dict[str, dict[str, object]]] = part.node.value  # type: ignore[assignment]
    if isinstance(part, Capability):
        return _are_known(plain, _IN_CAPABILITY) and _are_known(plain["action"], _IN_ACTION)
    return _are_known(plain, _IN_RESOURCE) and all(
        _are_known(each, _IN_OPERATION) for each in plain["operations"].values()
    )


def _are_known(plain: dict[str, Any], names: frozenset[str]) -> bool:
    return plain.keys() <= names or all(name in names or name.startswith("x-") for name in plain)


def _capability(name: str, plain: dict[str, Any]) -> bool:
    found = convert(plain, _Capability)
    return found.id == name and not says_nothing(found.description) and _has_places(found.action, found.parameters)


def _resource(plain: dict[str, Any]) -> bool:
    found = convert(plain, _Resource)
    return _TEMPLATE(found.uriPattern) is not None and not says_nothing(found.description)


def _has_places(action: _Action, parameters: _Object) -> bool:
    """Whether each argument surely comes from a parameter and has one place in the request, as each parameter has."""
    sources = {name: _source(parameters, pointer) for name, pointer in action.parameterMapping.items()}
    template = _TEMPLATE(action.urlTemplate)
    if template is None or None in sources.values() or not parameters.properties.keys() <= set(sources.values()):
        return False
    listed = template["query"].split(",") if template["query"] else []
    in_query = [each.removesuffix("*") for each in listed]
    in_path = _IN_PATH(action.urlTemplate)
    places = dict.fromkeys(in_query, "query") | dict.fromkeys(in_path, "path")
    bodiless, located = action.method in BODILESS, action.parameterLocation
    return (
        len(set(in_query)) == len(in_query)
        and places.keys() <= sources.keys()
        and all(sources[name] in parameters.required for name in in_path)
        and all(_is_list(parameters, action.parameterMapping[each[:-1]]) for each in listed if each[-1] == "*")
        and located.keys() <= sources.keys()
        and all(_fits(action, places.get(name), location) for name, location in located.items())
        and not (bodiless and action.encoding == "json")
        and (not bodiless or action.encoding is not UNSET or sources.keys() <= places.keys() | located.keys())
    )


def _source(parameters: _Object, pointer: str) -> str | None:
    """The parameter that a pointer leads to, or into; None where it may be wrong."""
    name = pointer[1:]
    if name in parameters.properties and pointer[:1] == "/" and "/" not in name and "~" not in name:
        return name
    start, *steps = pointer.split("/")
    schema: Any = parameters
    for step in steps:
        schema = schema.properties.get(step) if type(schema) is _Object else None
    return steps[0] if steps and not start and schema is not None and "~" not in pointer else None


def _is_list(parameters: _Object, pointer: str) -> bool:
    """Whether a pointer surely leads to a list, which a template may write item by item."""
    return pointer.count("/") == 1 and type(parameters.properties.get(pointer[1:])) is _List


def _fits(action: _Action, place: str | None, location: str) -> bool:
    """Whether `parameterLocation` says what the template says of a name or, where that says nothing, what can be."""
    if place is not None or location == "path":
        return location == place
    return location != "body" or not (action.method in BODILESS or action.encoding == "query")


def _are_choices(choices: list[Any], default: object) -> bool:
    """Whether there are some, each once, with the default among them."""
    return bool(choices) and len(set(choices)) == len(choices) and (default is UNSET or default in choices)
