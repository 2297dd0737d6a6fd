"""Maintenance of a memory file, done beside its daily use (a facade): check, repair, exchange and clean-up, each one
call on a store.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiosqlite
from msgspec import Struct

from aurora_memory import StoreCorrupt, StoreError, UnknownChunk
from aurora_memory.lifespans.evaluate import review
from aurora_memory.lifespans.policies import Policies
from aurora_memory.store import (
    deliverable_log,
    file_reader,
    integrity,
    lifespans,
    others_rows,
    postings,
    rebuild,
    record_outbox,
    record_position,
    row_sums,
    salvage,
    secret_removal,
)
from aurora_memory.store.connection import connect, explained, unreadable
from aurora_memory.store.file_identity import FileIdentity
from aurora_memory.store.integrity import Fault, IntegrityReport
from aurora_memory.store.migrations import migrate
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.store.rebuild import Rebuilt
from aurora_memory.store.salvage import Salvaged

if TYPE_CHECKING:
    from aurora_memory.store.export_format import ExportLine
    from aurora_memory.store.exporter import Exported
    from aurora_memory.store.forgotten_rows import Judge
    from aurora_memory.store.importer import Imported, TakenLines
    from aurora_memory.store.record_position import RecordPosition


logger = logging.getLogger(__name__)


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
    _identity: FileIdentity

    def _transaction(self, *, durable: bool = False) -> AbstractAsyncContextManager[aiosqlite.Connection]:
        raise NotImplementedError

    def _note(self) -> None:
        raise NotImplementedError

    @property
    def lost(self) -> bool:
        """Deleted or replaced database: whether the file at the path, or its log, is no more the one that is open
        here.
        """
        return self._identity.changed

    async def check(self) -> IntegrityReport:
        """Look the whole file over: seconds on a large one, on a connection of its own, beside whoever reads or writes.

        Nothing of a damaged file is said but that it is damaged.
        """
        if self.lost:
            return _damaged("it, or its log, was removed or exchanged while it is in use")
        if await asyncio.to_thread(_is_empty, self.path):  # to connect would delete the log, which may have it all
            return _damaged("it was emptied while it is in use")
        try:
            db = await connect(self.path, read_only=True)
        except StoreCorrupt as error:
            return _damaged(_what(error, self.path))
        try:
            await db.execute("BEGIN")
            found = await integrity.checked(db)
        except sqlite3.Error as error:
            if unreadable(error):
                return _damaged(str(error))
            raise explained(error, self.path) from error
        finally:
            await db.close()
        if found.damaged:
            return found
        try:
            async with self._transaction() as writer:
                texts = await integrity.text_faults(writer)
        except StoreCorrupt as error:
            return _damaged(_what(error, self.path))
        return IntegrityReport(found.version, (*found.faults, *texts))

    async def rebuild(self, now: float | None = None) -> Rebuilt:
        """Drop everything the files still tell, in one transaction; a sweep reads it again. What was learned stays.

        The sweep must not count the files as edited (`Indexer.run(None, edited=False)`).
        """
        async with self._transaction() as db:
            done = await rebuild.rebuild(db, time.time() if now is None else now)
        self.read.forget_words()
        return done

    async def write_back(self, now: float | None = None) -> Path | None:
        """Write a lost file anew from what is open of it; what lies in its place now is set aside, and returned.

        Once begun it is not cancelled half-way.
        """
        return await asyncio.shield(asyncio.ensure_future(self._write_back(time.time() if now is None else now)))

    async def _write_back(self, now: float) -> Path | None:
        """Exchange of what lies at the path for a backup of what is open."""
        async with self._turn:
            try:
                copy = await self._copied()
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            await self.read.leave()
            await self._writer.close()
            try:
                return await asyncio.to_thread(salvage.exchange, self.path, copy, now)
            finally:
                await self._reopen()

    async def _leave_behind(self) -> None:
        """Save what is open of a lost file, before it is closed for good; in its old place if that is free."""
        if not self.path.parent.is_dir():
            return  # the home was removed: who did that wants nothing of it
        if not self._identity.removed:
            return  # its log was: what closes last writes that into the file
        try:
            copy = await self._copied()
            kept = self.path
            if kept.exists():
                kept = self.path.with_name(f"{self.path.name}.removed-{time.time_ns()}")
            await asyncio.to_thread(copy.rename, kept)
            logger.warning("a memory file that was removed was written back", extra={"path": str(kept)})
        except (OSError, sqlite3.Error) as error:
            logger.warning("a removed memory file is lost", extra={"path": str(self.path), "error": str(error)})

    async def _copied(self) -> Path:
        """Online backup of the open database into a file beside it."""
        copy = self.path.with_name(f"{self.path.name}.salvaged")
        await asyncio.to_thread(_forget_file, copy)
        copy.touch(mode=0o600)
        async with aiosqlite.connect(copy) as target:
            await self._writer.backup(target)
        return copy

    async def _reopen(self) -> None:
        """Reconnection to the file that lies at the path now, with the triggers that a writing connection needs."""
        self._writer = await connect(self.path)
        await row_sums.keep_sums(self._writer)
        await record_outbox.note_lines(self._writer, self._note)
        await self.read.open()
        self._identity = FileIdentity(self.path)

    async def salvage(self, now: float | None = None) -> Salvaged:
        """Set this damaged file aside and go on with a new one that has what could be read of what was learned.

        Who asks meanwhile waits. The next sweep indexes everything anew. Once begun it is not cancelled half-way.
        """
        return await asyncio.shield(asyncio.ensure_future(self._salvage(time.time() if now is None else now)))

    async def _salvage(self, now: float) -> Salvaged:
        """Exchange of the damaged file for a new one with what could be saved."""
        async with self._turn:
            fresh, copied = await _saved_copy(self.path, now)
            await self.read.leave()
            await self._writer.close()
            try:
                aside = await asyncio.to_thread(salvage.exchange, self.path, fresh, now)
            finally:
                await self._reopen()
        return _salvaged(aside, copied)

    async def remove_secrets(self, *, indexed_before: bool) -> bool:
        """Take out what secrets this file holds from before today's rules; False where that failed, as the log says.

        Files were looked into anew before, so that the index has none; `indexed_before` says that it may have had some.
        """
        try:
            async with self._transaction(durable=True) as db:
                changed = await secret_removal.clean_rows(db)
                if changed or indexed_before:
                    await secret_removal.forget_messages(db)
            if changed or indexed_before:
                for block in await secret_removal.blocks_with_dead(self._writer):
                    async with self._transaction() as db:
                        await postings.rewrite_block(db, block)
                async with self._turn:
                    await secret_removal.write_anew(self.path)
                    await asyncio.to_thread(secret_removal.drop_copies, self.path)
                self.read.forget_words()
        except (StoreError, sqlite3.Error, OSError) as error:
            logger.warning("memory not cleaned", extra={"path": str(self.path), "error": str(error)})
            return False
        return True

    async def export_learned(self, target: Path, workspace: str, now: float | None = None) -> Exported:
        """Write what was learned to `target` as JSON lines, as it stands now; `workspace` is a name for people."""
        exporting = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.exporter")
        if self.lost:
            raise StoreError(f"{self.path} was removed while it is in use; 'aurora doctor --repair' writes it back")
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

    async def take_in_lines(self, lines: Sequence[ExportLine], now: float | None = None) -> TakenLines:
        """Take in lines of the repository's record, in one transaction and in any order; what is known changes nothing.

        Lines that wait are given again with later ones.
        """
        importing = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.importer")
        async with self._transaction(durable=True) as db:
            taken: TakenLines = await importing.take_in_lines(db, lines, time.time() if now is None else now)
            return taken

    async def take_in_record(
        self,
        entries: Sequence[tuple[int, ExportLine]],
        position: RecordPosition,
        now: float | None = None,
        authors: Mapping[int, str] | None = None,
    ) -> None:
        """Take in entries of the repository's record with their numbers there, up to a position, in one transaction.

        `authors` are those of numbers that a colleague's entries have. Nothing of it is noted as new for the record.
        Numbers of entries that wait for a pattern are kept (`record_position.unread`), to be given again.
        """
        importing = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.importer")
        async with self._transaction(durable=bool(entries)) as db, record_outbox.unheard(db):
            lines = [line for _, line in entries]
            await deliverable_log.hear_of_changes(db, lines)
            waiting = {id(line) for line in lines}
            by_author: dict[str, list[ExportLine]] = {}
            for number, line in entries:
                by_author.setdefault((authors or {}).get(number, ""), []).append(line)
            for author, told in (*by_author.items(), *by_author.items()):  # of a pattern another may have told
                coming = [line for line in told if id(line) in waiting]
                last, runs = await others_rows.last_access(db), await others_rows.new_runs(db, coming)
                before = await others_rows.documents(db, coming) if author else {}
                moment = time.time() if now is None else now
                taken: TakenLines = await importing.take_in_lines(db, coming, moment)
                waiting -= {id(line) for line in coming} - {id(line) for line in taken.waiting}
                if author:
                    await others_rows.keep(db, author, last, runs)
                    await others_rows.keep_patterns(db, author, before, await others_rows.documents(db, coming))
            await record_position.keep(db, position)
            await record_position.keep_unread(db, {number: id(line) in waiting for number, line in entries})

    async def begin_record(self, position: RecordPosition) -> None:
        """Begin with a record that this memory was not in yet, in one transaction: all that was learned goes into the
        outbox, and all that the record has is to be taken in from `position` on.
        """
        async with self._transaction(durable=True) as db:
            await record_outbox.note_all(db)
            await record_position.keep(db, position)

    async def keep_record_position(self, position: RecordPosition) -> None:
        """Say how far the record was read, where nothing of it was new here."""
        async with self._transaction() as db:
            await record_position.keep(db, position)

    async def forget_rows(self, judge: Judge, position: RecordPosition) -> int:
        """Take out every learned row whose line is forgotten, and read the record from `position` on; how many."""
        forgetting = await asyncio.to_thread(importlib.import_module, "aurora_memory.store.forgotten_rows")
        async with self._transaction(durable=True) as db, record_outbox.unheard(db):
            gone: int = await forgetting.forget(db, judge)
            await others_rows.tidy(db)
            await record_position.keep(db, position)
        async with self._turn:
            await self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    async def forget_recorded(self, numbers: Sequence[int]) -> None:
        """Take rows out of the outbox (`unrecorded`): the record has them on the disk."""
        async with self._transaction() as db:
            await record_outbox.forget(db, numbers)

    async def review_lifespans(self, policies: Policies, now: float) -> Reviewed:
        """Expiry: archive what is past its lifespan and flag what policies flag (AURORA §6.7.1), in one transaction.

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
    fresh, copied = await _saved_copy(path, now)
    return _salvaged(await asyncio.to_thread(salvage.exchange, path, fresh, now), copied)


def _salvaged(aside: Path | None, copied: salvage.Copied) -> Salvaged:
    if aside is None:
        raise StoreError("the damaged file was removed meanwhile; what could be read of it is in the new one")
    return Salvaged(aside, copied.saved, copied.unreadable, copied.mended, copied.left_out)


async def _saved_copy(path: Path, now: float) -> tuple[Path, salvage.Copied]:
    """A new memory file beside `path` with what was learned, not open any more."""
    fresh = path.with_name(f"{path.name}.salvaged")
    await asyncio.to_thread(_forget_file, fresh)
    try:
        db = await connect(fresh)
        try:
            await migrate(db, fresh)
            await asyncio.to_thread(fresh.chmod, 0o600)
            copied = await asyncio.to_thread(salvage.copy_learned, path, fresh, now)
            await db.execute("BEGIN IMMEDIATE")
            await rebuild.rebuild(db, now)  # gives documents their chunks back and drops what speaks of none
            await row_sums.seal(db)
            await db.execute("COMMIT")
        finally:
            await db.close()
    except sqlite3.Error as error:
        await asyncio.to_thread(_forget_file, fresh)
        raise explained(error, fresh) from error
    return fresh, copied


def _what(error: StoreCorrupt, path: Path) -> str:
    return str(error).partition("; ")[0].removeprefix(f"{path} ").removeprefix("is damaged or ")


def _damaged(what: str) -> IntegrityReport:
    return IntegrityReport(0, (Fault(what, 1, "salvage"),))


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def _forget_file(path: Path) -> None:
    """Deletion of a database with SQLite's own two files beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
