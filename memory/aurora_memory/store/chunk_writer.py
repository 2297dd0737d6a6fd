"""Chunk writer: upsert of files' chunks by identity, and tombstones (soft delete) of those that vanish with a
history."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import aiosqlite
from msgspec import Struct

from aurora_memory.chunks import CHUNK_TYPES, NOTES, CodeChunk, type_of
from aurora_memory.store import learned_writer, postings, row_sums
from aurora_memory.store.chunk_diff import FilePlan, claim_orphans, plan_file
from aurora_memory.store.chunk_identity import StoredChunk
from aurora_memory.store.commit_writer import forget_chunks
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
    prepare,
)
from aurora_memory.store.statements import as_list, insert_rows
from aurora_memory.store.tables import held
from aurora_memory.term_counts import terms_in
from aurora_protocol import typed

_STORED = (
    "SELECT id, path, name, ordinal, kind, parent, line_start, line_end, body_hash, shape_hash, part_count, lead, "
    "gone_at IS NOT NULL FROM chunks"
)
_SET_COLUMNS = ", ".join(f"{column.strip()} = ?" for column in CHUNK_COLUMNS.split(","))
_Pair = tuple[StoredChunk, CodeChunk]
INLINE = 200
"""Chunks that are compared on the event loop: more go to a thread, as does what has to be compared word by word."""

_REFERRERS = 2000
"""Most chunks that mention a new name and are looked at again; beyond that the name is too common to mean one thing."""


class Written(Struct, frozen=True):
    """Outcome of one write: what it did to the chunks."""

    added: int = 0
    rewritten: int = 0
    shifted: int = 0
    unchanged: int = 0
    vanished: int = 0


async def write(
    db: aiosqlite.Connection,
    files: Sequence[IndexedFile],
    removed: Sequence[str],
    skipped: Sequence[SkippedFile],
    restamped: Mapping[str, FileStat],
    *,
    first_time: bool,
    edited: bool,
    anew: bool,
    now: float,
) -> Written:
    """Body of `Store.write`, within a transaction."""
    leaving = [*removed, *(entry.path for entry in skipped)]
    paths = [entry.parsed.path for entry in files]
    stored = await _stored_by_path(db, [*paths, *leaving])
    plans = await _planned(files, stored, None, anew=anew)
    if any(plan.added and plan.vanished for plan in plans):
        terms = await _terms_of(db, [old.id for plan in plans if plan.added for old in plan.vanished])
        plans = await _planned(files, stored, terms, anew=anew)
    left = [old for path in leaving for old in stored.get(path, ()) if not old.gone]
    orphans = [*left, *await _gone_with_shape(db, plans)]
    plans = claim_orphans(plans, orphans)
    kept = {old.id for plan in plans for old, _ in plan.rewritten}
    vanished = [old for old in left if old.id not in kept]
    vanished += [old for plan in plans for old in plan.vanished]
    await _vanish(db, vanished, now)
    await _save_files(db, files, leaving, skipped, restamped, now)
    await _apply(db, plans, first_time=first_time, changed_at=now if edited and not first_time else None)
    return Written(
        added=sum(len(plan.added) for plan in plans),
        rewritten=sum(len(plan.rewritten) for plan in plans),
        shifted=sum(len(plan.shifted) for plan in plans),
        unchanged=sum(plan.unchanged for plan in plans),
        vanished=len(vanished),
    )


async def _planned(
    files: Sequence[IndexedFile],
    stored: Mapping[str, Sequence[StoredChunk]],
    terms: Mapping[int, frozenset[str]] | None,
    *,
    anew: bool,
) -> list[FilePlan]:
    """What becomes of each file's chunks."""

    def plans() -> list[FilePlan]:
        return [plan_file(stored.get(each.parsed.path, ()), each.parsed.chunks, terms, anew=anew) for each in files]

    many = terms is not None or sum(len(entry.parsed.chunks) for entry in files) > INLINE
    return await asyncio.to_thread(plans) if many else plans()


async def _apply(
    db: aiosqlite.Connection, plans: Sequence[FilePlan], *, first_time: bool, changed_at: float | None
) -> None:
    """Upsert of planned chunks, with their parts and references; who refers to new names waits for resolution."""
    shifted = [pair for plan in plans for pair in plan.shifted]
    rewritten = [pair for plan in plans for pair in plan.rewritten]
    added = [chunk for plan in plans for chunk in plan.added]
    await learned_writer.keep_places(
        db, [old.id for old, new in rewritten if (old.path, old.name) != (new.path, new.name)]
    )
    await _park(db, shifted, rewritten, [each for plan in plans for each in plan.displaced])
    if shifted:
        await _shift(db, shifted)
    retyped: list[CodeChunk] = []
    if rewritten:
        retyped = await _with_other_types(db, rewritten)
        await _forget_words(db, [old for old, _ in rewritten])
        await db.executemany(
            f"UPDATE chunks SET {_SET_COLUMNS}, gone_at = NULL, changed_at = coalesce(?, changed_at) WHERE id = ?",
            # What only went elsewhere, or was gone for a while, is as it was.
            [
                (*chunk_values(chunk), None if old.body_hash == chunk.body_hash else changed_at, old.id)
                for old, chunk in rewritten
            ],
        )
    async with db.execute("SELECT coalesce(max(id), 0) FROM chunks") as cursor:
        row = await cursor.fetchone()
    first = int(row[0]) + 1 if row else 1
    numbered = [(old.id, chunk) for old, chunk in rewritten]
    inserts = list(enumerate(added, start=first))
    rows = await asyncio.to_thread(prepare, [*numbered, *inserts])
    new_rows = [(*row, changed_at) for row in rows.chunks[len(numbered) :]]
    columns = f"id, {CHUNK_COLUMNS}, changed_at"
    sums = await asyncio.to_thread(row_sums.sums_of, "chunks", columns.split(", "), new_rows)
    async with row_sums.with_sums(db, sums):
        await insert_rows(db, f"chunks ({columns})", new_rows)
    file_ids = await _file_ids(db, {chunk.path for _, chunk in [*numbered, *inserts]})
    await postings.add(
        db,
        [
            postings.NewPart(chunk_id, file_ids[chunk.path], CHUNK_TYPES.index(type_of(chunk.kind)), part)
            for chunk_id, chunk in [*numbered, *inserts]
            for part in chunk.parts[:MAX_PARTS]
        ],
    )
    await insert_rows(db, "refs", rows.refs, conflict="IGNORE")
    waiting = [(chunk_id,) for chunk_id, _ in [*numbered, *inserts]]
    await insert_rows(db, "unresolved", waiting, conflict="IGNORE")
    if not first_time:
        # What others call stays where it is when only its body changed.
        moved = [(old, new) for old, new in rewritten if old.gone or (old.path, old.name) != (new.path, new.name)]
        names = {leaf(chunk.name) for chunk in [*added, *(each for pair in moved for each in pair)]}
        await db.executemany(_WAIT_AROUND, [(path, _REFERRERS) for path in sorted({each.path for each in retyped})])
        await _wait_for(db, names)


async def _wait_for(db: aiosqlite.Connection, names: Iterable[str]) -> None:
    """Who refers to what is called so waits anew: one definition more or less, and others may be meant."""
    await db.executemany(
        "INSERT OR IGNORE INTO unresolved SELECT DISTINCT chunk_id FROM refs WHERE name = ? LIMIT ?",
        [(name, _REFERRERS) for name in names],
    )


_WAIT_AROUND = """INSERT OR IGNORE INTO unresolved
  WITH here AS (SELECT id FROM chunks WHERE path = ?1 AND gone_at IS NULL),
    around AS (
      SELECT ?1 AS path UNION
      SELECT path FROM relations JOIN chunks ON chunks.id = from_id WHERE to_id IN here AND relations.kind != 'used')
  SELECT id FROM chunks WHERE path IN around AND gone_at IS NULL LIMIT ?2"""
"""A file's chunks, and those of files that have to do with it, wait anew."""


async def _with_other_types(db: aiosqlite.Connection, rewritten: Sequence[_Pair]) -> list[CodeChunk]:
    """Those that inherit, return or hold something else than before: who uses them may mean something else."""
    known: dict[int, set[tuple[str, str, str]]] = {}
    for start in range(0, len(rewritten), 500):
        ids = as_list([old.id for old, _ in rewritten[start : start + 500]])
        sql = """SELECT chunk_id, kind, name, qualifier FROM refs
                 WHERE kind IN ('returns', 'holds', 'inherits') AND chunk_id IN (SELECT value FROM json_each(?))"""
        for chunk_id, *note in await _rows(db, sql, (ids,)):
            known.setdefault(chunk_id, set()).add((note[0], note[1], note[2]))
    return [
        chunk
        for old, chunk in rewritten
        if known.get(old.id, set())
        != {(each.kind, each.name, each.qualifier) for each in chunk.references if each.kind in NOTES}
    ]


async def _rows(db: aiosqlite.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    return list(await db.execute_fetchall(sql, values))


def _stored(row: Sequence[Any]) -> StoredChunk:
    return typed.convert(row, StoredChunk, strict=False)


async def _stored_by_path(db: aiosqlite.Connection, paths: Sequence[str]) -> dict[str, list[StoredChunk]]:
    """Stored chunks of some files, by path."""
    found: dict[str, list[StoredChunk]] = {}
    for start in range(0, len(paths), 500):
        some = paths[start : start + 500]
        for row in await _rows(db, f"{_STORED} WHERE path IN ({', '.join('?' * len(some))})", some):
            chunk = _stored(row)
            found.setdefault(chunk.path, []).append(chunk)
    return found


async def _terms_of(db: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, frozenset[str]]:
    few = ids[:200]  # more vanish at once only when files are replaced wholesale
    known = await postings.occurrences_of(db, few)
    return {chunk_id: terms_in("body", occurrences) for chunk_id, occurrences in known.items()}


async def _file_ids(db: aiosqlite.Connection, paths: Iterable[str]) -> dict[str, int]:
    """Row ids of some files, by path."""
    wanted = list(paths)
    found: dict[str, int] = {}
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        found.update(await _rows(db, f"SELECT path, id FROM files WHERE path IN ({', '.join('?' * len(some))})", some))
    return found


async def _gone_with_shape(db: aiosqlite.Connection, plans: Sequence[FilePlan]) -> list[StoredChunk]:
    """Chunks put aside earlier whose shape a new chunk has: a file that was deleted, then created elsewhere."""
    shapes = list({chunk.shape_hash for plan in plans for chunk in plan.added})
    found: list[StoredChunk] = []
    for start in range(0, len(shapes), 500):
        some = shapes[start : start + 500]
        marks = ", ".join("?" * len(some))
        rows = await _rows(db, f"{_STORED} WHERE gone_at IS NOT NULL AND shape_hash IN ({marks})", some)
        found.extend(_stored(row) for row in rows)
    return found


async def _vanish(db: aiosqlite.Connection, vanished: Sequence[StoredChunk], moment: float) -> None:
    """Take chunks out of recall: delete those nothing was learned of, leave tombstones (`gone_at`) of the others."""
    if not vanished:
        return
    ids = [(old.id,) for old in vanished]
    await _forget_words(db, vanished)
    await db.executemany(
        """INSERT OR IGNORE INTO unresolved
           SELECT from_id FROM relations WHERE to_id = ? AND kind NOT IN ('contains', 'used')""",
        ids,
    )
    await _wait_for(db, sorted({leaf(old.name) for old in vanished}))
    await db.executemany("DELETE FROM relations WHERE from_id = ?", ids)
    await db.executemany("DELETE FROM relations WHERE to_id = ? AND kind != 'used'", ids)
    await db.executemany("DELETE FROM unresolved WHERE chunk_id = ?", ids)
    await db.executemany(
        f"UPDATE chunks SET gone_at = ? WHERE id = ? AND ({held()})",
        [(moment, old.id) for old in vanished],
    )
    await db.executemany("DELETE FROM chunks WHERE id = ? AND gone_at IS NULL", ids)
    await forget_chunks(db, ids)
    await learned_writer.follow_copies(db, [old.id for old in vanished])


async def _forget_words(db: aiosqlite.Connection, chunks: Sequence[StoredChunk]) -> None:
    """Removal of chunks from the word index, and of their references."""
    await postings.forget(db, [old.id for old in chunks if not old.gone])
    await db.executemany("DELETE FROM refs WHERE chunk_id = ?", [(old.id,) for old in chunks])


async def _park(
    db: aiosqlite.Connection,
    shifted: Sequence[_Pair],
    rewritten: Sequence[_Pair],
    displaced: Sequence[tuple[StoredChunk, int]],
) -> None:
    """Swap under a unique constraint: names and ordinals may swap places in one save, so put them aside first, so that
    no two rows hold one key meanwhile.

    What is gone and stands where another comes to stays aside, behind all of its name.
    """
    await db.executemany("UPDATE chunks SET ordinal = ? WHERE id = ?", [(free, old.id) for old, free in displaced])
    await db.executemany(
        "UPDATE chunks SET ordinal = -id WHERE id = ?",
        [(old.id,) for old, chunk in shifted if old.ordinal != chunk.ordinal],
    )
    await db.executemany(
        "UPDATE chunks SET name = '#' || id, ordinal = 0 WHERE id = ?", [(old.id,) for old, _ in rewritten]
    )


async def _shift(db: aiosqlite.Connection, pairs: Sequence[_Pair]) -> None:
    """Move chunks' lines and ordinals; their words and history stay untouched."""
    await db.executemany(
        "UPDATE chunks SET line_start = ?, line_end = ?, lead = ? WHERE id = ?",
        [(chunk.line_start, chunk.line_end, chunk.lead, old.id) for old, chunk in pairs],
    )
    await db.executemany(
        "UPDATE chunks SET ordinal = ? WHERE id = ?",
        [(chunk.ordinal, old.id) for old, chunk in pairs if old.ordinal != chunk.ordinal],
    )
    numbers: dict[int, list[int]] = {}
    for start in range(0, len(pairs), 500):
        ids = [old.id for old, _ in pairs[start : start + 500]]
        sql = f"SELECT id, chunk_id FROM parts WHERE chunk_id IN ({', '.join('?' * len(ids))}) ORDER BY line_start, id"
        for number, chunk_id in await _rows(db, sql, ids):
            numbers.setdefault(chunk_id, []).append(number)
    await db.executemany(
        "UPDATE parts SET line_start = ?, line_end = ? WHERE id = ?",
        [
            (part.line_start, part.line_end, number)
            for old, chunk in pairs
            for part, number in zip(chunk.parts, numbers.get(old.id, ()), strict=False)
        ],
    )


async def _save_files(
    db: aiosqlite.Connection,
    files: Sequence[IndexedFile],
    leaving: Sequence[str],
    skipped: Sequence[SkippedFile],
    restamped: Mapping[str, FileStat],
    moment: float,
) -> None:
    """Upsert of the rows of files and of skips."""
    await db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in leaving])
    gone = [*leaving, *(entry.parsed.path for entry in files)]
    await db.executemany("DELETE FROM skips WHERE path = ?", [(path,) for path in gone])
    rows: list[ChunkRow] = [file_values(entry, moment) for entry in files]
    await db.executemany(
        """INSERT INTO files (path, language, size, mtime_ns, content_hash, syntax_errors, imports, indexed_at, mark)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (path) DO UPDATE SET language = excluded.language, size = excluded.size,
             mtime_ns = excluded.mtime_ns, content_hash = excluded.content_hash,
             syntax_errors = excluded.syntax_errors, imports = excluded.imports, indexed_at = excluded.indexed_at,
             mark = excluded.mark""",
        rows,
    )
    await db.executemany(
        "INSERT OR REPLACE INTO skips (path, reason, detail, size, mtime_ns, mark) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (entry.path, entry.reason, entry.detail, entry.stat.size, entry.stat.mtime_ns, entry.stat.mark)
            for entry in skipped
        ],
    )
    await db.executemany(
        "UPDATE files SET size = ?, mtime_ns = ?, mark = ? WHERE path = ?",
        [(stat.size, stat.mtime_ns, stat.mark, path) for path, stat in restamped.items()],
    )
