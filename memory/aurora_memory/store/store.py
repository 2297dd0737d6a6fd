"""Writing memory: files in, chunks kept by identity, history never lost."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory import MemoryError_
from aurora_memory.chunks import CodeChunk
from aurora_memory.store import resolving
from aurora_memory.store.connection import connect, explained, migrate
from aurora_memory.store.history import HistoryWriter, forget_chunks
from aurora_memory.store.plan import FilePlan, StoredChunk, claim_orphans, plan_file
from aurora_memory.store.reading import Reader
from aurora_memory.store.rows import (
    CHUNK_COLUMNS,
    MAX_PARTS,
    ChunkRow,
    FileStat,
    IndexedFile,
    SkippedFile,
    chunk_values,
    file_values,
    leaf,
    part_rows,
    prepare,
)

_STORED = (
    "SELECT id, path, name, ordinal, kind, parent, line_start, line_end, body_hash, shape_hash, part_count, "
    "gone_at IS NOT NULL FROM chunks"
)
_PLACES = ", ".join("?" * (CHUNK_COLUMNS.count(",") + 1))
_SET_COLUMNS = ", ".join(f"{column.strip()} = ?" for column in CHUNK_COLUMNS.split(","))
_REFERRERS = 2000
"""How many chunks that mention a new name are looked at again; beyond that the name is too common to mean one thing."""


class Counts(Struct, frozen=True):
    """What a memory holds. `kinds` and `languages` count live chunks and files."""

    files: int
    chunks: int
    skipped: int
    kinds: dict[str, int]
    languages: dict[str, int]
    unresolved: int
    accesses: int


class Written(Struct, frozen=True):
    """What one write did to the chunks."""

    added: int = 0
    rewritten: int = 0
    shifted: int = 0
    unchanged: int = 0
    vanished: int = 0


class Store:
    """One workspace's memory file. One writer at a time; readers never wait for it. Close it, or the process hangs."""

    def __init__(self, path: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self.path = path
        self.read = Reader(reader, path)
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()
        self.history = HistoryWriter(self._transaction)

    @classmethod
    async def open(cls, path: Path) -> Store:
        """Open or create the file and bring it to today's shape. Raises a `MemoryError_` that says what to do."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise MemoryError_(f"cannot create the folder {path.parent}: {error.strerror}; set AURORA_HOME") from error
        writer = await connect(path)
        try:
            await migrate(writer, path)
            await asyncio.to_thread(path.chmod, 0o600)
            reader = await connect(path, read_only=True)
        except sqlite3.Error as error:
            await writer.close()
            raise explained(error, path) from error
        except BaseException:
            await writer.close()
            raise
        return cls(path, writer, reader)

    async def close(self) -> None:
        """Close both connections; a write under way finishes first."""
        async with self._turn:
            await self._reader.close()
            await self._writer.close()

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        async with self._turn:
            db = self._writer
            try:
                await db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    await asyncio.shield(db.execute("ROLLBACK"))
                    raise
                await asyncio.shield(db.execute("COMMIT"))
            except sqlite3.Error as error:
                raise explained(error, self.path) from error

    async def write(
        self,
        files: Sequence[IndexedFile] = (),
        removed: Sequence[str] = (),
        skipped: Sequence[SkippedFile] = (),
        touched: Mapping[str, FileStat] | None = None,
        *,
        first_time: bool = False,
        edited: bool = True,
        now: float | None = None,
    ) -> Written:
        """Make memory agree with some files, in one transaction.

        `files` were parsed; `removed` are gone, or no longer indexed; `skipped` were looked into and left out;
        `touched` have a new stat but the same content. Chunks with a history that vanish are put aside, not deleted.
        `first_time` says that nothing was resolved yet, so no older reference can be waiting for a new name;
        `edited` that a person is at work on these files (not a first index, not a checkout): changed chunks then count
        as modified now.
        """
        moment = time.time() if now is None else now
        leaving = [*removed, *(entry.path for entry in skipped)]
        paths = [entry.parsed.path for entry in files]
        async with self._transaction() as db:
            stored = await _stored_by_path(db, [*paths, *leaving])
            plans = [plan_file(stored.get(entry.parsed.path, ()), entry.parsed.chunks) for entry in files]
            if any(plan.added and plan.vanished for plan in plans):
                terms = await _terms_of(db, [old.id for plan in plans if plan.added for old in plan.vanished])
                plans = [plan_file(stored.get(entry.parsed.path, ()), entry.parsed.chunks, terms) for entry in files]
            left = [old for path in leaving for old in stored.get(path, ()) if not old.gone]
            orphans = [*left, *await _gone_with_shape(db, plans, known=bool(stored))]
            plans = claim_orphans(plans, orphans)
            kept = {old.id for plan in plans for old, _ in plan.rewritten}
            vanished = [old for old in left if old.id not in kept]
            vanished += [old for plan in plans for old in plan.vanished]
            await _vanish(db, vanished, moment)
            await self._apply(
                db, plans, first_time=first_time, changed_at=moment if edited and not first_time else None
            )
            await _save_files(db, files, leaving, skipped, touched or {}, moment)
        self.read.forget()
        return Written(
            added=sum(len(plan.added) for plan in plans),
            rewritten=sum(len(plan.rewritten) for plan in plans),
            shifted=sum(len(plan.shifted) for plan in plans),
            unchanged=sum(plan.unchanged for plan in plans),
            vanished=len(vanished),
        )

    async def _apply(
        self, db: aiosqlite.Connection, plans: Sequence[FilePlan], *, first_time: bool, changed_at: float | None
    ) -> None:
        shifted = [pair for plan in plans for pair in plan.shifted]
        rewritten = [pair for plan in plans for pair in plan.rewritten]
        added = [chunk for plan in plans for chunk in plan.added]
        if shifted:
            await _shift(db, shifted)
        if rewritten:
            await _forget_words(db, [old for old, _ in rewritten])
            # Names may swap places in one save; park them first so that no two rows hold one key meanwhile.
            await db.executemany(
                "UPDATE chunks SET name = '#' || id, ordinal = 0 WHERE id = ?", [(old.id,) for old, _ in rewritten]
            )
            await db.executemany(
                f"UPDATE chunks SET {_SET_COLUMNS}, gone_at = NULL, changed_at = coalesce(?, changed_at) WHERE id = ?",
                [(*chunk_values(chunk), changed_at, old.id) for old, chunk in rewritten],
            )
        async with db.execute("SELECT coalesce(max(id), 0) FROM chunks") as cursor:
            row = await cursor.fetchone()
        first = int(row[0]) + 1 if row else 1
        numbered = [(old.id, chunk) for old, chunk in rewritten]
        inserts = list(enumerate(added, start=first))
        rows = await asyncio.to_thread(prepare, [*numbered, *inserts])
        await db.executemany(
            f"INSERT INTO chunks (id, {CHUNK_COLUMNS}, changed_at) VALUES (?, {_PLACES}, ?)",
            [(*row, changed_at) for row in rows.chunks[len(numbered) :]],
        )
        await db.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows.parts)
        await db.executemany(
            "INSERT INTO words (rowid, name, signature, path, doc, calls, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows.words,
        )
        await db.executemany("INSERT OR IGNORE INTO refs VALUES (?, ?, ?, ?)", rows.refs)
        await db.executemany(
            "INSERT OR IGNORE INTO unresolved VALUES (?)", [(chunk_id,) for chunk_id, _ in [*numbered, *inserts]]
        )
        if not first_time:
            names = {leaf(chunk.name) for chunk in added} | {leaf(chunk.name) for _, chunk in rewritten}
            await db.executemany(
                "INSERT OR IGNORE INTO unresolved SELECT DISTINCT chunk_id FROM refs WHERE name = ? LIMIT ?",
                [(name, _REFERRERS) for name in names],
            )

    async def resolve(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Turn the references of new and changed chunks into relations; `tell` hears how many chunks still wait."""
        async with self._turn:
            waiting = await resolving.waiting_chunks(self._writer)
            many = waiting > resolving.MANY
            catalogue = await resolving.whole_catalogue(self._writer) if many else None
        while waiting:
            async with self._transaction() as db:
                waiting = await resolving.resolve_some(db, catalogue)
            tell(waiting)

    async def remember(self, key: str, value: str) -> None:
        """Keep a small fact about this memory (`git_head`, `indexed_at`, …)."""
        async with self._transaction() as db:
            await _remember(db, key, value)

    async def record_accesses(self, chunk_ids: Iterable[int], kind: str, at: float) -> None:
        """Append to the access history. Recall never calls this: only a finished SOAR run learns (AURORA §9.9)."""
        async with self._transaction() as db:
            await db.executemany(
                "INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, ?)",
                [(chunk_id, at, kind) for chunk_id in chunk_ids],
            )

    async def counts(self) -> Counts:
        """Count what memory holds; milliseconds, even on large ones."""
        return Counts(**await self.read.counts())

    async def check(self) -> str | None:
        """What SQLite finds wrong with the file, or None."""
        rows = await _rows(self._writer, "PRAGMA quick_check(1)")
        return None if rows[0][0] == "ok" else str(rows[0][0])

    async def tidy(self) -> None:
        """Give the write-ahead log back and let SQLite refresh its statistics; call it when a bulk write is over."""
        async with self._turn:
            await self._writer.execute("PRAGMA optimize")
            await self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _rows(db: aiosqlite.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    return list(await db.execute_fetchall(sql, values))


def _stored(row: Sequence[Any]) -> StoredChunk:
    return msgspec.convert(row, StoredChunk, strict=False)


async def _stored_by_path(db: aiosqlite.Connection, paths: Sequence[str]) -> dict[str, list[StoredChunk]]:
    found: dict[str, list[StoredChunk]] = {}
    for start in range(0, len(paths), 500):
        some = paths[start : start + 500]
        for row in await _rows(db, f"{_STORED} WHERE path IN ({', '.join('?' * len(some))})", some):
            chunk = _stored(row)
            found.setdefault(chunk.path, []).append(chunk)
    return found


async def _terms_of(db: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for chunk_id in ids[:200]:  # more vanish at once only when files are replaced wholesale
        rows = await _rows(db, "SELECT body FROM words WHERE rowid BETWEEN ? AND ?", _part_range(chunk_id))
        found[chunk_id] = frozenset(term for (body,) in rows for term in body.split())
    return found


async def _gone_with_shape(db: aiosqlite.Connection, plans: Sequence[FilePlan], *, known: bool) -> list[StoredChunk]:
    """Chunks put aside earlier whose shape a new chunk has: a file that was deleted, then created elsewhere."""
    if not known:
        rows = await _rows(db, "SELECT 1 FROM chunks WHERE gone_at IS NOT NULL LIMIT 1")
        if not rows:
            return []
    shapes = list({chunk.shape_hash for plan in plans for chunk in plan.added})
    found: list[StoredChunk] = []
    for start in range(0, len(shapes), 500):
        some = shapes[start : start + 500]
        marks = ", ".join("?" * len(some))
        rows = await _rows(db, f"{_STORED} WHERE gone_at IS NOT NULL AND shape_hash IN ({marks})", some)
        found.extend(_stored(row) for row in rows)
    return found


async def _vanish(db: aiosqlite.Connection, vanished: Sequence[StoredChunk], moment: float) -> None:
    """Take chunks out of recall: delete those nothing was learned of, put the others aside."""
    if not vanished:
        return
    ids = [(old.id,) for old in vanished]
    await _forget_words(db, vanished)
    await db.executemany(
        "INSERT OR IGNORE INTO unresolved SELECT from_id FROM relations WHERE to_id = ? AND kind != 'contains'", ids
    )
    await db.executemany("DELETE FROM relations WHERE from_id = ?", ids)
    await db.executemany("DELETE FROM relations WHERE to_id = ?", ids)
    await db.executemany("DELETE FROM unresolved WHERE chunk_id = ?", ids)
    await db.executemany(
        "UPDATE chunks SET gone_at = ? WHERE id = ? AND EXISTS (SELECT 1 FROM accesses WHERE chunk_id = chunks.id)",
        [(moment, old.id) for old in vanished],
    )
    await db.executemany("DELETE FROM chunks WHERE id = ? AND gone_at IS NULL", ids)
    await forget_chunks(db, ids)
    # A function saved into its new file before it left the old one is a copy by now: the history goes with it.
    await db.executemany(
        """UPDATE accesses SET chunk_id = (
               SELECT twin.id FROM chunks AS twin JOIN chunks AS gone ON gone.id = accesses.chunk_id
               WHERE twin.shape_hash = gone.shape_hash AND twin.kind = gone.kind AND twin.leaf = gone.leaf
                 AND twin.gone_at IS NULL ORDER BY twin.id DESC LIMIT 1)
           WHERE chunk_id = ? AND EXISTS (
               SELECT 1 FROM chunks AS twin JOIN chunks AS gone ON gone.id = accesses.chunk_id
               WHERE gone.gone_at IS NOT NULL AND twin.shape_hash = gone.shape_hash AND twin.kind = gone.kind
                 AND twin.leaf = gone.leaf AND twin.gone_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM accesses AS other WHERE other.chunk_id = twin.id))""",
        ids,
    )


async def _forget_words(db: aiosqlite.Connection, chunks: Sequence[StoredChunk]) -> None:
    ranges = [_part_range(old.id) for old in chunks if not old.gone]
    await db.executemany("DELETE FROM words WHERE rowid BETWEEN ? AND ?", ranges)
    await db.executemany("DELETE FROM parts WHERE id BETWEEN ? AND ?", ranges)
    await db.executemany("DELETE FROM refs WHERE chunk_id = ?", [(old.id,) for old in chunks])


def _part_range(chunk_id: int) -> tuple[int, int]:
    return chunk_id * MAX_PARTS, chunk_id * MAX_PARTS + MAX_PARTS - 1


async def _shift(db: aiosqlite.Connection, pairs: Sequence[tuple[StoredChunk, CodeChunk]]) -> None:
    """Move chunks' lines; their words and history stay untouched."""
    await db.executemany(
        "UPDATE chunks SET line_start = ?, line_end = ? WHERE id = ?",
        [(chunk.line_start, chunk.line_end, old.id) for old, chunk in pairs],
    )
    await db.executemany(
        "UPDATE parts SET line_start = ?, line_end = ? WHERE id = ?",
        [(start, end, part_id) for old, chunk in pairs for part_id, start, end, _ in part_rows(old.id, chunk)],
    )


async def _save_files(
    db: aiosqlite.Connection,
    files: Sequence[IndexedFile],
    leaving: Sequence[str],
    skipped: Sequence[SkippedFile],
    touched: Mapping[str, FileStat],
    moment: float,
) -> None:
    await db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in leaving])
    gone = [*leaving, *(entry.parsed.path for entry in files)]
    await db.executemany("DELETE FROM skips WHERE path = ?", [(path,) for path in gone])
    rows: list[ChunkRow] = [file_values(entry, moment) for entry in files]
    await db.executemany(
        """INSERT INTO files (path, language, size, mtime_ns, content_hash, syntax_errors, imports, indexed_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (path) DO UPDATE SET language = excluded.language, size = excluded.size,
             mtime_ns = excluded.mtime_ns, content_hash = excluded.content_hash,
             syntax_errors = excluded.syntax_errors, imports = excluded.imports, indexed_at = excluded.indexed_at""",
        rows,
    )
    await db.executemany(
        "INSERT OR REPLACE INTO skips VALUES (?, ?, ?, ?, ?)",
        [(entry.path, entry.reason, entry.detail, entry.stat.size, entry.stat.mtime_ns) for entry in skipped],
    )
    await db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?",
        [(stat.size, stat.mtime_ns, path) for path, stat in touched.items()],
    )


async def _remember(db: aiosqlite.Connection, key: str, value: str) -> None:
    await db.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )
