"""Rules about members of one's own (`x-` extensions, custom keys) (AURA-P "FAQ": prefer namespacing extensions)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeGuard

from aurora_manifest.edits import renaming
from aurora_manifest.json.document import Broken, Node, Object
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import value
from aurora_manifest.rules.registry import Path, RuleMatch, at_name, manifest_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.schema import manifest_schema

_ALLOWED = ("x-", "$comment")
_PLACES = {
    "root": "the manifest itself",
    "resource": "a resource",
    "operation": "an operation",
    "capability": "a capability",
    "action": "a capability's action",
    "policy": "the manifest's policy",
    "rateLimit": "the policy's rateLimit",
}
"""Where a member with a name of its own belongs, which its author may have put elsewhere."""


@manifest_rule("extension-name", "hint")
def unnamespaced(subject: Subject) -> Iterator[RuleMatch]:
    """A member of your own has a name that a later version of AURA may give a meaning to.

    Names that begin with `x-`, such as `x-your-org`, stay yours. A member that AURA knows in another place is told as
    that: mostly a brace is one too early or too late. Members of `parameters` are JSON Schema's affair and
    are not looked at.

    Bad: {"site": {"owner": "Ann"}}
    Good: {"site": {"x-owner": "Ann"}}
    """
    owners = _owners(_known())
    misspelt = {each.finding.start for each in subject.misspelt}
    known = _known()
    for path, node, names in _objects(subject, known):
        for member in node.members:
            name = member.name
            if (
                name in names
                or name.startswith(_ALLOWED)
                or member.name_start in misspelt
                or isinstance(member.value, Broken)
            ):
                continue
            fix = None
            if (place := _PLACES.get(owners.get(name, ""))) is not None:
                yield at_name(member, f"{quoted(name)} belongs to {place}, and has no meaning here", (*path, name))
                continue
            if name and name.isascii() and name.isprintable() and f"x-{name}" not in node.value:
                fix = renaming(member.name_start, member.name_end, f"x-{name}")
            message = f'{quoted(name)} is not a member AURA knows: name your own "x-…"'
            yield at_name(member, message, (*path, name), fix)


@cache
def _known() -> dict[str, frozenset[str]]:
    """Names that the schema knows, by kind of object."""
    root = manifest_schema().shapes
    shapes = {name: root.at(f"#/$defs/{name}") for name in ("resource", "operation", "capability", "action", "policy")}
    known = {name: frozenset(shape.members) for name, shape in shapes.items()}
    known["root"] = frozenset(root.root.members)
    known["site"] = frozenset(root.root.members["site"].members)
    known["rateLimit"] = frozenset(shapes["policy"].members["rateLimit"].members)
    return known


def _owners(known: dict[str, frozenset[str]]) -> dict[str, str]:
    """The kind of object that alone has a member, by the member's name."""
    kinds: dict[str, list[str]] = {}
    for kind, names in known.items():
        for name in names:
            kinds.setdefault(name, []).append(kind)
    return {name: found[0] for name, found in kinds.items() if len(found) == 1}


def _goes_beyond(node: Node | None, names: frozenset[str]) -> TypeGuard[Object]:
    """Whether it is an object that has other names, and some that are not allowed."""
    if not isinstance(node, Object) or node.value.keys() <= names:
        return False
    return any(name not in names and not name.startswith(_ALLOWED) for name in node.value)


def _objects(subject: Subject, known: dict[str, frozenset[str]]) -> Iterator[tuple[Path, Object, frozenset[str]]]:
    """Every object that has other members than the manifest's schema names."""
    manifest = subject.manifest
    places: list[tuple[Path, Node | None, str]] = [
        ((), subject.document.root, "root"),
        (("site",), manifest.site, "site"),
        (("policy",), manifest.policy, "policy"),
        (("policy", "rateLimit"), value(manifest.policy, "rateLimit"), "rateLimit"),
    ]
    for path, node, kind in places:
        if _goes_beyond(node, known[kind]):
            yield path, node, known[kind]
    # What the schema knows in full has no other names.
    for resource in manifest.resources:
        if id(resource.node.value) in subject.sound:
            continue
        if _goes_beyond(resource.node, known["resource"]):
            yield resource.path, resource.node, known["resource"]
        for operation in resource.operations:
            if _goes_beyond(operation.member.value, known["operation"]):
                yield operation.path, operation.member.value, known["operation"]
    for capability in manifest.capabilities.values():
        if id(capability.node.value) in subject.sound:
            continue
        if _goes_beyond(capability.node, known["capability"]):
            yield capability.path, capability.node, known["capability"]
        if _goes_beyond(capability.action, known["action"]):
            yield (*capability.path, "action"), capability.action, known["action"]
