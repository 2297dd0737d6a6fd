"""Hover (tooltip): what is told of the thing under the cursor: the schema's words, who uses it, its request, the rules
it breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from aurora_manifest.editing.examples import Example, example_of
from aurora_manifest.editing.occurrences import Named, named_at
from aurora_manifest.editing.parameters import capability_around
from aurora_manifest.findings import Finding
from aurora_manifest.json.document import JsonDocument, NodePlace, Object, Scalar
from aurora_manifest.json.value_text import sendable
from aurora_manifest.model import Capability, Manifest
from aurora_manifest.schema import manifest_schema
from aurora_manifest.shape import SchemaShape
from aurora_manifest.violations import SchemaCheck

_RULES = 2
"""Rules explained at one place: more is a wall of text."""

_WITH_EXAMPLE = ((), ("action",), ("action", "urlTemplate"), ("action", "method"), ("action", "parameterMapping"))
"""Places of a capability where the request it makes is shown."""


class Hover(Struct, frozen=True):
    """Markdown, and the range it is about."""

    text: str
    start: int
    end: int


def hover_at(
    manifest: Manifest,
    offset: int,
    *,
    schema: SchemaCheck | None = None,
    findings: Iterable[Finding] = (),
    documentation: Callable[[str], str | None] = lambda rule: None,
) -> Hover | None:
    """Hover for the place; None where nothing is known of it.

    `schema` is that of manifests unless another is given. `findings` are what was found in this very text, and
    `documentation` gives a rule's Markdown.
    """
    document = manifest.document
    place = document.place(offset)
    broken = [each for each in findings if each.start <= offset <= max(each.end, each.start + 1)]
    sections = [_rule(each, documentation) for each in _once(broken)[:_RULES]]
    start, end = (broken[0].start, broken[0].end) if broken else (offset, offset)
    where = _range(place)
    if place is not None and where is not None:
        start, end = where
        own = schema is None or schema is manifest_schema()
        sections += _about(manifest, place, offset) if own else []
        sections.append(_by_schema(document, place, schema or manifest_schema()))
    text = "\n\n---\n\n".join(each for each in sections if each)
    return Hover(sendable(text), start, end) if text else None


def example_text(example: Example) -> str:
    """A request as a Markdown block, or why there is none."""
    if example.problem:
        return f"*No request can be made of it: {_plain(example.problem)}*"
    return f"Example request:\n\n{_fenced(example.text, 'http')}"


def _about(manifest: Manifest, place: NodePlace, offset: int) -> list[str]:
    """Sections from the manifest itself: the capability or parameter named here, and the request."""
    sections: list[str] = []
    named = named_at(manifest, offset)
    told: Capability | None = None
    if named is not None and named.kind == "capability":
        told = manifest.capabilities.get(named.name)
        sections.append(_capability(manifest, named.name, told))
    elif named is not None:
        sections.append(_parameter(manifest, named))
    inside = capability_around(manifest, offset) if place.path[:1] == ("capabilities",) else None
    if told is None and inside is not None and place.path[2:] in _WITH_EXAMPLE:
        told = inside
    if told is not None and told.action is not None:
        sections.append(example_text(example_of(manifest, told)))
    return sections


def _capability(manifest: Manifest, name: str, capability: Capability | None) -> str:
    """Hover text of a capability: its request, description, and uses."""
    if capability is None:
        return f"**{_plain(name)}** is not defined under `capabilities`."
    request = [str(each.value) for each in (capability.method, capability.url_template) if each is not None]
    lines = [f"**{_plain(name)}**" + (f" — {_code(' '.join(request))}" if request else "")]
    if capability.description:
        lines.append(_plain(str(capability.description.value)))
    uses = [f"{_code(each.resource.name)} ({_plain(each.method)})" for each in manifest.uses_of(name)]
    lines.append(f"used by {', '.join(uses)}" if uses else "*used by no resource*")
    return "\n\n".join(lines)


def _parameter(manifest: Manifest, named: Named) -> str:
    """Hover text of a parameter: its schema, and where it is named."""
    lines = [f"**{_plain(named.name)}** — parameter"]
    for each in named.definitions:
        if each.role != "property":
            continue
        found = manifest.document.place(each.start)
        schema = found.member.value if found and found.member else None
        described = _schema_in_words(schema) if isinstance(schema, Object) else ""
        if described:
            lines.append(described)
        break
    roles = {each.role for each in named.occurrences}
    places = {"required": "required", "variable": "in the address", "mapping": "mapped", "location": "placed by name"}
    told = [words for role, words in places.items() if role in roles]
    if told:
        lines.append(f"*{', '.join(told)}*")
    return "\n\n".join(lines)


def _schema_in_words(schema: Object) -> str:
    """Type, bounds and description of a schema, as Markdown."""
    facts = [
        f"{name} {_code(str(each))}" if name not in ("type", "format") else _code(str(each))
        for name, each in schema.value.items()
        if name in ("type", "format", "minimum", "maximum", "minLength", "maxLength", "pattern", "default", "enum")
        and not isinstance(each, dict)
    ]
    words = schema.value.get("description")
    return "\n\n".join([*([_plain(words)] if isinstance(words, str) else []), *([", ".join(facts)] if facts else [])])


def _by_schema(document: JsonDocument, place: NodePlace, schema: SchemaCheck) -> str:
    """Section from the schema about a member, where it names it."""
    path = place.path
    shape = schema.shapes.along(path)
    if shape is None or not shape.description:
        return ""
    around = schema.shapes.along(path[:-1])
    last = path[-1] if path else ""
    named = around is not None and isinstance(last, str) and last in around.members
    if not named:
        return shape.description if not path or not isinstance(last, int) else ""
    return "\n\n".join([f"**{_plain(str(last))}** — {_kind(shape, around, str(last))}", shape.description])


def _kind(shape: SchemaShape, around: SchemaShape | None, name: str) -> str:
    words = " or ".join(shape.kinds) or "any value"
    if shape.choices:
        words = ", ".join(_code(str(each)) for each in shape.choices)
    return f"{words}, required" if around is not None and name in around.needed else words


def _rule(finding: Finding, documentation: Callable[[str], str | None]) -> str:
    told = documentation(finding.rule)
    return f"**{finding.rule}** — {finding.severity}\n\n{told}" if told else ""


def _once(findings: list[Finding]) -> list[Finding]:
    return list({each.rule: each for each in findings}.values())


def _range(place: NodePlace | None) -> tuple[int, int] | None:
    if place is None:
        return None
    if place.in_name and place.member is not None:
        return place.member.name_start, place.member.name_end
    return (place.node.start, place.node.end) if isinstance(place.node, Scalar) else None


def _plain(text: str) -> str:
    """Text of the user's, so that Markdown shows it as it is on one line."""
    return "".join(
        f"\\{char}" if char in "\\`*_{}[]<>()#!|~" else char for char in " ".join(text[:1_000].split())[:500]
    )


def _code(text: str) -> str:
    """Inline code of Markdown, whatever backticks are in it."""
    shown = " ".join(text[:400].split())[:200]
    if "`" not in shown:
        return f"`{shown}`"
    fence = "`" * (max(map(len, re.findall("`+", shown))) + 1)
    return f"{fence} {shown} {fence}"


def _fenced(text: str, language: str) -> str:
    """Fenced code block of Markdown."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
