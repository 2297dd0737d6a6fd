"""Migrations (schema versions, upgrades) of a record's file: its shapes, and how one of an older shape is brought to
the latest."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aurora_memory import StoreCorrupt, StoreForeign, StoreTooNew
from aurora_memory.record.entry import FORGET, moment_sum
from aurora_memory.record.entry_keys import row_key
from aurora_memory.store.connection import BUSY_SECONDS

APPLICATION_ID = 0x41555252
"""`AURR`: tells records from memory files and from other programs' databases."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE entries (
             number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, author TEXT NOT NULL,
             machine TEXT NOT NULL, sequence INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
           )""",
        "CREATE INDEX entries_of ON entries (author, machine, sequence)",
        "CREATE INDEX entries_kind ON entries (kind)",
        # A pattern that an entry is of or speaks of.
        "CREATE TABLE patterns (pattern TEXT, number INTEGER, PRIMARY KEY (pattern, number)) WITHOUT ROWID",
        # Ids of what is forgotten, the rows of memories that it spoke of, and the number of the entry that says so.
        "CREATE TABLE forgotten (id TEXT PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE heads (author TEXT, machine TEXT, sequence INTEGER NOT NULL, PRIMARY KEY (author, machine))
           WITHOUT ROWID""",
    ),
    (
        # Which row of a memory an entry speaks of (`line_key`): two words on one row are known as such.
        "CREATE TABLE keys (key TEXT, number INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID",
        f"INSERT INTO keys SELECT aurora_key(id, kind, body), number FROM entries WHERE kind <> '{FORGET}'",
        # The same wherever the code that it spoke of stands by now (`loose_key`).
        "ALTER TABLE forgotten ADD COLUMN loose TEXT NOT NULL DEFAULT ''",
    ),
    (
        # Sum of when an entry was appended (`moment_sum`): its id says nothing of it, and forgetting goes by it.
        "ALTER TABLE entries ADD COLUMN moment INTEGER NOT NULL DEFAULT 0",
        "UPDATE entries SET moment = aurora_moment(id, at)",
    ),
)
"""Shapes of the file, the latest last; append only. `user_version` counts them."""

RECORD_KB = 1000
"""KB of pages that a record keeps: it is read from its end."""
_PRAGMAS = ("synchronous = FULL", f"cache_size = -{RECORD_KB}", "mmap_size = 0", "journal_size_limit = 16777216")


def settle(db: sqlite3.Connection, path: Path, repository: str) -> None:
    """Bring a file to today's shape. Before anything is set it is told whose it is: the journal's mode is written."""
    application = int(db.execute("PRAGMA application_id").fetchone()[0])
    if application not in (0, APPLICATION_ID):
        raise StoreForeign(f"{path} belongs to another program (application id {application}); move it away")
    _use_write_ahead_log(db)
    for pragma in _PRAGMAS:
        db.execute(f"PRAGMA {pragma}")
    db.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten, too
    db.create_function("aurora_key", 3, row_key, deterministic=True)
    db.create_function("aurora_moment", 2, _moment, deterministic=True)
    if not _is_of_shape(db):
        _bring_to_shape(db, path, repository)
    owner = db.execute("SELECT value FROM facts WHERE key = 'repository'").fetchone()[0]
    if owner != repository:
        raise StoreCorrupt(f"{path} is the record of the repository {owner}, not of {repository}; move it away")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Length of a transaction that writes; none of it stays where an error ends it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _moment(id_: object, at: object) -> int:
    """Sum of when an entry was appended; one that fits nothing where a bit has made something else of either."""
    return moment_sum(id_, at) if isinstance(id_, str) and isinstance(at, float) else 0


def _is_of_shape(db: sqlite3.Connection) -> bool:
    """Whether the schema version is today's."""
    if int(db.execute("PRAGMA user_version").fetchone()[0]) != len(MIGRATIONS):
        return False
    return len(db.execute("SELECT 1 FROM facts WHERE key IN ('repository', 'mark')").fetchall()) == 2


def _bring_to_shape(db: sqlite3.Connection, path: Path, repository: str) -> None:
    """Do what is missing. Only then is the file written to: who opens it would wait for everybody who appends."""
    with transaction(db):
        shape = int(db.execute("PRAGMA user_version").fetchone()[0])
        if shape > len(MIGRATIONS):
            raise StoreTooNew(f"{path} was written by a newer AURORA (shape {shape}); upgrade aurora-context")
        for statement in (statement for step in MIGRATIONS[shape:] for statement in step):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("INSERT OR IGNORE INTO facts VALUES ('repository', ?)", (repository,))
        db.execute("INSERT OR IGNORE INTO facts VALUES ('mark', lower(hex(randomblob(16))))")


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait for other openers here, whatever the busy timeout, so this does."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
