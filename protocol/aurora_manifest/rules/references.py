"""Rules about references within a manifest (undefined and unused capabilities): what one part says of another (AURA-P
"Core Concepts").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from aurora_manifest.edits import renaming, spelt, writing
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument, Object
from aurora_manifest.json.value_text import alternatives, quoted
from aurora_manifest.model import Capability, Operation, Resource, within
from aurora_manifest.rules.registry import RuleMatch, at, at_name, manifest_rule, resource_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.rules.template_paths import RUBY_VARIABLE, told_path
from aurora_manifest.rules.templates import ROUTER_STEP
from aurora_manifest.rules.undeclared import adding_capability
from aurora_manifest.templates import Template, parse_template
from aurora_protocol.spelling import closest

METHODS = ("GET", "POST", "PUT", "DELETE")

_ORIGIN = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#{]*")


@manifest_rule("manifest-undefined-capability", "error", decides=True)
def undefined_capability(subject: Subject) -> Iterator[RuleMatch]:
    """An operation names a capability that `capabilities` does not have.

    Nothing is told where `capabilities` is missing or could not be read in full: that is another rule's affair.

    Bad: {"resources": {"notes": {"operations": {"GET": {"capabilityId": "fetch_notes"}}}}}
    Good: {"resources": {"notes": {"operations": {"GET": {"capabilityId": "list_notes"}}}}}
    """
    capabilities = subject.manifest.capabilities_node
    if not isinstance(capabilities, Object) or capabilities.broken:
        return
    leading: dict[tuple[str | None, str | None], list[str]] = {}
    for operation in subject.manifest.operations:
        name = operation.target
        if name is None or name in capabilities.value or (target := operation.capability_id) is None:
            continue
        meant = subject.guesses.closest(name, capabilities.value.keys(), "capabilities")
        advice = f"; did you mean {quoted(meant)}?" if meant else ""
        new = None
        if meant is None:
            leading = leading or _leading(subject)
            meant = _going_there(leading, operation)
            advice = f"; {quoted(meant)} goes there" if meant else ""
            if operation.method in METHODS:
                new = adding_capability(subject.document, capabilities, operation, name)
        message = f'{quoted(name)} is not defined under "capabilities"{advice}'
        fix, others = writing(target, meant) if meant else None, (new,) if new is not None else ()
        yield at(target, message, (*operation.path, "capabilityId"), fix, None, others)


def _leading(subject: Subject) -> dict[tuple[str | None, str | None], list[str]]:
    """Names of the capabilities with each method and path."""
    found: dict[tuple[str | None, str | None], list[str]] = {}
    for each in subject.manifest.capabilities.values():
        found.setdefault((each.request[0], _leads_to(each)), []).append(each.name)
    return found


def _going_there(leading: dict[tuple[str | None, str | None], list[str]], operation: Operation) -> str | None:
    """The only capability that sends an operation's method to its resource's address."""
    place = _path_of(operation.resource.pattern) if operation.resource.pattern is not None else None
    there = leading.get((operation.method, place), []) if place is not None else []
    return there[0] if len(there) == 1 else None


@manifest_rule("capability-unreferenced", "info")
def unreferenced_capability(subject: Subject) -> Iterator[RuleMatch]:
    """No resource's operation runs this capability.

    Clients that walk the resources never come by it. Nothing is told when `resources` is empty, as it may be
    (AURA-P "Serve a Manifest"), or of a capability that an operation seems to mean but does not spell rightly.

    Bad: {"resources": {"notes": {"operations": {"GET": {"capabilityId": "update_note"}}}}}
    Good: {"resources": {"notes": {"operations": {"GET": {"capabilityId": "list_notes"}}}}}
    """
    manifest = subject.manifest
    if not manifest.resources or not isinstance(manifest.resources_node, Object) or manifest.resources_node.broken:
        return
    if any(operation.target is None for operation in manifest.operations):
        return
    known = manifest.capabilities.keys()
    meant = {subject.guesses.closest(name, known, "capabilities") for name in manifest.uses if name not in known}
    meant |= {other.name for _, _, other in _of_another_method(subject) if other is not None}
    for name, capability in manifest.capabilities.items():
        if name not in manifest.uses and name not in meant and isinstance(capability.node, Object):
            yield at_name(capability.member, f"no operation of a resource runs {quoted(name)}", capability.path)


@manifest_rule("operation-method", "warning")
def operation_method(subject: Subject) -> Iterator[RuleMatch]:
    """An operation stands under another method than its capability uses.

    The client sends the capability's method, whatever the resource promised.

    Bad: {"resources": {"notes": {"operations": {"POST": {"capabilityId": "list_notes"}}}}}
    Good: {"resources": {"notes": {"operations": {"GET": {"capabilityId": "list_notes"}}}}}
    """
    for operation, capability, other in _of_another_method(subject):
        method = str(capability.request[0])
        message = f"{quoted(capability.name)} is called with {method}, not {operation.method}"
        member = operation.member
        ways: list[Fix] = []
        if all(each.method != method for each in operation.resource.operations):
            ways.append(renaming(member.name_start, member.name_end, method))
        if other is not None and (target := operation.capability_id) is not None:
            message += f"; did you mean {quoted(other.name)}?"
            ways.insert(0, writing(target, other.name))
        first = ways[0] if ways else None
        yield RuleMatch(message, operation.path, member.name_start, member.name_end, first, None, tuple(ways[1:]))


def _of_another_method(subject: Subject) -> Iterator[tuple[Operation, Capability, Capability | None]]:
    """Operations under another method than their capability's, with the only capability that nobody runs and fits."""
    free: dict[tuple[str | None, str | None], list[Capability]] | None = None
    for operation, capability in _resolved(subject):
        method = capability.request[0]
        method = operation.method if method is None else method
        if method == operation.method or operation.method not in METHODS or method not in METHODS:
            continue
        if free is None:
            free = {}
            for each in subject.manifest.capabilities.values():
                if each.name not in subject.manifest.uses:
                    free.setdefault((each.request[0], _leads_to(each)), []).append(each)
        fitting = free.get((operation.method, _leads_to(capability)), [])
        yield operation, capability, fitting[0] if len(fitting) == 1 else None


@resource_rule("operation-unknown-method", "warning")
def unknown_method(resource: Resource, document: JsonDocument) -> Iterator[RuleMatch]:
    """An operation stands under a method that AURA 1.0 does not have.

    Bad: {"operations": {"PATCH": {"capabilityId": "update_note"}}}
    Good: {"operations": {"PUT": {"capabilityId": "update_note"}}}
    """
    for operation in resource.operations:
        name = operation.method
        if name in METHODS or name.startswith("x-") or closest(name, METHODS):
            continue
        yield at_name(
            operation.member, f"{quoted(name)} is not a method here: use {alternatives(METHODS)}", operation.path
        )


@manifest_rule("resource-uri-pattern", "warning")
def uri_pattern(subject: Subject) -> Iterator[RuleMatch]:
    """A resource's `uriPattern` and its capability's `urlTemplate` lead to different paths.

    What only a template has is not compared: its origin, its query and fragment, and how variables are expanded
    (`/notes{?limit}` fits `/notes`, `/notes{/id}` fits `/notes/{id}`). Told on the pattern when no operation
    fits, else on the template that is spelt much like it, or on the operation.

    Bad: {"resources": {"notes": {"uriPattern": "/all-notes"}}}
    Good: {"resources": {"notes": {"uriPattern": "/notes"}}}
    """
    for resource, operations in subject.manifest.by_resource:
        own = resource.pattern
        if own is None:
            continue
        other: list[tuple[Operation, Capability, str]] = []
        fitting = 0
        for operation in operations:
            capability = _capability(subject, operation)
            template = capability.request[1] if capability else None
            if capability is None or not template:
                continue
            if template == own or (path := _path_of(template)) is None:
                fitting += template == own
            elif path == _path_of(own) or _meant_path(path) == told_path(_path_of(own) or ""):
                fitting += 1
            else:
                other.append((operation, capability, path))
        if not other or _path_of(own) is None or (pattern := resource.uri_pattern) is None:
            continue
        if not fitting:
            paths = list(dict.fromkeys(path for _, _, path in other))
            message = f"{quoted(own)} is not where {quoted(other[0][1].name)} goes: {quoted(paths[0])}"
            fix = writing(pattern, paths[0]) if len(paths) == 1 and paths[0].startswith("/") else None
            yield at(pattern, message, ("resources", resource.name, "uriPattern"), fix)
            continue
        for operation, capability, path in other:
            target = operation.capability_id
            if (mend := _mended_template(subject, capability, path, own)) is not None:
                yield mend
            elif target is not None:
                message = f"{quoted(capability.name)} goes to {quoted(path)}, not to this resource's {quoted(own)}"
                yield at(target, message, (*operation.path, "capabilityId"))


def _mended_template(subject: Subject, capability: Capability, path: str, own: str) -> RuleMatch | None:
    """What to tell at a template that is spelt much like the pattern which others fit; None where it is not."""
    node, template = capability.url_template, capability.request[1]
    if node is None or template is None or template.count(path) != 1 or closest(path, [own], 0.8) is None:
        return None
    start, end = within(subject.document, node, template.index(path), template.index(path) + len(path))
    message = f"{quoted(path)} is not where the resource is that runs it: {quoted(own)}"
    fix = Fix(f"Write {quoted(own)}", (Edit(start, end, spelt(own)[1:-1]),))
    return RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


@manifest_rule("request-ambiguous", "info")
def same_request(subject: Subject) -> Iterator[RuleMatch]:
    """Two capabilities send the same method to the same path.

    Servers tell requests apart by method and path; of two capabilities with the same, one is probably a copy that was
    not finished.

    Bad: {"capabilities": {"update_note": {"action": {"method": "GET", "urlTemplate": "/notes"}}}}
    Good: {"capabilities": {"update_note": {"action": {"method": "PUT", "urlTemplate": "/notes/{id}"}}}}
    """
    first: dict[tuple[str, str], Capability] = {}
    for capability in subject.manifest.capabilities.values():
        method, template = capability.request
        if method is None or template is None:
            continue
        earlier = first.setdefault((method, template), capability)
        if earlier is not capability and (node := capability.url_template) is not None:
            message = f"{quoted(earlier.name)} sends {method} to {quoted(template)} as well"
            yield at(node, message, (*capability.path, "action", "urlTemplate"))


@manifest_rule("operation-repeats", "warning")
def same_operation(subject: Subject) -> Iterator[RuleMatch]:
    """Two resources have the same `uriPattern` and an operation of the same method.

    Clients look resources up by their address and take the first they find: the other operation is never seen.

    Bad: {"resources": {"all": {"uriPattern": "/notes", "description": "All.",
                                "operations": {"GET": {"capabilityId": "list_notes"}}}}}
    Good: {"resources": {"all": {"uriPattern": "/all-notes", "description": "All.", "operations": {}}}}
    """
    first: dict[tuple[str, str], Resource] = {}
    for resource, operations in subject.manifest.by_resource:
        if resource.pattern is None:
            continue
        for operation in operations:
            earlier = first.setdefault((resource.pattern, operation.method), resource)
            if earlier is not resource:
                message = f"{quoted(earlier.name)} has {operation.method} of {quoted(resource.pattern)} as well"
                yield at_name(operation.member, message, operation.path)


def _resolved(subject: Subject) -> Iterator[tuple[Operation, Capability]]:
    """Operations with the capability that each names, where it is defined (reference resolution)."""
    for operation in subject.manifest.operations:
        capability = _capability(subject, operation)
        if capability is not None:
            yield operation, capability


def _capability(subject: Subject, operation: Operation) -> Capability | None:
    return subject.manifest.capabilities.get(operation.target) if operation.target is not None else None


def _leads_to(capability: Capability) -> str | None:
    """The path of a capability's template, whatever it has of a query; the template itself where it is damaged."""
    template = capability.request[1]
    return None if template is None else _path_of(template) or template


def _meant_path(path: str) -> str:
    """A path as it would be without what other rules find in a template: no `/` at first, `:id`, `[id]`, `${id}`."""
    rooted = path if path.startswith("/") else f"/{path}"
    return told_path(ROUTER_STEP.sub(r"/{\1\2}", rooted.replace("${", "{")))


@lru_cache(maxsize=1024)
def _path_of(template: str) -> str | None:
    """The path a template leads to, as a pattern; None for one that is damaged."""
    template = RUBY_VARIABLE.sub(r"\1", template)  # `url-template-fragment` tells of it
    parsed: Template = parse_template(template)
    if parsed.mistakes:
        return None
    pieces: list[str] = []
    pos = 0
    for expression in parsed.expressions:
        pieces.append(template[pos : expression.start])
        pos = expression.end
        names = [f"{{{variable.name}}}" for variable in expression.variables]
        match expression.operator:
            case "?" | "&" | "#":
                continue
            case "/" | "." | ";" as separator:
                pieces += (f"{separator}{name}" for name in names)
            case _:
                pieces.append(",".join(names))
    pieces.append(template[pos:])
    path = _ORIGIN.sub("", "".join(pieces), count=1)
    return re.split(r"[?#]", path, maxsplit=1)[0] or "/"
