"""Definitions of one file (symbols: functions, classes, methods), made of the captures of its tree-sitter query: what
each spans, what it is called and what it is inside of.

Query captures come as flat lists. One sweep over them in source order, with a stack of what is open, finds for every
name, body and docstring the definition around it. Nothing here walks the tree or recurses, so nesting costs no stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field
from tree_sitter import Node

from aurora_indexer.languages.language import CLASS_LIKE, Language
from aurora_indexer.parse import qualified_names
from aurora_indexer.parse.leading_comments import Captures, Leads
from aurora_indexer.parse.spans import Span
from aurora_memory.chunks import ChunkKind

# A definition that is a value under a name, `const f = () => …`, is of its value's kind. The value may stand in
# brackets or be told a type, at any depth, which a query cannot say: so node types are named here too.
_CAST = "type_assertion"
_AROUND = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", _CAST})

_VALUES = {
    "arrow_function": "function",
    "function_expression": "function",
    "generator_function": "function",
    "class": "class",
    "object": "members",
}

# By what is captured, and then by what the value is: what it would be captured as.
LABELS: dict[str, dict[str, str]] = {
    "valued": {"function": "function", "class": "class", "members": "scope"},
    "valued.default": {"function": "function", "class": "class"},
    "valued.member": {"function": "method.member", "members": "scope.member"},
    "valued.assigned": {"function": "function", "class": "class"},
    "valued.field": {"function": "method"},
}


def value_of(node: Node) -> tuple[Node, Node, str]:
    """The value of a definition as written, what is in its brackets and casts, and what that is, or nothing."""
    written = value = node.child_by_field_name("value") or node.child_by_field_name("right") or node
    while value.type in _AROUND and (inner := [child for child in value.named_children if child.type != "comment"]):
        value = inner[-1 if value.type == _CAST else 0]  # `<T>value`, `value as T`
    return written, value, _VALUES.get(value.type, "")


MAX_HEADER = 2000
"""Bytes of a header that are looked at for parameters and types."""

MAX_NESTING = 48
"""Definitions nested deeper belong to the text around them: hashing each with all it holds would cost the square."""

_KINDS: tuple[ChunkKind, ...] = (
    "class", "interface", "struct", "trait", "enum", "namespace", "macro", "method", "function", "type",
)  # fmt: skip
_HOLDERS = CLASS_LIKE | {"members"}
_FUNCTIONS = frozenset({"function", "method", "macro"})
CALLABLE = frozenset({"function", "method"})
"""Kinds of definitions that have parameters and return something."""

# Ranks order captures of equal span: what is around comes first. A body may be no more than the definition in it.
# What is unnamed is what stands before a value that is no definition: nothing there is a name.
(
    _UNNAMED, _WRAPPER, _BODY, _DEFINITION, _SCOPE, _MEMBERS, _NAME, _QUALIFIER, _FIELDS, _DOC
) = range(10)  # fmt: skip

_RANKS = {f"{kind}{condition}": _DEFINITION for kind in _KINDS for condition in ("", ".outer", ".member", ".named")} | {
    "scope": _SCOPE,
    "scope.member": _SCOPE,
    "members": _MEMBERS,
    "wrapper": _WRAPPER,
    "name": _NAME,
    "qualifier": _QUALIFIER,
    "fields": _FIELDS,
    "body": _BODY,
    "doc": _DOC,
}
"""Labels of captures in the outline; of two of the same span and rank the label that is first here counts."""

_NAMED = frozenset(label for label in _RANKS if label.endswith(".named"))

_BEFORE_WRAPPED = re.compile(rb"[\s\w*]{0,100}")
_AFTER_WRAPPED = re.compile(rb"[\s\w;*,]{0,200}")


class Docs(Struct, frozen=True):
    """Docstring's source: one string, or comments."""

    spans: tuple[Span, ...] = ()
    are_comments: bool = False


_NO_DOCS = Docs()

_CODE = re.compile(rb"\S")


class Definition(Struct, eq=False):
    """Definition, in bytes of the source. `start` includes leading comments, attributes and wrappers."""

    node: Node
    kind: ChunkKind
    start: int
    end: int
    head: int
    """Start of the signature: after leading comments, before `export`."""
    header_end: int
    """End of the signature: at the body."""
    named: int
    """Start of the name, which may stand behind the body (`typedef struct { … } name`)."""
    bracket: Span = (0, 0)
    """Spans that the signature leaves out: brackets that the value opens with."""
    floor: int = 0
    """What is before this, inside of the definition, does not belong to a definition within."""
    written: bytes = b""
    """The simple name as written."""
    name: str = ""
    """The qualified name."""
    parent_name: str | None = None
    around: Definition | None = None
    docs: Docs = _NO_DOCS
    inside: list[Span] = field(default_factory=list)
    """Spans of the definitions directly inside."""

    def header(self, bare: bytes) -> bytes:
        """Header: what stands before the body, as far as it is looked at."""
        return bare[self.head : min(self.header_end, self.head + MAX_HEADER)]


class _Region(Struct, eq=False):
    """Region of a definition: its syntax node, and what of its name and body was met."""

    node: Node
    kind: str
    start: int
    end: int
    around: _Region | None
    in_function: bool
    depth: int
    wrapped: Span | None = None
    name: Node | None = None
    qualifier: Node | None = None
    body: int = -1
    doc: Span | None = None
    path: str = ""
    definition: Definition | None = None


_Event = tuple[int, int, int, int, Node, str]
"""Start, minus end, rank, serial number, node and label of a capture: they sort as the source has them."""


class SourceOutline(Struct, eq=False):
    """Outline of a source file: its definitions in source order, and what documents the file itself."""

    definitions: list[Definition]
    scopes: list[tuple[int, int, str]]
    """Start, end and qualified name of regions that name what is in them without being definitions."""
    docs: Docs


def outline(
    language: Language, source: bytes, bare: bytes, captures: Captures, blanks: Sequence[Span] = ()
) -> SourceOutline:
    """Outline of a file.

    `bare` is the source with its comments blanked, byte for byte; `blanks` is what its grammar did not get to see.
    """
    events, brackets, values = _events(captures)
    regions, file_doc = _sweep(events, bare, values)
    definitions = _named(language, source, regions, brackets)
    leads = Leads(source, bare, captures, blanks)
    _attach(definitions, leads)
    scopes = [(r.start, r.end, r.path) for r in regions if r.kind == "scope" and r.path]
    return SourceOutline(definitions, scopes, _file_docs(captures, leads, file_doc, _first_code(bare, definitions)))


def _sweep(events: list[_Event], bare: bytes, values: set[Span]) -> tuple[list[_Region], Span | None]:
    """Sweep line over the captures, with a stack of open regions."""
    regions: list[_Region] = []
    top: _Region | None = None
    wrappers: list[Span] = []
    unnamed = 0
    file_doc: Span | None = None
    for start, negative_end, rank, _, node, label in events:
        end = -negative_end
        while top is not None and top.end <= start:
            top = top.around
        if start < unnamed and rank in (_NAME, _QUALIFIER, _FIELDS):
            continue
        if rank == _NAME:
            if top is not None and top.name is None:
                top.name = node
        elif rank == _BODY:
            if top is not None and top.body < 0:
                top.body = start
        elif rank == _QUALIFIER:
            if top is not None and top.qualifier is None:
                top.qualifier = node
        elif rank == _FIELDS:
            if top is not None and top.name is None:
                top.name = node.child_by_field_name("name")
            if top is not None and top.body < 0 and (body := node.child_by_field_name("body")) is not None:
                top.body = body.start_byte
        elif rank == _DOC:
            if top is not None:
                if start == top.body:
                    top.doc = (start, end)
            elif file_doc is None and not bare[:start].strip():
                file_doc = (start, end)
        elif rank == _UNNAMED:
            unnamed = end
        elif rank == _WRAPPER:
            wrappers.append((start, end))
        else:
            kind, _, condition = label.partition(".")
            if top is not None and (top.start, top.end) == (start, end) and top.kind in (*_KINDS, kind):
                continue
            if (condition == "member" and (top is None or top.kind not in _HOLDERS)) or (
                condition == "outer" and top is not None and top.in_function
            ):
                kind = ""
            if condition == "named" and top is not None and top.kind and (start, end) in values:
                continue
            depth = top.depth + 1 if top is not None else 0
            if depth >= MAX_NESTING:
                kind = ""
            in_function = kind in _FUNCTIONS or (top is not None and top.in_function)
            top = _Region(node, kind, start, end, top, in_function, depth)
            if rank == _DEFINITION and kind and wrappers:
                top.wrapped = _wrapped(wrappers, start, end, bare)
                wrappers.clear()
            regions.append(top)
    return regions, file_doc


def _wrapped(wrappers: list[Span], start: int, end: int, bare: bytes) -> Span | None:
    """The outermost wrapper that has next to nothing but the definition: after it, or at least before it."""
    for low, high in wrappers:
        if high >= end:
            if _AFTER_WRAPPED.fullmatch(bare, end, high):
                return low, high
            if _BEFORE_WRAPPED.fullmatch(bare, low, start):
                return low, end
    return None


def _events(captures: Captures) -> tuple[list[_Event], dict[Span, Span], set[Span]]:
    """Marks that open, name and end definitions, in order; the brackets around values, by what they define; and the
    spans of values.
    """
    events: list[_Event] = []
    brackets: dict[Span, Span] = {}
    values: set[Span] = set()

    def add(label: str, rank: int, node: Node, end: int) -> None:
        events.append((node.start_byte, -end, rank, len(events), node, label))

    for label, rank in _RANKS.items():
        for node in captures.get(label, ()):
            add(label, rank, node, node.end_byte)
    for valued, labels in LABELS.items():
        for node in captures.get(valued, ()):
            written, value, is_a = value_of(node)
            label = labels.get(is_a, "")
            if label:
                add(label, _DEFINITION, node, node.end_byte)
            else:
                add("", _UNNAMED, node, written.start_byte)
            if is_a == "members":
                add("members", _MEMBERS, value, value.end_byte)
            elif is_a:
                add("fields", _FIELDS, value, value.end_byte)
                values.add(value.byte_range)
            if value.start_byte > written.start_byte:
                brackets[node.byte_range] = (written.start_byte, value.start_byte)
    if captures.keys() & _NAMED:
        values.update(node.byte_range for node in captures.get("fields", ()))
    events.sort()
    return events, brackets, values


def _named(language: Language, source: bytes, regions: list[_Region], brackets: dict[Span, Span]) -> list[Definition]:
    """Definitions of the regions that have a name, qualified by what is around them."""
    definitions: list[Definition] = []
    namespaces: set[str] = set()
    unqualified = re.compile(language.unqualified)
    separator = re.compile(language.separator)
    for region in regions:
        around = region.around
        outer_path = around.path if around is not None else ""
        region.path = outer_path
        if around is not None:
            region.definition = around.definition
        if region.name is None and region.kind == "function":
            region.name = qualified_names.declared_function(region.node)
        if region.name is None or not region.kind or region.kind == "members":
            continue
        written = source[region.name.start_byte : region.name.end_byte]
        name = region.name
        if written[:1] == b"(":
            name = qualified_names.declared(region.name)
            written = source[name.start_byte : name.end_byte]
        segments = qualified_names.segments(written, separator)
        if region.kind == "function" and written.isupper() and not _is_class_like(language, around):
            segments = qualified_names.of_macro(region.node, written, source) or segments
        if not segments:
            continue
        parent = outer_path
        qualified = False
        if region.qualifier is not None:
            qualifier = unqualified.sub(
                "", qualified_names.flat(source[region.qualifier.start_byte : region.qualifier.end_byte])
            )
            qualified = bool(qualifier)
            parent = _joined(parent, qualifier)
        if len(segments) > 1:
            qualified = True
            parent = _joined(parent, ".".join(segments[:-1]))
        region.path = path = _joined(parent, segments[-1])
        if region.kind == "scope":
            continue
        kind = region.kind
        if kind == "function" and (_is_class_like(language, around) or (qualified and parent not in namespaces)):
            kind = "method"
        if kind == "namespace":
            namespaces.add(path)
        start, end = region.wrapped or (region.start, region.end)
        while end > start + 1 and source[end - 1] in b" \t\r\n":
            end -= 1
        definition = Definition(
            node=region.node,
            kind=kind,  # type: ignore[arg-type]  # one of _KINDS, by the capture's name
            start=start,
            end=end,
            head=start,
            header_end=region.body if region.body >= 0 else end,
            named=name.start_byte,
            bracket=brackets.get((region.start, region.end), (0, 0)),
            floor=region.name.end_byte if region.body < 0 else min(region.name.end_byte, region.body),
            written=written.rsplit(b"::", 1)[-1],
            name=path,
            parent_name=(outer_path if kind == "namespace" else parent) or None,
            around=region.definition,
            docs=Docs((region.doc,)) if region.doc else _NO_DOCS,
        )
        region.definition = definition
        definitions.append(definition)
    return definitions


def _is_class_like(language: Language, around: _Region | None) -> bool:
    while around is not None and around.kind in ("", "members"):
        around = around.around
    return around is not None and (around.kind in language.class_like or around.kind == "scope")


def _joined(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent and name else parent or name


def _attach(definitions: list[Definition], leads: Leads) -> None:
    """Give each definition what is directly above it, and each what is around it its span."""
    floors: dict[int, int] = {}
    for definition in definitions:
        around = definition.around
        key = id(around)
        floor = floors.get(key, 0)
        if around is not None:
            floor = max(floor, around.floor)
        definition.start, comments = leads.above(definition.start, floor)
        definition.head = leads.after_attributes(definition.head)
        if comments and not definition.docs.spans:
            definition.docs = Docs(tuple(comments), are_comments=True)
        if around is not None:
            around.inside.append((definition.start, definition.end))
        floors[key] = definition.end


def _first_code(bare: bytes, definitions: list[Definition]) -> int:
    """Where the first definition or statement begins, a first line for the system's loader left out."""
    shebang = bare.find(b"\n") + 1 if bare.startswith(b"#!") else 0
    found = _CODE.search(bare, shebang)
    return min([found.start() if found else len(bare), *(each.start for each in definitions)])


def _file_docs(captures: Captures, leads: Leads, file_doc: Span | None, code: int) -> Docs:
    """Documentation of a file (header comment): its docstring, inner doc comments or the comments it begins with."""
    if file_doc is not None:
        return Docs((file_doc,))
    if inner := captures.get("doc.inner"):
        return Docs(tuple(sorted(node.byte_range for node in inner)), are_comments=True)
    for node in captures.get("documented", ())[:1]:
        return Docs(tuple(leads.above(node.start_byte, 0)[1]), are_comments=True)
    return Docs(tuple(leads.at_head(code)), are_comments=True)
