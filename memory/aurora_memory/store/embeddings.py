"""Embeddings: vectors of chunks stored in SQLite, kept under optimistic locking (optimistic concurrency) by the hash of
the body they were made from.
"""

from __future__ import annotations

from collections.abc import Sequence

import aiosqlite

from aurora_memory.chunks import REASONING
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import marks
from aurora_memory.views import ChunkToEmbed, FileToEmbed

Embedded = tuple[int, bytes, bytes]
"""Chunk (row id), hash of the body that was embedded, vector (float16)."""


def files_since(reader: Reader, moment: float) -> list[FileToEmbed]:
    """Files indexed at that time or later."""
    rows = reader.rows(
        "SELECT path, size, mtime_ns, indexed_at FROM files WHERE indexed_at >= ? ORDER BY path", (moment,)
    )
    return [FileToEmbed(*row) for row in rows]


def to_embed(reader: Reader, model: str, paths: Sequence[str]) -> list[ChunkToEmbed]:
    """The chunks of some files that `model` has not embedded as they are now."""
    rows = reader.rows(
        f"""SELECT id, path, name, line_start, line_end, signature, docstring, chunks.body_hash
            FROM chunks LEFT JOIN embeddings ON embeddings.chunk_id = chunks.id
            WHERE path IN ({marks(paths)}) AND gone_at IS NULL AND kind != ?
              AND (model IS NULL OR model != ? OR embeddings.body_hash != chunks.body_hash)
            ORDER BY path, line_start""",
        (*paths, REASONING, model),
    )
    return [ChunkToEmbed(*row) for row in rows]


def vectors(reader: Reader, model: str, after: int, limit: int) -> list[tuple[int, bytes]]:
    """(chunk, vector) of live chunks whose row id is beyond `after`, by row id."""
    rows = reader.rows(
        """SELECT chunk_id, vector FROM embeddings JOIN chunks ON chunks.id = chunk_id
           WHERE chunk_id > ? AND model = ? AND gone_at IS NULL ORDER BY chunk_id LIMIT ?""",
        (after, model, limit),
    )
    return [(chunk, vector) for chunk, vector in rows]


def embedded(reader: Reader, model: str) -> int:
    """Number of chunks that `model` has embedded."""
    rows = reader.rows("SELECT count(*) FROM embeddings WHERE model = ?", (model,))
    return int(rows[0][0])


async def keep(db: aiosqlite.Connection, model: str, entries: Sequence[Embedded]) -> None:
    """Keep vectors of chunks that still are what was embedded (optimistic locking), in the caller's transaction."""
    await db.executemany(
        """INSERT INTO embeddings (chunk_id, model, body_hash, vector)
           SELECT id, ?, body_hash, ? FROM chunks WHERE id = ? AND body_hash = ?
           ON CONFLICT (chunk_id) DO UPDATE SET
             model = excluded.model, body_hash = excluded.body_hash, vector = excluded.vector""",
        [(model, vector, chunk, body_hash) for chunk, body_hash, vector in entries],
    )


async def drop_others(db: aiosqlite.Connection, model: str) -> None:
    """Forget what other models made, inside the caller's transaction."""
    await db.execute("DELETE FROM embeddings WHERE model != ?", (model,))
