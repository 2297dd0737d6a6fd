"""Offers (completion items): what a manifest itself suggests for a place in it: its capabilities, parameters, variables
and pointers (AURA-P).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from aurora_manifest.editing.cursor import ManifestCursor
from aurora_manifest.editing.parameters import (
    ITEMS,
    arguments,
    capability_around,
    request_names,
    resource_around,
    resources_of,
)
from aurora_manifest.editing.skeletons import (
    FORMATS,
    JSON_TYPES,
    LOCATIONS,
    capability_tree,
    location_of,
    resource_tree,
)
from aurora_manifest.editing.snippets import Hole, Tree
from aurora_manifest.json.document import Array, Object, Scalar
from aurora_manifest.json.pointers import to_pointer
from aurora_manifest.model import Capability, Manifest, Resource, members
from aurora_manifest.schema import SCHEMA_ADDRESS, manifest_schema

Kind = Literal["member", "value", "choice", "reference", "variable", "snippet"]
"""Kind of an offer, for its icon."""

NEW = ("new_capability", "new_resource")
"""Names that stand for one the user has to give."""

Path = tuple[str | int, ...]


class CompletionOffer(Struct, frozen=True):
    """A name with the value to go with it, or a value. Lower ranks come first."""

    label: str
    tree: Tree
    kind: Kind
    rank: int = 1
    detail: str = ""
    documentation: str = ""


class Where:
    """A cursor in a manifest, and the capability or resource it is in."""

    def __init__(self, manifest: Manifest, cursor: ManifestCursor) -> None:
        self.manifest = manifest
        self.cursor = cursor
        within = cursor.path[0] if len(cursor.path) > 1 else ""
        self.capability = capability_around(manifest, cursor.offset) if within == "capabilities" else None
        self.resource = resource_around(manifest, cursor.offset) if within == "resources" else None


def names(where: Where) -> Iterator[CompletionOffer]:
    """Names for a new member."""
    path, capability = where.cursor.path, where.capability
    inside = path[2:]
    if path == ("capabilities",):
        yield from _whole_capabilities(where.manifest)
    elif path == ("resources",):
        yield from _whole_resources(where.manifest)
    elif capability is not None and inside == ("action", "parameterMapping"):
        by_name = {each.path[-1]: each for each in reversed(arguments(capability))}
        for name in _parameters(capability):
            found = by_name.get(name)
            pointer: Tree = _pointer(found.path) if found else Hole(to_pointer((name,)))
            yield CompletionOffer(
                name, pointer, "variable", detail="parameter", documentation=described(capability, name)
            )
    elif capability is not None and inside == ("action", "parameterLocation"):
        for name in _parameters(capability):
            place = location_of(capability, name)
            choices = (place, *(each for each in LOCATIONS if each != place))
            words = described(capability, name)
            yield CompletionOffer(name, Hole(place, choices), "variable", detail="parameter", documentation=words)
    elif capability is not None and inside == ("parameters", "properties"):
        for name in request_names(capability):
            tree: Tree = {"type": Hole("string", JSON_TYPES), "description": Hole()}
            yield CompletionOffer(name, tree, "variable", detail="used by the request")


def values(where: Where, path: Path) -> Iterator[CompletionOffer]:
    """Values for the place at `path`."""
    last = path[-1] if path else ""
    if path == ("$schema",):
        yield CompletionOffer(SCHEMA_ADDRESS, SCHEMA_ADDRESS, "value", detail="the published schema")
    elif where.resource is not None:
        yield from _in_resource(where, where.resource, last)
    elif where.capability is not None:
        yield from _in_capability(where, where.capability, path[2:])


def described(capability: Capability | None, name: str) -> str:
    """A parameter's description; empty where it has none."""
    member = capability.properties.get(name) if capability else None
    return _description(member.value) if member else ""


def _whole_capabilities(manifest: Manifest) -> Iterator[CompletionOffer]:
    """Snippets of whole capabilities: those that are used and undefined first."""
    for name, uses in manifest.uses.items():
        if name not in manifest.capabilities:
            detail, words = f"used by {uses[0].resource.name}", "A capability that is used and not defined."
            yield CompletionOffer(name, capability_tree(name, uses[0]), "snippet", 1, detail, words)
    words = _words(("capabilities", ""))
    yield CompletionOffer(NEW[0], capability_tree(NEW[0], None), "snippet", 3, "a whole capability", words)


def _whole_resources(manifest: Manifest) -> Iterator[CompletionOffer]:
    """Snippets of whole resources, for capabilities that none uses as well."""
    words = _words(("resources", ""))
    yield CompletionOffer(NEW[1], resource_tree(manifest, None), "snippet", 2, "a whole resource", words)
    for capability in manifest.capabilities.values():
        if capability.name not in manifest.uses:
            detail = f"a resource for the capability {capability.name}"
            tree = resource_tree(manifest, capability)
            yield CompletionOffer(f"{capability.name}_resource", tree, "snippet", 3, detail, words)


def _in_resource(where: Where, resource: Resource, last: str | int) -> Iterator[CompletionOffer]:
    if last == "capabilityId":
        method = str(where.cursor.path[-1])
        for each in where.manifest.capabilities.values():
            words = str(each.description.value) if each.description else ""
            fits = each.method is not None and each.method.value == method
            rank = 3 if not fits else 2 if each.name in where.manifest.uses else 1
            yield CompletionOffer(each.name, each.name, "reference", rank, _request_line(each), words)
    elif last == "uriPattern":
        called = dict.fromkeys(str(each.capability_id.value) for each in resource.operations if each.capability_id)
        for name in called:
            capability = where.manifest.capabilities.get(name)
            if capability is not None and capability.url_template is not None:
                text = str(capability.url_template.value).partition("{?")[0]
                yield CompletionOffer(text, text, "value", detail=f"where {name} is")


def _in_capability(where: Where, capability: Capability, inside: Path) -> Iterator[CompletionOffer]:
    match inside:
        case ("id",):
            yield CompletionOffer(capability.name, capability.name, "reference", detail="the name it stands under")
        case ("action", "urlTemplate"):
            for resource in resources_of(where.manifest, capability.name):
                if resource.uri_pattern is not None:
                    text = str(resource.uri_pattern.value)
                    yield CompletionOffer(text, text, "value", detail=f"where {resource.name} is")
        case ("action", "parameterMapping", name):
            for each in arguments(capability):
                pointer = _pointer(each.path)
                rank = 1 if each.path[-1] == name else 1 + len(each.path)
                yield CompletionOffer(pointer, pointer, "variable", rank, documentation=_description(each.member.value))
        case ("action", "parameterLocation", name):
            best = location_of(capability, str(name))
            for place in LOCATIONS:
                yield CompletionOffer(place, place, "choice", 1 if place == best else 2)
        case ("parameters", *_) if not _is_name(inside):
            yield from _in_schema(where.cursor, inside[-1])


def _in_schema(cursor: ManifestCursor, keyword: str | int) -> Iterator[CompletionOffer]:
    """Values inside a parameter schema whose meaning the schema of manifests leaves to JSON Schema."""
    container = cursor.container
    match keyword:
        case "type" if isinstance(container, Object):
            yield from (CompletionOffer(each, each, "choice") for each in JSON_TYPES)
        case "format":
            yield from (CompletionOffer(each, each, "choice") for each in FORMATS)
        case "required" if isinstance(container, Array):
            schema, _ = cursor.document.follow(cursor.path[:-1])
            others = (each for each in container.items if each.start != cursor.start)
            given = {each.value for each in others if isinstance(each, Scalar)}
            properties = schema.member("properties") if isinstance(schema, Object) else None
            for member in members(properties.value if properties else None):
                if member.name not in given:
                    words = _description(member.value)
                    yield CompletionOffer(member.name, member.name, "variable", detail="parameter", documentation=words)
        case "default" if isinstance(container, Object):
            choices = container.member("enum")
            items = choices.value.items if choices and isinstance(choices.value, Array) else []
            for item in items:
                if isinstance(item, Scalar) and isinstance(item.value, str):
                    yield CompletionOffer(item.value, item.value, "choice")


def _is_name(inside: Path) -> bool:
    """Whether the last step within `parameters` names an argument (`properties/type`), not a keyword."""
    named = False
    for step in inside[:-1]:
        named = step == "properties" and not named
    return named


def _parameters(capability: Capability) -> list[str]:
    return list(dict.fromkeys([*request_names(capability), *capability.properties]))


def _pointer(path: tuple[str, ...]) -> str:
    return to_pointer(0 if step == ITEMS else step for step in path)


def _description(node: object) -> str:
    words = node.value.get("description") if isinstance(node, Object) else None
    return words if isinstance(words, str) else ""


def _request_line(capability: Capability) -> str:
    return " ".join(str(each.value) for each in (capability.method, capability.url_template) if each is not None)


def _words(path: Path) -> str:
    shape = manifest_schema().shapes.along(path)
    return shape.description if shape else ""
