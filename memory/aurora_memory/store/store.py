"""Store (database) of one workspace's memory in SQLite, as everybody else sees it: a single writer, many readers,
transactions, and everything that can be written.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiosqlite
from msgspec import Struct
from msgspec.structs import replace

from aurora_memory import StoreCorrupt, StoreError
from aurora_memory.activation import USUAL, Weighing
from aurora_memory.chunk_validation import fully_checked
from aurora_memory.conversation_logs import IndexedLogSection, index_of
from aurora_memory.learning import POLICY, Feedback, FinishedRun, Learned, LearningPolicy, lesson_of
from aurora_memory.module_paths import ModuleAlias
from aurora_memory.store import (
    chunk_writer,
    conversation_log_index,
    deliverable_log,
    embeddings,
    file_reader,
    learned_writer,
    pending_references,
    postings,
    record_outbox,
    row_sums,
)
from aurora_memory.store.chunk_writer import Written
from aurora_memory.store.commit_writer import HistoryWriter
from aurora_memory.store.connection import connect, explained
from aurora_memory.store.deliverable_log import Outbox
from aurora_memory.store.file_identity import FileIdentity, usable_size
from aurora_memory.store.killed_copies import forget_killed_copies
from aurora_memory.store.maintenance import Maintained
from aurora_memory.store.migrations import migrate
from aurora_memory.store.reader import Reader
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.store.rows import FileStat, IndexedFile, SkippedFile
from aurora_memory.store.salvage import finish_exchange
from aurora_memory.store.wal_checksums import refuse_changed_log
from aurora_protocol.secret_mask import masked, masked_json, masked_struct
from aurora_protocol.strict_modes import make_private_folder

_NEW = itertools.count()
"""Numbers of files in the making: two stores of one process may make one each at the same time."""


class Counts(Struct, frozen=True):
    """Counts of what a memory holds. `kinds` and `languages` count live chunks and files."""

    files: int
    chunks: int
    skipped: int
    kinds: dict[str, int]
    languages: dict[str, int]
    unresolved: int
    accesses: int


class Store(Maintained):
    """Store of one workspace: its memory file. One writer at a time; readers never wait for it. Close it, or the
    process hangs.
    """

    def __init__(
        self, path: Path, writer: aiosqlite.Connection, reader: ReaderThread, policy: LearningPolicy = POLICY
    ) -> None:
        self.path = path
        self._policy = policy
        self.read = reader
        self._writer = writer
        self._turn = asyncio.Lock()
        self._identity = FileIdentity(path)
        self.history = HistoryWriter(self._transaction)
        self.outbox = Outbox(self._transaction)
        self._noted = False
        self._learned_listeners: list[Callable[[], None]] = []

    @classmethod
    async def open(cls, path: Path, weighing: Weighing = USUAL, policy: LearningPolicy = POLICY) -> Store:
        """Open or create the file and bring it to today's shape. Raises a `StoreError` that says what to do.

        `weighing` has the numbers of activation, `policy` those of learning.
        """
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise StoreError(f"cannot create the folder {path.parent}: {error.strerror}; set AURORA_HOME") from error
        await _made(path)
        await asyncio.to_thread(refuse_changed_log, path)
        writer = await connect(path)
        reader = ReaderThread(path, weighing)
        try:
            await migrate(writer, path)
            await row_sums.keep_sums(writer)
            await asyncio.to_thread(path.chmod, 0o600)
            await reader.open()
            store = cls(path, writer, reader, policy)
            await record_outbox.note_lines(writer, store._note)
            return store
        except sqlite3.Error as error:
            await reader.close()
            await writer.close()
            raise explained(error, path) from error
        except BaseException:
            await reader.close()
            await writer.close()
            raise

    async def close(self) -> None:
        """Close both connections; a write under way finishes first."""
        async with self._turn:
            await self.read.close()
            if self.lost:
                await self._leave_behind()
            await self._writer.close()

    async def give_memory_back(self) -> None:
        """Let go of the pages that both connections keep; the next questions read them anew. Raises a `StoreError`."""
        await self.read(Reader.give_memory_back)
        async with self._turn:
            try:
                await self._writer.execute("PRAGMA shrink_memory")
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            except ValueError as error:  # aiosqlite: it was closed while we waited
                raise StoreError(f"{self.path} was closed meanwhile; ask again") from error

    @asynccontextmanager
    async def _transaction(self, *, durable: bool = False) -> AsyncIterator[aiosqlite.Connection]:
        """Transaction of the single writer, rolled back where it fails. `durable`: on the disk when it is over, and not
        only in the system's cache.

        What is learned or told must outlive a power cut once it was acknowledged; the index need not, files have it.
        """
        async with self._turn:
            db = self._writer
            if self.lost:
                raise StoreError(
                    f"{self.path}, or its log, was removed or exchanged while it is in use; "
                    "'aurora doctor --repair' writes it back from what the daemon still has"
                )
            try:
                if durable:
                    await db.execute("PRAGMA synchronous = FULL")
                try:
                    await db.execute("BEGIN IMMEDIATE")  # the thread begins although whoever waits for it gives up
                    self._noted = False
                    yield db
                except BaseException:
                    await asyncio.shield(db.rollback())  # nothing where it did not begin
                    raise
                await asyncio.shield(self._commit(db))
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            finally:
                if durable:
                    with suppress(sqlite3.Error, ValueError):  # the connection broke: the next one begins with NORMAL
                        await asyncio.shield(db.execute("PRAGMA synchronous = NORMAL"))

    async def _commit(self, db: aiosqlite.Connection) -> None:
        """End of a transaction, with what follows from it, also where nobody waits for it any more."""
        try:
            await db.execute("COMMIT")
        except sqlite3.Error:
            await db.rollback()  # SQLite may have left it open (SQLITE_BUSY, SQLITE_FULL)
            raise
        self.read.count_write()
        if self._noted:
            self._noted = False
            for hear in tuple(self._learned_listeners):
                hear()

    def on_learned(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Subscription: be told when something was learned that the repository's record lacks; returns how to stop
        listening.
        """
        self._learned_listeners.append(listener)

        def leave() -> None:
            if listener in self._learned_listeners:
                self._learned_listeners.remove(listener)

        return leave

    def _note(self) -> None:
        """Hear, on the writer's thread, of a line in the outbox; whoever listens is told after the commit."""
        self._noted = True

    async def write(
        self,
        files: Sequence[IndexedFile] = (),
        removed: Sequence[str] = (),
        skipped: Sequence[SkippedFile] = (),
        restamped: Mapping[str, FileStat] | None = None,
        *,
        first_time: bool = False,
        edited: bool = True,
        anew: bool = False,
        now: float | None = None,
    ) -> Written:
        """Atomic batch of changes: make memory agree with some files, in one transaction.

        `files` were parsed; `removed` are gone, or no longer indexed; `skipped` were looked into and left out;
        `restamped` have a new stat but the same content. Chunks with a history that vanish are put aside, not deleted.
        `first_time` says that nothing was resolved yet, so no older reference can be waiting for a new name;
        `edited` that a person is at work on these files (not a first index, not a checkout): changed chunks then count
        as modified now; `anew` that files become chunks by other rules than before.
        """
        moment = time.time() if now is None else now
        async with self._transaction() as db:
            return await chunk_writer.write(
                db,
                files,
                removed,
                skipped,
                restamped or {},
                first_time=first_time,
                edited=edited,
                anew=anew,
                now=moment,
            )

    async def resolve(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Turn the references of new and changed chunks into relations; `tell` hears how many chunks still wait.

        Nobody writes chunks meanwhile: who does, the indexer, resolves them afterwards.
        """
        async with self._turn:
            waiting = await pending_references.waiting_chunks(self._writer)
            many = waiting > pending_references.MANY
            catalogue = await pending_references.whole_catalogue(self._writer) if many else None
        while waiting:
            async with self._transaction() as db:
                waiting = await pending_references.resolve_some(db, catalogue)
            tell(waiting)
        if catalogue is not None:
            await asyncio.to_thread(catalogue.let_go)

    async def keep_module_aliases(self, aliases: Sequence[ModuleAlias]) -> None:
        """Keep what modules of this workspace are called besides their paths; `resolve` goes by it."""
        async with self._transaction() as db:
            await pending_references.keep_aliases(db, aliases)

    async def remember(self, key: str, value: str) -> None:
        """Key-value pair: keep a small fact about this memory (`git_head`, `indexed_at`, …)."""
        async with self._transaction() as db:
            await _remember(db, key, value)

    async def record_accesses(self, chunk_ids: Iterable[int], kind: str, at: float) -> None:
        """Append uses of what was recalled (opened, read, edited) to the access history.

        Recall itself writes none (ruling 18).
        """
        async with self._transaction(durable=True) as db:
            await db.executemany(
                "INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, ?)",
                [(chunk_id, at, kind) for chunk_id in chunk_ids],
            )

    async def learn(self, run: FinishedRun) -> Learned:
        """Learn from a finished run, in one transaction; a run id learned before changes nothing (AURORA §6.7).

        Raises InvalidRun or InvalidChunkDocument, before anything is written, where the run can't be what it says.
        """
        run = await asyncio.to_thread(masked_struct, run)
        lesson = lesson_of(run, self._policy)
        if lesson.document is not None:
            await asyncio.to_thread(fully_checked, lesson.document)
        async with self._transaction(durable=True) as db:
            return await learned_writer.keep(db, run, lesson, self._policy)

    async def judge(self, judgement: Feedback) -> bool:
        """Take in what a user said of an answer (App. E), once; False: its pattern is gone, or it was said before."""
        async with self._transaction(durable=True) as db:
            return await learned_writer.judge(db, masked_struct(judgement), self._policy)

    async def index_log(self, file: str, text: str, query_id: str = "", topic: str = "") -> int:
        """Index a conversation log, in place of what was known of that file (AURORA §6.8.2.1); returns its sections.

        `file` is its path below the folder of logs, with `/`. `topic` is what a model called it; else the words tell.
        """
        sections: list[IndexedLogSection] = await asyncio.to_thread(
            lambda: index_of(file, masked(text), query_id, masked(topic))
        )
        async with self._transaction() as db:
            await conversation_log_index.replace(db, file, sections)
        return len(sections)

    async def forget_logs(self, files: Sequence[str]) -> None:
        """Drop deleted conversation logs from the index."""
        async with self._transaction() as db:
            await conversation_log_index.remove(db, files)

    async def log_deliverable_events(self, events: Sequence[deliverable_log.LoggedEvent]) -> dict[str, int]:
        """Append to the log of deliverables, in one transaction; returns the numbers of events not known before.

        When this returns they are committed: a killed process loses none of them.
        """
        async with self._transaction(durable=True) as db:
            return await deliverable_log.append(db, events)

    async def keep_deliverable_folds(self, mark: str, folds: Sequence[deliverable_log.FoldedDeliverable]) -> None:
        """Keep what the events of deliverables amount to, so that not all are read again; `mark` says by what rules."""
        clean = await asyncio.to_thread(lambda: [replace(each, body=masked_json(each.body)) for each in folds])
        async with self._transaction() as db:
            await deliverable_log.keep_folds(db, mark, clean)

    async def keep_embeddings(self, model: str, entries: Sequence[embeddings.Embedded]) -> None:
        """Keep the vectors that `model` made of chunks; a chunk that changed meanwhile gets none."""
        async with self._transaction() as db:
            await embeddings.keep(db, model, entries)

    async def drop_embeddings_but(self, model: str) -> None:
        """Forget the vectors that other models made."""
        async with self._transaction() as db:
            await embeddings.drop_others(db, model)

    async def counts(self) -> Counts:
        """Count what memory holds; milliseconds, even on large ones."""
        return Counts(**await self.read(file_reader.counts))

    async def tidy(self) -> None:
        """Compaction and WAL checkpoint: rewrite what is mostly dead, give the write-ahead log back, let SQLite refresh
        its statistics.

        Call it when a bulk write is over, or many small ones: blocks of postings are compacted, and the WAL ends in a
        checkpoint.
        """
        for block in await postings.mostly_dead(self._writer):
            async with self._transaction() as db:
                await postings.rewrite_block(db, block)
        while await postings.has_gaps(self._writer):
            async with self._transaction() as db:
                await postings.close_gaps(db)
            self.read.forget_words()
        async with self._turn:
            await self._writer.execute("PRAGMA optimize")
            await self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _made(path: Path) -> None:
    """Make a new memory file elsewhere and put it in its place whole: one that is empty there has lost what it held."""
    await asyncio.to_thread(finish_exchange, path)
    await asyncio.to_thread(forget_killed_copies, path)
    size = await asyncio.to_thread(usable_size, path)
    if size == 0:
        raise StoreCorrupt(f"{path} is empty, and a memory never is; 'aurora doctor --repair' sets it aside")
    if size is not None:
        return
    beside = path.with_name(f"{path.name}.new-{os.getpid()}-{next(_NEW)}")
    try:
        db = await connect(beside)
        try:
            await migrate(db, beside)
            await row_sums.add_sums(db)
        finally:
            await db.close()
        await asyncio.to_thread(_put, beside, path)
    except sqlite3.Error as error:
        raise explained(error, path) from error
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                beside.with_name(beside.name + suffix).unlink(missing_ok=True)


def _put(beside: Path, path: Path) -> None:
    """Atomic creation: a hard link, so that of two processes one wins, and an fsync of the folder."""
    beside.chmod(0o600)
    try:
        path.hardlink_to(beside)
        if os.name == "posix":  # what is acknowledged later must have a name after a power cut
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except FileExistsError:
        return  # another process was faster
    except OSError as error:
        if path.exists():
            return
        try:
            beside.rename(path)  # a disk without links
        except OSError:
            raise StoreError(f"cannot create {path}: {error.strerror}; check its folder's permissions") from error


async def _remember(db: aiosqlite.Connection, key: str, value: str) -> None:
    """Upsert of a key-value pair."""
    await db.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )
