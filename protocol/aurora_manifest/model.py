"""Model of a manifest (object model), its parts by what they mean: capabilities, resources, who uses what
(AURA-P "Core Concepts").

A view of a document: every part keeps its node, so that rules and editors know the exact place. What is missing or of
another type is None or empty here; saying so is the schema's affair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar, overload

from msgspec import Struct

from aurora_manifest.json.document import Array, JsonDocument, Member, Node, Object, Scalar
from aurora_manifest.json.pointers import PointerError, from_pointer
from aurora_manifest.subschemas import Subschema, subschemas
from aurora_manifest.templates import Template, parse_template

_Of = TypeVar("_Of")
_Result = TypeVar("_Result")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|.", re.DOTALL)


class _Once(Generic[_Of, _Result]):
    """As `cached_property`, without the lock that Python 3.11 takes for each one: a manifest has ten thousand."""

    def __init__(self, look: Callable[[_Of], _Result]) -> None:
        self._look = look
        self._name = look.__name__
        self.__doc__ = look.__doc__

    @overload
    def __get__(self, instance: None, owner: type[_Of]) -> _Once[_Of, _Result]: ...
    @overload
    def __get__(self, instance: _Of, owner: type[_Of]) -> _Result: ...
    def __get__(self, instance: _Of | None, owner: type[_Of]) -> _Result | _Once[_Of, _Result]:
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._look(instance)
        return found


class Mapped(Struct, frozen=True, gc=False):
    """A member of `parameterMapping`: its pointer as written, and the steps; None when it is no JSON Pointer."""

    member: Member
    pointer: str
    steps: tuple[str, ...] | None


class Capability:
    """Capability, a member of `capabilities`."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.name = member.name
        self.node = member.value

    @_Once
    def id(self) -> Scalar | None:
        """Its `id`."""
        return string(self.node, "id")

    @_Once
    def description(self) -> Scalar | None:
        """Its `description`."""
        return string(self.node, "description")

    @_Once
    def parameters(self) -> Object | None:
        """The schema of its arguments."""
        return obj(self.node, "parameters")

    @_Once
    def action(self) -> Object | None:
        """How it is called."""
        return obj(self.node, "action")

    @_Once
    def method(self) -> Scalar | None:
        """The HTTP method."""
        return string(self.action, "method")

    @_Once
    def url_template(self) -> Scalar | None:
        """Where the request goes, as written."""
        return string(self.action, "urlTemplate")

    @_Once
    def encoding(self) -> Scalar | None:
        """How arguments travel that have no other place."""
        return string(self.action, "encoding")

    @_Once
    def mapping(self) -> Object | None:
        """`parameterMapping`: where the template's variables come from."""
        return obj(self.action, "parameterMapping")

    @_Once
    def location(self) -> Object | None:
        """`parameterLocation`: where in the request the arguments go."""
        return obj(self.action, "parameterLocation")

    @_Once
    def request(self) -> tuple[str | None, str | None]:
        """The method and the URL template as texts, without a look at their places."""
        plain: Any = self.node.value
        action = plain.get("action") if isinstance(plain, dict) else None
        return (_text(action, "method"), _text(action, "urlTemplate")) if isinstance(action, dict) else (None, None)

    def parameter_names(self) -> Iterable[str]:
        """The names of `properties`, without a look at their places."""
        plain: Any = self.node.value
        for name in ("parameters", "properties"):
            plain = plain.get(name) if isinstance(plain, dict) else None
        return plain if isinstance(plain, dict) else ()

    def facts(self) -> tuple[object, ...]:
        """All that rules about the whole manifest look at in a capability that meets the schema."""
        return (self.name, self.request, tuple(self.parameter_names()))

    @property
    def path(self) -> tuple[str, ...]:
        """The way to it from the root."""
        return ("capabilities", self.name)

    @_Once
    def template(self) -> Template | None:
        """`urlTemplate` as RFC 6570 reads it; its offsets are within the decoded string (see `within`)."""
        return parse_template(str(self.url_template.value)) if self.url_template else None

    @_Once
    def properties(self) -> dict[str, Member]:
        """The parameters by name, as members of `parameters.properties`."""
        return {each.name: each for each in members(value(self.parameters, "properties"))}

    @_Once
    def mapped(self) -> dict[str, Mapped]:
        """The names in `parameterMapping` with a text as value; of a name that is repeated, the last."""
        return {each.name: _mapped(each) for each in members(self.mapping) if isinstance(each.value.value, str)}

    @_Once
    def schemas(self) -> Sequence[Subschema]:
        """`parameters` and every schema in it."""
        return subschemas((*self.path, "parameters"), self.parameters) if self.parameters else ()

    @_Once
    def _by_keyword(self) -> dict[str, list[Subschema]]:
        """Subschemas by their keywords (index)."""
        found: dict[str, list[Subschema]] = {}
        for schema in self.schemas:
            for keyword in schema.node.value:
                found.setdefault(keyword, []).append(schema)
        return found

    def schemas_with(self, keyword: str) -> Sequence[Subschema]:
        """Those of `schemas` that have a keyword."""
        return self._by_keyword.get(keyword, ())

    @_Once
    def required(self) -> tuple[Scalar, ...]:
        """The names in `parameters.required`."""
        names = value(self.parameters, "required")
        items = names.items if isinstance(names, Array) else []
        return tuple(each for each in items if isinstance(each, Scalar) and isinstance(each.value, str))


class Operation:
    """Operation, a member of a resource's `operations`: a method and the capability it calls."""

    def __init__(self, resource: Resource, method: str, plain: object) -> None:
        self.resource = resource
        self.method = method
        self.target = _text(plain, "capabilityId") if isinstance(plain, dict) else None

    @_Once
    def member(self) -> Member:
        """The member itself, with its place: of those that repeat a name, the last."""
        found = value(self.resource.node, "operations")
        member = found.member(self.method) if isinstance(found, Object) else None
        assert member is not None, "made from a name that is there"
        return member

    @_Once
    def capability_id(self) -> Scalar | None:
        """`capabilityId` with its place; `target` is the same as a text."""
        return string(self.member.value, "capabilityId")

    @property
    def path(self) -> tuple[str, ...]:
        """The way to it from the root."""
        return ("resources", self.resource.name, "operations", self.method)


class Resource:
    """Resource, a member of `resources`. `repeats` tells that a name may stand twice in it."""

    def __init__(self, member: Member, *, repeats: bool = True) -> None:
        self.member = member
        self.name = member.name
        self.node = member.value
        self.path: tuple[str, ...] = ("resources", self.name)
        self._repeats = repeats

    @property
    def operations(self) -> list[Operation]:
        """Its operations, without a look at their places. Not kept here: they would keep each other alive."""
        if self._repeats:
            return [self._operation(each) for each in members(value(self.node, "operations"))]
        plain: Any = self.node.value
        plain = plain.get("operations") if isinstance(plain, dict) else None
        return [Operation(self, *each) for each in plain.items()] if isinstance(plain, dict) else []

    def names(self, capability_id: str) -> bool:
        """Whether an operation of it may name the capability, by a look at plain values; a repeated name always may."""
        plain: Any = self.node.value
        plain = plain.get("operations") if isinstance(plain, dict) else None
        if self._repeats or not isinstance(plain, dict):
            return self._repeats
        return any(isinstance(each, dict) and each.get("capabilityId") == capability_id for each in plain.values())

    def facts(self) -> tuple[object, ...]:
        """All that rules about the whole manifest look at in a resource that meets the schema."""
        return (self.name, self.pattern, tuple((each.method, each.target) for each in self.operations))

    def _operation(self, member: Member) -> Operation:
        found = Operation(self, member.name, member.value.value)
        found.__dict__["member"] = member
        return found

    @_Once
    def uri_pattern(self) -> Scalar | None:
        """Its `uriPattern`."""
        return string(self.node, "uriPattern") if self.pattern is not None else None

    @_Once
    def description(self) -> Scalar | None:
        """Its `description`."""
        return string(self.node, "description")

    @_Once
    def pattern(self) -> str | None:
        """`uriPattern` as a text, without a look at its place."""
        plain: Any = self.node.value
        return _text(plain, "uriPattern") if isinstance(plain, dict) else None


class Manifest:
    """A whole manifest."""

    def __init__(self, document: JsonDocument) -> None:
        self.document = document
        self.root = document.root
        self.site = obj(document.root, "site")
        self.policy = obj(document.root, "policy")
        self.capabilities_node = value(document.root, "capabilities")
        self.resources_node = value(document.root, "resources")
        self.capabilities = {each.name: Capability(each) for each in members(self.capabilities_node)}
        repeats = any(each.rule == "json-duplicate-key" for each in document.problems)
        self.resources = [Resource(each, repeats=repeats) for each in members(self.resources_node)]

    @cached_property
    def by_resource(self) -> list[tuple[Resource, list[Operation]]]:
        """The resources, each with its operations, in the order of the text."""
        return [(resource, resource.operations) for resource in self.resources]

    @cached_property
    def operations(self) -> list[Operation]:
        """Every operation of every resource, in the order of the text."""
        return [operation for _, operations in self.by_resource for operation in operations]

    @cached_property
    def uses(self) -> dict[str, list[Operation]]:
        """The operations that name a capability, by the id they name (defined or not)."""
        found: dict[str, list[Operation]] = {}
        for operation in self.operations:
            if operation.target is not None:
                found.setdefault(operation.target, []).append(operation)
        return found

    def uses_of(self, capability_id: str) -> list[Operation]:
        """The operations that name one capability: for who asks about one or two, without making all of `uses`."""
        if "uses" in self.__dict__:
            return self.uses.get(capability_id, [])
        naming = (each for each in self.resources if each.names(capability_id))
        return [each for resource in naming for each in resource.operations if each.target == capability_id]


def _mapped(member: Member) -> Mapped:
    pointer = str(member.value.value)
    try:
        return Mapped(member, pointer, from_pointer(pointer))
    except PointerError:
        return Mapped(member, pointer, None)


def value(node: Node | None, name: str) -> Node | None:
    """The value of an object's member."""
    member = node.member(name) if isinstance(node, Object) and name in node.value else None
    return member.value if member else None


def obj(node: Node | None, name: str) -> Object | None:
    """The value of an object's member where it is an object."""
    found = value(node, name)
    return found if isinstance(found, Object) else None


def string(node: Node | None, name: str) -> Scalar | None:
    """The value of an object's member where it is a string."""
    found = value(node, name)
    return found if isinstance(found, Scalar) and isinstance(found.value, str) else None


def _text(plain: dict[str, Any], name: str) -> str | None:
    """The text that a name leads to in a plain object: what `string` has, for those who need no place."""
    found = plain.get(name)
    return found if isinstance(found, str) else None


def members(node: Node | None) -> Sequence[Member]:
    """An object's members in the order of the text; none of anything else."""
    return node.members if isinstance(node, Object) else []


def within(document: JsonDocument, node: Scalar, start: int, end: int) -> tuple[int, int]:
    """Offsets in a string's decoded value as offsets in the document's text, whatever escapes are in between."""
    decoded = str(node.value)
    first = node.start + 1
    if node.end - node.start - 2 == len(decoded):
        return first + start, first + end
    # No further than needed: a long string may have many places that are asked for.
    escapes = _ESCAPE.finditer(document.text, first, node.end - 1)
    starts = [match.start() for match in islice(escapes, end + 1)]
    starts.append(max(node.end - 1, first))
    last = len(starts) - 1
    found = starts[min(start, last)], starts[min(end, last)]
    # A string that is not properly closed or escaped has no exact inside.
    return found if found[0] < found[1] or start == end else (node.start, node.end)
