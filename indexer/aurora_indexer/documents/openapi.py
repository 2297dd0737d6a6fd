"""OpenAPI and Swagger (REST API descriptions): a chunk for the API, for each operation and for each schema."""

from __future__ import annotations

from aurora_indexer.documents.json_schema import add_schema
from aurora_indexer.documents.knowledge_chunk import Builder, DocumentPiece, clean_name
from aurora_indexer.documents.nodes import documentation, line_start, member, members, referred, string
from aurora_manifest.json.document import Member, Node, Object, Scalar
from aurora_memory.chunks import MODULE_NAME, Reference

METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"})

_APART = ("paths", "webhooks", "components", "definitions")


def is_openapi(root: Node | None) -> bool:
    """Whether a document names the version of OpenAPI, or of Swagger, that it is written in."""
    for name in ("openapi", "swagger"):
        version = member(root, name)
        if isinstance(version, Scalar) and str(version.value).startswith(("2.", "3.", "4.")):
            return True
    return False


def add_openapi(builder: Builder, text: str, root: Node) -> None:
    """Make the chunks of an OpenAPI document."""
    title, version = string(root, "info", "title"), string(root, "info", "version")
    apart = [each for each in members(root) if each.name in _APART and isinstance(each.value, Object)]
    builder.add(
        DocumentPiece(
            name=MODULE_NAME,
            kind="schema",
            start=root.start,
            end=root.end,
            heading=" ".join(part for part in (title, version) if part),
            doc=documentation(member(root, "info"), "summary", "description"),
            apart=[(each.value.start, each.value.end) for each in apart],
            borders=[each.name_start for each in members(root)],
        )
    )
    for group in ("paths", "webhooks"):
        for path in members(member(root, group)):
            for operation in members(path.value):
                if operation.name.lower() in METHODS:
                    _add_operation(builder, text, path.name, operation)
    for schemas in (member(root, "components", "schemas"), member(root, "definitions")):
        for schema in members(schemas):
            add_schema(builder, text, schema)


def _add_operation(builder: Builder, text: str, path: str, operation: Member) -> None:
    """Chunk of one endpoint: its method and path, its summary."""
    asked = f"{operation.name.upper()} {path}"
    builder.add(
        DocumentPiece(
            name=clean_name(string(operation.value, "operationId").strip() or asked),
            kind="operation",
            start=line_start(text, operation.name_start),
            end=operation.value.end,
            heading=asked,
            doc=documentation(operation.value, "summary", "description"),
            references=[Reference("mentions", last) for last in referred(operation.value)],
            borders=[each.name_start for each in members(operation.value)],
        )
    )
