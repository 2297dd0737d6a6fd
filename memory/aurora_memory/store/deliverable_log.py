"""Event log of deliverables (event store, append-only; AURA-M §5.3): it only grows, and nothing in it can be made
again.

What an event says is decided above; here it is a line of JSON with an id, the deliverable it speaks of and two times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiosqlite
from msgspec import Struct

from aurora_memory.store.export_format import DeliverableLine
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import marks

_COLUMNS = "number, id, change_id, at, received_at, source, body"
_AT_ONCE = 500
_EARLIER = "\x1fearlier\x1f"
_SURROGATE = re.compile("[\ud800-\udfff]")


class LoggedEvent(Struct, frozen=True):
    """Event as the log keeps it. `at` and `received_at` are Unix seconds; `body` is its JSON.

    `number` counts what this memory was told, in the order of arrival; 0 until it is kept.
    """

    id: str
    change_id: str
    at: float
    received_at: float
    source: str
    body: str
    number: int = 0


class FoldedDeliverable(Struct, frozen=True):
    """Snapshot: the fold of one deliverable's events up to that number; `body` is "" where it was not kept since."""

    change_id: str
    number: int
    body: str


def events_of(reader: Reader, change_id: str) -> list[LoggedEvent]:
    """Everything that was told of one deliverable, in the order of arrival."""
    if _SURROGATE.search(change_id):
        return []
    rows = reader.rows(f"SELECT {_COLUMNS} FROM deliverable_events WHERE change_id = ? ORDER BY number", (change_id,))
    return [_event(row) for row in rows]


def events_since(reader: Reader, number: int, limit: int = -1) -> list[LoggedEvent]:
    """Events of any deliverable after that number, in the order of arrival."""
    rows = reader.rows(
        f"SELECT {_COLUMNS} FROM deliverable_events WHERE number > ? ORDER BY number LIMIT ?", (number, limit)
    )
    return [_event(row) for row in rows]


def folds(reader: Reader, mark: str) -> list[FoldedDeliverable]:
    """Each deliverable with the number of its last event, and what was kept of all of them under `mark`."""
    rows = reader.rows(
        """SELECT told.change_id, told.last, coalesce(body, '') FROM
             (SELECT change_id, max(number) AS last FROM deliverable_events GROUP BY change_id) AS told
           LEFT JOIN deliverable_folds AS kept ON kept.change_id = told.change_id AND kept.number = told.last
             AND kept.mark = ?""",
        (mark,),
    )
    return [FoldedDeliverable(*row) for row in rows]


def change_ids(reader: Reader) -> list[str]:
    """Every deliverable that something was told of."""
    return [row[0] for row in reader.rows("SELECT DISTINCT change_id FROM deliverable_events ORDER BY change_id")]


def heard_changes(reader: Reader) -> set[str]:
    """Changes that were told of elsewhere first: in another work tree, or by a colleague."""
    return {row[0] for row in reader.rows("SELECT change_id FROM heard_changes")}


async def hear_of_changes(db: aiosqlite.Connection, lines: Iterable[object]) -> None:
    """Keep in mind, in the caller's transaction, which changes the record's lines are the first to tell of."""
    named = {line.change_id for line in lines if isinstance(line, DeliverableLine)}
    await db.executemany(
        """INSERT OR IGNORE INTO heard_changes SELECT :change
           WHERE NOT EXISTS (SELECT 1 FROM deliverable_events WHERE change_id = :change)""",
        [{"change": each} for each in sorted(named)],
    )


async def append(db: aiosqlite.Connection, events: Sequence[LoggedEvent]) -> dict[str, int]:
    """Idempotent append of events, deduplicated by id, inside the caller's transaction; returns the numbers of new
    ones.

    Of several events with one id the earliest counts. One that is known with a later time is kept beside that, under a
    row id of its own: nothing is ever changed here, and who reads the bodies takes the earlier.
    """
    fresh = {event.id: event for event in sorted(events, key=lambda each: -each.at)}
    ids = list(fresh)
    rows: dict[str, str] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        sql = f"SELECT id, at FROM deliverable_events WHERE id IN ({marks(some)})"
        for known, at in await db.execute_fetchall(sql, some):
            if fresh[known].at < at:
                rows[known] = f"{known}{_EARLIER}{fresh[known].at!r}"
            else:
                del fresh[known]
    corrections = {row: known for known, row in rows.items()}
    for start in range(0, len(corrections), _AT_ONCE):
        some = list(corrections)[start : start + _AT_ONCE]
        sql = f"SELECT id FROM deliverable_events WHERE id IN ({marks(some)})"
        for (row,) in await db.execute_fetchall(sql, some):
            del fresh[corrections[row]]
    sql = "SELECT coalesce(max(number), 0) FROM deliverable_events"
    last = next(int(row[0]) for row in await db.execute_fetchall(sql))
    numbers: dict[str, int] = {}
    for event in events:
        if event.id in fresh and event.id not in numbers:
            numbers[event.id] = last = last + 1
    await db.executemany(
        f"INSERT INTO deliverable_events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (number, rows.get(id_, id_), event.change_id, event.at, event.received_at, event.source, event.body)
            for id_, number in numbers.items()
            for event in (fresh[id_],)
        ],
    )
    return numbers


async def keep_folds(db: aiosqlite.Connection, mark: str, folds: Sequence[FoldedDeliverable]) -> None:
    """Keep what deliverables amount to inside the caller's transaction, in place of what was kept of them."""
    await db.executemany(
        "INSERT OR REPLACE INTO deliverable_folds (change_id, number, mark, body) VALUES (?, ?, ?, ?)",
        [(each.change_id, each.number, mark, each.body) for each in folds],
    )


def _event(row: Sequence[Any]) -> LoggedEvent:
    number, id_, change_id, at, received_at, source, body = row
    return LoggedEvent(id_, change_id, at, received_at, source, body, number)


class Outbox:
    """Telemetry outbox: a row for each change that ended while export was on; it stays, so none is sent twice."""

    def __init__(self, transaction: Callable[[], AbstractAsyncContextManager[aiosqlite.Connection]]) -> None:
        self._transaction = transaction

    async def put(self, change_id: str, ended_at: float) -> bool:
        """Take a change in; False where it was sent already."""
        async with self._transaction() as db:
            await db.execute("INSERT OR IGNORE INTO outbox VALUES (?, ?, NULL)", (change_id, ended_at))
            rows = await db.execute_fetchall(
                "SELECT 1 FROM outbox WHERE change_id = ? AND sent_at IS NULL", (change_id,)
            )
            return bool(list(rows))

    async def sent(self, change_id: str, now: float) -> None:
        """Say that a collector took it."""
        async with self._transaction() as db:
            await db.execute("UPDATE outbox SET sent_at = ? WHERE change_id = ?", (now, change_id))

    async def waiting(self) -> list[str]:
        """The changes that no collector took yet, those that ended first in front."""
        async with self._transaction() as db:
            rows = await db.execute_fetchall("SELECT change_id FROM outbox WHERE sent_at IS NULL ORDER BY ended_at")
            return [str(change_id) for (change_id,) in rows]
