"""Symbol at the cursor (name resolution): a definition, or a name that means one somewhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from aurora_memory.catalogue import Catalogue
from aurora_memory.chunks import MODULE_NAME, CodeChunk, Import, Reference, type_of
from aurora_memory.scope import Relation, Scope
from aurora_memory.store import chunk_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView, ReferenceTarget

Chunk = TypeVar("Chunk", CodeChunk, ChunkView)

_NAME = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"([^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)*)(?:\.|::|->)$")
_CONNECTORS = re.compile(r"::|->")


def word_at(text: str, line: int, column: int) -> tuple[str, str] | None:
    """Identifier under the cursor (0-based) and what it hangs from: `get` of `self.db.get` → (`get`, `self.db`)."""
    lines = text.split("\n")  # as the parser and the session count them; splitlines() also breaks at form feeds
    if not 0 <= line < len(lines):
        return None
    for match in _NAME.finditer(lines[line]):
        if match.start() <= column <= match.end():
            before = _DOTTED.search(lines[line][: match.start()])
            return match.group(), _CONNECTORS.sub(".", before.group(1)) if before else ""
    return None


def innermost(chunks: Sequence[Chunk], line: int) -> Chunk | None:
    """Enclosing definition, the smallest around a 0-based line; the module remainder only where nothing else is."""
    around = [chunk for chunk in chunks if chunk.line_start <= line + 1 <= chunk.line_end]
    return min(around, key=lambda chunk: (chunk.name == MODULE_NAME, chunk.line_end - chunk.line_start), default=None)


def chunk_at(
    reader: Reader, path: str, text: str, chunks: Sequence[CodeChunk], imports: Sequence[Import], line: int, column: int
) -> ChunkView | None:
    """Symbol under the cursor: the stored chunk that the name at a 0-based position means; None where none is known."""
    found = word_at(text, line, column)
    if found is None:
        return None
    name, qualifier = found
    around = innermost(chunks, line)
    if around is not None and _defines(around, name, line):
        return _stored(reader, around)
    if around is not None and type_of(around.kind) == "know":
        mention = next((each for each in around.references if (each.kind, each.name) == ("mentions", name)), None)
        return _meant(reader, _as_definition(path, around, chunks), mention) if mention else None
    definitions = relation_reader.definitions(reader, name)
    imported = [entry.name for entry in imports if entry.name and name in (entry.alias, entry.name)]
    for other in imported:
        if other != name:
            definitions += relation_reader.definitions(reader, other)
    source = _as_definition(path, around, chunks)
    scope = Scope(path, source.language, imports, Catalogue(definitions))
    return _best(reader, scope.resolve(source, [Reference("calls", name, qualifier)]))


def chunk_around(
    reader: Reader, chunks: Sequence[CodeChunk], line: int, *, text: str | None = None, column: int = 0
) -> ChunkView | None:
    """The stored chunk of the innermost definition around a 0-based line; with `text`, where a name of code stands."""
    around = innermost(chunks, line)
    if around is None or around.name == MODULE_NAME:
        return None
    if text is not None and (type_of(around.kind) == "know" or word_at(text, line, column) is None):
        return None
    return _stored(reader, around)


def _meant(reader: Reader, source: ReferenceTarget, mention: Reference) -> ChunkView | None:
    """The stored chunk that a name in a document means."""
    scope = Scope(source.path, source.language, (), Catalogue(relation_reader.definitions(reader, mention.name)))
    return _best(reader, scope.resolve(source, [mention]))


def _best(reader: Reader, edges: Sequence[Relation]) -> ChunkView | None:
    """Most likely definition of several, by the weight of the edges."""
    if not edges:
        return None
    best = max(edges, key=lambda edge: edge.weight)
    return chunk_reader.by_id(reader, [best.to_id]).get(best.to_id)


def _defines(chunk: CodeChunk, name: str, line: int) -> bool:
    """Whether a name inside a chunk is the chunk's own: its simple name, on or near the lines of its signature."""
    if chunk.kind == "section" and line + 1 != chunk.line_start:
        return False
    return chunk.name.rsplit(".", 1)[-1] == name and line + 1 <= chunk.line_end


def _stored(reader: Reader, chunk: CodeChunk) -> ChunkView | None:
    same = chunk_reader.by_name(reader, chunk.path, chunk.name)
    return same[min(chunk.ordinal, len(same) - 1)] if same else None


def _as_definition(path: str, around: CodeChunk | None, chunks: Sequence[CodeChunk]) -> ReferenceTarget:
    if around is not None:
        leaf = around.name.rsplit(".", 1)[-1]
        return ReferenceTarget(0, path, around.name, leaf, around.parent, around.kind, around.language)
    language = chunks[0].language if chunks else ""
    return ReferenceTarget(0, path, MODULE_NAME, MODULE_NAME, None, "module", language)
