"""Memory file as it was left: opened only to be read, whoever it belongs to, until a moment at most. Blocks."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from aurora_memory import StoreError
from aurora_memory.activation import USUAL, Weighing
from aurora_memory.store import file_reader
from aurora_memory.store.connection import APPLICATION_ID, explained
from aurora_memory.store.migrations import MIGRATIONS
from aurora_memory.store.reader import Reader
from aurora_protocol.strict_modes import complaint

_OPERATIONS = 20_000
"""Of SQLite's machine between two looks at the clock: some milliseconds."""
_HEADER = 100
"""Bytes at the beginning of every SQLite file, by which it says what it is."""


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
    """Look whose file it is before SQLite does. Raises StoreError."""
    try:
        told = complaint(path, path.stat())
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise StoreError(f"it cannot be read: {error.strerror}") from error
    if told is not None:
        raise StoreError(told)
    if not header.startswith(b"SQLite format 3\0") or int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError("it is no memory file")
