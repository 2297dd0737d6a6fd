"""Completion (IntelliSense): what can be written at a cursor: names, values, capability ids, variables, pointers, whole
parts (AURA-P).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from aurora_manifest.editing import offers
from aurora_manifest.editing.cursor import ManifestCursor, cursor_at
from aurora_manifest.editing.layout import indent_unit, line_end
from aurora_manifest.editing.offers import NEW, CompletionOffer, Kind, Where, described
from aurora_manifest.editing.parameters import pattern_of, request_names, resources_of
from aurora_manifest.editing.skeletons import NAME, member_tree
from aurora_manifest.editing.snippets import Hole, Writer
from aurora_manifest.edits import spelt
from aurora_manifest.findings import Edit
from aurora_manifest.json.document import Array, JsonDocument, Object
from aurora_manifest.json.value_text import sendable
from aurora_manifest.model import Manifest, members
from aurora_manifest.schema import manifest_schema
from aurora_manifest.schema_keywords import FOR_TYPES
from aurora_manifest.shape import SchemaShape
from aurora_manifest.templates import is_variable
from aurora_manifest.violations import SchemaCheck

_BEFORE = re.compile(r"[\w.%]*\Z")
_AFTER = re.compile(r"[\w.%]*")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[\w.%]+")
_LONGEST_NAME = 200


_TEMPLATES = (("urlTemplate",), ("uriPattern",))


class Proposal(Struct, frozen=True):
    """Completion item, one thing to write. `text` replaces `start` to `end`; it is a snippet where `snippet` says so.

    `filter` is what the user's typing is compared with. `more` are edits elsewhere that go with it: a missing comma.
    """

    label: str
    kind: Kind
    text: str
    start: int
    end: int
    filter: str
    snippet: bool = False
    detail: str = ""
    documentation: str = ""
    more: tuple[Edit, ...] = ()


def complete(manifest: Manifest, offset: int, *, snippets: bool = True) -> list[Proposal]:
    """Completion items for `offset`, the most likely first. `snippets` tells whether the client can fill in holes."""
    cursor = cursor_at(manifest.document, offset)
    if cursor is None:
        return []
    if cursor.document is not manifest.document:
        manifest = Manifest(cursor.document)
    where = Where(manifest, cursor)
    if cursor.role == "value" and cursor.place[-1:] in _TEMPLATES and _in_string(cursor):
        variables = list(_variables(where))
        if variables:
            return variables
    return _written(where, manifest_schema(), snippets)


def complete_by_schema(document: JsonDocument, schema: SchemaCheck, offset: int, *, snippets: bool) -> list[Proposal]:
    """As `complete`, for a document that is no manifest: names and values that its schema tells."""
    cursor = cursor_at(document, offset)
    return _written(Where(Manifest(cursor.document), cursor), schema, snippets) if cursor else []


def _written(where: Where, schema: SchemaCheck, snippets: bool) -> list[Proposal]:
    """Completion items for a cursor, ranked, each once."""
    cursor, text = where.cursor, where.cursor.document.text
    unit, end = indent_unit(text), line_end(text)
    if cursor.role == "value":
        found = sorted(_values(where, schema), key=lambda each: each.rank)
        return [_value(cursor, each, Writer(unit, end, snippets=snippets), snippets) for each in _once(found)]
    if not isinstance(cursor.container, Object):
        return []
    taken = {each.name for each in cursor.container.members if each is not cursor.member}
    if cursor.member is not None and cursor.typed in ("", cursor.member.name):
        taken.add("")  # a name that is just being begun is in the mapping, but no parameter
    found = sorted(_names(where, schema), key=lambda each: each.rank)
    wanted = [each for each in _once(found) if each.label not in taken]
    return [_name(cursor, each, Writer(unit, end, snippets=snippets), snippets) for each in wanted]


def _names(where: Where, schema: SchemaCheck) -> Iterator[CompletionOffer]:
    """Completion of property names: the manifest's own, then the schema's."""
    if schema is manifest_schema():
        yield from offers.names(where)
    path = where.cursor.path
    shape = schema.shapes.along(path)
    for name, inner in shape.members.items() if shape else ():
        needed = shape is not None and name in shape.needed
        tree = member_tree(where.manifest, path, name, inner, where.capability, where.resource)
        rank = 2 if needed else _rank_of_keyword(where, name, 4 if inner.kinds else 9)
        yield CompletionOffer(name, tree, "member", rank, "required" if needed else "optional", inner.description)


def _rank_of_keyword(where: Where, name: str, otherwise: int) -> int:
    """In a schema, keywords that say something of its `type` come first, and those that say nothing of it last."""
    container = where.cursor.container
    kind = container.value.get("type") if isinstance(container, Object) else None
    if where.capability is None or where.cursor.path[2:3] != ("parameters",) or not isinstance(kind, str):
        return otherwise
    fitting = FOR_TYPES.get(name, frozenset({"string"}) if name == "format" else frozenset())
    return otherwise if not fitting else 3 if kind in fitting else 10


def _values(where: Where, schema: SchemaCheck) -> Iterator[CompletionOffer]:
    """Completion of values: the manifest's own, then the schema's."""
    cursor, path = where.cursor, where.cursor.place
    is_manifest = schema is manifest_schema()
    if is_manifest:
        yield from offers.values(where, path)
    if cursor.container is None:
        label = "manifest" if is_manifest else "document"
        tree = member_tree(where.manifest, (), "", schema.shapes.root, None, None)
        yield CompletionOffer(label, tree, "snippet", detail="all of it")
        return
    shape = schema.shapes.along((*path, 0) if isinstance(cursor.container, Array) else path)
    if shape is not None:
        yield from _by_shape(where, shape)


def _by_shape(where: Where, shape: SchemaShape) -> Iterator[CompletionOffer]:
    """Completion by a schema: `enum` values, booleans, empty objects."""
    cursor, words = where.cursor, shape.description
    for choice in shape.choices:
        yield CompletionOffer(str(choice), choice, "choice", 2, documentation=words)
    if shape.choices:
        return
    if "boolean" in shape.kinds:
        for choice in ("true", "false"):
            yield CompletionOffer(choice, Hole(choice, bare=True), "choice", 3, documentation=words)
    more = "object" in shape.kinds or "array" in shape.kinds
    if more and cursor.member is not None and not _in_string(cursor):
        name = cursor.member.name
        tree = member_tree(where.manifest, cursor.path, name, shape, where.capability, where.resource)
        yield CompletionOffer("[…]" if shape.kinds == ("array",) else "{…}", tree, "snippet", 4, documentation=words)


def _variables(where: Where) -> Iterator[Proposal]:
    """Completion of template variables between braces."""
    slot = _slot_at(where.cursor)
    for each in _candidates(where) if slot else ():
        if slot is not None and each.name not in slot.used and is_variable(each.name):
            text = each.name if slot.closed else f"{each.name}}}"
            yield Proposal(
                each.name, "variable", text, slot.start, slot.end, each.name,
                detail=sendable(each.detail), documentation=sendable(each.documentation),
            )  # fmt: skip


def _once(found: list[CompletionOffer]) -> list[CompletionOffer]:
    """Each label once: a better rank comes before."""
    first: dict[str, CompletionOffer] = {}
    for each in found:
        first.setdefault(each.label, each)
    return list(first.values())


# The variables that can be named between the braces of a URI template (RFC 6570 §2.3)


class Slot(Struct, frozen=True):
    """Slot where a variable is being written. `used` are the template's other ones; `closed` tells of a brace behind
    it.
    """

    start: int
    end: int
    closed: bool
    used: frozenset[str]


class Candidate(Struct, frozen=True):
    """A variable that could be named."""

    name: str
    detail: str
    documentation: str


def _slot_at(cursor: ManifestCursor) -> Slot | None:
    """The place of a variable at the cursor; None outside of braces."""
    text = cursor.document.text
    before = text[cursor.start + 1 : cursor.offset]
    opening = before.rfind("{")
    if opening < 0 or "}" in before[opening:]:
        return None
    typed, after = _BEFORE.search(before[-_LONGEST_NAME:]), _AFTER.match(text, cursor.offset)
    start = cursor.offset - (len(typed[0]) if typed else 0)
    end = after.end() if after else cursor.offset
    closing, next_opening = text.find("}", end, cursor.end), text.find("{", end, cursor.end)
    closed = closing >= 0 and (next_opening < 0 or closing < next_opening)
    used = {name for each in _EXPRESSION.findall(text[cursor.start : cursor.end]) for name in _NAME.findall(each)}
    return Slot(start, end, closed, frozenset(used - {text[start:end]}))


def _candidates(where: Where) -> Iterator[Candidate]:
    """The parameters of the capability, or of those that the resource's operations call."""
    if where.capability is not None:
        capability = where.capability
        names = [*(each.name for each in members(capability.mapping)), *capability.properties]
        for resource in resources_of(where.manifest, capability.name):
            pattern = pattern_of(resource)
            names += (each.name for each in pattern.variables) if pattern else ()
        for name in dict.fromkeys(names):
            yield Candidate(name, "parameter", described(capability, name))
    elif where.resource is not None:
        found: dict[str, Candidate] = {}
        for operation in where.resource.operations:
            called = str(operation.capability_id.value) if operation.capability_id else ""
            used = where.manifest.capabilities.get(called)
            for name in (*request_names(used), *used.properties) if used else ():
                found.setdefault(name, Candidate(name, f"parameter of {called}", described(used, name)))
        yield from found.values()


# From an offer to the text that is put in


def _name(cursor: ManifestCursor, offer: CompletionOffer, writer: Writer, snippets: bool) -> Proposal:
    name = spelt(offer.label)
    if cursor.colon_after:
        return _proposal(cursor, offer, name, name, snippet=False)
    shown = writer.value(Hole(offer.label, link=NAME)) if offer.label in NEW else writer.text(name)
    return _proposal(cursor, offer, f"{shown}: {writer.value(offer.tree)}", name, snippet=snippets)


def _value(cursor: ManifestCursor, offer: CompletionOffer, writer: Writer, snippets: bool) -> Proposal:
    typed = spelt(offer.label) if isinstance(offer.tree, str) else offer.label
    text = writer.value(offer.tree)
    if cursor.document.text[cursor.start - 1 : cursor.start] == ":":
        text = f" {text}"
    return _proposal(cursor, offer, text, typed, snippet=snippets)


def _proposal(cursor: ManifestCursor, offer: CompletionOffer, text: str, typed: str, *, snippet: bool) -> Proposal:
    more = (Edit(cursor.comma_at, cursor.comma_at, ","),) if cursor.comma_at is not None else ()
    # Editors compare this with what stands in the range, which begins with the quote once one is typed.
    compared = typed if _in_string(cursor) else typed.strip('"')
    return Proposal(
        sendable(offer.label),
        offer.kind,
        f"{text}," if cursor.comma_after else text,
        cursor.start,
        cursor.end,
        sendable(compared),
        snippet,
        sendable(offer.detail),
        sendable(offer.documentation),
        more,
    )


def _in_string(cursor: ManifestCursor) -> bool:
    return cursor.document.text[cursor.start : cursor.start + 1] == '"'
