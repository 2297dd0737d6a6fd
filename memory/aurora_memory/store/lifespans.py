"""Archive and escalations: what a maintenance pass writes down: chunks put into the archive, and what they are
candidates for (AURORA App. C.2).

Nothing is deleted here. The functions take a connection and run in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import aiosqlite
from msgspec import Struct


class Escalation(Struct, frozen=True, array_like=True):
    """A chunk that was flagged: its row id, the action it is a candidate for, and since when (Unix seconds)."""

    chunk_id: int
    action: str
    at: float


async def archive(db: aiosqlite.Connection, ids: Iterable[int], at: float) -> int:
    """Take chunks out of recall, keeping all that was learned; how many were not archived yet. `at` is Unix seconds."""
    return await _changed(
        db, "UPDATE chunks SET archived_at = ? WHERE id = ? AND archived_at IS NULL", [(at, each) for each in ids]
    )


async def restore(db: aiosqlite.Connection, ids: Iterable[int]) -> int:
    """Bring chunks back from the archive; how many were in it."""
    return await _changed(
        db, "UPDATE chunks SET archived_at = NULL WHERE id = ? AND archived_at IS NOT NULL", [(each,) for each in ids]
    )


async def archived(db: aiosqlite.Connection) -> dict[int, float]:
    """Every archived chunk's row id and when it was archived (Unix seconds)."""
    rows = await db.execute_fetchall("SELECT id, archived_at FROM chunks WHERE archived_at IS NOT NULL")
    return {int(row[0]): float(row[1]) for row in rows}


async def escalate(db: aiosqlite.Connection, flagged: Mapping[int, Sequence[str]], at: float) -> None:
    """Make the flags those of this pass: chunk ids and their actions. Flags that were there keep their time."""
    current = {(chunk_id, action) for chunk_id, actions in flagged.items() for action in actions}
    rows = await db.execute_fetchall("SELECT chunk_id, action FROM escalations")
    over = {(int(row[0]), str(row[1])) for row in rows} - current
    await db.executemany("DELETE FROM escalations WHERE chunk_id = ? AND action = ?", sorted(over))
    await db.executemany(
        "INSERT OR IGNORE INTO escalations SELECT id, ?, ? FROM chunks WHERE id = ?",
        [(action, at, chunk_id) for chunk_id, action in sorted(current)],
    )


async def escalations(db: aiosqlite.Connection) -> list[Escalation]:
    """Every flag, those longest there first."""
    rows = await db.execute_fetchall("SELECT chunk_id, action, at FROM escalations ORDER BY at, chunk_id, action")
    return [Escalation(*row) for row in rows]


async def _changed(db: aiosqlite.Connection, statement: str, values: list[tuple[float, ...]]) -> int:
    if not values:
        return 0
    cursor = await db.executemany(statement, values)
    count = cursor.rowcount
    await cursor.close()
    return count
