"""Git's history in memory: which commits changed which chunks, and what their messages say (AURORA §9.2).

Commits lie under their hash, changes under the chunk's row id, so that moved and renamed chunks keep theirs. A chunk
that no walked commit changed has one row that only says it was there by then (`changed` 0). A commit is settled when
all that lies behind it is known too.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiosqlite
from msgspec import Struct

from aurora_memory.store.reader_thread import as_list
from aurora_memory.tokens import terms

MAX_TIMES = 64
"""Commit times given of one chunk: older ones add next to nothing to its activation."""

MAX_SUBJECT = 200
MAX_MESSAGE = 2000
_COMMITS_COMPARED = 200
_SHOWN_HASH = 10
_COMMON = 8
_POSTINGS = 500
"""Messages looked at for one question, the rarest words' first: BM25 costs a microsecond for each."""

_BM25_MOST = 2.2
"""What BM25 gives a term at most, by its rarity."""


_Transaction = Callable[[], AbstractAsyncContextManager[aiosqlite.Connection]]
_Rows = Callable[[str, Sequence[Any]], Awaitable[list[Any]]]
_Single = Callable[[str], Awaitable[Any]]


class ChangingCommit(Struct, frozen=True, array_like=True):
    """A commit to keep. `at` in Unix seconds; `message` is what search finds it by; `sweeping` commits prove little."""

    hash: str
    at: int
    subject: str
    message: str
    files: int
    sweeping: bool
    chunk_ids: tuple[int, ...]


class Commits(Struct, frozen=True, array_like=True):
    """What git knows of a chunk: commit times (Unix seconds, newest first), last short hash and its subject.

    Sweeping commits are left out, except the one that brought the chunk in. With hash "" the only time is one at which
    the chunk was there already.
    """

    times: list[int]
    last_hash: str
    last_subject: str


class SimilarCommit(Struct, frozen=True, array_like=True):
    """A commit whose message resembles a question; `likeness` in [0, 1]."""

    id: int
    likeness: float
    hash: str
    subject: str


class Place(Struct, frozen=True, array_like=True, gc=False):
    """Where a live chunk stands, to follow it through git's history. Lines are 1-based, inclusive."""

    path: str
    id: int
    name: str
    line_start: int
    line_end: int


class HistoryReader:
    """Questions to git's history, part of `Reader`."""

    def __init__(self, rows: _Rows, single: _Single) -> None:
        self._rows = rows
        self._single = single

    async def chunk_commits(self, ids: Sequence[int]) -> dict[int, Commits]:
        """What git knows of those chunks; chunks it knows nothing of are left out."""
        rows = await self._rows(
            f"""SELECT changes.chunk_id, at, hash, subject, sweeping, changed
                FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
                WHERE changes.chunk_id IN ({_marks(ids)})
                ORDER BY changes.chunk_id, changed DESC, at DESC, git_commits.id""",
            ids,
        )
        by_chunk: dict[int, list[Any]] = {}
        for chunk_id, *row in rows:
            by_chunk.setdefault(chunk_id, []).append(row)
        return {chunk_id: _commits(found) for chunk_id, found in by_chunk.items()}

    async def commit_times(self, ids: Sequence[int]) -> dict[int, Commits]:
        """As `chunk_commits`, the times only: what ranking many chunks needs, for a third of its cost."""
        rows = await self._rows(
            """SELECT changes.chunk_id, group_concat(CASE WHEN changed AND NOT sweeping THEN at END),
                  min(CASE WHEN changed THEN at END), min(at)
                FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
                WHERE changes.chunk_id IN (SELECT value FROM json_each(?)) GROUP BY changes.chunk_id""",
            (as_list(ids),),
        )
        found: dict[int, Commits] = {}
        for chunk_id, telling, first_change, first in rows:
            times = sorted(map(int, telling.split(",")), reverse=True)[:MAX_TIMES] if telling else []
            if first_change is not None and first_change not in times[-1:]:
                times.append(first_change)
            found[chunk_id] = Commits(times or [first], "", "")
        return found

    async def similar_commits(self, words: Sequence[str], limit: int) -> list[SimilarCommit]:
        """Commits whose messages resemble these terms (`tokens.terms`), most alike first.

        Likeness is BM25's score as a share of what a message of nothing but these terms would score, in [0, 1]. Words
        that stand in every eighth message or more find nothing.
        """
        total = await self._single("SELECT count(*) FROM git_messages")
        if not total:
            return []
        counts = await self._rows(
            """SELECT value,
                 (SELECT count(*) FROM git_messages WHERE git_messages MATCH '"' || replace(value, '"', '""') || '"')
               FROM json_each(?)""",
            (as_list(words),),
        )
        rarity = {
            word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts if _COMMON * n < total + _COMMON
        }
        known: list[str] = []
        spent = 0
        for word, n in sorted(counts, key=lambda count: (count[1], count[0])):
            if n and word in rarity and (not known or spent + n <= _POSTINGS):
                known.append(word)
                spent += n
        if not known:
            return []
        query = " OR ".join('"' + word.replace('"', '""') + '"' for word in known)
        rows = await self._rows(
            """SELECT git_commits.id, -score, hash, subject FROM (
                 SELECT rowid AS id, bm25(git_messages) AS score FROM git_messages WHERE git_messages MATCH ?
                 ORDER BY score LIMIT ?) AS found
               JOIN git_commits ON git_commits.id = found.id ORDER BY score""",
            (query, limit),
        )
        most = _BM25_MOST * sum(rarity.values())
        return [
            SimilarCommit(commit_id, min(1.0, score / most), commit[:_SHOWN_HASH], subject)
            for commit_id, score, commit, subject in rows
        ]

    async def changed_by(self, commit_ids: Sequence[int], *, sweeping: bool = False) -> dict[int, list[int]]:
        """The live chunks each commit changed; of `sweeping` commits only if wanted."""
        rows = await self._rows(
            f"""SELECT changes.commit_id, changes.chunk_id FROM changes
                JOIN git_commits ON git_commits.id = changes.commit_id AND (sweeping = 0 OR ?)
                JOIN chunks ON chunks.id = changes.chunk_id AND gone_at IS NULL
                WHERE changes.commit_id IN ({_marks(commit_ids)}) AND changed""",
            (sweeping, *commit_ids),
        )
        found: dict[int, list[int]] = {}
        for commit_id, chunk_id in rows:
            found.setdefault(commit_id, []).append(chunk_id)
        return found

    async def edited_with(self, chunk_id: int, limit: int, least: int = 2) -> list[tuple[int, int]]:
        """Live chunks changed by the same commits, at least `least` of them: (id, commits in common), most first."""
        rows = await self._rows(
            """SELECT other.chunk_id, count(*) AS shared
               FROM (SELECT commit_id FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
                     WHERE chunk_id = ? AND changed AND NOT sweeping ORDER BY at DESC LIMIT ?) AS mine
               JOIN changes AS other ON other.commit_id = mine.commit_id AND other.changed AND other.chunk_id != ?
               JOIN chunks ON chunks.id = other.chunk_id AND chunks.gone_at IS NULL
               GROUP BY other.chunk_id HAVING shared >= ? ORDER BY shared DESC, other.chunk_id LIMIT ?""",
            (chunk_id, _COMMITS_COMPARED, chunk_id, least, limit),
        )
        return [(other, shared) for other, shared in rows]

    async def places(self) -> list[Place]:
        """Every live chunk of every file."""
        rows = await self._rows("SELECT path, id, name, line_start, line_end FROM chunks WHERE gone_at IS NULL", ())
        return await asyncio.to_thread(lambda: [Place(*row) for row in rows])

    async def hashes(self) -> dict[str, bool]:
        """The commits known, and whether each is settled."""
        return {
            known: bool(settled) for known, settled in await self._rows("SELECT hash, settled FROM git_commits", ())
        }

    async def followed(self) -> set[int]:
        """The chunks whose history behind the settled commits is known."""
        rows = await self._rows(
            """SELECT DISTINCT chunk_id FROM changes JOIN git_commits ON git_commits.id = commit_id
               WHERE settled OR NOT changed""",
            (),
        )
        return {chunk_id for (chunk_id,) in rows}


class HistoryWriter:
    """What the walk through git's history leaves in memory, part of `Store`."""

    def __init__(self, transaction: _Transaction) -> None:
        self._transaction = transaction

    async def save(self, commits: Sequence[ChangingCommit], names: Mapping[int, str]) -> None:
        """Add commits and what they changed; saving one again adds to it.

        `names` are the chunks' names when the walk began: a chunk deleted or renamed since is left for the next walk.
        """
        words = await asyncio.to_thread(_message_terms, commits)
        async with self._transaction() as db:
            await db.executemany(
                """INSERT INTO git_commits (hash, at, subject, files, sweeping, settled) VALUES (?, ?, ?, ?, ?, 0)
                   ON CONFLICT (hash) DO UPDATE SET
                     subject = excluded.subject, files = excluded.files, sweeping = excluded.sweeping""",
                [(one.hash, one.at, _short(one.subject), one.files, one.sweeping) for one in commits],
            )
            ids = {one.hash: await _commit_id(db, one.hash) for one in commits}
            await db.executemany(
                "INSERT OR REPLACE INTO git_messages (rowid, terms) VALUES (?, ?)",
                [(ids[one.hash], text) for one, text in zip(commits, words, strict=True)],
            )
            changes = ((ids[one.hash], chunk_id) for one in commits for chunk_id in one.chunk_ids)
            await _link(db, changes, names, changed=True)

    async def drop(self, hashes: Iterable[str]) -> None:
        """Forget commits that are no longer part of the history, and what they changed."""
        values = [(one,) for one in hashes]
        async with self._transaction() as db:
            for table, column in (("changes", "commit_id"), ("git_messages", "rowid")):
                await db.executemany(
                    f"DELETE FROM {table} WHERE {column} = (SELECT id FROM git_commits WHERE hash = ?)", values
                )
            await db.executemany("DELETE FROM git_commits WHERE hash = ?", values)

    async def settle(
        self, head: str, head_at: int, behind: str, behind_at: int, there: Iterable[int], names: Mapping[int, str]
    ) -> None:
        """The walk from commit `head` is over. The chunks `there` are as old as commit `behind`, where it stopped."""
        chunk_ids = list(there)
        async with self._transaction() as db:
            await _know(db, head, head_at)
            await db.execute("UPDATE git_commits SET settled = 1 WHERE files > 0 OR hash = ?", (head,))
            if chunk_ids:
                await _know(db, behind, behind_at)
                commit_id = await _commit_id(db, behind)
                await _link(db, ((commit_id, chunk_id) for chunk_id in chunk_ids), names, changed=False)
            await db.execute(
                "INSERT INTO facts VALUES ('git_head', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (head,),
            )


async def _know(db: aiosqlite.Connection, commit: str, at: int) -> None:
    """Have a row for a commit that was not walked."""
    await db.execute(
        """INSERT INTO git_commits (hash, at, subject, files, sweeping, settled) VALUES (?, ?, '', 0, 0, 0)
           ON CONFLICT (hash) DO NOTHING""",
        (commit, at),
    )


async def _link(
    db: aiosqlite.Connection, pairs: Iterable[tuple[int, int]], names: Mapping[int, str], *, changed: bool
) -> None:
    """Tie commits to chunks, each pair a commit's and a chunk's row id."""
    await db.executemany(
        """INSERT INTO changes SELECT id, ?, ? FROM chunks WHERE id = ? AND name = ? AND gone_at IS NULL
           ON CONFLICT (chunk_id, commit_id) DO UPDATE SET changed = max(changed, excluded.changed)""",
        [(commit, changed, chunk_id, names[chunk_id]) for commit, chunk_id in pairs if chunk_id in names],
    )


async def forget_chunks(db: aiosqlite.Connection, ids: Sequence[tuple[int]]) -> None:
    """Drop what git knew of chunks that are deleted: their row ids may be given out again."""
    await db.executemany(
        "DELETE FROM changes WHERE chunk_id = ? AND NOT EXISTS (SELECT 1 FROM chunks WHERE id = changes.chunk_id)", ids
    )


async def _commit_id(db: aiosqlite.Connection, commit: str) -> int:
    rows = await db.execute_fetchall("SELECT id FROM git_commits WHERE hash = ?", (commit,))
    return int(next(iter(rows))[0])


def _commits(rows: Sequence[Any]) -> Commits:
    """Rows are (at, hash, subject, sweeping, changed), changes before mere presence, newest first."""
    changes = [row for row in rows if row[4]]
    if not changes:
        return Commits([rows[0][0]], "", "")
    telling = [row for n, row in enumerate(changes) if not row[3] or n == len(changes) - 1]
    return Commits([row[0] for row in telling[:MAX_TIMES]], telling[0][1][:_SHOWN_HASH], telling[0][2])


def _message_terms(commits: Sequence[ChangingCommit]) -> list[str]:
    return [" ".join(dict.fromkeys(terms(f"{one.subject}\n{one.message[:MAX_MESSAGE]}"))) for one in commits]


def _short(subject: str) -> str:
    return subject if len(subject) <= MAX_SUBJECT else subject[: MAX_SUBJECT - 1] + "…"


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
