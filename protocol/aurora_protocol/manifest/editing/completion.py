"""What can be written at a cursor: names, values, capability ids, variables, pointers, whole parts (AURA-P)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from aurora_protocol.manifest.document import Array, Document, Object, Scalar
from aurora_protocol.manifest.editing.cursor import Cursor, cursor_at
from aurora_protocol.manifest.editing.parameters import (
    ITEMS,
    arguments,
    capability_around,
    pattern_of,
    request_names,
    resource_around,
    resources_of,
)
from aurora_protocol.manifest.editing.skeletons import (
    FORMATS,
    JSON_TYPES,
    LOCATIONS,
    capability_tree,
    location_of,
    member_tree,
    resource_tree,
)
from aurora_protocol.manifest.editing.snippets import Hole, Tree, Writer
from aurora_protocol.manifest.findings import Edit
from aurora_protocol.manifest.model import Capability, Manifest, Resource, members
from aurora_protocol.manifest.pointers import to_pointer
from aurora_protocol.manifest.schema import SCHEMA_ADDRESS, manifest_schema
from aurora_protocol.manifest.shape import Shape
from aurora_protocol.manifest.violations import SchemaCheck

Kind = Literal["member", "value", "choice", "reference", "variable", "snippet"]
"""What a proposal is, for its icon."""

Name = tuple[str, Tree, str, str, int, Kind]
"""A name to propose: its value, detail, documentation, rank, and what it is."""

_INDENT = re.compile(r"\n([ \t]+)\S")
_TEMPLATES = ("urlTemplate", "uriPattern")
_NAME_BEFORE = re.compile(r"[\w.%]*\Z")
_NAME_AFTER = re.compile(r"[\w.%]*")


class Proposal(Struct, frozen=True):
    """One thing to write. `text` replaces `start` to `end`; it is a snippet where `snippet` says so.

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
    rank: int = 5
    more: tuple[Edit, ...] = ()


def complete(manifest: Manifest, offset: int, *, snippets: bool = True) -> list[Proposal]:
    """What can be written at `offset`, the most likely first. `snippets` tells whether the client can fill in holes."""
    cursor = cursor_at(manifest.document, offset)
    if cursor is None:
        return []
    if cursor.document is not manifest.document:
        manifest = Manifest(cursor.document)
    proposals = list(_Completion(manifest, cursor, snippets, manifest_schema()).proposals())
    return sorted(proposals, key=lambda each: each.rank)


def complete_by_schema(document: Document, schema: SchemaCheck, offset: int, *, snippets: bool) -> list[Proposal]:
    """As `complete`, for a document that is no manifest: names and values its schema tells."""
    cursor = cursor_at(document, offset)
    if cursor is None:
        return []
    proposals = _Completion(Manifest(cursor.document), cursor, snippets, schema).proposals()
    return sorted(proposals, key=lambda each: each.rank)


def indent_unit(document: Document) -> str:
    """One step of indentation as the text has it: that of its first indented line; two spaces when it has none."""
    match = _INDENT.search(document.text, 0, 10_000)
    return match[1] if match else "  "


def line_end(document: Document) -> str:
    """The text's line end: that of its first line."""
    first = document.text.find("\n")
    if first < 0:
        return "\r" if "\r" in document.text else "\n"
    return "\r\n" if document.text[first - 1 : first] == "\r" else "\n"


def shape_at(path: Iterable[str | int], schema: SchemaCheck | None = None) -> Shape | None:
    """What a schema, that of manifests unless another is named, says of a place; None where it says nothing."""
    shape: Shape | None = (schema or manifest_schema()).shapes.root
    for step in path:
        if shape is None:
            return None
        shape = shape.items if isinstance(step, int) else shape.members.get(step, shape.others)
    return shape


class _Completion:
    """The proposals for one cursor."""

    def __init__(self, manifest: Manifest, cursor: Cursor, snippets: bool, schema: SchemaCheck) -> None:
        self.manifest = manifest
        self.schema = schema
        self.is_manifest = schema is manifest_schema()
        self.cursor = cursor
        self.snippets = snippets
        self.capability: Capability | None = None
        self.resource: Resource | None = None
        if not self.is_manifest:
            return
        if cursor.path[:1] == ("capabilities",) and len(cursor.path) > 1:
            self.capability = capability_around(manifest, cursor.offset)
        elif cursor.path[:1] == ("resources",) and len(cursor.path) > 1:
            self.resource = resource_around(manifest, cursor.offset)

    def proposals(self) -> Iterator[Proposal]:
        if self.cursor.role == "name":
            yield from self.names()
        else:
            yield from self.values()

    # Names

    def names(self) -> Iterator[Proposal]:
        cursor = self.cursor
        if not isinstance(cursor.container, Object):
            return
        taken = {each.name for each in cursor.container.members if each is not cursor.member}
        if cursor.member is not None and cursor.typed in ("", cursor.member.name):
            taken.add("")  # a name that is just being begun is in the mapping, but no parameter
        for name, tree, detail, documentation, rank, kind in self.known_names():
            if name not in taken:
                yield self.name(name, tree, detail, documentation, rank, kind)

    def known_names(self) -> Iterator[Name]:
        if self.is_manifest:
            yield from self.protocol_names()
        path = self.cursor.path
        shape = shape_at(path, self.schema)
        if shape is None:
            return
        for name, inner in shape.members.items():
            needed = name in shape.needed
            known = member_tree(self.manifest, path, name, inner, self.capability, self.resource)
            rank = 2 if needed else (9 if not inner.kinds else 4)
            yield name, known, "required" if needed else "optional", inner.description, rank, "member"

    def protocol_names(self) -> Iterator[Name]:
        """Names that the manifest itself tells: capabilities that are used, parameters, variables."""
        path, capability = self.cursor.path, self.capability
        inside = path[2:]
        if path == ("capabilities",):
            yield from self.whole_capabilities()
        elif path == ("resources",):
            yield from self.whole_resources()
        elif capability is not None and inside == ("action", "parameterMapping"):
            by_name = {each.path[-1]: each for each in reversed(arguments(capability))}
            for name in dict.fromkeys([*request_names(capability), *capability.properties]):
                found = by_name.get(name)
                pointer: Tree = _pointer(found.path) if found else Hole(to_pointer((name,)))
                yield name, pointer, "parameter", _described(capability, name), 1, "variable"
        elif capability is not None and inside == ("action", "parameterLocation"):
            for name in dict.fromkeys([*request_names(capability), *capability.properties]):
                where = location_of(capability, name)
                others = tuple(each for each in LOCATIONS if each != where)
                yield name, Hole(where, (where, *others)), "parameter", _described(capability, name), 1, "variable"
        elif capability is not None and inside == ("parameters", "properties"):
            for name in request_names(capability):
                tree: Tree = {"type": Hole("string", JSON_TYPES), "description": Hole()}
                yield name, tree, "used by the request", "", 1, "variable"

    def whole_capabilities(self) -> Iterator[Name]:
        for name, uses in self.manifest.uses.items():
            if name not in self.manifest.capabilities:
                tree = capability_tree(name, uses[0])
                yield (
                    name,
                    tree,
                    f"used by {uses[0].resource.name}",
                    "A capability that is used and not defined.",
                    1,
                    "snippet",
                )
        shape = shape_at(("capabilities", ""))
        words = shape.description if shape else ""
        yield "new_capability", capability_tree("new_capability", None), "a whole capability", words, 3, "snippet"

    def whole_resources(self) -> Iterator[Name]:
        shape = shape_at(("resources", ""))
        words = shape.description if shape else ""
        unused = [each for each in self.manifest.capabilities.values() if each.name not in self.manifest.uses]
        for capability in unused:
            tree = resource_tree(self.manifest, capability)
            detail = f"a resource for the capability {capability.name}"
            yield f"{capability.name}_resource", tree, detail, words, 3, "snippet"
        yield "new_resource", resource_tree(self.manifest, None), "a whole resource", words, 2, "snippet"

    def name(self, name: str, tree: Tree, detail: str, documentation: str, rank: int, kind: Kind) -> Proposal:
        cursor, spelt = self.cursor, json.dumps(name, ensure_ascii=False)
        writer = self.writer()
        if cursor.colon_after:
            text, snippet = spelt, False
        else:
            shown = (
                f'"{writer._hole(Hole(name))}"' if kind == "snippet" and name.startswith("new_") else writer.text(spelt)
            )
            text, snippet = f"{shown}: {writer.value(tree)}", self.snippets
        return self.proposal(name, kind, text, spelt, snippet, detail, documentation, rank)

    # Values

    def values(self) -> Iterator[Proposal]:
        cursor, path = self.cursor, self.cursor.place
        last = path[-1] if path else ""
        if cursor.member is not None and last in _TEMPLATES and self.in_string():
            variables = list(self.variables())
            if variables:
                yield from variables
                return
        if self.is_manifest:
            yield from self.protocol_values(path)
        in_list = isinstance(cursor.container, Array)
        shape = shape_at((*path, 0) if in_list else path, self.schema)
        if cursor.container is None:
            tree = member_tree(self.manifest, (), "", shape, None, None)
            yield self.value(tree, "manifest" if self.is_manifest else "document", "snippet", "all of it", "", 1)
        elif shape is not None:
            yield from self.schema_values(shape)

    def schema_values(self, shape: Shape) -> Iterator[Proposal]:
        words = shape.description
        for choice in shape.choices:
            yield self.value(choice, str(choice), "choice", "", words, 2)
        if shape.choices:
            return
        if "boolean" in shape.kinds:
            yield self.value(Hole("true", bare=True), "true", "choice", "", words, 3)
            yield self.value(Hole("false", bare=True), "false", "choice", "", words, 3)
        if (
            ("object" in shape.kinds or "array" in shape.kinds)
            and not self.in_string()
            and self.cursor.member is not None
        ):
            parent = self.cursor.path
            tree = member_tree(self.manifest, parent, self.cursor.member.name, shape, self.capability, self.resource)
            label = "[…]" if shape.kinds == ("array",) else "{…}"
            yield self.value(tree, label, "snippet", "", words, 4)

    def protocol_values(self, path: tuple[str | int, ...]) -> Iterator[Proposal]:
        capability, last = self.capability, path[-1] if path else ""
        if path == ("$schema",):
            yield self.value(SCHEMA_ADDRESS, SCHEMA_ADDRESS, "value", "the published schema", "", 1)
        elif path[:1] == ("resources",) and last == "capabilityId":
            yield from self.capability_ids()
        elif last == "uriPattern" and self.resource is not None:
            uses = {str(each.capability_id.value) for each in self.resource.operations if each.capability_id}
            for each in (self.manifest.capabilities.get(use) for use in sorted(uses)):
                if each is not None and each.url_template is not None:
                    text = str(each.url_template.value).partition("{?")[0]
                    yield self.value(text, text, "value", f"where {each.name} is", "", 1)
        if capability is None:
            return
        inside = path[2:]
        if inside == ("id",):
            yield self.value(capability.name, capability.name, "reference", "the name it stands under", "", 1)
        elif inside == ("action", "urlTemplate"):
            for resource in resources_of(self.manifest, capability.name):
                if resource.uri_pattern is not None:
                    text = str(resource.uri_pattern.value)
                    yield self.value(text, text, "value", f"where {resource.name} is", "", 1)
        elif len(inside) == 3 and inside[:2] == ("action", "parameterMapping"):
            yield from self.pointers(capability, str(last))
        elif len(inside) == 3 and inside[:2] == ("action", "parameterLocation"):
            best = location_of(capability, str(last))
            for where in LOCATIONS:
                yield self.value(where, where, "choice", "", "", 1 if where == best else 2)
        elif inside[:1] == ("parameters",):
            yield from self.schema_words(inside)

    def capability_ids(self) -> Iterator[Proposal]:
        method = str(self.cursor.path[-1]) if self.cursor.path else ""
        for each in self.manifest.capabilities.values():
            same = each.method is not None and each.method.value == method
            words = str(each.description.value) if each.description else ""
            unused = each.name not in self.manifest.uses
            yield self.value(
                each.name, each.name, "reference", _request_line(each), words, (1 if unused else 2) if same else 3
            )

    def pointers(self, capability: Capability, name: str) -> Iterator[Proposal]:
        for each in arguments(capability):
            pointer = _pointer(each.path)
            rank = 1 if each.path[-1] == name else 1 + len(each.path)
            yield self.value(pointer, pointer, "variable", "", _description(each.member.value), rank)

    def schema_words(self, inside: tuple[str | int, ...]) -> Iterator[Proposal]:
        """Values inside a parameter schema whose meaning the schema of manifests leaves to JSON Schema."""
        if _is_name(inside):
            return
        container = self.cursor.container
        match inside[-1]:
            case "type" if isinstance(container, Object):
                for each in JSON_TYPES:
                    yield self.value(each, each, "choice", "", "", 1)
            case "format":
                for each in FORMATS:
                    yield self.value(each, each, "choice", "", "", 1)
            case "required" if isinstance(container, Array):
                node, _ = self.cursor.document.follow(self.cursor.path[:-1])
                given = {each.value for each in container.items if isinstance(each, Scalar) and not self.is_here(each)}
                properties = node.member("properties") if isinstance(node, Object) else None
                for member in members(properties.value if properties else None):
                    if member.name not in given:
                        words = _description(member.value)
                        yield self.value(member.name, member.name, "variable", "parameter", words, 1)
            case "default" if isinstance(container, Object):
                choices = container.member("enum")
                items = choices.value.items if choices and isinstance(choices.value, Array) else []
                for item in items:
                    if isinstance(item, Scalar) and isinstance(item.value, str):
                        yield self.value(item.value, item.value, "choice", "", "", 1)

    def variables(self) -> Iterator[Proposal]:
        """Variables of a URI template, where the cursor is between braces."""
        cursor, text = self.cursor, self.cursor.document.text
        before = text[cursor.start + 1 : cursor.offset]
        opening = before.rfind("{")
        if opening < 0 or "}" in before[opening:]:
            return
        typed = _NAME_BEFORE.search(before)
        start = cursor.offset - (len(typed[0]) if typed else 0)
        after = _NAME_AFTER.match(text, cursor.offset)
        end = after.end() if after else cursor.offset
        closing, next_opening = text.find("}", end, cursor.end), text.find("{", end, cursor.end)
        closed = closing >= 0 and (next_opening < 0 or closing < next_opening)
        used = set(re.findall(r"[\w.%]+", " ".join(re.findall(r"\{([^{}]*)\}", text[cursor.start : cursor.end]))))
        used.discard(text[start:end])
        for rank, (name, detail, words) in enumerate(self.variable_names()):
            if name not in used:
                yield Proposal(
                    name, "variable", name if closed else f"{name}}}", start, end, name,
                    detail=detail, documentation=words, rank=rank,
                )  # fmt: skip

    def variable_names(self) -> Iterator[tuple[str, str, str]]:
        if self.capability is not None:
            capability = self.capability
            names = [each.name for each in members(capability.mapping)] + list(capability.properties)
            for resource in resources_of(self.manifest, capability.name):
                pattern = pattern_of(resource)
                names += (each.name for each in pattern.variables) if pattern else ()
            for name in dict.fromkeys(names):
                yield name, "parameter", _described(capability, name)
        elif self.resource is not None:
            found: dict[str, tuple[str, str, str]] = {}
            for operation in self.resource.operations:
                used = (
                    self.manifest.capabilities.get(str(operation.capability_id.value))
                    if operation.capability_id
                    else None
                )
                for name in [*request_names(used), *used.properties] if used else ():
                    found.setdefault(name, (name, f"parameter of {used.name}" if used else "", _described(used, name)))
            yield from found.values()

    # Pieces

    def value(self, tree: Tree, label: str, kind: Kind, detail: str, documentation: str, rank: int) -> Proposal:
        writer = self.writer()
        spelt = json.dumps(label, ensure_ascii=False) if isinstance(tree, str) else label
        return self.proposal(label, kind, writer.value(tree), spelt, self.snippets, detail, documentation, rank)

    def proposal(
        self, label: str, kind: Kind, text: str, spelt: str, snippet: bool, detail: str, documentation: str, rank: int
    ) -> Proposal:
        cursor = self.cursor
        more = (Edit(cursor.comma_at, cursor.comma_at, ","),) if cursor.comma_at is not None else ()
        # Editors compare the filter with what stands in the range, which begins with the quote once one is typed.
        quoted = cursor.document.text[cursor.start : cursor.start + 1] == '"'
        if cursor.role == "value" and cursor.document.text[cursor.start - 1 : cursor.start] == ":":
            text = f" {text}"
        return Proposal(
            label, kind, f"{text}," if cursor.comma_after else text, cursor.start, cursor.end,
            spelt if quoted else spelt.strip('"'), snippet, detail, documentation, rank, more,
        )  # fmt: skip

    def writer(self) -> Writer:
        return Writer(indent_unit(self.cursor.document), line_end(self.cursor.document), snippets=self.snippets)

    def in_string(self) -> bool:
        return self.cursor.document.text[self.cursor.start : self.cursor.start + 1] == '"'

    def is_here(self, node: Scalar) -> bool:
        return node.start == self.cursor.start


def _is_name(inside: tuple[str | int, ...]) -> bool:
    """Whether the last step within `parameters` names an argument (`properties/type`), not a keyword."""
    names = False
    for step in inside[:-1]:
        names = step == "properties" and not names
    return names


def _pointer(path: tuple[str, ...]) -> str:
    return to_pointer(0 if step == ITEMS else step for step in path)


def _described(capability: Capability | None, name: str) -> str:
    member = capability.properties.get(name) if capability else None
    return _description(member.value) if member else ""


def _description(node: object) -> str:
    words = node.value.get("description") if isinstance(node, Object) else None
    return words if isinstance(words, str) else ""


def _request_line(capability: Capability) -> str:
    parts = (capability.method, capability.url_template)
    return " ".join(str(each.value) for each in parts if each is not None)
