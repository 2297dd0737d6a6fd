"""Transactional outbox, filled where something is learned: lines for the repository's record that are not in it yet.

Triggers of the writing connection put each learned row's line into the table `unrecorded`, in the transaction that
writes the row: neither is on the disk without the other, whoever writes it and whenever the process is killed. Rows go
once the record has them. What came out of the record is not put in again: `unheard` keeps it out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.store.carried_rows import RowSource, row_source
from aurora_memory.store.connection import execute_all
from aurora_memory.store.export_format import ExportLine
from aurora_memory.store.reader import Reader
from aurora_memory.store.tables import carried
from aurora_protocol import typed

SOURCES = {form.tag: (table.name, row_source(table, form)) for table, form in carried() if form.told_by is not None}
"""What a record holds, by the type of its lines: the table, and how its rows become lines."""

_FUNCTION = "aurora_told"
_HUSH = "record_hush"
_NOW = "(julianday('now') - 2440587.5) * 86400.0"
_Told = list[int | float | str | None]


class UnrecordedLine(Struct, frozen=True):
    """Line of the outbox, not in the record yet; `at` is when it was learned (Unix seconds), `number` its turn."""

    number: int
    at: float
    line: ExportLine


async def note_lines(db: aiosqlite.Connection, hear: Callable[[], None]) -> None:
    """Make a writing connection fill the transactional outbox; `hear` is called, on its thread, for each line."""
    await _add_function(db, hear)
    await execute_all(db, (f"CREATE TEMP TABLE IF NOT EXISTS {_HUSH} (one INTEGER)", *_triggers()))


def _triggers() -> Iterator[str]:
    """SQL triggers (change data capture) that make a connection note what is learned."""
    for type_, (table, source) in SOURCES.items():
        put = f"INSERT INTO unrecorded (type, at, told) {_told(type_, source)};"
        loud = f"({source.new_travels}) AND NOT EXISTS (SELECT 1 FROM temp.{_HUSH})"
        changed = " OR ".join(f"NEW.{each} IS NOT OLD.{each}" for each in source.changes)
        for event, when in (
            ("INSERT", loud),
            (f"UPDATE OF {', '.join(source.changes)}", f"{loud} AND ({changed})"),
        ):
            name = f"record_{table}_{event[:6].lower()}"
            yield f"CREATE TEMP TRIGGER IF NOT EXISTS {name} AFTER {event} ON main.{table} WHEN {when} BEGIN {put} END"


async def note_all(db: aiosqlite.Connection) -> None:
    """Note everything that was learned, in the caller's transaction, as where the record is a new one."""
    await db.execute("DELETE FROM unrecorded")
    for type_, (_, source) in SOURCES.items():
        values = _packed(source.columns)
        rest = source.select.removeprefix(f"SELECT {', '.join(source.columns)} ")
        await db.execute(f"INSERT INTO unrecorded (type, at, told) SELECT '{type_}', {_NOW}, {values} {rest}")


@asynccontextmanager
async def unheard(db: aiosqlite.Connection) -> AsyncIterator[None]:
    """What is written within, in the caller's transaction, is not noted: the record has it."""
    await db.execute(f"INSERT INTO temp.{_HUSH} VALUES (1)")
    yield
    await db.execute(f"DELETE FROM temp.{_HUSH}")  # where the transaction fails, it takes the row back


def waiting(reader: Reader, after: int, limit: int) -> list[tuple[int, str, float, str]]:
    """Rows of the outbox after a number, in their order, for `lines_of`."""
    return reader.rows(
        "SELECT number, type, at, told FROM unrecorded WHERE number > ? ORDER BY number LIMIT ?", (after, limit)
    )


def count(reader: Reader) -> int:
    """How many lines the record lacks."""
    return int(reader.rows("SELECT count(*) FROM unrecorded")[0][0])


def lines_of(rows: Sequence[tuple[int, str, float, str]]) -> tuple[list[UnrecordedLine], list[str]]:
    """Lines of rows of the outbox, and why some of them are none. For a thread."""
    lines: list[UnrecordedLine] = []
    problems: list[str] = []
    for number, type_, at, told in rows:
        try:
            line = SOURCES[type_][1].make(typed.decode(told, _Told))
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            problems.append(f"{type_[:40]}: {error}")
            continue
        lines.append(UnrecordedLine(number, min(_learned(line) or at, at), line))
    return lines, problems


def _learned(line: ExportLine) -> float | None:
    """When a line was learned. An event is learned when it is told, however long ago it was: what was forgotten in
    between is not it.
    """
    names = ("received_at", "at", "last_at")
    return next((at for name in names if (at := getattr(line, name, None))), None)


async def forget(db: aiosqlite.Connection, numbers: Sequence[int]) -> None:
    """Take rows out of the outbox in the caller's transaction: the record has them."""
    await db.executemany("DELETE FROM unrecorded WHERE number = ?", [(each,) for each in numbers])


def _told(type_: str, source: RowSource) -> str:
    return f"SELECT '{type_}', {_NOW}, {_packed(source.new)} {source.of_new}"


def _packed(columns: Sequence[str]) -> str:
    """Columns as one JSON text. Texts as their bytes: those of a damaged row may be no text."""
    told = (f"CASE typeof({each}) WHEN 'text' THEN CAST({each} AS BLOB) ELSE {each} END" for each in columns)
    return f"{_FUNCTION}({', '.join(told)})"


async def _add_function(db: aiosqlite.Connection, hear: Callable[[], None]) -> None:
    """User-defined SQL function that the triggers call: it makes a row's JSON, and lets `hear` know."""

    def told(*values: int | float | str | bytes | None) -> str:
        hear()
        texts = (each.decode(errors="replace") if isinstance(each, bytes) else each for each in values)
        return msgspec.json.encode(list(texts)).decode()

    await db.create_function(_FUNCTION, -1, told)
