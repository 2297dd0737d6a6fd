"""Occurrences (references) of a capability or a parameter: for going to definitions, finding references, highlights and
renames.

A parameter goes by two kinds of names: the argument's, in `parameters` and in pointers, and the request's, in
`parameterMapping`, `parameterLocation` and URI templates. Where both are the same word, they are one name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, structs

from aurora_manifest.editing.parameters import (
    ITEMS,
    Path,
    capability_around,
    pattern_of,
    pointed_at,
    request_names,
    required_items,
    resource_around,
    resources_of,
    schema_parts,
)
from aurora_manifest.findings import Edit
from aurora_manifest.json.document import JsonDocument, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, Manifest, Resource, members, string, value, within
from aurora_manifest.templates import Template, is_variable

Role = Literal["capability", "id", "use", "property", "required", "mapping", "pointer", "location", "variable"]
"""Role of a name at a place. `capability` and `property` define it."""

_DEFINING = ("capability", "property", "mapping", "id")
MAX_NAME = 200


class CannotRename(ValueError):
    """The new name is not possible; the message says why."""


class Occurrence(Struct, frozen=True, order=True):
    """Occurrence: one mention of a name, quotes not included."""

    start: int
    end: int
    role: Role


class Named(Struct, frozen=True):
    """Name at a cursor, the mention it is in, and all mentions in the order of the text.

    `around` is where the capability begins and ends whose parameter it is; None where it is no single one's.
    """

    kind: Literal["capability", "parameter"]
    name: str
    here: Occurrence
    occurrences: tuple[Occurrence, ...]
    taken: frozenset[str]
    around: tuple[int, int] | None = None

    @property
    def definitions(self) -> list[Occurrence]:
        """Go to definition: where the name is defined, where the schema has it, else where the mapping introduces
        it."""
        start, end = self.around or (0, sys.maxsize)
        for role in _DEFINING:
            found = [each for each in self.occurrences if each.role == role and start <= each.start < end]
            if found:
                return found
        return []


class _Site(Struct, frozen=True):
    """A mention, and what it names: an argument's path, or a name of the request."""

    names: Path | str
    mention: Occurrence


def named_at(manifest: Manifest, offset: int) -> Named | None:
    """Symbol at a cursor: the capability or parameter that is named at `offset`; None where nothing is."""
    place = manifest.document.place(offset)
    if place is None or len(place.path) < 2:
        return None
    resource = resource_around(manifest, offset) if place.path[0] == "resources" else None
    if resource is not None:
        return _in_resource(manifest, resource, offset)
    capability = capability_around(manifest, offset) if place.path[0] == "capabilities" else None
    if capability is None:
        return None
    return _capability_named(manifest, capability, offset) or _parameter_named(manifest, [capability], offset)


def uses_of(manifest: Manifest, capability_id: str) -> list[Occurrence]:
    """References to a capability: where resources name it."""
    document = manifest.document
    uses = [each.capability_id for each in manifest.uses_of(capability_id)]
    return [Occurrence(*_inside(document, node.start, node.end), "use") for node in uses if node is not None]


def renamed(named: Named, name: str) -> list[Edit]:
    """Rename refactoring: the edits that give everything in `named` another name. Raises CannotRename."""
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CannotRename(f"a name has 1 to {MAX_NAME} printable characters")
    if name == named.name:
        return []
    if name in named.taken:
        raise CannotRename(f"there already is a {named.kind} called {quoted(name)} here")
    if any(each.role == "variable" for each in named.occurrences) and not is_variable(name):
        raise CannotRename(f"{quoted(name)} cannot stand in a URI template: use letters, digits, _ and single dots")
    return [Edit(each.start, each.end, _spelt(each.role, name)) for each in named.occurrences]


def _spelt(role: Role, name: str) -> str:
    if role == "variable":
        return name
    if role == "pointer":
        name = name.replace("~", "~0").replace("/", "~1")
    return json.dumps(name, ensure_ascii=False)[1:-1]


# Capabilities


def _capability_named(manifest: Manifest, capability: Capability, offset: int) -> Named | None:
    member = capability.member
    if member.name_start <= offset <= member.name_end:
        return _capability(manifest, capability.name, offset)
    if capability.id is not None and capability.id.start <= offset <= capability.id.end:
        return _capability(manifest, str(capability.id.value), offset)
    return None


def _capability(manifest: Manifest, name: str, offset: int) -> Named | None:
    """References to a capability: its name, its id, the operations that use it."""
    document = manifest.document
    found: list[Occurrence] = []
    for member in members(manifest.capabilities_node):
        if member.name == name:
            found.append(Occurrence(*_inside(document, member.name_start, member.name_end), "capability"))
        stated = string(member.value, "id")
        if stated is not None and stated.value == name:
            found.append(Occurrence(*_inside(document, stated.start, stated.end), "id"))
    found += uses_of(manifest, name)
    return _named("capability", name, offset, found, frozenset(manifest.capabilities))


def _in_resource(manifest: Manifest, resource: Resource, offset: int) -> Named | None:
    for operation in resource.operations:
        target = operation.capability_id
        if target is not None and target.start <= offset <= target.end:
            return _capability(manifest, str(target.value), offset)
    pattern = resource.uri_pattern
    if pattern is None or not pattern.start <= offset <= pattern.end:
        return None
    return _parameter_named(manifest, _called(manifest, resource), offset, resource)


# Parameters


def _called(manifest: Manifest, resource: Resource) -> list[Capability]:
    """The capabilities a resource uses, each once."""
    ids = dict.fromkeys(str(each.capability_id.value) for each in resource.operations if each.capability_id)
    return [manifest.capabilities[each] for each in ids if each in manifest.capabilities]


def _parameter_named(
    manifest: Manifest, capabilities: list[Capability], offset: int, resource: Resource | None = None
) -> Named | None:
    """The parameter named at `offset` in one of `capabilities`, or in the `uriPattern` they share.

    A variable of a `uriPattern` is one name in all capabilities of the resource whose templates have it.
    """
    document = manifest.document
    own = list(_in_pattern(document, resource)) if resource else []
    for capability in [None, *capabilities]:
        sites = _inner_sites(document, capability) if capability else own
        here = next((each for each in sites if each.mention.start <= offset <= each.mention.end), None)
        if here is not None:
            break
    else:
        return None
    name = here.names if isinstance(here.names, str) else here.names[-1]
    found = {each.mention for each in own if each.names == here.names}
    taken: set[str] = set()
    first = [capability] if capability else [each for each in capabilities if name in _variables(each)]
    for each, meant in _sharing(manifest, first, here.names):
        found |= {site.mention for site in _sites(manifest, each) if site.names in meant}
        taken |= _taken(each, meant)
    named = _named("parameter", name, offset, list(found), frozenset(taken))
    if named is None or capability is None:
        return named
    return structs.replace(named, around=(capability.node.start, capability.node.end))


def _sharing(
    manifest: Manifest, capabilities: list[Capability], names: Path | str
) -> list[tuple[Capability, set[Path | str]]]:
    """The capabilities with those that share the name by a `uriPattern`, and what each of them calls it."""
    found = {id(each): (each, _same(each, names)) for each in capabilities}
    pending = list(found.values())
    while pending:
        capability, meant = pending.pop()
        for resource in resources_of(manifest, capability.name):
            pattern = pattern_of(resource)
            words = {each.name for each in pattern.variables} & meant if pattern else set()
            for other in _called(manifest, resource) if words else ():
                shared = words & _variables(other)
                if shared and id(other) not in found:
                    found[id(other)] = (other, set().union(*(_same(other, word) for word in shared)))
                    pending.append(found[id(other)])
    return list(found.values())


def _variables(capability: Capability) -> set[Path | str]:
    return {each.name for each in capability.template.variables} if capability.template else set()


def _same(capability: Capability, names: Path | str) -> set[Path | str]:
    """A name with the other name of the same parameter, where it is the same word."""
    pointers = {each.member.name: pointed_at(capability, each.pointer) for each in capability.mapped.values()}
    if isinstance(names, str):
        path = pointers.get(names, (names,))
        return {names, path} if path and path[-1] == names else {names}
    last = names[-1]
    linked = pointers[last] == names if last in pointers else len(names) == 1
    return {names, last} if linked else {names}


def _taken(capability: Capability, meant: set[Path | str]) -> set[str]:
    """Name conflicts: names that a renamed parameter may not have."""
    taken: set[str] = set()
    for each in meant:
        if isinstance(each, str):
            taken |= set(request_names(capability))
            continue
        for part in schema_parts(capability):
            if part.path == each[:-1]:
                taken |= {member.name for member in members(value(part.node, "properties"))}
    return taken


def _sites(manifest: Manifest, capability: Capability) -> Iterator[_Site]:
    """Every mention of a parameter of one capability, the resources it serves included."""
    document = manifest.document
    yield from _inner_sites(document, capability)
    for resource in resources_of(manifest, capability.name):
        yield from _in_pattern(document, resource)


def _inner_sites(document: JsonDocument, capability: Capability) -> Iterator[_Site]:
    """Those within the capability itself: what lies under a cursor there, without a look at any resource."""
    for part in schema_parts(capability):
        for member in members(value(part.node, "properties")):
            mention = Occurrence(*_inside(document, member.name_start, member.name_end), "property")
            yield _Site((*part.path, member.name), mention)
        for item in required_items(part):
            mention = Occurrence(*_inside(document, item.start, item.end), "required")
            yield _Site((*part.path, str(item.value)), mention)
    for member in members(capability.mapping):
        mention = Occurrence(*_inside(document, member.name_start, member.name_end), "mapping")
        yield _Site(member.name, mention)
        if isinstance(member.value, Scalar) and isinstance(member.value.value, str):
            yield from _in_pointer(document, capability, member.value)
    for member in members(capability.location):
        mention = Occurrence(*_inside(document, member.name_start, member.name_end), "location")
        yield _Site(member.name, mention)
    yield from _in_template(document, capability.url_template, capability.template)


def _in_pointer(document: JsonDocument, capability: Capability, node: Scalar) -> Iterator[_Site]:
    """Mentions in a JSON Pointer, one for each step."""
    pointer = str(node.value)
    path = pointed_at(capability, pointer)
    at = 1
    for number, step in enumerate(pointer.split("/")[1:] if path else ()):
        if path and path[number] != ITEMS:
            start, end = within(document, node, at, at + len(step))
            yield _Site(path[: number + 1], Occurrence(start, end, "pointer"))
        at += len(step) + 1


def _in_template(document: JsonDocument, node: Scalar | None, template: Template | None) -> Iterator[_Site]:
    """Mentions in a URI template, one for each variable."""
    if node is None or template is None:
        return
    for variable in template.variables:
        start, end = within(document, node, variable.start, variable.start + len(variable.name))
        yield _Site(variable.name, Occurrence(start, end, "variable"))


def _in_pattern(document: JsonDocument, resource: Resource) -> Iterator[_Site]:
    return _in_template(document, resource.uri_pattern, pattern_of(resource))


# Both


def _named(
    kind: Literal["capability", "parameter"], name: str, offset: int, found: list[Occurrence], taken: frozenset[str]
) -> Named | None:
    ordered = sorted({(each.start, each.end): each for each in found}.values())
    here = next((each for each in ordered if each.start - 1 <= offset <= each.end + 1), None)
    return Named(kind, name, here, tuple(ordered), taken) if here else None


def _inside(document: JsonDocument, start: int, end: int) -> tuple[int, int]:
    """A string's range without its quotes."""
    text = document.text
    if text[start : start + 1] in ('"', "'"):
        start += 1
        if end > start and text[end - 1] == text[start - 1]:
            end -= 1
    return start, end
