"""Memory file as it was left (read-only SQLite database): opened only to be read, whoever it belongs to, with a
deadline for its queries. Blocks.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from aurora_memory import StoreError
from aurora_memory.activation import USUAL, Weighing
from aurora_memory.store import file_reader
from aurora_memory.store.connection import APPLICATION_ID, explained
from aurora_memory.store.migrations import MIGRATIONS
from aurora_memory.store.reader import Reader
from aurora_memory.store.wal_checksums import refuse_changed_log
from aurora_protocol.strict_modes import complaint

_OPERATIONS = 20_000
"""Of SQLite's machine between two looks at the clock: some milliseconds."""
_PATIENCE = 0.2
"""Seconds for which a file that is held is waited for."""


class LeftMemory:
    """Memory file, open for one question. `root` is the folder it belongs to, `git_root` the first commit of its
    repository ("" where unknown), `indexed_at` when it was indexed last (Unix seconds). Close it.
    """

    def __init__(self, path: Path, deadline: float, weighing: Weighing = USUAL) -> None:
        """Open it; what is asked of it after the `deadline` (of `time.monotonic`) is broken off. Raises StoreError."""
        _look(path)
        self.reader = Reader(path, weighing)
        self._db = self.reader.connect()
        try:
            self._db.set_progress_handler(lambda: time.monotonic() > deadline, _OPERATIONS)
            shape = int(self._db.execute("PRAGMA user_version").fetchone()[0])
            if shape != len(MIGRATIONS):
                raise StoreError(f"{'a newer' if shape > len(MIGRATIONS) else 'an older'} AURORA wrote it")
            root, indexed = file_reader.fact(self.reader, "root"), file_reader.fact(self.reader, "indexed_at")
            if root is None or indexed is None:
                raise StoreError("it was never indexed to its end")
            self.root, self.indexed_at = Path(root), float(indexed)
            self.git_root = file_reader.fact(self.reader, "git_root") or ""
        except (sqlite3.Error, ValueError) as error:
            self._db.close()
            raise explained(error, path) if isinstance(error, sqlite3.Error) else StoreError(str(error)) from error
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


def _look(path: Path) -> None:
    """Look whose file it is. Raises StoreError.

    By SQLite itself: to open the file by its name and close it again would take from this process every lock that
    another connection of it has.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise StoreError(f"it cannot be read: {error.strerror}") from error
    told = complaint(path, status)
    if told is not None:
        raise StoreError(told)
    if status.st_size == 0:  # to connect to an empty one would delete its log
        raise StoreError("it is empty")
    refuse_changed_log(path)
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_PATIENCE)) as db:
            db.execute("PRAGMA query_only = 1")
            application = int(db.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.Error as error:
        if "not a database" in str(error):
            application = 0
        else:
            raise explained(error, path) from error
    if application != APPLICATION_ID:
        raise StoreError("it is no memory file")
