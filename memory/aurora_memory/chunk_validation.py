"""Validation of chunk documents from outside: bounded, checked against their JSON Schema, then typed.

The schema gives the errors people read (each names its place); the structs of `documents` give the types, and refuse
the little that a schema cannot express.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

import aurora_schemas
from aurora_memory import StoreError
from aurora_memory.documents import CodeDocument, Document, KnowledgeDocument, ReasoningDocument
from aurora_protocol import typed

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_BYTES = 1 << 20
"""A larger document is not one chunk."""

MAX_ERRORS = 5

_SCHEMAS = {"code": "code-chunk", "reasoning": "reasoning-chunk", "knowledge": "knowledge-chunk"}

AnyDocument = TypeVar("AnyDocument", CodeDocument, ReasoningDocument, KnowledgeDocument)


class InvalidChunkDocument(StoreError):
    """Error of a chunk document that breaks its schema; the message names the places."""


def read_document(raw: bytes | str) -> Document:
    """Read one chunk document of any type from JSON. Raises InvalidChunkDocument; at most 1 MiB is looked at."""
    size = len(raw) if isinstance(raw, bytes) else len(raw.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise InvalidChunkDocument(f"a chunk document of {size} bytes is too large: {MAX_BYTES} are the most; split it")
    try:
        decoded = typed.decode(raw)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidChunkDocument(f"a chunk document is not JSON: {error}; mend it and send it again") from error
    except RecursionError as error:
        raise InvalidChunkDocument("a chunk document is nested too deep; flatten it and send it again") from error
    problems = document_problems(decoded)
    if problems:
        raise InvalidChunkDocument(f"a chunk document is not valid: {'; '.join(problems)}")
    try:
        document: Document = typed.decode(raw, Document)
    except msgspec.ValidationError as error:
        raise InvalidChunkDocument(f"a chunk document is not valid: {error}") from error
    return document


def document_problems(decoded: Any) -> list[str]:
    """Violations of its type's schema by a decoded document, in words with places; at most five."""
    kind = decoded.get("type") if isinstance(decoded, dict) else None
    if not isinstance(kind, str) or kind not in _SCHEMAS:
        return [f"type: one of {', '.join(_SCHEMAS)} is needed"]
    problems: list[str] = []
    for error in _validator(_SCHEMAS[kind]).iter_errors(decoded):
        place = "/".join(str(step) for step in error.absolute_path) or "the document"
        problems.append(f"{place}: {_shortened(error.message)}")
        if len(problems) >= MAX_ERRORS:
            break
    return problems


def checked(document: AnyDocument) -> AnyDocument:
    """The document itself, its types and limits held to be those of its schema. Raises InvalidChunkDocument.

    Microseconds, without jsonschema: for documents built here of what memory already holds.
    """
    try:
        return typed.convert(msgspec.to_builtins(document), type(document))
    except (msgspec.ValidationError, TypeError) as error:
        raise InvalidChunkDocument(f"{document.id}: {error}") from error


def fully_checked(document: AnyDocument) -> AnyDocument:
    """As `checked`, and against the JSON Schema itself: for what is about to be kept. Raises InvalidChunkDocument."""
    problems = document_problems(plain(checked(document)))
    if problems:
        raise InvalidChunkDocument(f"{document.id}: {'; '.join(problems)}")
    return document


def plain(document: Document) -> dict[str, Any]:
    """Document as JSON has it: objects, lists and scalars."""
    found: dict[str, Any] = typed.decode(msgspec.json.encode(document))
    return found


def _shortened(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:100]} … {message[-90:]}"


@cache
def _validator(name: str) -> Validator:
    """Compiled JSON Schema validator, made once for each of our schemas."""
    from jsonschema import Draft202012Validator  # 60 ms to import: only where a document comes from outside

    schema: dict[str, Any] = aurora_schemas.load(name)
    return Draft202012Validator(schema)
