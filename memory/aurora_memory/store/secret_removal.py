"""Removal (redaction, vacuum) of secrets that a memory file holds from before its rules of secrets
(`aurora_protocol.secret_mask.RULES`).

What is written goes through the mask; what was written by an AURORA that knew fewer kinds is gone through once, after
the files were indexed anew. Deleted text must not be found in the file either: dead words are dropped, the text indexes
and the whole file are written anew, and copies from before are removed.
"""

from __future__ import annotations

import asyncio
import glob
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiosqlite
import msgspec

from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import signature
from aurora_memory.store import learned_writer
from aurora_memory.store.connection import connect
from aurora_protocol import typed
from aurora_protocol.secret_mask import looks_random, masked, masked_json, masked_struct

_HOLD = "deliverable_events_hold"


async def clean_rows(db: aiosqlite.Connection) -> int:
    """Take secrets out of everything but what files tell, in the caller's transaction; returns the changed rows."""
    changed = await _clean(db, "runs", "id", ("query",))
    changed += await _clean_difficult(db)
    changed += await _clean_documents(db)
    texts = ("name", "signature", "docstring", "keywords")
    changed += await _clean(db, "chunks", "id", texts, "gone_at IS NOT NULL OR kind = 'reasoning'")
    changed += await _clean_log_index(db)
    changed += await _clean_events(db)
    changed += await _clean(db, "skips", "path", ("detail",))
    changed += await _clean(db, "git_commits", "id", ("subject",))
    return changed


async def forget_messages(db: aiosqlite.Connection) -> None:
    """Drop the words of commits, which do not tell of what they are parts; git's log is then read again."""
    await db.execute("DELETE FROM git_messages")
    await db.execute("UPDATE git_commits SET settled = 0")
    await db.execute("DELETE FROM facts WHERE key = 'git_head'")
    for table in ("git_messages", "reasoning_words"):
        await db.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


async def blocks_with_dead(db: aiosqlite.Connection) -> list[int]:
    """Blocks of the word index that have entries of parts that are gone."""
    rows = await db.execute_fetchall(
        """SELECT block FROM blocks
           WHERE dead > 0 AND EXISTS (SELECT 1 FROM postings WHERE postings.block = blocks.block)"""
    )
    return [int(block) for (block,) in rows]


async def write_anew(path: Path) -> None:
    """Write the whole file anew, without what was deleted in it; nobody else writes meanwhile. Raises sqlite3.Error."""
    db = await connect(path)
    try:
        await db.execute("PRAGMA temp_store = FILE")  # else the copy is made in memory
        await db.execute("VACUUM")
        await db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        await db.close()


def drop_copies(path: Path) -> None:
    """Remove the copies that upgrades made of a file: they hold what was taken out of it since. Blocks."""
    for copy in path.parent.glob(f"{glob.escape(path.name)}.v*.bak"):
        copy.unlink(missing_ok=True)


async def _clean(db: aiosqlite.Connection, table: str, key: str, columns: tuple[str, ...], rows: str = "TRUE") -> int:
    """Redaction of some columns of a table; how many rows changed."""
    found = await _different(
        db,
        f"SELECT {key}, {', '.join(columns)} FROM {table} WHERE {rows}",
        lambda key, *texts: (*map(masked, texts), key),
        lambda key, *texts: (*texts, key),
    )
    values = ", ".join(f"{column} = ?" for column in columns)
    await db.executemany(f"UPDATE OR IGNORE {table} SET {values} WHERE {key} = ?", found)
    return len(found)


async def _different(
    db: aiosqlite.Connection, sql: str, clean: Callable[..., tuple[Any, ...]], raw: Callable[..., tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Of the rows of a query those that `clean` makes other than `raw` does, as `clean` makes them; in a thread."""
    rows = list(await db.execute_fetchall(sql))
    return await asyncio.to_thread(lambda: [fresh for row in rows if (fresh := clean(*row)) != raw(*row)])


async def _clean_difficult(db: aiosqlite.Connection) -> int:
    """Redaction of the questions that failed; how many changed."""
    found = await _different(
        db,
        "SELECT signature, query FROM difficult",
        lambda known, query: (masked(query), known),
        lambda known, query: (query, known),
    )
    await db.executemany(
        "UPDATE OR REPLACE difficult SET signature = ?, query = ? WHERE signature = ?",
        [(signature(query), query, known) for query, known in found],
    )
    return len(found)


async def _clean_documents(db: aiosqlite.Connection) -> int:
    """Redaction of patterns' documents; how many changed."""
    found = await _different(
        db,
        "SELECT chunk_id, pattern, fingerprint, json FROM documents",
        lambda *row: (*row[:3], _document(row[3], masked_struct)),
        lambda *row: (*row[:3], _document(row[3], lambda document: document)),
    )
    for chunk_id, pattern, fingerprint, document in found:
        await learned_writer.save_document(db, chunk_id, pattern, fingerprint, document)
    return len(found)


def _document(json: str, clean: Callable[[ReasoningDocument], ReasoningDocument]) -> ReasoningDocument | None:
    try:
        return clean(typed.decode(json, ReasoningDocument))
    except msgspec.DecodeError:  # damaged: doctor says so
        return None


async def _clean_log_index(db: aiosqlite.Connection) -> int:
    """Redaction of the index of conversation logs; how many rows changed."""
    random = [
        (word,)
        for (word,) in await db.execute_fetchall("SELECT DISTINCT keyword FROM log_index WHERE length(keyword) > 13")
        if looks_random(word)
    ]
    await db.executemany("DELETE FROM log_index WHERE keyword = ?", random)
    titles = await _different(
        db,
        "SELECT DISTINCT section, topic FROM log_index",
        lambda section, topic: (masked(section), masked(topic), section, topic),
        lambda section, topic: (section, topic, section, topic),
    )
    await db.executemany("UPDATE log_index SET section = ?, topic = ? WHERE section = ? AND topic = ?", titles)
    return len(random) + len(titles)


async def _clean_events(db: aiosqlite.Connection) -> int:
    """Events are never changed, but for this: the trigger that holds them is put back in the same transaction."""
    found = await _different(
        db,
        "SELECT number, body FROM deliverable_events",
        lambda number, body: (_event(body), number),
        lambda number, body: (body, number),
    )
    if found:
        rows = list(await db.execute_fetchall("SELECT sql FROM sqlite_master WHERE name = ?", (_HOLD,)))
        await db.execute(f"DROP TRIGGER IF EXISTS {_HOLD}")
        await db.executemany("UPDATE deliverable_events SET body = ? WHERE number = ?", found)
        for (sql,) in rows:
            await db.execute(sql)
        await db.execute("DELETE FROM deliverable_folds")
    return len(found)


def _event(body: str) -> str:
    try:
        return masked_json(body)
    except (msgspec.DecodeError, RecursionError):
        return body
