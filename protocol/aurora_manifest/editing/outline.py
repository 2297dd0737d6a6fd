"""Outline (document symbols) of a document: a manifest's site, resources and capabilities with what is in them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from aurora_manifest.json.document import Member, Object
from aurora_manifest.json.value_text import sendable
from aurora_manifest.model import Capability, Manifest, Operation, Resource, members, string, value

Kind = Literal["site", "policy", "group", "resource", "operation", "capability", "parameter", "action", "member"]


class OutlineEntry(Struct, frozen=True):
    """Entry of the outline; the offsets are those of the whole member and of its name."""

    name: str
    kind: Kind
    detail: str
    start: int
    end: int
    name_start: int
    name_end: int
    children: tuple[OutlineEntry, ...] = ()


def outline(manifest: Manifest) -> list[OutlineEntry]:
    """The manifest's parts in the order of the text."""
    entries: list[OutlineEntry] = []
    for member in members(manifest.root):
        if member.value is manifest.capabilities_node:
            children = tuple(_capability(Capability(each)) for each in members(member.value))
            entries.append(_entry(member, "group", "", children))
        elif member.value is manifest.resources_node:
            children = tuple(_resource(each) for each in manifest.resources)
            entries.append(_entry(member, "group", "", children))
        elif isinstance(member.value, Object):
            kind: Kind = "site" if member.name == "site" else "policy" if member.name == "policy" else "group"
            name = string(member.value, "name")
            children = tuple(_entry(each, "member", _short(each)) for each in member.value.members)
            entries.append(_entry(member, kind, str(name.value) if name else "", children))
        else:
            entries.append(_entry(member, "member", _short(member)))
    return entries


def _resource(resource: Resource) -> OutlineEntry:
    """Outline entry of a resource, with its operations."""
    pattern = str(resource.uri_pattern.value) if resource.uri_pattern else ""
    return _entry(resource.member, "resource", pattern, tuple(map(_operation, resource.operations)))


def _operation(operation: Operation) -> OutlineEntry:
    """Outline entry of an operation."""
    target = str(operation.capability_id.value) if operation.capability_id else ""
    return _entry(operation.member, "operation", target)


def _capability(capability: Capability) -> OutlineEntry:
    """Outline entry of a capability, with its parameters."""
    request = (capability.method, capability.url_template)
    detail = " ".join(str(each.value) for each in request if each is not None)
    children = []
    for member in members(capability.node):
        if member.value is capability.parameters:
            listed = members(value(capability.parameters, "properties"))
            children += [_entry(each, "parameter", _type(each)) for each in listed]
        elif member.value is capability.action:
            children.append(_entry(member, "action", detail))
    return _entry(capability.member, "capability", detail, tuple(children))


def _entry(member: Member, kind: Kind, detail: str, children: tuple[OutlineEntry, ...] = ()) -> OutlineEntry:
    end = max(member.value.end, member.name_end)
    name = sendable(member.name).strip() or '""'
    return OutlineEntry(
        name, kind, sendable(detail), member.name_start, end, member.name_start, member.name_end, children
    )


def _type(member: Member) -> str:
    kind = string(member.value, "type")
    return str(kind.value) if kind else ""


def _short(member: Member) -> str:
    plain = member.value.value
    return "" if plain is None or isinstance(plain, dict | list) else str(plain)[:100]
