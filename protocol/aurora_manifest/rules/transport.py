"""Rules about how arguments travel (HTTP method, body, `encoding`, `parameterLocation`) (AURA-P "Core Concepts")."""

from __future__ import annotations

from collections.abc import Iterator

from aurora_manifest.edits import adding_member, removing_member, renaming, replacing, spelt, writing
from aurora_manifest.json.document import JsonDocument, Scalar
from aurora_manifest.json.value_text import alternatives, described, quoted
from aurora_manifest.misspellings import Guesses
from aurora_manifest.model import Capability, members
from aurora_manifest.rules.places import GUESSES, IGNORE
from aurora_manifest.rules.registry import RuleMatch, at, at_name, capability_rule
from aurora_manifest.rules.templates import ROUTER_STEP
from aurora_manifest.templates import placed
from aurora_protocol.spelling import OF_FEW, closest

LOCATIONS = ("path", "query", "header", "body")
BODILESS = ("GET", "DELETE")
_OTHER_WORDS = {"url": "path", "uri": "path", "params": "query", "search": "query"}
_OTHER_WORDS |= {"json": "body", "form": "body", "payload": "body"}


@capability_rule("body-without-meaning", "warning")
def body_on_get(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A GET or DELETE request is to carry a JSON body.

    HTTP gives such a body no meaning (RFC 9110 §9.3.1, §9.3.5): browsers cannot send it with GET, and proxies and
    servers drop it.

    Bad: {"action": {"method": "DELETE", "encoding": "json"}}
    Good: {"action": {"method": "DELETE", "encoding": "query"}}
    """
    method, encoding = capability.method, capability.encoding
    if method and encoding and encoding.value == "json" and method.value in BODILESS:
        message = f'{method.value} has no body: "json" sends the arguments where nobody reads them'
        yield at(encoding, message, (*capability.path, "action", "encoding"), writing(encoding, "query"))


@capability_rule("parameter-not-sent", "warning")
def goes_nowhere(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A mapped name has no place in the request.

    It is not a variable of `urlTemplate`, `parameterLocation` does not place it, and without `encoding` a GET or
    DELETE request has no other place for it.

    Bad: {"action": {"method": "GET"}}
    Good: {"action": {"method": "GET", "encoding": "query"}}
    """
    method, action, template = capability.method, capability.action, capability.template
    if method is None or action is None or method.value not in BODILESS or template is None or template.mistakes:
        return
    if not template.text:  # `url-template-relative` tells that
        return
    if action.broken or isinstance(action.value.get("encoding"), str):
        return
    variables = placed(template)
    located = capability.location.value if capability.location else {}
    routed = [match[1] or match[2] for match in ROUTER_STEP.finditer(template.text)]
    for member in members(capability.mapping):
        if member.name in routed:  # `url-template-colon` tells that
            continue
        if member.name not in variables and member.name not in located and member.name != IGNORE:
            fix = None if routed else adding_member(document, action, "encoding", "query")
            message = f'{quoted(member.name)} is never sent: it is not in the URL template and there is no "encoding"'
            yield at_name(member, message, (*capability.path, "action", "parameterMapping", member.name), fix)


@capability_rule("parameter-location", "warning")
def location_unknown(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A value in `parameterLocation` is not `path`, `query`, `header` or `body`.

    Bad: {"action": {"parameterLocation": {"text": "querystring"}}}
    Good: {"action": {"parameterLocation": {"text": "query"}}}
    """
    for member in members(capability.location):
        node = member.value
        if node.value in LOCATIONS or member.name == IGNORE or node.start == node.end:
            continue
        text = node.value if isinstance(node.value, str) else ""
        meant = _OTHER_WORDS.get(text.lower()) or closest(text, LOCATIONS, OF_FEW)
        shown = quoted(text) if isinstance(node.value, str) else described(node.value)
        message = f"{shown} is not a location: use {alternatives(LOCATIONS)}"
        path = (*capability.path, "action", "parameterLocation", member.name)
        yield at(node, message, path, writing(node, meant, loss_free=text.lower() == meant) if meant else None)


@capability_rule("parameter-location-conflict", "warning")
def location_conflict(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`parameterLocation` contradicts the URL template, the method or the `encoding`.

    A variable of the template's path is in the path, one of its query in the query; only the rest can be placed freely.
    `body` needs a method that has one, and no `"encoding": "query"`.

    Bad: {"action": {"parameterLocation": {"id": "query"}}}
    Good: {"action": {"parameterLocation": {"id": "path"}}}
    """
    template = capability.template
    if template is None or template.mistakes:
        return
    variables = placed(template)
    method = capability.method.value if capability.method else ""
    encoding = capability.encoding.value if capability.encoding else None
    for member in members(capability.location):
        node, name = member.value, member.name
        if not isinstance(node, Scalar) or node.value not in LOCATIONS:
            continue
        part = variables[name][0] if name in variables else None
        path = (*capability.path, "action", "parameterLocation", name)
        if part in ("path", "query") and node.value != part:
            message = f"{quoted(name)} is in the {part} of the URL template, not in the {node.value}"
            yield at(node, message, path, writing(node, part))
        elif part == "fragment":
            yield at(node, f"{quoted(name)} is in the fragment of the URL template, not in the {node.value}", path)
        elif node.value == "path" and part is None:
            meant = "body" if encoding == "json" and method not in BODILESS else "query"
            message = f"{quoted(name)} is not in the path of the URL template"
            yield at(node, message, path, writing(node, meant))
        elif node.value == "body" and method in BODILESS:
            yield at(node, f"{method} has no body to put {quoted(name)} in", path, writing(node, "query"))
        elif node.value == "body" and encoding == "query":
            message = f'{quoted(name)} cannot be in the body: the encoding is "query"'
            yield at(node, message, path, writing(node, "query"))


@capability_rule("parameter-location-unmapped", "warning")
def location_unmapped(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`parameterLocation` places a name that `parameterMapping` does not have.

    Bad: {"action": {"parameterLocation": {"txt": "body"}}}
    Good: {"action": {"parameterLocation": {"text": "body"}}}
    """
    location, mapping = capability.location, capability.mapping
    if location is None or mapping is None or mapping.broken:
        return
    if location.value.keys() <= mapping.value.keys():
        return
    guesses, free = Guesses(GUESSES), [each for each in mapping.value if each not in location.value]
    for member in location.members:
        if member.name in mapping.value or member.name == IGNORE:
            continue
        meant = guesses.closest(member.name, free, "names")
        advice = f"; did you mean {quoted(meant)}?" if meant else ""
        message = f'{quoted(member.name)} is not in "parameterMapping"{advice}'
        fix = renaming(member.name_start, member.name_end, meant) if meant else None
        turned = member.value.value
        if member.name in LOCATIONS and isinstance(turned, str) and turned in free:
            message = f"{message}; a name comes first, then its place"
            spelt_round = f"{spelt(turned)}: {spelt(member.name)}"
            fix = replacing(f"Write {spelt_round}", member.name_start, member.value.end, spelt_round)
        gone = removing_member(location, location.members.index(member), f"Remove {quoted(member.name)}")
        others = (gone,) if gone is not None else ()
        path = (*capability.path, "action", "parameterLocation", member.name)
        yield RuleMatch(message, path, member.name_start, member.name_end, fix, None, others)
