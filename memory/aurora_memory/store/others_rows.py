"""Rows that colleagues' entries told of (team members' uses): accesses, runs and patterns, each with its author, as
they weigh less than one's own and are marked where they play a part.

A row that was here before is one's own, whoever tells it again. A pattern is whose run its document is of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import aiosqlite
from msgspec import Struct

from aurora_memory.store.export_format import BoostLine, ExportLine, ReasoningLine
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import as_list

_VERSION = re.compile(r":v[1-9][0-9]{0,5}\Z")

Documents = Mapping[int, tuple[float | None, str]]
"""Patterns' documents by row, each with when it was learned."""


class OthersPart(Struct, frozen=True):
    """Part that one colleague has in what is known of a chunk: his uses of it, boosts by his runs, the latest of both
    (Unix seconds).
    """

    author: str
    uses: int
    boosts: int
    last: float


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


async def documents(db: aiosqlite.Connection, lines: Iterable[ExportLine]) -> Documents:
    """Documents of the patterns that lines may tell of, in the caller's transaction; none where none does."""
    ids = {line.document.id.removeprefix("reas:") for line in lines if isinstance(line, ReasoningLine)}
    if not ids:
        return {}
    patterns = as_list(sorted(ids | {_VERSION.sub("", each) for each in ids}))
    rows = await db.execute_fetchall(
        """SELECT chunk_id, changed_at, json FROM documents LEFT JOIN chunks ON id = chunk_id
           WHERE documents.pattern IN (SELECT value FROM json_each(?))""",
        (patterns,),
    )
    return {int(row[0]): (row[1], str(row[2])) for row in rows}


async def keep_patterns(db: aiosqlite.Connection, author: str, before: Documents, now: Documents) -> None:
    """Say whose those patterns are that are new or have another document, in the caller's transaction."""
    told = [(chunk_id, author) for chunk_id, document in now.items() if before.get(chunk_id) != document]
    await db.executemany("INSERT OR REPLACE INTO others_patterns VALUES (?, ?)", told)


async def keep(db: aiosqlite.Connection, author: str, after: int, runs: Collection[str]) -> None:
    """Say whose the accesses after an id are, and some runs, in the caller's transaction."""
    await db.execute("INSERT OR IGNORE INTO others_accesses SELECT id, ? FROM accesses WHERE id > ?", (author, after))
    await db.executemany("INSERT OR IGNORE INTO others_runs VALUES (?, ?)", [(each, author) for each in runs])


async def tidy(db: aiosqlite.Connection) -> None:
    """Garbage collection: forget whose the rows were that are gone: ids are given anew."""
    await db.execute("DELETE FROM others_accesses WHERE access_id NOT IN (SELECT id FROM accesses)")
    await db.execute("DELETE FROM others_runs WHERE run_id NOT IN (SELECT run_id FROM boosts)")
    await db.execute("DELETE FROM others_patterns WHERE chunk_id NOT IN (SELECT chunk_id FROM documents)")


def has_others(reader: Reader) -> bool:
    """Whether anything here is a colleague's; asked again only when something was written."""
    return bool(reader.single("SELECT EXISTS (SELECT 1 FROM others_accesses) OR EXISTS (SELECT 1 FROM others_runs)"))


def parts(reader: Reader, ids: Sequence[int]) -> dict[int, list[OthersPart]]:
    """What colleagues have to do with those chunks, who was there last first; chunks without them are left out."""
    if not has_others(reader):
        return {}
    boosts: dict[tuple[int, str], tuple[int, float]] = {
        (chunk_id, author): (count, last)
        for chunk_id, author, count, last in reader.rows(
            """SELECT chunk_id, author, count(*), max(at) FROM boosts JOIN others_runs USING (run_id)
               WHERE chunk_id IN (SELECT value FROM json_each(?)) GROUP BY chunk_id, author""",
            (as_list(ids),),
        )
    }
    uses = {
        (chunk_id, author): counted
        for chunk_id, times in reader.times.of(ids, reader.writes).items()
        for author, counted in times.authors.items()
    }
    found: dict[int, list[OthersPart]] = {}
    for chunk_id, author in uses.keys() | boosts.keys():
        used, boosted = uses.get((chunk_id, author)), boosts.get((chunk_id, author))
        last = max(each[1] for each in (used, boosted) if each)
        part = OthersPart(author, used[0] if used else 0, boosted[0] if boosted else 0, last)
        found.setdefault(chunk_id, []).append(part)
    for parts_of_it in found.values():
        parts_of_it.sort(key=lambda part: (-part.last, part.author))
    return found


def patterns_by(reader: Reader, ids: Sequence[int]) -> dict[int, tuple[str, float]]:
    """Whose those patterns are that colleagues told, and when they were learned, by row."""
    rows = reader.rows(
        """SELECT chunk_id, author, coalesce(changed_at, 0.0) FROM others_patterns JOIN chunks ON id = chunk_id
           WHERE chunk_id IN (SELECT value FROM json_each(?))""",
        (as_list(ids),),
    )
    return {chunk_id: (author, at) for chunk_id, author, at in rows}
