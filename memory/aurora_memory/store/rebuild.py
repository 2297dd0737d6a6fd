"""Rebuild (reindexing) of the derived tables: everything that files and documents still tell is dropped, and read
again.

What was learned stays under the row ids it has. The files themselves are only marked as not looked at: the next sweep
parses them, and finds every chunk again by its identity. Runs in the caller's transaction.
"""

from __future__ import annotations

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.documents import ReasoningDocument
from aurora_memory.store import integrity, learned_writer, record_position, row_sums
from aurora_memory.store.tables import TABLES
from aurora_protocol import typed

_KNOWN_CHUNK = "EXISTS (SELECT 1 FROM chunks WHERE id = chunk_id)"


class Rebuilt(Struct, frozen=True):
    """Outcome of a rebuild: files that wait to be read again, reasoning chunks found again by their documents.

    `dropped` counts rows that spoke of chunks nobody can name any more.
    """

    files: int
    recovered: int = 0
    dropped: int = 0


async def rebuild(db: aiosqlite.Connection, now: float) -> Rebuilt:
    """Drop what can be derived and mark every file as unread. `now` is Unix seconds."""
    for table in TABLES:
        if table.emptied:
            await db.execute(f"DELETE FROM {table.name} WHERE NOT ({table.rows or 'FALSE'})")
    recovered = await _recover_reasoning(db, now)
    dropped = await _drop_orphans(db)
    for text in await integrity.text_tables(db):
        if text != "reasoning_words":
            await db.execute(f'INSERT INTO "{text}" ("{text}") VALUES (\'rebuild\')')
    # A live chunk of a file that is not known would stay for ever: with a row the sweep finds that file, or misses it.
    await db.execute(
        """INSERT OR IGNORE INTO files
             (path, language, size, mtime_ns, content_hash, syntax_errors, imports, indexed_at)
           SELECT DISTINCT path, '', -1, 0, x'', 0, x'90', 0 FROM chunks
           WHERE gone_at IS NULL AND kind != 'reasoning'"""
    )
    await db.execute("UPDATE files SET size = -1, mtime_ns = 0, content_hash = x''")
    # What is lost here the repository's record may have: it is taken in anew.
    await db.execute("DELETE FROM facts WHERE key = ?", (record_position.FACT,))
    # Without the hash of its text no chunk counts as unchanged, so its words and references are written again.
    await db.execute("UPDATE chunks SET body_hash = x'' WHERE kind != 'reasoning'")
    await db.execute("REINDEX")
    changed = await row_sums.changed_rows(db)
    if changed and "" not in changed:  # rows that another program added, and none that is not what was written
        await row_sums.seal(db)
    return Rebuilt(await _count(db, "SELECT count(*) FROM files"), recovered, dropped)


async def _recover_reasoning(db: aiosqlite.Connection, now: float) -> int:
    """Give documents without a chunk their chunk back, and index the words of all anew."""
    await db.execute("DELETE FROM reasoning_words")
    await db.execute("INSERT INTO reasoning_words (reasoning_words) VALUES ('rebuild')")
    recovered = 0
    rows = await db.execute_fetchall(
        f"SELECT chunk_id, pattern, fingerprint, json, {_KNOWN_CHUNK} FROM documents ORDER BY chunk_id"
    )
    for chunk_id, pattern, fingerprint, json, known in rows:
        try:
            document = typed.decode(json, ReasoningDocument)
        except msgspec.DecodeError:
            await db.execute("UPDATE chunks SET gone_at = ? WHERE id = ?", (now, chunk_id))  # recall would fail on it
            continue
        if not known:
            await learned_writer.recover(db, chunk_id, document, fingerprint)
            recovered += 1
        await learned_writer.save_document(db, chunk_id, pattern, fingerprint, document)
    await db.execute(
        """UPDATE chunks SET gone_at = ? WHERE kind = 'reasoning' AND gone_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM documents WHERE chunk_id = chunks.id)""",
        (now,),
    )
    return recovered


async def _drop_orphans(db: aiosqlite.Connection) -> int:
    """Clean-up of orphaned rows. Row ids are given anew: what speaks of no chunk would one day speak of the wrong
    one."""
    dropped = 0
    for table in TABLES:
        lost = [each for each in table.references if each.orphans == "drop"]
        if lost:
            gone = await db.execute(f"DELETE FROM {table.name} WHERE {table.orphans}")
            if table.nature == "learned":  # git, the model and the files tell the others again
                dropped += gone.rowcount
    return dropped


async def _count(db: aiosqlite.Connection, sql: str) -> int:
    return next(int(row[0]) for row in await db.execute_fetchall(sql))
