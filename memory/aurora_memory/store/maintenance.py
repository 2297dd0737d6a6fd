"""Maintenance of a memory file: what is done to a memory file beside its daily use: looked over, made anew, saved
from damage, carried elsewhere.
"""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite
from msgspec import Struct

from aurora_memory import UnknownChunk
from aurora_memory.lifespans.evaluate import review
from aurora_memory.lifespans.policies import Policies
from aurora_memory.store import file_reader, integrity, lifespans, rebuild, salvage
from aurora_memory.store.connection import connect, explained
from aurora_memory.store.integrity import IntegrityReport
from aurora_memory.store.migrations import migrate
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.store.rebuild import Rebuilt
from aurora_memory.store.salvage import Salvaged

if TYPE_CHECKING:
    from aurora_memory.store.exporter import Exported
    from aurora_memory.store.importer import Imported


class Reviewed(Struct, frozen=True):
    """Outcome of a review of lifespans: chunks it looked at, put into the archive now, flagged, and left to fade."""

    chunks: int
    archived: int
    flagged: int
    decaying: int


class Maintained:
    """The part of a store that looks after its file. `Store` has the connections."""

    path: Path
    read: ReaderThread
    _writer: aiosqlite.Connection
    _turn: asyncio.Lock

    def _transaction(self, *, durable: bool = False) -> AbstractAsyncContextManager[aiosqlite.Connection]:
        raise NotImplementedError

    async def check(self) -> IntegrityReport:
        """Look the whole file over: seconds on a large one, on a connection of its own, beside whoever reads or writes.

        Nothing of a damaged file is said but that it is damaged.
        """
        db = await connect(self.path, read_only=True)
        try:
            await db.execute("BEGIN")
            found = await integrity.checked(db)
        finally:
            await db.close()
        if found.damaged:
            return found
        async with self._transaction() as writer:
            texts = await integrity.text_faults(writer)
        return IntegrityReport(found.version, (*found.faults, *texts))

    async def rebuild(self, now: float | None = None) -> Rebuilt:
        """Drop everything the files still tell, in one transaction; a sweep reads it again. What was learned stays.

        The sweep must not count the files as edited (`Indexer.run(None, edited=False)`).
        """
        async with self._transaction() as db:
            done = await rebuild.rebuild(db, time.time() if now is None else now)
        self.read.forget_words()
        return done

    async def salvage(self, now: float | None = None) -> Salvaged:
        """Set this damaged file aside and go on with a new one that has what could be read of what was learned.

        Who asks meanwhile waits. The next sweep indexes everything anew. Once begun it is not cancelled half-way.
        """
        return await asyncio.shield(asyncio.ensure_future(self._salvage(time.time() if now is None else now)))

    async def _salvage(self, now: float) -> Salvaged:
        async with self._turn:
            fresh, saved, unreadable = await _saved_copy(self.path, now)
            await self.read.leave()
            await self._writer.close()
            try:
                aside = await asyncio.to_thread(_exchange, self.path, fresh, now)
            finally:
                self._writer = await connect(self.path)
                await self.read.open()
        return Salvaged(aside, saved, unreadable)

    async def export_learned(self, target: Path, workspace: str, now: float | None = None) -> Exported:
        """Write what was learned to `target` as JSON lines, as it stands now; `workspace` is a name for people."""
        exporting = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.exporter")
        db = await connect(self.path, read_only=True)
        try:
            await db.execute("BEGIN")
            git_root = await self.read(file_reader.fact, "git_root") or ""
            exported: Exported = await exporting.export(
                db, target, workspace, git_root, time.time() if now is None else now
            )
            return exported
        except sqlite3.Error as error:
            raise explained(error, self.path) from error
        finally:
            await db.close()

    async def import_learned(self, source: Path, now: float | None = None) -> Imported:
        """Take in what another memory exported: all of it or, after an InvalidExport, nothing. Twice is once."""
        importing = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.importer")
        git_root = await self.read(file_reader.fact, "git_root") or ""
        async with self._transaction(durable=True) as db:
            imported: Imported = await importing.take_in(db, source, time.time() if now is None else now, git_root)
            return imported

    async def review_lifespans(self, policies: Policies, now: float) -> Reviewed:
        """Archive what is past its lifespan and flag what policies flag (AURORA §6.7.1), in one transaction.

        The fact `reviewed_at` says when that was. Nothing is deleted.
        """
        async with self._transaction(durable=True) as db:

            async def rows(sql: str, values: Sequence[Any]) -> list[Any]:
                return list(await db.execute_fetchall(sql, values))

            facts = await lifespans.learned_facts(rows)
            found = await asyncio.to_thread(review, facts, policies, now)
            archived = await lifespans.archive(db, [each.id for each in found.archive], now)
            await lifespans.escalate(db, {each.id: each.verdict.escalations for each in found.escalate}, now)
            await db.execute("INSERT OR REPLACE INTO facts VALUES ('reviewed_at', ?)", (str(now),))
        return Reviewed(len(facts), archived, len(found.escalate), len(found.decaying))

    async def restore(self, shown: str, now: float) -> bool:
        """Bring a reasoning chunk (`reas:…`) back from the archive; False where it was not in it.

        To be wanted back counts as a use: without one the next review would archive it again. Raises UnknownChunk.
        """
        async with self._transaction(durable=True) as db:
            for (chunk_id,) in await db.execute_fetchall(
                "SELECT id FROM chunks WHERE path = '' AND name = ? AND kind = 'reasoning'",
                (shown.removeprefix("reas:"),),
            ):
                restored = await lifespans.restore(db, [chunk_id]) > 0
                if restored:
                    sql = "INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, 'restored')"
                    await db.execute(sql, (chunk_id, now))
                return restored
        raise UnknownChunk(f"no reasoning chunk {shown[:200]!r} in {self.path}; 'aurora doctor' lists what is archived")


async def salvage_file(path: Path, now: float) -> Salvaged:
    """Do the same to a file that is so damaged that it cannot be opened. Nobody may have it open."""
    fresh, saved, unreadable = await _saved_copy(path, now)
    return Salvaged(await asyncio.to_thread(_exchange, path, fresh, now), saved, unreadable)


async def _saved_copy(path: Path, now: float) -> tuple[Path, dict[str, int], tuple[str, ...]]:
    """A new memory file beside `path` with what was learned, not open any more."""
    fresh = path.with_name(f"{path.name}.salvaged")
    await asyncio.to_thread(_forget_file, fresh)
    try:
        db = await connect(fresh)
        try:
            await migrate(db, fresh)
            await asyncio.to_thread(fresh.chmod, 0o600)
            saved, unreadable = await asyncio.to_thread(salvage.copy_learned, path, fresh, now)
            await db.execute("BEGIN IMMEDIATE")
            await rebuild.rebuild(db, now)  # gives documents their chunks back and drops what speaks of none
            await db.execute("COMMIT")
        finally:
            await db.close()
    except sqlite3.Error as error:
        await asyncio.to_thread(_forget_file, fresh)
        raise explained(error, fresh) from error
    return fresh, saved, unreadable


def _exchange(path: Path, fresh: Path, now: float) -> Path:
    aside = salvage.set_aside(path, now)
    fresh.rename(path)
    return aside


def _forget_file(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
