"""Rows that colleagues' entries told of: accesses and runs, each with its author, as they weigh less than one's own.

A row that was here before is one's own, whoever tells it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import aiosqlite

from aurora_memory.store.export_format import BoostLine, ExportLine
from aurora_memory.store.reader import Reader


async def last_access(db: aiosqlite.Connection) -> int:
    """Id of the newest access, in the caller's transaction."""
    return next(int(row[0]) for row in await db.execute_fetchall("SELECT coalesce(max(id), 0) FROM accesses"))


async def new_runs(db: aiosqlite.Connection, lines: Iterable[ExportLine]) -> list[str]:
    """Runs that lines tell of and nothing here did, in the caller's transaction."""
    named = sorted({line.run for line in lines if isinstance(line, BoostLine)})
    known: set[str] = set()
    for each in named:
        if await db.execute_fetchall("SELECT 1 FROM boosts WHERE run_id = ? LIMIT 1", (each,)):
            known.add(each)
    return [each for each in named if each not in known]


async def keep(db: aiosqlite.Connection, author: str, after: int, runs: Collection[str]) -> None:
    """Say whose the accesses after an id are, and some runs, in the caller's transaction."""
    await db.execute("INSERT OR IGNORE INTO others_accesses SELECT id, ? FROM accesses WHERE id > ?", (author, after))
    await db.executemany("INSERT OR IGNORE INTO others_runs VALUES (?, ?)", [(each, author) for each in runs])


async def tidy(db: aiosqlite.Connection) -> None:
    """Forget whose the rows were that are gone: ids are given anew."""
    await db.execute("DELETE FROM others_accesses WHERE access_id NOT IN (SELECT id FROM accesses)")
    await db.execute("DELETE FROM others_runs WHERE run_id NOT IN (SELECT run_id FROM boosts)")


def has_others(reader: Reader) -> bool:
    """Whether anything here is a colleague's; asked again only when something was written."""
    return bool(reader.single("SELECT EXISTS (SELECT 1 FROM others_accesses) OR EXISTS (SELECT 1 FROM others_runs)"))
