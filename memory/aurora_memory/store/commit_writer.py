"""Commit writer: which commits changed which chunks, and what their messages say (AURORA §9.2).

Commits lie under their hash, changes under the chunk's row id, so that moved and renamed chunks keep theirs. A chunk
that no walked commit changed has one row that only says it was there by then (`changed` 0). A commit is settled when
all that lies behind it is known too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import aiosqlite
from msgspec import Struct
from msgspec.structs import replace

from aurora_memory.store.statements import as_list
from aurora_memory.tokens import terms
from aurora_protocol.secret_mask import masked

MAX_SUBJECT = 200
MAX_MESSAGE = 2000


_Transaction = Callable[[], AbstractAsyncContextManager[aiosqlite.Connection]]


class ChangingCommit(Struct, frozen=True, array_like=True):
    """A commit to keep. `at` in Unix seconds; `message` is what search finds it by; `sweeping` commits prove little."""

    hash: str
    at: int
    subject: str
    message: str
    files: int
    sweeping: bool
    chunk_ids: tuple[int, ...]


def _without_secrets(commit: ChangingCommit) -> ChangingCommit:
    """Its texts are read as texts: a message of one word is no id."""
    return replace(commit, subject=masked(commit.subject), message=masked(commit.message))


class HistoryWriter:
    """Writer of what the walk through git's history finds, part of `Store`."""

    def __init__(self, transaction: _Transaction) -> None:
        self._transaction = transaction

    async def save(self, commits: Sequence[ChangingCommit], names: Mapping[int, str]) -> None:
        """Add commits and what they changed; saving one again adds to it.

        `names` are the chunks' names when the walk began: a chunk deleted or renamed since is left for the next walk.
        """
        commits = await asyncio.to_thread(lambda: [_without_secrets(one) for one in commits])
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
        """End of a walk, from which the next one resumes: the one from commit `head` is over. The chunks `there` are as
        old as commit `behind`, where it stopped.
        """
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

    async def forget_checkouts(self, clean: Iterable[int], now: float) -> None:
        """Take edits back that were none: the chunks `clean` are as committed, before memory saw them change. `now` is
        Unix seconds: a commit of later was dated by a wrong clock.

        A clone, a pull or a checkout wrote their files, or someone undid what he had begun.
        """
        async with self._transaction() as db:
            await db.execute(
                """UPDATE chunks SET changed_at = NULL
                   WHERE changed_at IS NOT NULL AND id IN (SELECT value FROM json_each(?)) AND changed_at > (
                     SELECT coalesce(max(at) FILTER (WHERE at <= ?), min(0, max(at)))
                     FROM changes JOIN git_commits ON git_commits.id = commit_id WHERE chunk_id = chunks.id)""",
                (as_list(list(clean)), now),
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
    """Tie commits to chunks, each pair a commit's and a chunk's row id. They are gone through on the connection's
    thread: a first history ties every chunk there is.
    """
    await db.executemany(
        """INSERT INTO changes SELECT id, ?, ? FROM chunks WHERE id = ? AND name = ? AND gone_at IS NULL
           ON CONFLICT (chunk_id, commit_id) DO UPDATE SET changed = max(changed, excluded.changed)""",
        ((commit, changed, chunk_id, names[chunk_id]) for commit, chunk_id in pairs if chunk_id in names),
    )


async def forget_chunks(db: aiosqlite.Connection, ids: Sequence[tuple[int]]) -> None:
    """Drop what git knew of chunks that are deleted: their row ids may be given out again."""
    await db.executemany(
        "DELETE FROM changes WHERE chunk_id = ? AND NOT EXISTS (SELECT 1 FROM chunks WHERE id = changes.chunk_id)", ids
    )


async def _commit_id(db: aiosqlite.Connection, commit: str) -> int:
    rows = await db.execute_fetchall("SELECT id FROM git_commits WHERE hash = ?", (commit,))
    return int(next(iter(rows))[0])


def _message_terms(commits: Sequence[ChangingCommit]) -> list[str]:
    return [" ".join(dict.fromkeys(terms(f"{one.subject}\n{one.message[:MAX_MESSAGE]}"))) for one in commits]


def _short(subject: str) -> str:
    return subject if len(subject) <= MAX_SUBJECT else subject[: MAX_SUBJECT - 1] + "…"
