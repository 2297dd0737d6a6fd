"""Position in the repository's record (consumer offset, cursor, high-water mark): up to where a memory has taken it in.
Lost with the memory, it begins anew."""

from __future__ import annotations

from collections.abc import Mapping

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.store.reader import Reader
from aurora_protocol import typed

FACT = "record"


class RecordPosition(Struct, frozen=True):
    """Position in the record whose mark is `record`: the last entry's number, and how many it had forgotten by then.

    `kinds` are those that were understood: an AURORA that knows more reads from the beginning.
    """

    record: str
    kinds: tuple[str, ...]
    number: int = 0
    forgotten: int = 0


def position(reader: Reader) -> RecordPosition | None:
    """Position that is kept; None where nothing was taken in."""
    rows = reader.rows("SELECT value FROM facts WHERE key = ?", (FACT,))
    try:
        return typed.decode(rows[0][0], RecordPosition) if rows else None
    except msgspec.DecodeError:
        return None


def unread(reader: Reader) -> list[int]:
    """Numbers of entries that wait for a pattern."""
    return [int(row[0]) for row in reader.rows("SELECT number FROM unread_entries ORDER BY number")]


async def keep(db: aiosqlite.Connection, position: RecordPosition) -> None:
    """Keep a position in the caller's transaction."""
    await db.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (FACT, msgspec.json.encode(position).decode()),
    )


async def keep_unread(db: aiosqlite.Connection, entries: Mapping[int, bool]) -> None:
    """Keep in the caller's transaction which of some entries, by their numbers, still wait for a pattern."""
    await db.executemany("DELETE FROM unread_entries WHERE number = ?", [(each,) for each in entries])
    waiting = [(number,) for number, waits in entries.items() if waits]
    await db.executemany("INSERT OR IGNORE INTO unread_entries VALUES (?)", waiting)
