"""Connection to a memory file (SQLite): pragmas, write-ahead log (WAL), and the errors people should see instead of
SQLite's.
"""

from __future__ import annotations

import asyncio
import operator
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

import aiosqlite

from aurora_memory import StoreBusy, StoreCorrupt, StoreError, StoreForeign

T = TypeVar("T")

APPLICATION_ID = 0x4155524F
"""`AURO`: tells our files from other SQLite databases."""

BUSY_SECONDS = 5.0

lenient_text = operator.methodcaller("decode", "utf-8", "replace")
"""Text factory of connections: a changed bit that makes a text no UTF-8 costs a character, and not every answer."""

PAGE_BYTES = 48 << 20
"""Bytes from which on SQLite's caches grow no more, of all memory files together that a process has open: each reads
into the pages it has. Six that may keep 16 MB each were as quick with a third of it, for the system keeps them too."""

READER_KB = 4000
"""KB of pages that a reader keeps of one memory file. They are full within minutes, and a daemon is done growing then,
however large the file. Of 40,000 chunks (95 MB) a question takes as long as with 16,000: the system has the rest."""
WRITER_KB = 2000
"""The same of its writer. A first index writes an eighth more into the log than with 4,000 and takes no longer."""

_SHARED_PRAGMAS = (
    "synchronous = NORMAL",
    "temp_store = MEMORY",
    "mmap_size = 0",
    f"soft_heap_limit = {PAGE_BYTES}",
)
_READING_PRAGMAS = (*_SHARED_PRAGMAS, f"cache_size = -{READER_KB}", "query_only = 1")
_WRITING_PRAGMAS = (
    *_SHARED_PRAGMAS,
    f"cache_size = -{WRITER_KB}",
    "wal_autocheckpoint = 2000",
    "journal_size_limit = 16777216",
)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a connection that only reads, for the thread that calls: it sees committed data and blocks no writer.

    The file is there and in WAL mode. Raises a `StoreError` that says what to do.
    """
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    except sqlite3.OperationalError as error:
        raise _cannot_open(path, error) from error
    try:
        for pragma in _READING_PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
    except sqlite3.Error as error:
        db.close()
        raise explained(error, path) from error
    return db


async def connect(path: Path, *, read_only: bool = False) -> aiosqlite.Connection:
    """Open one connection in WAL mode. `read_only` connections see committed data only and never block the writer."""
    try:
        db = await aiosqlite.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    except sqlite3.OperationalError as error:
        raise _cannot_open(path, error) from error
    try:
        await _refuse_others(db, path)
        await _use_write_ahead_log(db)
        db.text_factory = lenient_text
        await execute_all(db, [f"PRAGMA {each}" for each in (_READING_PRAGMAS if read_only else _WRITING_PRAGMAS)])
    except sqlite3.Error as error:
        await db.close()
        raise explained(error, path) from error
    except UnicodeDecodeError as error:  # SQLite repeats a damaged schema, which may be no text, in its message
        await db.close()
        raise explained(sqlite3.DatabaseError("database disk image is malformed"), path) from error
    except BaseException:
        await db.close()
        raise
    return db


async def on_thread_of(connection: aiosqlite.Connection, work: Callable[[], T]) -> T:
    """Run a function on the thread that owns an aiosqlite connection, after what is queued there.

    aiosqlite sends each of its own calls there by `_execute`, and has no public name for it: this is the one place.
    """
    execute: Callable[[Callable[[], T]], Awaitable[T]] = connection._execute
    return await execute(work)


async def execute_all(db: aiosqlite.Connection, statements: Iterable[str]) -> None:
    """Execute statements without parameters in one turn of the connection's thread: a turn takes longer than most."""
    connection: sqlite3.Connection = db._conn  # its script method would commit what is under way

    def work() -> None:
        for statement in statements:
            connection.execute(statement)

    await on_thread_of(db, work)


async def _refuse_others(db: aiosqlite.Connection, path: Path) -> None:
    """Before anything is set: even the journal's mode is written into the file."""
    application = await pragma_int(db, "application_id")
    if application not in (0, APPLICATION_ID):
        raise StoreForeign(f"{path} belongs to another program (application id {application}); choose another path")


async def _use_write_ahead_log(db: aiosqlite.Connection) -> None:
    """Switch to WAL. SQLite does not wait for other openers here, whatever the busy timeout, so this does."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            await db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.02)
        else:
            return


def _cannot_open(path: Path, error: sqlite3.Error) -> StoreError:
    return StoreError(f"cannot open the memory file {path}: {error}; check its folder's permissions")


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    """Turn SQLite's words into what happened, where, and the next step."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreBusy(f"another process holds {path}; stop it or try again")
    if unreadable(error) and "malformed" not in text:
        return StoreCorrupt(f"{path} cannot be read to its end ({text}); 'aurora doctor --repair' saves what can be")
    if isinstance(error, sqlite3.DatabaseError) and ("not a database" in text or "malformed" in text):
        return StoreCorrupt(f"{path} is damaged or not a memory file ({text}); 'aurora doctor --repair' sets it aside")
    if "full" in text:
        return StoreError(f"no space left to write {path}; free some disk space, nothing already learned is lost")
    return StoreError(f"cannot use the memory file {path}: {text}; run 'aurora doctor'")


_UNREADABLE = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS", "SQLITE_CORRUPT")


def unreadable(error: sqlite3.Error) -> bool:
    """Whether bytes of the file, or of its log, could not be read: cut, or a bad sector. Not what fails to write."""
    return getattr(error, "sqlite_errorname", "").startswith(_UNREADABLE)


def not_text(error: sqlite3.Error) -> bool:
    """Whether a text of the file is no UTF-8."""
    return "decode to UTF-8" in str(error)


async def pragma_int(db: aiosqlite.Connection, name: str) -> int:
    """Read an integer pragma."""
    async with db.execute(f"PRAGMA {name}") as cursor:
        row = await cursor.fetchone()
    return int(row[0]) if row else 0
