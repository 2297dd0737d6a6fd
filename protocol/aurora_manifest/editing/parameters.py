"""Parameters of a capability: the arguments its schema describes, and the field names its request calls them by
(`parameterMapping` by JSON Pointers).

`"mail": "/email"` in `parameterMapping` says that the request's `mail` is the argument `email`. Mostly the two names
are the same, and then they are one thing to a reader.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from aurora_manifest.json.document import Array, Member, Node, Object, Scalar
from aurora_manifest.json.pointers import PointerError, from_pointer
from aurora_manifest.model import Capability, Manifest, Resource, members, obj, value
from aurora_manifest.templates import Template, parse_template

ITEMS = "*"
"""The step of an argument's path that stands for any item of an array."""

MAX_DEPTH = 8
"""Levels of a parameter schema that are looked at."""

MAX_ARGUMENTS = 1_000
"""Arguments of one capability that are looked at."""

Path = tuple[str, ...]
"""The way to an argument: names of members, and ITEMS."""


class DescribedArgument(Struct, frozen=True):
    """Argument as its schema describes it: its path, and the member of `properties` that describes it."""

    path: Path
    member: Member


class SchemaPart(Struct, frozen=True):
    """Object schema within `parameters`, and the path of the argument it describes (empty for all of them)."""

    path: Path
    node: Object


def schema_parts(capability: Capability) -> Iterator[SchemaPart]:
    """`parameters` and every schema below it that describes an object or an array's items."""
    if capability.parameters is None:
        return
    pending = [SchemaPart((), capability.parameters)]
    seen = 0
    while pending and seen < MAX_ARGUMENTS:
        part = pending.pop(0)
        seen += 1
        yield part
        if len(part.path) >= MAX_DEPTH:
            continue
        pending += (
            SchemaPart((*part.path, each.name), each.value)
            for each in members(value(part.node, "properties"))
            if isinstance(each.value, Object)
        )
        items = obj(part.node, "items")
        if items is not None:
            pending.append(SchemaPart((*part.path, ITEMS), items))


def arguments(capability: Capability) -> list[DescribedArgument]:
    """Every argument, outer ones first."""
    found: list[DescribedArgument] = []
    for part in schema_parts(capability):
        found += (DescribedArgument((*part.path, each.name), each) for each in members(value(part.node, "properties")))
        if len(found) >= MAX_ARGUMENTS:
            break
    return found[:MAX_ARGUMENTS]


def required_items(part: SchemaPart) -> list[Scalar]:
    """The names in the part's `required`."""
    names = value(part.node, "required")
    items = names.items if isinstance(names, Array) else []
    return [each for each in items if isinstance(each, Scalar) and isinstance(each.value, str)]


def pointed_at(capability: Capability, pointer: str) -> Path | None:
    """The argument path a pointer means, indices of arrays as ITEMS; None when it is no pointer or the whole input."""
    try:
        steps = from_pointer(pointer)
    except PointerError:
        return None
    path: list[str] = []
    node: Node | None = capability.parameters
    for step in steps:
        properties = obj(node, "properties")
        if (step.isdigit() or step == "-") and (properties is None or properties.member(step) is None):
            path.append(ITEMS)
            node = value(node, "items")
        else:
            path.append(step)
            node = value(properties, step)
    return tuple(path) or None


def request_names(capability: Capability) -> list[str]:
    """Names the request has for its parameters: in the template, the mapping and the locations, each once."""
    names = [variable.name for variable in capability.template.variables] if capability.template else []
    names += (each.name for each in members(capability.mapping))
    names += (each.name for each in members(capability.location))
    return list(dict.fromkeys(names))


def pattern_of(resource: Resource) -> Template | None:
    """A resource's `uriPattern` as a template."""
    return parse_template(str(resource.uri_pattern.value)) if resource.uri_pattern else None


def resources_of(manifest: Manifest, capability_id: str) -> list[Resource]:
    """The resources that use a capability, each once."""
    found = {id(use.resource): use.resource for use in manifest.uses_of(capability_id)}
    return list(found.values())


def capability_around(manifest: Manifest, offset: int) -> Capability | None:
    """The capability whose member holds `offset`, be it repeated or not."""
    member = _around(members(manifest.capabilities_node), offset)
    if member is None:
        return None
    known = manifest.capabilities.get(member.name)
    return known if known is not None and known.member is member else Capability(member)


def resource_around(manifest: Manifest, offset: int) -> Resource | None:
    """The resource whose member holds `offset`."""
    member = _around(members(manifest.resources_node), offset)
    return next((each for each in manifest.resources if each.member is member), None) if member else None


def _around(candidates: Sequence[Member], offset: int) -> Member | None:
    """Member around an offset, by binary search."""
    index = bisect_right(candidates, offset, key=lambda each: each.name_start) - 1
    if index < 0 or (offset > candidates[index].value.end and offset > candidates[index].name_end):
        return None
    return candidates[index]
