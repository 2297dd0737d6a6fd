"""Memory files (databases of all workspaces) beside one, listed: whose they are, and how much was learned in them.
Blocks; never writes.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from aurora_memory import StoreCorrupt
from aurora_memory.store.connection import APPLICATION_ID
from aurora_memory.store.wal_checksums import refuse_changed_log

MAX_FILES = 2000
_PATIENCE = 0.2


class MemoryFile(Struct, frozen=True):
    """A memory file by what it says of itself. `git_root` is the first commit of its repository, "" where unknown.

    `learned` counts accesses, reasoning chunks and events of deliverables: with 0 there is nothing in it that indexing
    would not give. `left`: the folder it belongs to was not there any more when the file was looked at. `common` is the
    git directory that its folder shared with other work trees, "" where unknown.
    """

    path: Path
    root: Path
    git_root: str
    learned: int
    left: bool
    common: str = ""


def memory_files(folder: Path) -> list[MemoryFile]:
    """Every memory file in a folder that can be read; those with most in them first."""
    found: list[MemoryFile] = []
    for path in sorted(folder.glob("*.db"))[:MAX_FILES]:
        known = memory_file(path)
        if known is not None:
            found.append(known)
    return sorted(found, key=lambda each: (-each.learned, each.path))


def memory_file(path: Path) -> MemoryFile | None:
    """Memory file by what it says of itself; None where it is no memory file, or cannot be read now."""
    try:
        if not path.is_file() or path.stat().st_size == 0:  # to connect to an empty one would delete its log
            return None
        refuse_changed_log(path)
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_PATIENCE)) as db:
            db.execute("PRAGMA query_only = 1")
            if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                return None
            facts = dict(db.execute("SELECT key, value FROM facts WHERE key IN ('root', 'git_root', 'git_common')"))
            sql = "SELECT (SELECT count(*) FROM accesses) + (SELECT count(*) FROM documents)"
            learned = int(db.execute(sql).fetchone()[0]) + _events(db)
    except (sqlite3.Error, OSError, StoreCorrupt):
        return None
    if "root" not in facts:
        return None
    root = Path(facts["root"])
    return MemoryFile(path, root, facts.get("git_root", ""), learned, not root.is_dir(), facts.get("git_common", ""))


def _events(db: sqlite3.Connection) -> int:
    if db.execute("PRAGMA user_version").fetchone()[0] < 2:  # written before deliverables were kept
        return 0
    return int(db.execute("SELECT count(*) FROM deliverable_events").fetchone()[0])
