"""Luau, and minutes of meetings: a plug-in with one language and one document format."""

from __future__ import annotations

import re
from pathlib import Path

from aurora_indexer.documents import DocumentFormat
from aurora_indexer.documents.knowledge_chunk import Builder, DocumentPiece, clean_name
from aurora_indexer.languages import Language
from aurora_memory.chunks import Import

_REQUIRE = re.compile(r"require\s*\(?\s*[\"']([^\"']+)")


def read_imports(text: str) -> list[Import]:
    """Read `require("a.b")`."""
    return [Import(module) for module in _REQUIRE.findall(text)]


def add_minutes(builder: Builder, path: str, text: str) -> None:
    """Make a chunk of each topic: a line `== Topic` and what is below it."""
    heads = list(re.finditer(r"(?m)^== (.+)$", text))
    for head, end in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=True):
        builder.add(DocumentPiece(clean_name(head[1]), "section", head.start(), end, heading=head[1]))


LUAU = Language(
    name="luau",
    suffixes=(".luau",),
    interpreters=("luau",),
    read_imports=read_imports,
    words=frozenset("function local end nil then elseif".split()),
    query=Path(__file__).with_name("luau.scm"),
)
MINUTES = DocumentFormat("minutes", (".minutes",), add=add_minutes)
