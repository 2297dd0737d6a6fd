"""Rules about members of one's own (AURA-P "FAQ": prefer namespacing extensions)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from aurora_manifest.document import Broken, Node, Object
from aurora_manifest.edits import renaming
from aurora_manifest.model import value
from aurora_manifest.rules.registry import Found, Path, at_name, manifest_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.schema import manifest_schema
from aurora_manifest.value_text import quoted

_ALLOWED = ("x-", "$comment")


@manifest_rule("extension-name", "hint")
def unnamespaced(subject: Subject) -> Iterator[Found]:
    """A member of your own has a name that a later version of AURA may give a meaning to.

    Names that begin with `x-`, such as `x-your-org`, stay yours. Members of `parameters` are JSON Schema's affair and
    are not looked at.

    Bad: {"site": {"owner": "Ann"}}
    Good: {"site": {"x-owner": "Ann"}}
    """
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
            if name and name.isascii() and name.isprintable() and f"x-{name}" not in node.value:
                fix = renaming(member.name_start, member.name_end, f"x-{name}")
            message = f'{quoted(name)} is not a member AURA knows: name your own "x-…"'
            yield at_name(member, message, (*path, name), fix)


@cache
def _known() -> dict[str, frozenset[str]]:
    root = manifest_schema().shapes
    shapes = {name: root.at(f"#/$defs/{name}") for name in ("resource", "operation", "capability", "action", "policy")}
    known = {name: frozenset(shape.members) for name, shape in shapes.items()}
    known["root"] = frozenset(root.root.members)
    known["site"] = frozenset(root.root.members["site"].members)
    known["rateLimit"] = frozenset(shapes["policy"].members["rateLimit"].members)
    return known


def _goes_beyond(plain: dict[str, Any], names: frozenset[str]) -> bool:
    """Whether a plain object has other names, and some that are not allowed."""
    return not plain.keys() <= names and any(name not in names and not name.startswith(_ALLOWED) for name in plain)


def _any_beyond(objects: Any, names: frozenset[str]) -> bool:
    """Whether any member of a plain value is an object that goes beyond the names."""
    if not isinstance(objects, dict):
        return False
    return any(isinstance(each, dict) and _goes_beyond(each, names) for each in objects.values())


def _objects(subject: Subject, known: dict[str, frozenset[str]]) -> Iterator[tuple[Path, Object, frozenset[str]]]:
    """Every object whose members the manifest's schema names."""
    root, manifest = subject.document.root, subject.manifest
    places: list[tuple[Path, Node | None, str]] = [
        ((), root, "root"),
        (("site",), manifest.site, "site"),
        (("policy",), manifest.policy, "policy"),
        (("policy", "rateLimit"), value(manifest.policy, "rateLimit"), "rateLimit"),
    ]
    of_resource, of_operation = known["resource"], known["operation"]
    for resource in manifest.resources:
        plain = resource.node.value
        if not isinstance(plain, dict):
            continue
        if _goes_beyond(plain, of_resource):
            places.append((resource.path, resource.node, "resource"))
        if not resource.sound or _any_beyond(plain.get("operations"), of_operation):
            places.extend((each.path, each.member.value, "operation") for each in resource.operations)
    of_capability, of_action = known["capability"], known["action"]
    for capability in manifest.capabilities.values():
        plain = capability.node.value
        if not isinstance(plain, dict):
            continue
        if _goes_beyond(plain, of_capability):
            places.append((capability.path, capability.node, "capability"))
        action = plain.get("action")
        if isinstance(action, dict) and _goes_beyond(action, of_action):
            places.append(((*capability.path, "action"), capability.action, "action"))
    for path, node, kind in places:
        if isinstance(node, Object) and _goes_beyond(node.value, known[kind]):
            yield path, node, known[kind]
