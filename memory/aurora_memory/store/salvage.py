"""Salvage of what was learned from a damaged memory file: row by row into a new one, around the pages nobody can read.

The damaged file is never deleted; it is set aside as `<name>.damaged-<time>`. Chunks that something was
learned of come along with the row ids they had, put aside as gone: indexing finds them again by their identity.
Everything blocks, so callers use a thread. Nobody may have the file open when it is set aside.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.store.tables import CHUNKS, TABLES, Table, spoken_of

MAX_FAILURES = 20_000
"""Failed looks into one table, after which the rest of it is given up: each costs some 50 µs."""

_COMPANIONS = ("-wal", "-shm", "-journal")
_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}


class Salvaged(Struct, frozen=True):
    """Rows that were saved, by table, and the tables not all of which could be read. `aside` is the old file."""

    aside: Path
    saved: dict[str, int]
    unreadable: tuple[str, ...]


def copy_learned(damaged: Path, fresh: Path, now: float) -> tuple[dict[str, int], tuple[str, ...]]:
    """Copy what can be read of what was learned into the empty memory file `fresh`. `now` is Unix seconds.

    Returns the rows saved by table, and the tables of which not all could be read.
    """
    saved: dict[str, int] = {}
    unreadable: list[str] = []
    with closing(sqlite3.connect(fresh, isolation_level=None)) as new:
        new.execute("BEGIN IMMEDIATE")
        with closing(_opened(damaged)) as old:
            for table in TABLES:
                if table.nature == "derived":
                    continue
                rows = _Readable(old, table)
                _copy(new, table, rows)
                if rows.failures:
                    unreadable.append(table.name)
        # Of the chunks those stay that something was learned of, gone until they are indexed again.
        new.execute(f"DELETE FROM chunks WHERE NOT ({spoken_of()})")
        new.execute(
            "UPDATE chunks SET gone_at = coalesce(gone_at, ?), body_hash = x'' WHERE kind != 'reasoning'", (now,)
        )
        for table in TABLES:
            if table.nature == "learned" and not table.rows:
                saved[table.name] = next(count for (count,) in new.execute(f"SELECT count(*) FROM {table.name}"))
        new.execute("COMMIT")
    return {table: count for table, count in saved.items() if count}, tuple(unreadable)


def set_aside(path: Path, now: float) -> Path:
    """Move a damaged file, with SQLite's files beside it, out of the way; returns where to."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    target = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        path.rename(target)
        for suffix in _COMPANIONS:
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                companion.rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise StoreError(f"cannot move {path} aside: {error.strerror}; check its folder's permissions") from error
    return target


class _Readable:
    """The rows of one table of a damaged file, as far as they can be read, as dictionaries by column.

    Where a stretch cannot be read it is halved, again and again, so that only the rows on unreadable pages are lost.
    Tables in the order of a text are read from both ends instead.
    """

    def __init__(self, db: sqlite3.Connection, table: Table) -> None:
        self.failures = 0
        self._db = db
        self._table = table.name
        self._key = table.key
        # Which chunks something was learned of is known only when the rest was read.
        self._wanted = "TRUE" if table is CHUNKS or not table.rows else f"({table.rows})"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        kinds = {row["name"]: row["type"] for row in self._told(f"PRAGMA table_info({self._table})")}
        if self._key not in kinds:
            return
        if kinds[self._key] == "INTEGER":
            ends = [end for order in ("ASC", "DESC") for end in self._rows(f"ORDER BY {self._key} {order} LIMIT 1")]
            if self.failures == 0 and not ends:
                return
            known = sorted(end[self._key] for end in ends if isinstance(end[self._key], int))
            low = known[0] if len(known) == 2 else 0
            high = known[-1] if len(known) == 2 else (1 << 32)
            yield from self._between(low, high)
        else:
            last: Any = None
            before = self.failures
            for row in self._rows(f"WHERE {self._wanted} ORDER BY {self._key}"):
                last = row[self._key]
                yield row
            if self.failures > before:
                yield from self._down_to(last)

    def _between(self, low: int, high: int) -> Iterator[dict[str, Any]]:
        waiting = [(low, high)]
        while waiting and self.failures < MAX_FAILURES:
            low, high = waiting.pop()
            before = self.failures
            last = low
            stretch = f"WHERE {self._key} BETWEEN ? AND ? AND {self._wanted} ORDER BY {self._key}"
            for row in self._rows(stretch, low, high):
                yield row
                last = row[self._key]
            if self.failures > before and low < high:
                # From `last` on, not after it: one key may have several rows, and those that come twice count once.
                middle = (last + high) // 2
                waiting += [(start, end) for start, end in ((middle + 1, high), (last, middle)) if start <= end]

    def _down_to(self, last: Any) -> Iterator[dict[str, Any]]:
        for row in self._rows(f"WHERE {self._wanted} ORDER BY {self._key} DESC"):
            if last is not None and row[self._key] <= last:
                return
            yield row

    def _rows(self, rest: str, *values: Any) -> Iterator[dict[str, Any]]:
        return self._told(f"SELECT * FROM {self._table} {rest}", *values)

    def _told(self, sql: str, *values: Any) -> Iterator[dict[str, Any]]:
        try:
            cursor = self._db.execute(sql, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except (sqlite3.DatabaseError, OverflowError):
            self.failures += 1


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    db.execute("PRAGMA query_only = 1")
    return db


def _copy(new: sqlite3.Connection, table: Table, rows: _Readable) -> None:
    columns = [(row[1], row[2], bool(row[3])) for row in new.execute(f"PRAGMA table_info({table.name})")]
    names = [name for name, _, _ in columns]
    statement = f"INSERT OR IGNORE INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    for row in rows:
        sound = all(_fits(row.get(name), kind, required) for name, kind, required in columns)
        if sound and (table.intact is None or table.intact(row)):
            new.execute(statement, [row.get(name) for name in names])


def _fits(value: Any, kind: str, required: bool) -> bool:
    """Whether a column may hold a value: what a damaged page says may be anything."""
    if value is None:
        return not required
    return isinstance(value, _TYPES[kind])
