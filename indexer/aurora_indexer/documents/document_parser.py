"""Parser of documents (Markdown, reStructuredText, YAML, JSON, OpenAPI, SQL, templates) into chunks, by the format its
name (extension) tells, or that its content turns out to be (AURORA §6.6).
"""

from __future__ import annotations

from hashlib import blake2b

from aurora_indexer import documents
from aurora_indexer.documents.json_schema import add_json_schema, is_json_schema
from aurora_indexer.documents.knowledge_chunk import Builder
from aurora_indexer.documents.markdown import add_markdown
from aurora_indexer.documents.openapi import add_openapi, is_openapi
from aurora_indexer.documents.restructuredtext import add_restructuredtext
from aurora_indexer.documents.sql import add_sql
from aurora_indexer.documents.template import add_template
from aurora_indexer.documents.yaml_document import parse_yaml
from aurora_manifest.json.document import Node
from aurora_manifest.json.parser import parse as parse_json
from aurora_memory.chunk_text import with_own_tokens
from aurora_memory.chunks import ParsedFile

_ADD = {"markdown": add_markdown, "restructuredtext": add_restructuredtext, "sql": add_sql, "template": add_template}


def parse_document(path: str, source: bytes) -> ParsedFile | None:
    """Cut one document into chunks; None for a file of no format we know.

    `path` is relative to the workspace, with `/`; `source` is the file as read, in any bytes. A document that is
    broken half way gives the chunks of what could be read. Raises `TooDeep`.
    """
    format_ = documents.for_path(path)
    if format_ is None or (format_.data and not documents.may_hold_a_schema(source)):
        return None
    text = source.decode("utf-8", "replace").removeprefix("\ufeff")
    if format_.data:
        return _parse_data(path, source, text, is_yaml=format_.name == "yaml")
    builder = Builder(path, format_.name, text)
    add = format_.add or _ADD[format_.name]
    add(builder, path, text)
    return _parsed(path, format_.name, source, builder, 0)


def _parse_data(path: str, source: bytes, text: str, *, is_yaml: bool) -> ParsedFile | None:
    """Chunks of JSON or YAML, if its content tells that it is OpenAPI or a JSON Schema."""
    root: Node | None
    if is_yaml:
        root, mistakes = parse_yaml(text)
    else:
        document = parse_json(text)
        root, mistakes = document.root, len(document.problems)
    if root is None:
        return None
    if is_openapi(root):
        builder = Builder(path, "openapi", text)
        add_openapi(builder, text, root)
        return _parsed(path, "openapi", source, builder, mistakes)
    if is_json_schema(root):
        builder = Builder(path, "json-schema", text)
        add_json_schema(builder, text, root)
        return _parsed(path, "json-schema", source, builder, mistakes)
    return None


def _parsed(path: str, language: str, source: bytes, builder: Builder, mistakes: int) -> ParsedFile:
    digest = blake2b(source, digest_size=16).digest()
    return ParsedFile(path, language, digest, (), with_own_tokens(builder.chunks, source), mistakes)
