"""Many rows into a table, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import aiosqlite

_VALUES = 900
"""Values of one statement: fewer than any SQLite takes."""


async def insert_rows(db: aiosqlite.Connection, into: str, rows: Sequence[Sequence[Any]], otherwise: str = "") -> None:
    """Insert rows of equal length: `into` is what stands before `VALUES`, `otherwise` what stands behind it.

    A statement takes as many rows as it can. One row each would cost SQLite half as much again, and its thread would
    hand the interpreter over, and wait for it, with every row.
    """
    if not rows:
        return
    one = f"({', '.join('?' * len(rows[0]))})"
    at_once = _VALUES // len(rows[0])
    whole = len(rows) - len(rows) % at_once
    if whole:
        values = ", ".join([one] * at_once)
        await db.executemany(f"{into} VALUES {values} {otherwise}", _together(rows[:whole], at_once))
    await db.executemany(f"{into} VALUES {one} {otherwise}", rows[whole:])


def _together(rows: Sequence[Sequence[Any]], at_once: int) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(rows), at_once):
        yield tuple(chain.from_iterable(rows[start : start + at_once]))
