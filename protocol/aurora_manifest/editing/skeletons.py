"""Skeletons (templates, boilerplate): whole parts of a manifest to begin with, and the values that are usual where the
schema names none.
"""

from __future__ import annotations

from aurora_manifest.editing.snippets import Braces, Hole, Tree
from aurora_manifest.model import Capability, Manifest, Operation, Resource
from aurora_manifest.schema import SCHEMA_ADDRESS
from aurora_manifest.shape import SchemaShape

JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
"""The types of JSON Schema (2020-12 §7.6.1), the usual ones first."""

FORMATS = (
    "email", "uri", "uri-reference", "uri-template", "date", "date-time", "time", "duration", "uuid", "hostname",
    "ipv4", "ipv6", "json-pointer", "regex",
)  # fmt: skip
"""The formats of strings that JSON Schema defines (2020-12 validation §7.3)."""

LOCATIONS = ("path", "query", "header", "body")
"""Where a parameter can go."""

NAME = "name"
"""The link between a part's name and where the part repeats it."""

_METHODS = ("GET", "POST", "PUT", "DELETE")
_MAX_DEPTH = 4


def capability_tree(name: str, use: Operation | None) -> Tree:
    """A whole capability; where an operation already names it, with that method and address."""
    method, url = "GET", "/"
    if use is not None:
        method = use.method if use.method in _METHODS else method
        url = str(use.resource.uri_pattern.value) if use.resource.uri_pattern else url
    methods = (method, *(each for each in _METHODS if each != method))
    return {
        "id": name if use is not None else Hole(name, link=NAME),
        "v": 1,
        "description": Hole("What it does, in words an agent can choose by."),
        "parameters": {"type": "object", "required": Braces("[]"), "properties": Braces()},
        "action": {
            "type": "HTTP",
            "method": Hole(method, methods),
            "urlTemplate": Hole(url),
            "encoding": Hole("query" if method in ("GET", "DELETE") else "json", ("query", "json")),
            "parameterMapping": Braces(),
        },
    }


def resource_tree(manifest: Manifest, capability: Capability | None) -> Tree:
    """A whole resource, for a capability that has none or for one to be named."""
    url, method, name = "/", "GET", ""
    if capability is not None:
        name = capability.name
        url = str(capability.url_template.value).partition("{?")[0] if capability.url_template else url
        method = str(capability.method.value) if capability.method else method
    ids = tuple(manifest.capabilities)[:50]
    return {
        "uriPattern": Hole(url),
        "description": Hole("What it is, in words an agent can choose by."),
        "operations": {method: {"capabilityId": name or Hole(ids[0] if ids else "", ids)}},
    }


def member_tree(
    manifest: Manifest,
    path: tuple[str | int, ...],
    name: str,
    shape: SchemaShape | None,
    capability: Capability | None,
    resource: Resource | None,
) -> Tree:
    """Value to write behind a member's name: the one value it may have, or the least the schema asks for."""
    inside = path[2:] if path[:1] in (("capabilities",), ("resources",)) else None
    if path == () and name == "$schema":
        return SCHEMA_ADDRESS
    if capability is not None and inside == ():
        if name == "id":
            return capability.name
        if name == "parameters":
            return {"type": "object", "required": Braces("[]"), "properties": Braces()}
    if inside and inside[0] == "parameters" and name == "type":
        return Hole("string", JSON_TYPES)
    if resource is not None and name in _METHODS:
        fitting = [each.name for each in manifest.capabilities.values() if each.method and each.method.value == name]
        ids = tuple(fitting or manifest.capabilities)[:50]
        return {"capabilityId": Hole(ids[0] if ids else "", ids)}
    return least(shape, 0)


def least(shape: SchemaShape | None, depth: int) -> Tree:
    """The least a shape asks for: its first choice, or an object with the members it needs."""
    if shape is None or not (shape.kinds or shape.choices):
        return Hole(bare=True)
    if shape.choices and all(isinstance(each, str) for each in shape.choices):
        return shape.choices[0] if len(shape.choices) == 1 else Hole(shape.choices[0], shape.choices)
    match shape.kinds[0]:
        case "object":
            if shape.needed_in_order and depth < _MAX_DEPTH:
                return {each: _inner(shape, each, depth) for each in shape.needed_in_order}
            return Braces()
        case "array":
            return Braces("[]")
        case "number" | "integer":
            return Hole("1", bare=True)
        case "boolean":
            return Hole("true", ("true", "false"), bare=True)
    return Hole()


def location_of(capability: Capability, name: str) -> str:
    """Where a parameter goes when nothing says so: where the template has it, else where the encoding puts it."""
    for expression in capability.template.expressions if capability.template else ():
        if any(each.name == name for each in expression.variables):
            return "query" if expression.operator in ("?", "&") else "path"
    query = capability.encoding.value == "query" if capability.encoding else False
    reads = capability.method is not None and capability.method.value in ("GET", "DELETE")
    return "query" if query or (capability.encoding is None and reads) else "body"


def _inner(shape: SchemaShape, name: str, depth: int) -> Tree:
    return SCHEMA_ADDRESS if name == "$schema" else least(shape.members.get(name), depth + 1)
