"""Copy (clone, snapshot) of a memory file for another folder of the same repository, so that a new work tree need not
be indexed anew: its index, and what was learned until then.

What the copy says of files is what it says of the other folder's: their marks differ, so that the first sweep looks at
each, and parses those whose content differs. Blocks; run it in a thread.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from aurora_memory import StoreCorrupt
from aurora_memory.store.connection import APPLICATION_ID
from aurora_memory.store.migrations import MIGRATIONS
from aurora_memory.store.row_sums import row_sum
from aurora_memory.store.tables import TABLES
from aurora_memory.store.wal_checksums import refuse_changed_log
from aurora_protocol.strict_modes import make_private_folder

PAGES = 4096
"""Pages that are copied between two looks at whoever writes the other file."""

PATIENCE = 2.0
"""Seconds that a writer of the other file is waited for."""

_FACTS = ("root", "offered")
"""What a file says of the folder it belongs to."""


_OTHERS = ("outbox", "unrecorded")
"""Tables of what the other folder's daemon has to do."""


def copy_index(source: Path, target: Path, root: Path) -> bool:
    """Online backup of a memory file to `target` as that of the folder `root`; False where it cannot be, and nothing is
    left then.

    A file of another shape than today's is no source, nor is one that is damaged. `target` is not there, and appears
    whole (0600); one that appears meanwhile stays.
    """
    beside = target.with_name(f".{target.name}.{os.getpid()}.copy")
    try:
        refuse_changed_log(source)
        make_private_folder(target.parent)
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, timeout=PATIENCE)) as old:
            old.execute("PRAGMA query_only = 1")
            if _number(old, "application_id") != APPLICATION_ID or _number(old, "user_version") != len(MIGRATIONS):
                return False
            with closing(sqlite3.connect(beside)) as new:
                old.backup(new, pages=PAGES)
                _settle(new, root)
        os.link(beside, target)
    except (OSError, sqlite3.Error, StoreCorrupt):
        return False
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                beside.with_name(beside.name + suffix).unlink(missing_ok=True)
    return True


def _settle(db: sqlite3.Connection, root: Path) -> None:
    """Make the copy the new folder's. What waits to be sent, or recorded, is so by the other one."""
    with db:
        marks = ", ".join("?" * len(_FACTS))
        for fact in db.execute(f"SELECT key, value FROM facts WHERE key IN ({marks})", _FACTS).fetchall():
            _forget_sum(db, "facts", fact)
        db.execute(f"DELETE FROM facts WHERE key IN ({marks})", _FACTS)
        own = ("root", str(root))
        db.execute("INSERT INTO facts (key, value) VALUES (?, ?)", own)
        db.execute("INSERT OR IGNORE INTO row_sums VALUES (?)", (row_sum("facts", own),))
        for name in _OTHERS:
            columns = next(table.columns for table in TABLES if table.name == name)
            for row in db.execute(f"SELECT {', '.join(columns)} FROM {name}").fetchall():
                _forget_sum(db, name, row)
            db.execute(f"DELETE FROM {name}")
        db.execute("UPDATE files SET mark = 0")


def _forget_sum(db: sqlite3.Connection, table: str, row: tuple[str | float | None, ...]) -> None:
    db.execute("DELETE FROM row_sums WHERE sum = ?", (row_sum(table, row),))


def _number(db: sqlite3.Connection, pragma: str) -> int:
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])
