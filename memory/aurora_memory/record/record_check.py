"""Check of a record's file (integrity, tampering): SQLite's own, then every entry by its id, which is the hash of what
it says, and by the sum of when it was appended.

Reads one moment of the file on a connection of its own, so that who appends meanwhile waits for nothing. Blocks.
"""

from __future__ import annotations

import re
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from aurora_memory import StoreCorrupt
from aurora_memory.record.entry import entry_id, moment_sum
from aurora_memory.store.connection import BUSY_SECONDS, explained, not_text

_HASH = re.compile(r"[0-9a-f]{32}")


def fault(path: Path) -> str | None:
    """What is wrong with a record's file, in a few words; None where it is sound. Raises a StoreError."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)) as db:
            db.execute("BEGIN")
            found = [str(row[0]) for row in db.execute("PRAGMA quick_check(1)")]
            return _rows_fault(db) if found == ["ok"] else " ".join(found[0].split())[:200]
    except sqlite3.Error as error:
        if not_text(error):
            return f"{path} holds a text that is none"
        told = explained(error, path)
        if isinstance(told, StoreCorrupt):
            return str(told).partition("; ")[0]
        raise told from error


def _rows_fault(db: sqlite3.Connection) -> str | None:
    """Entries that are not what was written, and heads and forgotten ids that cannot be."""
    changed = 0
    last: dict[tuple[str, str], int] = {}
    for id_, author, machine, sequence, kind, body, at, moment in db.execute(
        "SELECT id, author, machine, sequence, kind, body, at, moment FROM entries"
    ):
        try:
            whole = id_ == entry_id(author, machine, sequence, kind, body) and moment == moment_sum(id_, at)
        except (TypeError, struct.error):  # one bit made a blob of a text, or of a number
            whole = False
        if whole:
            last[author, machine] = max(last.get((author, machine), 0), sequence)
        changed += not whole
    if changed:
        return f"{changed} entries are not what was written"
    heads = {(row[0], row[1]): row[2] for row in db.execute("SELECT author, machine, sequence FROM heads")}
    if any(not isinstance(heads.get(each), int) or heads[each] < number for each, number in last.items()):
        return "the numbers that it has come to are not those of its entries"
    for id_, key, loose in db.execute("SELECT id, key, loose FROM forgotten"):
        if not all(isinstance(each, str) and _HASH.fullmatch(each) for each in (id_, key, loose or id_)):
            return "what it says is forgotten is not what was written"
    return None
