"""Rows that are forgotten (erasure, right to be forgotten): taken out of a memory, and overwritten, in the caller's
transaction.

Whose they are only the record knows: it is asked for each row's line. What hung on a pattern that is gone goes with it;
what others learned of it comes back when the record is read again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import aiosqlite

from aurora_memory.store.export_format import ExportLine
from aurora_memory.store.record_outbox import SOURCES
from aurora_memory.store.tables import TABLES, Table

_AT_ONCE = 1000
_STAY = "deliverable_events_stay"

Judge = Callable[[Sequence[ExportLine]], Sequence[bool]]
"""Says of lines which are forgotten. Called in a thread."""


async def forget(db: aiosqlite.Connection, judge: Judge) -> int:
    """Take out every learned row whose line is forgotten; how many."""
    tables = {table.name: table for table in TABLES}
    await db.execute("PRAGMA secure_delete = ON")
    gone = 0
    try:
        for name, source in SOURCES.values():
            table = tables[name]
            own = ", ".join(f"{name}.{column}" for column in table.columns)
            rows: list[Any] = []
            async with db.execute(source.select.replace("SELECT ", f"SELECT {own}, ", 1)) as cursor:
                while some := list(await cursor.fetchmany(_AT_ONCE)):
                    rows += await asyncio.to_thread(_forgotten, some, len(table.columns), source.make, judge)
            for start in range(0, len(rows), _AT_ONCE):
                await _delete(db, table, rows[start : start + _AT_ONCE])
            if rows and name == "documents":  # it keeps deleted words
                await db.execute("INSERT INTO reasoning_words (reasoning_words) VALUES ('rebuild')")
            gone += len(rows)
    finally:
        await db.execute("PRAGMA secure_delete = OFF")
    return gone


def _forgotten(
    rows: Sequence[Any], width: int, make: Callable[[Sequence[Any]], ExportLine], judge: Judge
) -> list[tuple[Any, ...]]:
    """Rows whose lines are forgotten."""
    lines: list[ExportLine] = []
    read: list[tuple[Any, ...]] = []
    for row in rows:
        try:
            lines.append(make(row[width:]))
        except ValueError:
            continue  # a row that says nothing is no word of anybody
        read.append(tuple(row[:width]))
    return [row for row, is_gone in zip(read, judge(lines), strict=True) if is_gone]


async def _delete(db: aiosqlite.Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Cascading deletion of learned rows, with what refers to them."""
    keys = [(row[0],) for row in rows]
    if table.name == "chunks":  # that it was archived is forgotten, not the chunk
        await db.executemany("UPDATE chunks SET archived_at = NULL WHERE id = ?", keys)
        return
    if table.name == "deliverable_events":
        (trigger,) = await db.execute_fetchall("SELECT sql FROM sqlite_master WHERE name = ?", (_STAY,))
        await db.execute(f"DROP TRIGGER {_STAY}")
        changes = [(row[table.columns.index("change_id")],) for row in rows]
        await db.executemany("DELETE FROM deliverable_folds WHERE change_id = ?", changes)
    where = " AND ".join(f"{column} IS ?" for column in table.columns)
    await db.executemany(f"DELETE FROM {table.name} WHERE {where}", rows)
    if table.name == "deliverable_events":
        await db.execute(str(trigger[0]))
    if table.name == "documents":
        for other in TABLES:
            for each in other.references:
                change = f"UPDATE {other.name} SET {each.column} = NULL" if each.orphans == "keep" else None
                await db.executemany(f"{change or f'DELETE FROM {other.name}'} WHERE {each.column} = ?", keys)
        await db.executemany("DELETE FROM reasoning_words WHERE rowid = ?", keys)
        await db.executemany("DELETE FROM chunks WHERE id = ?", keys)
