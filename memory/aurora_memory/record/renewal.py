"""Renewal of a damaged record: the file is set aside, and what can be read of it goes into a new one.

An entry's id is the hash of its content: one that is not what was written is known, and left out. Blocks.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.record.entry import Entry
from aurora_memory.record.record_file import Record
from aurora_memory.store.salvage import set_aside

_AT_ONCE = 500


class Renewed(Struct, frozen=True):
    """Outcome of a renewal: where the damaged file is now, and how many entries were read from it."""

    aside: Path
    saved: int


def renew(path: Path, repository: str, author: str, machine: str) -> Renewed:
    """Set a damaged record aside and make a new one. Nobody may have it open. Raises a StoreError."""
    aside = set_aside(path, time.time())
    saved = 0
    with closing(Record.open(path, repository, author, machine)) as record:
        some: list[Entry] = []
        for each in _readable(aside, repository):
            some.append(each)
            if len(some) == _AT_ONCE:
                saved += _taken(record, some)
                some = []
        saved += _taken(record, some)
    return Renewed(aside, saved)


def _taken(record: Record, entries: list[Entry]) -> int:
    try:
        return record.union(entries)
    except (StoreError, ValueError):
        new = 0
        for each in entries:
            try:
                new += record.union([each])
            except (StoreError, ValueError):
                continue  # it is not what was written
        return new


def _readable(path: Path, repository: str) -> Iterator[Entry]:
    """Entries that SQLite still finds, from both ends of the table until it fails."""
    seen: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            with closing(sqlite3.connect(path)) as db:
                db.text_factory = lambda raw: raw.decode(errors="replace")
                for number, *row in db.execute(
                    f"""SELECT number, id, author, machine, sequence, at, kind, body FROM entries
                        ORDER BY number {order}"""
                ):
                    if number not in seen:
                        seen.add(number)
                        yield Entry(row[0], repository, *row[1:])
        except sqlite3.Error:
            continue  # the other end, then the memories, tell more
