"""Database migrations (schema version upgrades): the shape of a memory file, as a list of steps that only ever grows.

Each step runs once, in one transaction with the record that it ran. What each table means, and whether it can be made
again, says `tables.TABLES`: a step that adds a table or a column comes with a row there.
"""

from __future__ import annotations

import asyncio
import glob
import itertools
import os
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosqlite

from aurora_memory import StoreError, StoreTooNew
from aurora_memory.store import postings
from aurora_memory.store.connection import APPLICATION_ID, execute_all, pragma_int
from aurora_memory.tokens import stem_word

KEPT_BACKUPS = 2
"""Seconds after which a copy that was not finished is one of a process that was killed."""
_SPARE_BYTES = 16 << 20
"""Bytes that a copy leaves free on the disk, for the migration itself."""

LEARNED_TABLES = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, at REAL NOT NULL, outcome TEXT NOT NULL, score REAL NOT NULL, query TEXT NOT NULL,
        reasoning_id INTEGER) WITHOUT ROWID""",
    """CREATE TABLE boosts (
        chunk_id INTEGER NOT NULL, run_id TEXT NOT NULL, at REAL NOT NULL, amount REAL NOT NULL,
        PRIMARY KEY (chunk_id, run_id)) WITHOUT ROWID""",
    """CREATE TABLE documents (
        chunk_id INTEGER PRIMARY KEY, pattern TEXT NOT NULL, fingerprint BLOB NOT NULL, json TEXT NOT NULL)""",
    "CREATE INDEX documents_pattern ON documents (pattern)",
    """CREATE VIRTUAL TABLE reasoning_words USING fts5 (
        query, pattern, subgoals, keywords, tools, tokenize = 'unicode61 remove_diacritics 0')""",
    """CREATE TABLE difficult (
        signature TEXT PRIMARY KEY, query TEXT NOT NULL, failures INTEGER NOT NULL, last_score REAL NOT NULL,
        last_at REAL NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE log_index (
        term TEXT NOT NULL, file TEXT NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
        section TEXT NOT NULL, phase INTEGER, keyword TEXT NOT NULL, topic TEXT NOT NULL, query_id TEXT NOT NULL,
        PRIMARY KEY (term, file, line_start)) WITHOUT ROWID""",
    "CREATE INDEX log_index_file ON log_index (file)",
)
"""Tables of what finished runs taught, and of where their logs tell of what: nothing here can be made again."""

EMBEDDING_TABLES = (
    """CREATE TABLE embeddings (
        chunk_id INTEGER PRIMARY KEY, model TEXT NOT NULL, body_hash BLOB NOT NULL, vector BLOB NOT NULL)""",
    # Row ids are given anew: a vector must not pass to the chunk that gets a deleted one's id.
    """CREATE TRIGGER chunks_embeddings AFTER DELETE ON chunks BEGIN
        DELETE FROM embeddings WHERE chunk_id = OLD.id; END""",
)
"""Vectors of chunks; empty unless a model is configured."""


async def create_tables(db: aiosqlite.Connection) -> None:
    """Database migration 1: files, chunks with their parts, references and relations, accesses, what runs taught."""
    await execute_all(
        db,
        (
            """CREATE TABLE files (
            id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL, size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL, content_hash BLOB NOT NULL, syntax_errors INTEGER NOT NULL,
            imports BLOB NOT NULL, indexed_at REAL NOT NULL)""",
            """CREATE TABLE skips (
            path TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL) WITHOUT ROWID""",
            """CREATE TABLE chunks (
            id INTEGER PRIMARY KEY, path TEXT NOT NULL, name TEXT NOT NULL, ordinal INTEGER NOT NULL,
            leaf TEXT NOT NULL, kind TEXT NOT NULL, parent TEXT, language TEXT NOT NULL,
            line_start INTEGER NOT NULL, line_end INTEGER NOT NULL, signature TEXT NOT NULL, docstring TEXT NOT NULL,
            complexity TEXT NOT NULL, branches INTEGER NOT NULL, loops INTEGER NOT NULL, keywords TEXT NOT NULL,
            body_hash BLOB NOT NULL, shape_hash BLOB NOT NULL, tokens INTEGER NOT NULL, part_count INTEGER NOT NULL,
            changed_at REAL, gone_at REAL, archived_at REAL, UNIQUE (path, name, ordinal))""",
            "CREATE INDEX chunks_leaf ON chunks (leaf COLLATE NOCASE) WHERE gone_at IS NULL",
            "CREATE INDEX chunks_shape ON chunks (shape_hash)",
            "CREATE INDEX chunks_changed ON chunks (changed_at) WHERE changed_at IS NOT NULL",
            "CREATE INDEX chunks_kind ON chunks (kind) WHERE gone_at IS NULL",
            "CREATE INDEX files_language ON files (language)",
            """CREATE TABLE parts (
            id INTEGER PRIMARY KEY, chunk_id INTEGER NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
            occurrences BLOB NOT NULL)""",
            "CREATE INDEX parts_chunk ON parts (chunk_id)",
            "CREATE TABLE blocks (block INTEGER PRIMARY KEY, parts BLOB NOT NULL, dead INTEGER NOT NULL DEFAULT 0)",
            """CREATE TABLE postings (
            block INTEGER NOT NULL, term TEXT NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (block, term))
            WITHOUT ROWID""",
            """CREATE TABLE refs (
            chunk_id INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, qualifier TEXT NOT NULL,
            PRIMARY KEY (chunk_id, name, kind, qualifier)) WITHOUT ROWID""",
            "CREATE INDEX refs_name ON refs (name)",
            """CREATE TABLE relations (
            from_id INTEGER NOT NULL, kind TEXT NOT NULL, to_id INTEGER NOT NULL, weight REAL NOT NULL,
            PRIMARY KEY (from_id, kind, to_id)) WITHOUT ROWID""",
            "CREATE INDEX relations_to ON relations (to_id, kind)",
            "CREATE TABLE unresolved (chunk_id INTEGER PRIMARY KEY)",
            """CREATE TABLE accesses (
            id INTEGER PRIMARY KEY, chunk_id INTEGER NOT NULL REFERENCES chunks (id), at REAL NOT NULL,
            kind TEXT NOT NULL)""",
            "CREATE INDEX accesses_chunk ON accesses (chunk_id, at)",
            "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            "CREATE INDEX chunks_archived ON chunks (archived_at) WHERE archived_at IS NOT NULL",
            """CREATE TABLE escalations (
            chunk_id INTEGER NOT NULL, action TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (chunk_id, action))
            WITHOUT ROWID""",
            # Row ids are given anew: a flag must not pass to the chunk that gets a deleted one's id.
            """CREATE TRIGGER chunks_escalations AFTER DELETE ON chunks BEGIN
            DELETE FROM escalations WHERE chunk_id = OLD.id; END""",
            *LEARNED_TABLES,
            """CREATE TABLE git_commits (
            id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, subject TEXT NOT NULL,
            files INTEGER NOT NULL, sweeping INTEGER NOT NULL, settled INTEGER NOT NULL)""",
            "CREATE VIRTUAL TABLE git_messages USING fts5 (terms, tokenize = 'unicode61 remove_diacritics 0')",
            """CREATE TABLE changes (
            chunk_id INTEGER NOT NULL, commit_id INTEGER NOT NULL, changed INTEGER NOT NULL,
            PRIMARY KEY (chunk_id, commit_id)) WITHOUT ROWID""",
            "CREATE INDEX changes_commit ON changes (commit_id, chunk_id)",
            *EMBEDDING_TABLES,
        ),
    )


async def create_deliverable_log(db: aiosqlite.Connection) -> None:
    """Database migration 2: the log of deliverables, in the order of hearing. Rows are only ever added."""
    await execute_all(
        db,
        (
            """CREATE TABLE deliverable_events (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, change_id TEXT NOT NULL, at REAL NOT NULL,
            received_at REAL NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL)""",
            "CREATE INDEX deliverable_events_change ON deliverable_events (change_id)",
            # What each deliverable's events amounted to when it was looked at last: derived, and left out where they
            # grew.
            """CREATE TABLE deliverable_folds (
            change_id TEXT PRIMARY KEY, number INTEGER NOT NULL, mark TEXT NOT NULL, body TEXT NOT NULL)
            WITHOUT ROWID""",
            """CREATE TRIGGER deliverable_events_stay BEFORE DELETE ON deliverable_events BEGIN
            SELECT RAISE(ABORT, 'events of deliverables are never deleted'); END""",
            """CREATE TRIGGER deliverable_events_hold BEFORE UPDATE ON deliverable_events BEGIN
            SELECT RAISE(ABORT, 'events of deliverables are never changed'); END""",
        ),
    )


async def keep_outbox(db: aiosqlite.Connection) -> None:
    """Database migration 3: which ended deliverables were sent on as telemetry."""
    await db.execute(
        "CREATE TABLE outbox (change_id TEXT PRIMARY KEY, ended_at REAL NOT NULL, sent_at REAL) WITHOUT ROWID"
    )


async def mark_files(db: aiosqlite.Connection) -> None:
    """Database migration 4: the rest of a file's stat. Every file is read once more, as none is known by it yet."""
    for table in ("files", "skips"):
        await db.execute(f"ALTER TABLE {table} ADD COLUMN mark INTEGER NOT NULL DEFAULT 0")


BEYOND_ASCII = "*[^\x01-\x7f]*"
"""Pattern of SQLite for texts with other letters than ASCII's."""


async def fold_words(db: aiosqlite.Connection) -> None:
    """Database migration 5: words without accents, and text without spaces in pairs; what was learned stays."""
    await postings.rewrite_terms(db, BEYOND_ASCII, _folded)
    for table, columns in (
        ("git_messages", ("terms",)),
        ("reasoning_words", ("query", "pattern", "subgoals", "keywords", "tools")),
    ):
        rows = await db.execute_fetchall(
            f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE {' || '.join(columns)} GLOB ?", (BEYOND_ASCII,)
        )
        await db.executemany(
            f"UPDATE {table} SET {', '.join(f'{column} = ?' for column in columns)} WHERE rowid = ?",
            [(*(_folded_words(text) for text in texts), row) for row, *texts in rows],
        )


def _folded(term: str) -> tuple[str, ...]:
    """The terms for one of before; where a word was in pieces, its whole was a term as well."""
    return (term,) if term.isascii() else stem_word(term)


def _folded_words(text: str) -> str:
    return " ".join(new for term in text.split() for new in _folded(term))


async def sum_rows(db: aiosqlite.Connection) -> None:
    """Database migration 6: a place for the checksums of learned rows, which `row_sums` fills."""
    await db.execute("CREATE TABLE row_sums (sum INTEGER PRIMARY KEY)")


async def note_unrecorded(db: aiosqlite.Connection) -> None:
    """Database migration 7: what the repository's record lacks, and what of it is not understood yet."""
    await execute_all(
        db,
        (
            """CREATE TABLE unrecorded (
            number INTEGER PRIMARY KEY, type TEXT NOT NULL, at REAL NOT NULL, told TEXT NOT NULL)""",
            # Numbers of the record's entries that speak of a pattern which did not come yet.
            "CREATE TABLE unread_entries (number INTEGER PRIMARY KEY)",
            # Deliverables that were told of elsewhere first: that their specs are not here means nothing.
            "CREATE TABLE heard_changes (change_id TEXT PRIMARY KEY) WITHOUT ROWID",
            # Accesses, and runs, that a colleague's entries told of: they weigh less.
            "CREATE TABLE others_accesses (access_id INTEGER PRIMARY KEY, author TEXT NOT NULL)",
            "CREATE TABLE others_runs (run_id TEXT PRIMARY KEY, author TEXT NOT NULL) WITHOUT ROWID",
        ),
    )


async def mark_others_patterns(db: aiosqlite.Connection) -> None:
    """Database migration 8: whose the patterns are that colleagues told; of those that are here, by whose runs alone
    they were.
    """
    await db.execute("CREATE TABLE others_patterns (chunk_id INTEGER PRIMARY KEY, author TEXT NOT NULL)")
    await db.execute(
        """INSERT INTO others_patterns SELECT chunk_id, min(author)
           FROM boosts JOIN documents USING (chunk_id) LEFT JOIN others_runs USING (run_id)
           GROUP BY chunk_id HAVING count(author) = count(*)"""
    )


async def keep_former_places(db: aiosqlite.Connection) -> None:
    """Database migration 9: where chunks were that something was learned of, before they moved."""
    await execute_all(
        db,
        (
            """CREATE TABLE former_places (
            path TEXT NOT NULL, name TEXT NOT NULL, ordinal INTEGER NOT NULL, chunk_id INTEGER NOT NULL,
            PRIMARY KEY (path, name, ordinal)) WITHOUT ROWID""",
            "CREATE INDEX former_places_chunk ON former_places (chunk_id)",
            """CREATE TRIGGER chunks_former_places AFTER DELETE ON chunks BEGIN
            DELETE FROM former_places WHERE chunk_id = OLD.id; END""",
        ),
    )


async def weigh_callers(db: aiosqlite.Connection) -> None:
    """Database migration 10: how sure a relation is, beside who has it: thousands of callers are counted by the index
    alone.
    """
    await db.execute("DROP INDEX relations_to")
    await db.execute("CREATE INDEX relations_to ON relations (to_id, kind, weight)")


async def tell_changed(db: aiosqlite.Connection) -> None:
    """Database migration 11: what a commit changed and which chunks are gone, each by an index alone (covering index,
    partial index): recall asks for hundreds of chunks that similar commits changed.
    """
    await db.execute("DROP INDEX changes_commit")
    await db.execute("CREATE INDEX changes_commit ON changes (commit_id, chunk_id, changed)")
    await db.execute("CREATE INDEX chunks_gone ON chunks (gone_at) WHERE gone_at IS NOT NULL")


async def lead_to_names(db: aiosqlite.Connection) -> None:
    """Database migration 12: how many lines of a chunk stand before the one of its name; 0 until its file is read."""
    await db.execute("ALTER TABLE chunks ADD COLUMN lead INTEGER NOT NULL DEFAULT 0")


_COPIES = itertools.count()
"""Numbers of copies: two stores of one process may make one each at the same time."""

MIGRATIONS: tuple[Callable[[aiosqlite.Connection], Awaitable[None]], ...] = (
    create_tables,
    create_deliverable_log,
    keep_outbox,
    mark_files,
    fold_words,
    sum_rows,
    note_unrecorded,
    mark_others_patterns,
    keep_former_places,
    weigh_callers,
    tell_changed,
    lead_to_names,
)
"""Append only. The database's `user_version` is how many of these it has had."""


async def migrate(db: aiosqlite.Connection, path: Path) -> None:
    """Database migrations that a file has not had yet, in order; each commits with the record that it ran, those of a
    new file all at once.
    """
    version = await pragma_int(db, "user_version")
    if version > len(MIGRATIONS):
        raise StoreTooNew(f"{path} was written by a newer AURORA (shape {version}); upgrade aurora-context")
    if 0 < version < len(MIGRATIONS):
        await back_up(db, path, version)
    # A new file gets its whole shape at once: who opens it meanwhile must not take half of it for an older version's.
    steps = [MIGRATIONS] if version == 0 else [(step,) for step in MIGRATIONS[version:]]
    done = version
    for together in steps:
        done += len(together)
        await db.execute("BEGIN IMMEDIATE")
        try:
            had = await pragma_int(db, "user_version")  # a second process may have done it while we waited
            if had < done:
                for step in together[len(together) - (done - had) :]:
                    await step(db)
                await db.execute(f"PRAGMA user_version = {done}")
                await db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        except BaseException:
            await db.execute("ROLLBACK")
            raise
        await db.execute("COMMIT")


async def back_up(db: aiosqlite.Connection, path: Path, version: int) -> Path:
    """Backup before an upgrade: copy the whole file to `<name>.v<version>.bak` beside it before its shape changes; the
    last two are kept.

    Raises StoreError where there is no room for the copy: nothing is changed then.
    """
    target = path.with_name(f"{path.name}.v{version}.bak")
    unfinished = path.with_name(f"{target.name}.{os.getpid()}-{next(_COPIES)}")
    size = await pragma_int(db, "page_count") * await pragma_int(db, "page_size")
    free = (await asyncio.to_thread(shutil.disk_usage, path.parent)).free
    if free < size + _SPARE_BYTES:
        raise StoreError(
            f"{path} must be copied before it is upgraded, which takes {size >> 20} MiB and only {free >> 20} MiB are "
            "free; free some disk space"
        )
    try:
        unfinished.touch(mode=0o600)
        async with aiosqlite.connect(unfinished) as copy:
            await db.backup(copy)
        unfinished.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"cannot copy {path} to {target} before its upgrade: {error}; nothing was changed") from error
    finally:
        unfinished.unlink(missing_ok=True)
    older = sorted(path.parent.glob(f"{glob.escape(path.name)}.v*.bak"), key=_version_of_backup)
    for each in older[:-KEPT_BACKUPS]:
        each.unlink(missing_ok=True)
    return target


def _version_of_backup(path: Path) -> int:
    """Version number in the name of a backup."""
    number = path.name.removesuffix(".bak").rpartition(".v")[2]
    return int(number) if number.isdigit() else 0
