"""A read-only connection that is asked: what every part of the reader shares."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiosqlite

from aurora_memory.store.connection import explained


class Asking:
    """Questions to one memory file."""

    def __init__(self, db: aiosqlite.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self.writes = 0
        """Counted up by the store at each commit: what is remembered of earlier answers may no longer hold."""
        self._learned: tuple[int, bool] | None = None
        self._there = asyncio.Event()
        self._there.set()

    async def leave(self) -> None:
        """Close the connection once what was asked is answered; what is asked from now on waits for `turn_to`."""
        self._there.clear()
        await self._db.close()

    def turn_to(self, db: aiosqlite.Connection) -> None:
        """Ask another connection from now on."""
        self._db = db
        self.writes += 1
        self._there.set()

    async def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if not self._there.is_set():
            await self._there.wait()
        try:
            return list(await self._db.execute_fetchall(sql, values))
        except sqlite3.Error as error:
            raise explained(error, self._path) from error


def marks(values: Sequence[Any]) -> str:
    """As many places for values as there are."""
    return ", ".join("?" * len(values))


def any_of(terms: Sequence[str]) -> str:
    """An FTS5 query for any of the terms; what they are made of is never taken for syntax."""
    return " OR ".join('"' + term.replace('"', '""').replace("\0", "") + '"' for term in terms)
