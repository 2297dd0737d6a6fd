"""JSON Schema files cut into chunks: one for the document itself and one for each of its definitions (`$defs`)."""

from __future__ import annotations

from aurora_indexer.documents.knowledge_chunk import Builder, DocumentPiece, clean_name
from aurora_indexer.documents.nodes import documentation, line_start, member, members, referred, string
from aurora_manifest.json.document import Array, Member, Node, Object, Scalar
from aurora_memory.chunks import MODULE_NAME, Reference

DEFINITIONS = ("$defs", "definitions")

_SHAPES = frozenset({"properties", "$ref", "oneOf", "anyOf", "allOf", "type"})
_SHOWN = 12
"""Properties named in a signature."""


def is_json_schema(root: Node | None) -> bool:
    """Whether a document says that it is a JSON Schema, or is built like one."""
    if "json-schema.org" in string(root, "$schema"):
        return True
    if not any(isinstance(member(root, name), Object) for name in DEFINITIONS):
        return False
    return any(each.name in _SHAPES for each in members(root))


def add_json_schema(builder: Builder, text: str, root: Node) -> None:
    """Make the chunks of a JSON Schema."""
    title = string(root, "title").strip()
    name = clean_name(title) if title else MODULE_NAME
    apart = [each for each in members(root) if each.name in DEFINITIONS and isinstance(each.value, Object)]
    builder.add(
        DocumentPiece(
            name=name,
            kind="schema",
            start=root.start,
            end=root.end,
            heading=heading(title or "schema", root),
            doc=documentation(root, "description"),
            references=[Reference("mentions", last) for last in referred(root)],
            apart=[(each.value.start, each.value.end) for each in apart],
            borders=[each.name_start for each in members(root)],
        )
    )
    for definitions in apart:
        for each in members(definitions.value):
            add_schema(builder, text, each, parent=name)


def add_schema(builder: Builder, text: str, schema: Member, parent: str | None = None) -> None:
    """Make the chunk of one named schema."""
    builder.add(
        DocumentPiece(
            name=clean_name(schema.name),
            kind="schema",
            start=line_start(text, schema.name_start),
            end=schema.value.end,
            heading=heading(schema.name, schema.value),
            doc=documentation(schema.value, "title", "description"),
            parent=parent,
            references=[Reference("mentions", last) for last in referred(schema.value)],
            borders=[each.name_start for each in members(member(schema.value, "properties"))],
        )
    )


def heading(name: str, schema: Node) -> str:
    """A schema in one line: `Pet {id, name, tag}`, `Color: red | green`, `Age: integer`."""
    properties = [each.name for each in members(member(schema, "properties"))]
    if properties:
        more = ", …" if len(properties) > _SHOWN else ""
        return f"{name} {{{', '.join(properties[:_SHOWN])}{more}}}"
    values = member(schema, "enum")
    if isinstance(values, Array):
        said = [str(item.value) for item in values.items if isinstance(item, Scalar)]
        return f"{name}: {' | '.join(said[:_SHOWN])}"
    kind = string(schema, "type")
    return f"{name}: {kind}" if kind else name
