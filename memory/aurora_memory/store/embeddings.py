"""Vectors of chunks, kept with the hash of the body they were made from and the model that made them."""

from __future__ import annotations

from collections.abc import Sequence

import aiosqlite
from msgspec import Struct

from aurora_memory.chunks import REASONING
from aurora_memory.store.reader_thread import Asking, marks

Embedded = tuple[int, bytes, bytes]
"""Chunk (row id), hash of the body that was embedded, vector (float16)."""


class FileToEmbed(Struct, frozen=True, array_like=True):
    """A file as it was indexed: its stat then, and when that was (Unix seconds)."""

    path: str
    size: int
    mtime_ns: int
    indexed_at: float


class ChunkToEmbed(Struct, frozen=True, array_like=True):
    """A live chunk without a vector of today's model and body. Lines are 1-based, inclusive."""

    id: int
    path: str
    name: str
    line_start: int
    line_end: int
    signature: str
    docstring: str
    body_hash: bytes


class EmbeddingReading(Asking):
    """The reader's part for embeddings."""

    async def files_since(self, moment: float) -> list[FileToEmbed]:
        """Files indexed at that time or later."""
        rows = await self._rows(
            "SELECT path, size, mtime_ns, indexed_at FROM files WHERE indexed_at >= ? ORDER BY path", (moment,)
        )
        return [FileToEmbed(*row) for row in rows]

    async def to_embed(self, model: str, paths: Sequence[str]) -> list[ChunkToEmbed]:
        """The chunks of some files that `model` has not embedded as they are now."""
        rows = await self._rows(
            f"""SELECT id, path, name, line_start, line_end, signature, docstring, chunks.body_hash
                FROM chunks LEFT JOIN embeddings ON embeddings.chunk_id = chunks.id
                WHERE path IN ({marks(paths)}) AND gone_at IS NULL AND kind != ?
                  AND (model IS NULL OR model != ? OR embeddings.body_hash != chunks.body_hash)
                ORDER BY path, line_start""",
            (*paths, REASONING, model),
        )
        return [ChunkToEmbed(*row) for row in rows]

    async def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """(chunk, vector) of live chunks whose row id is beyond `after`, by row id."""
        rows = await self._rows(
            """SELECT chunk_id, vector FROM embeddings JOIN chunks ON chunks.id = chunk_id
               WHERE chunk_id > ? AND model = ? AND gone_at IS NULL ORDER BY chunk_id LIMIT ?""",
            (after, model, limit),
        )
        return [(chunk, vector) for chunk, vector in rows]

    async def embedded(self, model: str) -> int:
        """How many chunks `model` has embedded."""
        rows = await self._rows("SELECT count(*) FROM embeddings WHERE model = ?", (model,))
        return int(rows[0][0])


async def keep(db: aiosqlite.Connection, model: str, entries: Sequence[Embedded]) -> None:
    """Keep vectors inside the caller's transaction, of those chunks that still are what was embedded."""
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
