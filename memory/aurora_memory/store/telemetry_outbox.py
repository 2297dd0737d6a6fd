"""Telemetry outbox: which ended deliverables were sent on as telemetry, and which still wait for a collector to take
them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import aiosqlite


class Outbox:
    """A row for each change that ended while export was on; it stays, so that nothing is sent a second time."""

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
