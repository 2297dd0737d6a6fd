"""SQL statements: placeholders for many values, FTS5 queries for many terms, and the bulk insert of many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import aiosqlite
import msgspec

_VALUES = 900
"""Values of one statement: fewer than any SQLite takes."""


async def insert_rows(
    db: aiosqlite.Connection,
    into: str,
    rows: Sequence[Sequence[Any]],
    *,
    conflict: Literal["FAIL", "IGNORE"] = "FAIL",
    upsert: str = "",
) -> None:
    """Insert rows of equal length inside the caller's transaction, which undoes what was inserted before one fails.

    `into` is the table and its columns. A statement takes as many rows as it can: with one row each, SQLite's thread
    would hand the interpreter over, and wait for it, every time. By default (ABORT) SQLite would keep a journal of each
    such statement, to undo it alone, and be slower than row by row.
    """
    if not rows:
        return
    insert = f"INSERT OR {conflict} INTO {into}"
    one = f"({', '.join('?' * len(rows[0]))})"
    at_once = _VALUES // len(rows[0])
    whole = len(rows) - len(rows) % at_once
    if whole:
        values = ", ".join([one] * at_once)
        await db.executemany(f"{insert} VALUES {values} {upsert}", _together(rows[:whole], at_once))
    await db.executemany(f"{insert} VALUES {one} {upsert}", rows[whole:])


def _together(rows: Sequence[Sequence[Any]], at_once: int) -> Iterator[tuple[Any, ...]]:
    """Rows flattened into one list of values per statement."""
    for start in range(0, len(rows), at_once):
        yield tuple(chain.from_iterable(rows[start : start + at_once]))


def as_list(values: Sequence[int] | Sequence[str] | Sequence[tuple[str, str]]) -> str:
    """Values for `json_each`: however many there are, the statement is the same and is compiled once (a prepared
    statement).
    """
    return msgspec.json.encode(values).decode()


def marks(values: Sequence[Any]) -> str:
    """As many places for values as there are."""
    return ", ".join("?" * len(values))


def any_of(terms: Sequence[str]) -> str:
    """FTS5 query for any of the terms, escaped: what they are made of is never taken for syntax."""
    return " OR ".join('"' + term.replace('"', '""').replace("\0", "") + '"' for term in terms)
