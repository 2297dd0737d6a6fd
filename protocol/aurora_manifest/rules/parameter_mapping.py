"""Rules about template variables ↔ `parameterMapping` ↔ `parameters` (RFC 6901, AURA-P "How It Works")."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from aurora_manifest.edits import adding_item, adding_member, removing_member, spelt, writing
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Scalar
from aurora_manifest.json.pointers import PointerError, from_pointer, to_pointer
from aurora_manifest.json.value_text import described, quoted
from aurora_manifest.misspellings import Guesses
from aurora_manifest.model import Capability, Mapped, members, value, within
from aurora_manifest.rules.places import GUESSES, IGNORE, first_steps, mistaken, reach
from aurora_manifest.rules.registry import Path, RuleMatch, at, at_name, capability_rule
from aurora_manifest.rules.undeclared import adding_parameter
from aurora_manifest.templates import is_variable, placed

_LONE_TILDE = re.compile(r"~(?![01])")
_THROUGH_SCHEMA = (("parameters", "properties"), ("parameters",), ("properties",))
_JSON_PATH = re.compile(r"\$(?:\.[A-Za-z_][\w-]*)+")


@capability_rule("template-variable-unmapped", "warning")
def variable_unmapped(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A variable of `urlTemplate` is not a name in `parameterMapping`.

    Nothing fills it: it expands to nothing, and the request goes to another address.

    Bad: {"action": {"urlTemplate": "/notes/{note}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    node, mapping = capability.url_template, capability.mapping
    if node is None or mapping is None or mapping.broken:
        return
    variables = placed(capability.template)
    if variables.keys() <= mapping.value.keys():
        return
    lookalikes = mistaken(capability)
    for name, (_, variable, _) in variables.items():
        if name in mapping.value:
            continue
        start, end = within(document, node, variable.start, variable.start + len(name))
        meant = lookalikes.get(name)
        advice = f"; did you mean {quoted(meant)}?" if meant else ""
        fix: Fix | None
        if meant and not is_variable(meant):
            advice = f"; did you mean {quoted(meant)}, which no template can name?"
            fix = _renamed_key(capability, meant, name)
        elif meant:
            fix = Fix(f"Rename to {quoted(meant)}", (Edit(start, end, spelt(meant)[1:-1]),))
        elif other := _key_for(capability, name, variables):
            advice = f"; {quoted(other)} leads to the parameter of that name"
            fix = _renamed_key(capability, other, name)
        else:
            fix = _mapping_fix(capability, document, name) if name in capability.properties else None
        message = f'the variable {quoted(name)} is not in "parameterMapping"{advice}'
        yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


@capability_rule("mapping-pointer", "warning")
def pointer_syntax(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A value in `parameterMapping` is not a JSON Pointer (RFC 6901).

    A pointer begins with `/`, and in a name `~` is written `~0` and `/` is written `~1`.

    Bad: {"action": {"parameterMapping": {"text": "text"}}}
    Good: {"action": {"parameterMapping": {"text": "/text"}}}
    """
    for member in members(capability.mapping):
        path = (*capability.path, "action", "parameterMapping", member.name)
        node = member.value
        if member.name == IGNORE:
            continue
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            if node.start < node.end:
                yield at(
                    node, f"{quoted(member.name)} must be mapped to a JSON Pointer, not {described(node.value)}", path
                )
            continue
        try:
            from_pointer(node.value)
        except PointerError:
            pass
        else:
            continue
        lone = _LONE_TILDE.search(node.value)
        if node.value.startswith("/") and lone:
            start, end = within(document, node, lone.start(), lone.end())
            fix = Fix("Write ~0", tuple(_escaped(document, node)))
            yield RuleMatch(f'"~" must be written "~0" in a JSON Pointer: {quoted(node.value)}', path, start, end, fix)
        else:
            message = f'{quoted(node.value)} is not a JSON Pointer: begin it with "/"'
            yield at(node, message, path, writing(node, _as_pointer(node.value)))


@capability_rule("mapping-unknown-parameter", "warning")
def pointer_unresolvable(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A pointer in `parameterMapping` leads to no parameter.

    The client finds no argument there and leaves the value out. Schemas that allow more members than they name
    (`"additionalProperties": true`, `$ref`, `allOf`, …) are given the benefit of the doubt.

    Bad: {"action": {"parameterMapping": {"text": "/texts"}}}
    Good: {"action": {"parameterMapping": {"text": "/text"}}}
    """
    for each, wrong, meant in _astray(capability):
        advice = f"; did you mean {quoted(to_pointer(meant) if wrong is None else meant[wrong])}?" if meant else ""
        if not meant and capability.parameters is not None and value(capability.parameters, "properties") is None:
            advice = '; parameters belong into "properties", and "parameters" has none'
        fix = writing(each.member.value, to_pointer(meant)) if meant else None
        message = f"{quoted(each.pointer)} leads to no parameter{advice}"
        path = (*capability.path, "action", "parameterMapping", each.member.name)
        others = () if meant else tuple(_ways_to_lead(capability, document, each))
        yield at(each.member.value, message, path, fix, None, others)


def _ways_to_lead(capability: Capability, document: JsonDocument, astray: Mapped) -> Iterator[Fix]:
    """Choices for a pointer that leads nowhere: to have the parameter, or not to send it."""
    steps, mapping, name = astray.steps or (), capability.mapping, astray.member.name
    new = adding_parameter(document, capability, steps[0]) if len(steps) == 1 else None
    if new is not None:
        yield new
    if mapping is not None and name not in placed(capability.template):
        gone = removing_member(mapping, mapping.members.index(astray.member), f"Remove {quoted(name)}")
        if gone is not None:
            yield gone


def _astray(capability: Capability) -> Iterator[tuple[Mapped, int | None, tuple[str, ...] | None]]:
    """Pointers that lead to no parameter, each with the step that fails and the steps that were probably meant.

    None for the step where the pointer leads through the schema, as in `/properties/id`, and not into the arguments.
    """
    guesses, used = Guesses(GUESSES), set[str]()
    free: dict[tuple[str, ...], list[str]] = {}
    for each in capability.mapped.values():
        if each.steps is None or each.member.name == IGNORE:
            continue
        steps, reached = each.steps, reach(capability, each.steps)
        if not reached.known or reached.schema is not None or reached.in_array:
            continue
        used = used or first_steps(capability)
        place = steps[: reached.step]
        through = next((steps[len(lead) :] for lead in _THROUGH_SCHEMA if steps[: len(lead)] == lead), ())
        if through and through[0] in capability.properties and reach(capability, through).schema is not None:
            yield each, None, through
            continue
        if place not in free:
            free[place] = [name for name in reached.choices if name not in used]
        wrong = steps[reached.step]
        meant = guesses.closest(wrong, free[place], place, 0.6) or guesses.closest(
            wrong, reached.choices, ("all", place)
        )
        if meant is None and len(steps) == 1 and each.member.name in free[place]:
            meant = each.member.name  # it is mapped under the name of a parameter that nothing else leads to
        yield each, reached.step, (*place, meant, *steps[reached.step + 1 :]) if meant else None


@capability_rule("mapping-array-index", "warning")
def array_index(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A pointer goes into a list by something that is not an index.

    Items are counted from 0, without leading zeros (RFC 6901 §4); `-` is the place behind the last item, where there
    never is one.

    Bad: {"action": {"parameterMapping": {"text": "/tags/first"}}}
    Good: {"action": {"parameterMapping": {"text": "/tags/0"}}}
    """
    for each in capability.mapped.values():
        if each.steps is None or each.member.name == IGNORE:
            continue
        member, pointer, reached = each.member, each.pointer, reach(capability, each.steps)
        if not reached.in_array or not isinstance(member.value, Scalar):
            continue
        raw = pointer.split("/")[1:]
        wrong = raw[reached.step]
        first = sum(len(step) + 1 for step in raw[: reached.step]) + 1
        start, end = within(document, member.value, first, first + len(wrong))
        fix = None
        if wrong.isascii() and wrong.isdigit() and len(wrong) < 20:
            fix = Fix(f"Write {int(wrong)}", (Edit(start, end, str(int(wrong))),))
        if start == end:
            start, end = member.value.start, member.value.end
        message = f"{quoted(wrong)} is not an index into a list, in {quoted(pointer)}"
        yield RuleMatch(message, (*capability.path, "action", "parameterMapping", member.name), start, end, fix)


@capability_rule("parameter-unmapped", "info")
def parameter_unmapped(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """An optional parameter is not used by any pointer in `parameterMapping`.

    The agent gives it, and it is never sent.

    Bad: {"parameters": {"properties": {"colour": {"type": "string"}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "maxLength": 500}}}}
    """
    required = {each.value for each in capability.required}
    for name in _unmapped(capability):
        if name not in required:
            member = capability.properties[name]
            path = (*capability.path, "parameters", "properties", name)
            message = f"the parameter {quoted(name)} is never sent: no pointer leads to it"
            yield at_name(member, message, path, _mapping_fix(capability, document, name))


@capability_rule("required-parameter-unmapped", "warning")
def required_unmapped(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A required parameter is not used by any pointer in `parameterMapping`.

    Every agent has to give it, and it is never sent.

    Bad: {"parameters": {"required": ["id", "colour"], "properties": {"colour": {"type": "string"}}}}
    Good: {"parameters": {"required": ["id", "text"]}}
    """
    unmapped = set(_unmapped(capability))
    for index, node in enumerate(capability.required):
        name = str(node.value)
        if name in unmapped:
            unmapped.discard(name)
            path: Path = (*capability.path, "parameters", "required", index)
            message = f"the required parameter {quoted(name)} is never sent: no pointer leads to it"
            yield at(node, message, path, _mapping_fix(capability, document, name))


@capability_rule("path-variable-optional", "warning")
def path_variable_optional(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A variable in the path is filled by a parameter that may be left out.

    Without it, `/notes/{id}` becomes `/notes/`: another resource, and for DELETE perhaps all of them. Expressions that
    vanish as a whole (`{/id}`, `{.format}`) are fine, and so is a parameter with a `default`.

    Bad: {"action": {"urlTemplate": "/notes/{id}/{text}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}{/text}"}}
    """
    node, mapping = capability.url_template, capability.mapping
    if node is None or mapping is None or capability.parameters is None or capability.parameters.broken:
        return
    required = {each.value for each in capability.required}
    for name, (part, variable, operator) in placed(capability.template).items():
        if part != "path" or operator not in ("", "+"):
            continue
        source = capability.mapped.get(name)
        steps = source.steps if source else None
        if not steps or steps[0] in required or steps[0] not in capability.properties:
            continue
        schema = capability.properties[steps[0]].value
        if value(schema, "default") is not None:
            continue
        names = value(capability.parameters, "required")
        fix = None
        if names is None:
            fix = adding_member(document, capability.parameters, "required", [steps[0]])
        elif isinstance(names, Array):
            fix = adding_item(document, names, steps[0], f"Require {quoted(steps[0])}")
        start, end = within(document, node, variable.start, variable.end)
        message = f"the path needs {quoted(name)}, but the parameter {quoted(steps[0])} is optional"
        yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


def _unmapped(capability: Capability) -> list[str]:
    """Unused parameters: no pointer reads them, and no other rule tells why."""
    mapping = capability.mapping
    if mapping is None or mapping.broken or not capability.properties:
        return []
    used = first_steps(capability)
    if "" in used or any(each.steps is None for each in capability.mapped.values()):
        return []
    unused = [name for name in capability.properties if name not in used and name != IGNORE]
    if not unused:
        return []
    # Told where the pointer is, or the variable that is to be mapped.
    told = {meant[0] for _, wrong, meant in _astray(capability) if meant and not wrong}
    told |= placed(capability.template).keys() - mapping.value.keys()
    told |= {name for name, value in mapping.value.items() if not isinstance(value, str)}
    return [name for name in unused if name not in told]


def _mapping_fix(capability: Capability, document: JsonDocument, name: str) -> Fix | None:
    return adding_member(document, capability.mapping, name, to_pointer((name,)), f"Map {quoted(name)}")


def _key_for(capability: Capability, name: str, variables: Container[str]) -> str | None:
    """The mapped name that no variable has, and that leads to the parameter called `name`."""
    return next(
        (key for key, each in capability.mapped.items() if each.steps == (name,) and key not in variables), None
    )


def _renamed_key(capability: Capability, old: str, new: str) -> Fix:
    """Give a mapped name another one, also where it is placed."""
    named = [each for node in (capability.mapping, capability.location) for each in members(node) if each.name == old]
    return Fix(f"Map {quoted(new)}", tuple(Edit(each.name_start, each.name_end, spelt(new)) for each in named))


def _as_pointer(text: str) -> str:
    """Pointer that was probably meant: a fragment's, a JSONPath's, or a bare name's."""
    if text.startswith("#/"):
        text = text[1:]
    elif _JSON_PATH.fullmatch(text):
        text = text[1:].replace(".", "/")
    else:
        text = f"/{text}"
    return _LONE_TILDE.sub("~0", text)


def _escaped(document: JsonDocument, node: Scalar) -> Iterator[Edit]:
    for match in _LONE_TILDE.finditer(str(node.value)):
        start, end = within(document, node, match.start(), match.end())
        yield Edit(start, end, "~0")
