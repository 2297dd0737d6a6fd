"""Chunks for tests, made from a line or two."""

from __future__ import annotations

import hashlib
from collections import Counter

from aurora_memory.chunks import ChunkKind, ChunkPart, CodeChunk, ComplexityCounts, Import, ParsedFile, Reference
from aurora_memory.store import FileStat, IndexedFile
from aurora_memory.term_counts import Field, packed, together
from aurora_memory.tokens import terms
from aurora_memory.views import ReferenceTarget


def digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def chunk(
    path: str,
    name: str,
    body: str = "return nothing",
    *,
    line: int = 1,
    kind: ChunkKind = "function",
    doc: str = "",
    calls: tuple[str, ...] = (),
    inherits: tuple[str, ...] = (),
    hands_on: tuple[str, ...] = (),
    language: str = "python",
    ordinal: int = 0,
    parts: int = 1,
    lead: int = 0,
) -> CodeChunk:
    """A chunk of five lines whose shape is its body, whatever its name. A dotted call is `qualifier.name`."""
    parent = name.rpartition(".")[0] or None
    references = [Reference("calls", call.rpartition(".")[2], call.rpartition(".")[0]) for call in calls]
    references += [Reference("inherits", base) for base in inherits]
    references += [Reference("hands on", each) for each in hands_on]
    fields: dict[Field, str] = {"name": name, "path": path, "doc": doc, "body": body}
    words = together(packed(field, Counter(terms(text))) for field, text in fields.items())
    length = len(terms(doc)) + len(terms(body))
    return CodeChunk(
        path=path,
        name=name,
        kind=kind,
        language=language,
        line_start=line,
        line_end=line + 4,
        signature=f"def {name.rpartition('.')[2]}()",
        docstring=doc,
        parent=parent,
        references=tuple(references),
        ast_summary=ComplexityCounts("low", 0, 0),
        keywords=tuple(terms(name)),
        body_hash=digest(name + body),
        shape_hash=digest(body),
        tokens=50,
        parts=tuple(ChunkPart(line, line + 4, words, length, len(set(terms(name)))) for _ in range(parts)),
        ordinal=ordinal,
        lead=lead,
    )


def file(path: str, *chunks: CodeChunk, imports: tuple[Import, ...] = (), mtime: float = 1.0) -> IndexedFile:
    """A parsed file of those chunks."""
    language = chunks[0].language if chunks else "python"
    content = digest(repr(chunks))
    return IndexedFile(FileStat(10, int(mtime * 1e9)), ParsedFile(path, language, content, imports, chunks))


def definition(number: int, path: str, name: str, kind: str = "function", language: str = "python") -> ReferenceTarget:
    """A definition as it is looked for: by its id, its file and its name."""
    parent, _, leaf = name.rpartition(".")
    return ReferenceTarget(number, path, name, leaf, parent or None, kind, language)
