"""Chunks as database rows, and back (mapping, serialization). Pure conversions, so that a batch is prepared off the
event loop.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from aurora_memory.chunks import CodeChunk, Import, ParsedFile

MAX_PARTS = 64
"""Parts of one chunk."""

MODULE_ALIASES = "module_aliases"
"""Fact of memory: the workspace's `ModuleAlias`es as JSON."""

ChunkRow = tuple[str | int | bytes | float | None, ...]

_encoder = msgspec.msgpack.Encoder()
_imports_decoder = msgspec.msgpack.Decoder(tuple[Import, ...])

NO_IMPORTS = _encoder.encode(())
"""Imports of a file that has none, as they are kept."""

CHUNK_COLUMNS = (
    "path, name, ordinal, leaf, kind, parent, language, line_start, line_end, signature, docstring, complexity, "
    "branches, loops, keywords, body_hash, shape_hash, tokens, part_count, lead"
)


class FileStat(Struct, frozen=True, array_like=True):
    """Stat of an indexed file, by which the store tells whether it changed. `mtime_ns` as `os.stat` gives it.

    `mark` stands for the rest of the stat (change time, inode, device); 0 where that is unknown or not to be relied on.
    """

    size: int
    mtime_ns: int
    content_hash: bytes = b""
    mark: int = 0


class IndexedFile(Struct, frozen=True, array_like=True):
    """A parsed file with the stat its content had when it was read."""

    stat: FileStat
    parsed: ParsedFile


class SkippedFile(Struct, frozen=True, array_like=True):
    """A file that was looked into and left out, with the stat it had then."""

    path: str
    reason: str
    detail: str
    stat: FileStat


class Prepared(Struct, frozen=True):
    """The rows of some chunks, ready for `executemany`."""

    chunks: list[ChunkRow]
    refs: list[ChunkRow]


def leaf(name: str) -> str:
    """The simple name: `login` of `AuthService.login`."""
    return name.rsplit(".", 1)[-1]


def chunk_values(chunk: CodeChunk) -> ChunkRow:
    """The values of CHUNK_COLUMNS."""
    summary = chunk.ast_summary
    return (
        chunk.path,
        chunk.name,
        chunk.ordinal,
        leaf(chunk.name),
        chunk.kind,
        chunk.parent,
        chunk.language,
        chunk.line_start,
        chunk.line_end,
        chunk.signature,
        chunk.docstring,
        summary.complexity,
        summary.branches,
        summary.loops,
        " ".join(chunk.keywords),
        chunk.body_hash,
        chunk.shape_hash,
        chunk.tokens,
        min(len(chunk.parts), MAX_PARTS),
        chunk.lead,
    )


def prepare(chunks: Iterable[tuple[int, CodeChunk]]) -> Prepared:
    """Rows for chunks with their ids. Chunk rows start with the id."""
    prepared = Prepared([], [])
    for chunk_id, chunk in chunks:
        prepared.chunks.append((chunk_id, *chunk_values(chunk)))
        prepared.refs.extend(
            {(chunk_id, reference.name, reference.kind, reference.qualifier) for reference in chunk.references}
        )
    return prepared


def file_values(entry: IndexedFile, now: float) -> ChunkRow:
    """The values of a `files` row, without its id."""
    parsed, stat = entry.parsed, entry.stat
    imports = _encoder.encode(parsed.imports)
    return (
        parsed.path,
        parsed.language,
        stat.size,
        stat.mtime_ns,
        parsed.content_hash,
        parsed.syntax_errors,
        imports,
        now,
        stat.mark,
    )


def decode_imports(blob: bytes) -> tuple[Import, ...]:
    """Undo what `file_values` did to a file's imports."""
    return _imports_decoder.decode(blob)
