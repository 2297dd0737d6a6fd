"""Checksums of learned rows (bit rot), so that a bit that changed on the disk is known.

The table `row_sums` is a set: of every row of the sealed tables the sum of its table's name and sealed columns. A row
whose sum is not there is not what was written; a sum of no row speaks of one that is lost. Triggers of the writing
connection keep it: a file stays open to any other SQLite tool, only what such a tool writes counts as changed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager

import aiosqlite

from aurora_memory.store.connection import execute_all
from aurora_memory.store.statements import insert_rows
from aurora_memory.store.tables import TABLES, Table

SEALED = tuple(table for table in TABLES if table.sealed)
"""Tables whose rows have sums: what nothing makes again, and the names of the chunks that it speaks of."""

_FUNCTION = "aurora_row_sum"
_MADE = "row_sums_made"
"""Table of the connection alone: has a row while rows are inserted whose sums are made already."""

_DOUBLE = struct.Struct(">d")

Value = int | float | str | bytes | None


def row_sum(table: str, values: Iterable[Value]) -> int:
    """Sum of one row: 64 bits of a hash of the table's name and the sealed columns, in their order."""
    told = [table.encode()]
    for value in values:
        if value is None:
            told.append(b"n")
        elif isinstance(value, int):
            told.append(b"i%d" % value)
        elif isinstance(value, float):
            told.append(b"f" + _DOUBLE.pack(value))
        else:  # a text and a blob of the same bytes have one sum: `changed_rows` looks at the type
            raw = value.encode() if isinstance(value, str) else value
            told.append(b"s%d:" % len(raw) + raw)
    return int.from_bytes(hashlib.blake2b(b"|".join(told), digest_size=8).digest(), "big", signed=True)


SCHEME = row_sum("row_sums", [f"{table.name}:{','.join(table.sealed)}:{table.sealed_rows}" for table in SEALED])
"""Sum that stands for no row, but says what is summed: where it is not, sums are made of what is there."""


async def keep_sums(db: aiosqlite.Connection) -> None:
    """Make a writing connection keep the sums of the rows it writes. The tables are there.

    A file that has no sums yet gets them.
    """
    await db.create_function(_FUNCTION, -1, _row_sum, deterministic=True)
    await add_sums(db)
    # Without the pragma a row that a REPLACE pushes out would leave its sum.
    table = f"CREATE TEMP TABLE IF NOT EXISTS {_MADE} (yes)"
    await execute_all(db, ("PRAGMA recursive_triggers = 1", table, *_TRIGGERS))


def sums_of(table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> list[int]:
    """Sums of rows that are to be inserted with these columns; the others are NULL."""
    sealed = next(each.sealed for each in SEALED if each.name == table)
    places = [columns.index(each) if each in columns else None for each in sealed]
    return [row_sum(table, [row[place] if place is not None else None for place in places]) for row in rows]


@asynccontextmanager
async def with_sums(db: aiosqlite.Connection, sums: Iterable[int]) -> AsyncIterator[None]:
    """Insert here, inside the caller's transaction, rows that have these sums: a trigger would call Python for each.

    A transaction that fails is rolled back with the sign for the triggers, and so are all sums.
    """
    await db.execute(f"INSERT INTO {_MADE} VALUES (1)")
    yield
    await db.execute(f"DELETE FROM {_MADE}")
    await insert_rows(db, "row_sums", [(each,) for each in sorted(sums)], conflict="IGNORE")


async def add_sums(db: aiosqlite.Connection) -> None:
    """Give a file that has no sums yet those of its rows: what is there now counts as what was written."""
    if not await _has_sums(db):
        await db.execute("BEGIN IMMEDIATE")
        try:
            if not await _has_sums(db):  # a second process may have done it while we waited
                await seal(db)
        except BaseException:
            await db.execute("ROLLBACK")
            raise
        await db.execute("COMMIT")


def _triggers() -> Iterator[str]:
    """Statements that make a connection keep the sums."""
    for table in SEALED:
        new, old = (_told(table, row) for row in ("NEW", "OLD"))
        add = f"INSERT OR IGNORE INTO row_sums VALUES ({new});"
        drop = f"DELETE FROM row_sums WHERE sum = {old};"
        for event, row, steps in (
            ("INSERT", "NEW", add),
            ("DELETE", "OLD", drop),
            (f"UPDATE OF {', '.join(table.sealed)}", "NEW", drop + add),
        ):
            conditions = [table.sealed_rows.replace(f"{table.name}.", f"{row}.")] if table.sealed_rows else []
            if event == "INSERT":
                conditions.append(f"NOT EXISTS (SELECT 1 FROM {_MADE})")
            when = f"WHEN {' AND '.join(f'({each})' for each in conditions)}" if conditions else ""
            name = f"sum_{table.name}_{event[:6].lower()}"
            on = f"AFTER {event} ON main.{table.name} {when}"
            yield f"CREATE TEMP TRIGGER IF NOT EXISTS {name} {on} BEGIN {steps} END"


async def seal(db: aiosqlite.Connection) -> None:
    """Take every row as it is for what was written, in the caller's transaction."""
    await db.create_function(_FUNCTION, -1, _row_sum, deterministic=True)
    await db.execute("DELETE FROM row_sums")
    await db.execute("INSERT INTO row_sums VALUES (?)", (SCHEME,))
    for table in SEALED:
        where = f"WHERE {table.sealed_rows}" if table.sealed_rows else ""
        await db.execute(f"INSERT OR IGNORE INTO row_sums SELECT {_told(table, table.name)} FROM {table.name} {where}")


async def changed_rows(db: aiosqlite.Connection) -> dict[str, int]:
    """Rows by table that are not what was written, and under "" the sums of rows that are lost."""
    sums = {int(row[0]) for row in await db.execute_fetchall("SELECT sum FROM row_sums")} - {SCHEME}
    seen = 0
    found: dict[str, int] = {}
    for table in SEALED:
        where = f"WHERE {table.sealed_rows}" if table.sealed_rows else ""
        of_its_type = await _of_its_type(db, table)
        sql = f"SELECT {of_its_type}, {_bytes(table, table.name)} FROM {table.name} {where}"
        async with db.execute(sql) as rows:
            async for typed, *values in rows:
                if typed and row_sum(table.name, values) in sums:
                    seen += 1
                else:
                    found[table.name] = found.get(table.name, 0) + 1
    if len(sums) > seen:
        found[""] = len(sums) - seen
    return found


async def _has_sums(db: aiosqlite.Connection) -> bool:
    return bool(list(await db.execute_fetchall("SELECT 1 FROM row_sums WHERE sum = ?", (SCHEME,))))


async def _of_its_type(db: aiosqlite.Connection, table: Table) -> str:
    """Whether texts are texts and blobs are blobs, in SQL: one bit of a record's header makes one of the other."""
    columns = await db.execute_fetchall(f"PRAGMA table_info({table.name})")
    tests = [
        f"typeof({table.name}.{column[1]}) != '{'blob' if column[2] == 'TEXT' else 'text'}'"
        for column in columns
        if column[1] in table.sealed and column[2] in ("TEXT", "BLOB")
    ]
    return " AND ".join(tests) or "TRUE"


def _told(table: Table, row: str) -> str:
    return f"{_FUNCTION}('{table.name}', {_bytes(table, row)})"


def _bytes(table: Table, row: str) -> str:
    """Sealed columns in SQL, texts as their bytes: those of a damaged row may be no text."""
    columns = (f"{row}.{column}" for column in table.sealed)
    return ", ".join(f"CASE typeof({each}) WHEN 'text' THEN CAST({each} AS BLOB) ELSE {each} END" for each in columns)


def _row_sum(table: str, *values: Value) -> int:
    return row_sum(table, values)


_TRIGGERS = tuple(_triggers())
