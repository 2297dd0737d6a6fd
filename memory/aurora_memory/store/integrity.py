"""Integrity check of a memory file (corruption, consistency): SQLite's own checks, the text indexes, the word index,
rows that speak of nothing.

Reads only, inside the caller's transaction, so that what is being written meanwhile is not taken for a fault.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.documents import ReasoningDocument
from aurora_memory.store import row_sums
from aurora_memory.store.connection import APPLICATION_ID, pragma_int
from aurora_memory.store.migrations import MIGRATIONS
from aurora_memory.store.postings import BLOCK, BLOCK_BITS, chunks_of_block, decode_occurrences, entries_of, readable
from aurora_memory.store.tables import TABLES
from aurora_protocol import typed

Mend = Literal["rebuild", "salvage", "none"]
"""Remedy of a fault: deriving anew what can be derived, saving what is readable into a new file, or nothing here."""

SAMPLED_PARTS = 64
"""Parts whose every term is looked up in the word index."""


class Fault(Struct, frozen=True):
    """Fault, something that is wrong: how many rows (or pages) it concerns, and what mends it."""

    what: str
    count: int
    mend: Mend


class IntegrityReport(Struct, frozen=True):
    """Findings of a look at the whole file. `version` is the shape of its tables; a sound file has no faults."""

    version: int
    faults: tuple[Fault, ...] = ()

    @property
    def damaged(self) -> bool:
        """Whether the file itself is broken, so that nothing in it can be relied on."""
        return any(fault.mend == "salvage" for fault in self.faults)


async def checked(db: aiosqlite.Connection) -> IntegrityReport:
    """Look everything over but the text indexes, which `text_faults` does on a connection that may write."""
    try:
        damage = [str(row[0]) for row in await db.execute_fetchall("PRAGMA quick_check(20)")]
        if damage != ["ok"]:
            return IntegrityReport(0, (_damage(damage),))
        version = await pragma_int(db, "user_version")
        faults = [
            *await _marks(db, version),
            *await _foreign_keys(db),
            *await _orphans(db),
            *await _chunks_and_files(db),
            *await _words(db),
            *await _deliverables(db, version),
            *await _learned(db, version),
        ]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise  # locked, or no memory: that says nothing about the file
        return IntegrityReport(0, (_damage([str(error)]),))
    return IntegrityReport(version, tuple(faults))


async def text_faults(db: aiosqlite.Connection) -> list[Fault]:
    """FTS5's own check of every full text table. It is spelled as a write, and changes nothing."""
    found: list[Fault] = []
    for table in await text_tables(db):
        try:
            await db.execute(f'INSERT INTO "{table}" ("{table}", rank) VALUES (\'integrity-check\', 1)')
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            found.append(Fault(f"the text index {table} does not fit its content", 1, "rebuild"))
    return found


async def text_tables(db: aiosqlite.Connection) -> list[str]:
    """The names of the file's full text tables."""
    rows = await db.execute_fetchall(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
    )
    return [str(row[0]) for row in rows]


def _damage(told: Sequence[str]) -> Fault:
    """Fault of a corrupt database, by what SQLite said of it."""
    first = " ".join(told[0].split())[:200]
    return Fault(first, len(told), "salvage")


async def _marks(db: aiosqlite.Connection, version: int) -> list[Fault]:
    """Header check: the schema version, and SQLite's application id."""
    found: list[Fault] = []
    if version != len(MIGRATIONS):
        found.append(Fault(f"its tables have shape {version}, not {len(MIGRATIONS)}", 1, "none"))
    application = await pragma_int(db, "application_id")
    if application != APPLICATION_ID:
        found.append(Fault(f"its application id is {application}, not {APPLICATION_ID}", 1, "none"))
    return found


async def _foreign_keys(db: aiosqlite.Connection) -> list[Fault]:
    """Foreign key check (referential integrity) of what `_orphans` does not count."""
    # `accesses` refers to `chunks` so, which `_orphans` counts already.
    rows = list(await db.execute_fetchall("PRAGMA foreign_key_check"))
    counted = {table.name for table in TABLES if table.orphans}
    others = [row for row in rows if row[0] not in counted]
    return [Fault(f"rows of {others[0][0]} refer to rows that are not there", len(others), "none")] if others else []


async def _orphans(db: aiosqlite.Connection) -> list[Fault]:
    """Dangling references: rows that speak of chunks that are not there."""
    counts = {
        table.name: await _count(db, f"SELECT count(*) FROM {table.name} WHERE {table.orphans}")
        for table in TABLES
        if table.orphans
    }
    unread = await _count(
        db,
        """WITH told AS (SELECT chunk_id FROM documents JOIN chunks ON id = chunk_id WHERE gone_at IS NULL)
           SELECT (SELECT count(*) FROM reasoning_words WHERE rowid NOT IN (SELECT chunk_id FROM documents))
             + (SELECT count(*) FROM told WHERE chunk_id NOT IN (SELECT rowid FROM reasoning_words))""",
    )
    faults = [
        Fault(f"rows of {table} speak of chunks that are not there", count, "rebuild")
        for table, count in counts.items()
        if count
    ]
    if unread:
        faults.append(Fault("reasoning chunks and their searchable words do not match", unread, "rebuild"))
    return faults


async def _chunks_and_files(db: aiosqlite.Connection) -> list[Fault]:
    """Consistency of chunks with files and documents."""
    stray = await _count(
        db,
        """SELECT count(*) FROM chunks WHERE gone_at IS NULL AND kind != 'reasoning'
           AND NOT EXISTS (SELECT 1 FROM files WHERE files.path = chunks.path)""",
    )
    bare = await _count(
        db,
        """SELECT count(*) FROM chunks WHERE kind = 'reasoning' AND gone_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.chunk_id = chunks.id)""",
    )
    faults = []
    if stray:
        faults.append(Fault("chunks belong to files that are not known", stray, "rebuild"))
    if bare:
        faults.append(Fault("reasoning chunks have no document", bare, "rebuild"))
    unreadable = 0
    sql = "SELECT json FROM documents JOIN chunks ON id = chunk_id WHERE gone_at IS NULL"
    for (json,) in await db.execute_fetchall(sql):
        try:
            typed.decode(json, ReasoningDocument)
        except msgspec.DecodeError:
            unreadable += 1
    if unreadable:
        faults.append(Fault("reasoning chunks have documents that cannot be read", unreadable, "rebuild"))
    return faults


async def _words(db: aiosqlite.Connection) -> list[Fault]:
    """Disagreements of chunks, parts, blocks and postings."""
    faults: list[Fault] = []
    dead = await _count(
        db, "SELECT count(*) FROM parts JOIN chunks ON chunks.id = chunk_id WHERE chunks.gone_at IS NOT NULL"
    )
    if dead:
        faults.append(Fault("parts of chunks that are gone can be found", dead, "rebuild"))
    uncut = await _count(
        db,
        """SELECT count(*) FROM chunks WHERE gone_at IS NULL AND kind != 'reasoning'
           AND part_count != (SELECT count(*) FROM parts WHERE parts.chunk_id = chunks.id)""",
    )
    if uncut:
        faults.append(Fault("chunks lack parts to be found by", uncut, "rebuild"))
    wrong = await _wrong_blocks(db)
    if wrong:
        faults.append(Fault("blocks of the word index do not fit the parts", wrong, "rebuild"))
    blocks = {int(row[0]) for row in await db.execute_fetchall("SELECT block FROM blocks")}
    unknown = [int(row[0]) for row in await db.execute_fetchall(_POSTED_BLOCKS) if row[0] not in blocks]
    if unknown:
        faults.append(Fault("blocks have words but no parts", len(unknown), "rebuild"))
    missing = await _missing_postings(db)
    if missing:
        faults.append(Fault(f"of {SAMPLED_PARTS} parts looked at lack words in the word index", missing, "rebuild"))
    return faults


async def _deliverables(db: aiosqlite.Connection, version: int) -> list[Fault]:
    """Events of deliverables that are no JSON."""
    if version < 2:  # written before deliverables were kept
        return []
    unreadable = await _count(db, "SELECT count(*) FROM deliverable_events WHERE NOT json_valid(body)")
    return [Fault("events of deliverables cannot be read and count for nothing", unreadable, "none")] * (unreadable > 0)


async def _learned(db: aiosqlite.Connection, version: int) -> list[Fault]:
    """Learned rows that are not what was written, or that an index no longer leads to."""
    if version < 6:  # written before checksums were kept
        return []
    changed = await row_sums.changed_rows(db)
    lost = changed.pop("", 0)
    if changed and not lost:  # all that was written is there
        return [Fault(f"rows of {table} were added by another program", n, "rebuild") for table, n in changed.items()]
    faults = [Fault(f"rows of {table} are not what was written", count, "salvage") for table, count in changed.items()]
    if lost > sum(changed.values()):
        faults.append(Fault("rows that were written are not there", lost - sum(changed.values()), "salvage"))
    for table in row_sums.SEALED if not faults else ():
        told = [str(row[0]) for row in await db.execute_fetchall(f"PRAGMA integrity_check({table.name})")]
        if told != ["ok"]:
            faults.append(Fault(f"indexes of {table.name} do not fit its rows ({told[0]})", len(told), "rebuild"))
    return faults


_POSTED_BLOCKS = """
    WITH RECURSIVE posted(block) AS (
        SELECT min(block) FROM postings
        UNION ALL SELECT (SELECT min(block) FROM postings WHERE postings.block > posted.block) FROM posted
        WHERE posted.block IS NOT NULL)
    SELECT block FROM posted WHERE block IS NOT NULL"""
"""Every block there are postings of, by jumping: a DISTINCT would read the whole index."""


async def _wrong_blocks(db: aiosqlite.Connection) -> int:
    """Blocks that are out of order, or whose living rows are not the parts numbered so."""
    wrong = 0
    states = list(await db.execute_fetchall("SELECT block, dead, length(parts) FROM blocks ORDER BY block"))
    for place, (block, dead, _) in enumerate(states):
        packed = next(row[0] for row in await db.execute_fetchall("SELECT parts FROM blocks WHERE block = ?", (block,)))
        owners = chunks_of_block(packed)
        living = {block * BLOCK + at: chunk_id for at, chunk_id in enumerate(owners or ()) if chunk_id}
        rows = await db.execute_fetchall(
            "SELECT id, chunk_id FROM parts WHERE id BETWEEN ? AND ?", (block * BLOCK, (block + 1) * BLOCK - 1)
        )
        known = {number: chunk_id for number, chunk_id in rows}  # noqa: C416 - rows are not tuples to mypy
        full = owners is not None and (len(owners) == BLOCK or (place == len(states) - 1 and len(owners) < BLOCK))
        if block != place or not full or living != known or dead != len(owners or ()) - len(living):
            wrong += 1
    parts = await _count(db, "SELECT count(*) FROM parts WHERE (id >> ?) NOT IN (SELECT block FROM blocks)", BLOCK_BITS)
    return wrong + (1 if parts else 0)


async def _missing_postings(db: aiosqlite.Connection) -> int:
    """Sampled parts of which terms are missing in the word index."""
    total = await _count(db, "SELECT coalesce(max(id), -1) + 1 FROM parts")
    missing = 0
    for number in sorted({total * n // SAMPLED_PARTS for n in range(SAMPLED_PARTS)} if total else ()):
        rows = await db.execute_fetchall("SELECT id, occurrences FROM parts WHERE id >= ? LIMIT 1", (number,))
        for part, blob in rows:
            wanted = decode_occurrences(blob)
            posted = await entries_of(db, part, list(wanted))
            missing += not readable(blob) or any(value not in posted.get(term, ()) for term, value in wanted.items())
    return missing


async def _count(db: aiosqlite.Connection, sql: str, *values: Any) -> int:
    return next(int(row[0]) for row in await db.execute_fetchall(sql, values))
