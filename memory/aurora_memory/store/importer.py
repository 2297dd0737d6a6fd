"""Taking in what was learned elsewhere, inside the caller's transaction: all of it, or nothing (`exchange`).

A chunk is found by its identity, then, where it has moved, by its shape. One that is not here is put aside as a gone
chunk with its history, so that it comes back when its file does. Nothing that is known already is added twice.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory import MemoryError_
from aurora_memory.chunks import REASONING
from aurora_memory.documents import ReasoningDocument
from aurora_memory.export_format import (
    MAX_LINE,
    Access,
    Archived,
    Boost,
    ChunkKey,
    DeliverableEvent,
    Difficult,
    Escalated,
    Header,
    Line,
    LogEntry,
    Reasoning,
    Run,
    Use,
    invalid,
    read_header,
    read_line,
)
from aurora_memory.learning import Difficulty, fingerprint, similar_difficulties
from aurora_memory.store import learned_writer
from aurora_memory.store.chunk_diff import TELLING_TOKENS
from aurora_memory.store.rows import leaf
from aurora_protocol import typed

_AT_ONCE = 500
_KEYS_KEPT = 50_000
"""Chunks whose row is remembered between lines; more of them are looked up again."""

_SUCCESSES_COMPARED = 500
"""Successful runs, latest first, that may have settled what was difficult."""


class Imported(Struct, frozen=True):
    """What came of an import. `added` counts what was new, by type of line; `lines` what there was.

    `moved` chunks were found by their shape, `waiting` ones are not in the workspace now: their history waits for them.
    """

    header: Header
    lines: dict[str, int]
    added: dict[str, int]
    moved: int
    waiting: int


async def take_in(db: aiosqlite.Connection, source: Path, now: float) -> Imported:
    """Import a file. Raises InvalidExport, naming the line, and MemoryError_ where the file cannot be read."""
    file = await asyncio.to_thread(_opened, source)
    try:
        header = read_header(await asyncio.to_thread(_read_raw, file, 1))
        taking = _Taking(db, now)
        lines: Counter[str] = Counter()
        async for batch in _batches(file):
            lines.update(str(type(line).__struct_config__.tag) for _, line in batch)
            await taking.take(batch)
        if lines.total() < header.lines:
            last, all_lines = lines.total() + 1, header.lines + 1
            raise invalid(last, f"it is the last, where there should be {all_lines}: the file was cut off")
        await taking.finish()
    finally:
        file.close()
    return Imported(header, dict(lines), dict(+taking.added), len(taking.moved), len(taking.waiting))


def _opened(path: Path) -> BinaryIO:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise MemoryError_(f"cannot read {path}: {error.strerror}; check the path") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise MemoryError_(f"cannot read {path}: it is no regular file; give - for standard input")
    return os.fdopen(descriptor, "rb")


def _read_raw(file: BinaryIO, number: int) -> bytes:
    try:
        raw = file.readline(MAX_LINE + 1)
    except OSError as error:
        raise MemoryError_(f"cannot read line {number}: {error.strerror}; nothing was imported") from error
    if len(raw) > MAX_LINE:
        raise invalid(number, f"it is longer than {MAX_LINE >> 20} MiB")
    return raw


async def _batches(file: BinaryIO) -> AsyncIterator[list[tuple[int, Line]]]:
    number = 2
    while True:
        batch, number, ended = await asyncio.to_thread(_batch, file, number)
        if batch:
            yield batch
        if ended:
            return


def _batch(file: BinaryIO, number: int) -> tuple[list[tuple[int, Line]], int, bool]:
    batch: list[tuple[int, Line]] = []
    while len(batch) < _AT_ONCE:
        raw = _read_raw(file, number)
        if not raw:
            return batch, number, True
        if raw.strip():
            batch.append((number, read_line(number, raw)))
        number += 1
    return batch, number, False


class _Taking:
    """One import under way."""

    def __init__(self, db: aiosqlite.Connection, now: float) -> None:
        self.added: Counter[str] = Counter()
        self.moved: set[int] = set()
        self.waiting: set[int] = set()
        self._db = db
        self._now = now
        self._rows_of: dict[ChunkKey, int] = {}
        self._difficult: dict[str, Difficulty] = {}

    async def take(self, batch: Sequence[tuple[int, Line]]) -> None:
        """Write some lines down. Lines of one type go together, reasoning chunks first: others may name them."""
        if len(self._rows_of) > _KEYS_KEPT:
            self._rows_of.clear()
        for number, line in batch:
            if isinstance(line, Reasoning):
                self.added["reasoning"] += await self._reasoning(number, line)
        values: dict[type[Line], list[tuple[Any, ...]]] = {}
        for number, line in batch:
            if isinstance(line, Difficult):
                self._mind(line)
            elif not isinstance(line, Reasoning):
                values.setdefault(type(line), []).append(await self._values(number, line))
        for kind, rows in values.items():
            cursor = await self._db.executemany(_WRITE[kind], rows)
            self.added[str(kind.__struct_config__.tag)] += cursor.rowcount
            await cursor.close()

    async def finish(self) -> None:
        """Settle what only the whole can tell: which questions are difficult still."""
        rows = await self._rows("SELECT signature, query, failures, last_score, last_at FROM difficult")
        known = {row[0]: Difficulty(*row) for row in rows}
        successes = await self._rows(
            "SELECT query, at FROM runs WHERE outcome = 'success' ORDER BY at DESC LIMIT ?", (_SUCCESSES_COMPARED,)
        )
        latest = await asyncio.to_thread(_still_difficult, known, self._difficult, successes)
        new = [each for each in latest if known.get(each.signature) != each]
        gone = known.keys() - {each.signature for each in latest}
        await self._db.executemany("DELETE FROM difficult WHERE signature = ?", [(each,) for each in sorted(gone)])
        await self._db.executemany(
            "INSERT OR REPLACE INTO difficult VALUES (?, ?, ?, ?, ?)",
            [(each.signature, each.query, each.failures, each.last_score, each.last_at) for each in new],
        )
        self.added["difficult"] += len(new)

    def _mind(self, line: Difficult) -> None:
        known = self._difficult.get(line.signature)
        if known is None or line.last_at > known.last_at:
            self._difficult[line.signature] = Difficulty(
                line.signature, line.query, line.failures, line.last_score, line.last_at
            )
        if len(self._difficult) > 2 * learned_writer.MAX_DIFFICULT:
            oldest = sorted(self._difficult.values(), key=lambda each: each.last_at)[: learned_writer.MAX_DIFFICULT]
            for each in oldest:
                del self._difficult[each.signature]

    async def _values(self, number: int, line: Line) -> tuple[Any, ...]:
        match line:
            case Access(chunk, at, kind):
                row = await self._row(number, chunk)
                return row, at, kind, row, at, kind
            case Boost(chunk, run, at, amount):
                return await self._row(number, chunk), run, at, amount
            case Use(reasoning, chunk, weight):
                return await self._row(number, reasoning), await self._row(number, chunk), weight
            case Run(id, at, outcome, score, query, reasoning):
                kept = None if reasoning is None else await self._row(number, reasoning)
                return id, at, outcome, score, query, kept
            case Archived(chunk, at):
                return at, await self._row(number, chunk), at
            case Escalated(chunk, action, at):
                return await self._row(number, chunk), action, at
            case LogEntry():
                return msgspec.structs.astuple(line)
            case DeliverableEvent(id, change, at, received, source, body):
                return id, change, at, received, source, bytes(body).decode()
            case _:
                raise AssertionError(f"{type(line).__name__} lines are written elsewhere")

    async def _reasoning(self, number: int, line: Reasoning) -> int:
        document = line.document
        pattern = _VERSION_MARK.sub("", document.id.removeprefix("reas:"))
        mark = fingerprint(document.content.subgoals)
        rows = await self._rows(
            "SELECT chunk_id, json, changed_at FROM documents LEFT JOIN chunks ON id = chunk_id "
            "WHERE pattern = ? AND fingerprint = ?",
            (pattern, mark),
        )
        for chunk_id, json, changed_at in rows:
            self._rows_of[_key_of(document, mark)] = chunk_id
            old = typed.decode(json, ReasoningDocument)
            first = min(filter(None, (old.created_at, document.created_at)), default=None)
            since = msgspec.structs.replace(old, created_at=first)
            if (document.content.success_score, line.at) > (old.content.success_score, changed_at):
                await learned_writer.replace_reasoning(self._db, chunk_id, pattern, mark, since, document, line.at)
                return 1
            if since != old:
                await learned_writer.save_document(self._db, chunk_id, pattern, mark, since)
            return 0
        chunk_id = await learned_writer.add_reasoning(self._db, pattern, mark, document, line.at)
        self._rows_of[_key_of(document, mark)] = chunk_id
        return 1

    async def _row(self, number: int, key: ChunkKey) -> int:
        """The row of a chunk, found by identity, then by shape, else made as one that is gone."""
        known = self._rows_of.get(key)
        if known is None:
            known = self._rows_of[key] = await self._found(number, key)
        return known

    async def _found(self, number: int, key: ChunkKey) -> int:
        shape = bytes.fromhex(key.shape)
        if key.kind == REASONING:
            pattern = _VERSION_MARK.sub("", key.name)
            sql = "SELECT chunk_id FROM documents WHERE pattern = ? AND fingerprint = ?"
            for (chunk_id,) in await self._rows(sql, (pattern, shape)):
                return int(chunk_id)
            raise invalid(
                number, f"it speaks of the reasoning chunk {key.name[:100]!r}, which no line before it brings"
            )
        for chunk_id, gone in await self._rows(
            "SELECT id, gone_at IS NOT NULL FROM chunks WHERE path = ? AND name = ? AND ordinal = ?",
            (key.path, key.name, key.ordinal),
        ):
            if gone:
                self.waiting.add(chunk_id)
            return int(chunk_id)
        simple = leaf(key.name)
        if shape:
            for (chunk_id,) in await self._rows(
                """SELECT id FROM chunks WHERE shape_hash = ? AND kind = ? AND gone_at IS NULL
                   AND (leaf = ? OR tokens >= ?) ORDER BY leaf = ? DESC, path, line_start LIMIT 1""",
                (shape, key.kind, simple, TELLING_TOKENS, simple),
            ):
                self.moved.add(chunk_id)
                return int(chunk_id)
        cursor = await self._db.execute(
            """INSERT INTO chunks (path, name, ordinal, leaf, kind, language, line_start, line_end, signature,
                 docstring, complexity, branches, loops, keywords, body_hash, shape_hash, tokens, part_count, gone_at)
               VALUES (?, ?, ?, ?, ?, '', 0, 0, '', '', 'low', 0, 0, '', x'', ?, 0, 0, ?)""",
            (key.path, key.name, key.ordinal, simple, key.kind, shape, self._now),
        )
        assert cursor.lastrowid is not None
        self.waiting.add(cursor.lastrowid)
        return cursor.lastrowid

    async def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return list(await self._db.execute_fetchall(sql, values))


def _still_difficult(
    known: dict[str, Difficulty], given: dict[str, Difficulty], successes: Sequence[tuple[str, float]]
) -> list[Difficulty]:
    """Of two memories' difficult questions the newer word on each, without those that succeeded later in either."""
    newer = {
        signature: each
        for signature, each in given.items()
        if signature not in known or each.last_at > known[signature].last_at
    }
    merged = known | newer
    for query, at in successes:
        for each in similar_difficulties(query, [each for each in merged.values() if each.last_at <= at]):
            del merged[each.signature]
    return sorted(merged.values(), key=lambda each: (-each.last_at, each.signature))[: learned_writer.MAX_DIFFICULT]


_VERSION_MARK = re.compile(r":v[1-9][0-9]{0,5}\Z")


def _key_of(document: ReasoningDocument, mark: bytes) -> ChunkKey:
    return ChunkKey("", document.id.removeprefix("reas:"), REASONING, mark.hex())


_WRITE: dict[type[Line], str] = {
    Access: """INSERT INTO accesses (chunk_id, at, kind) SELECT ?, ?, ?
               WHERE NOT EXISTS (SELECT 1 FROM accesses WHERE chunk_id = ? AND at = ? AND kind = ?)""",
    Boost: """INSERT INTO boosts (chunk_id, run_id, at, amount) VALUES (?, ?, ?, ?)
              ON CONFLICT DO UPDATE SET at = excluded.at, amount = excluded.amount WHERE excluded.at > boosts.at""",
    Use: """INSERT INTO relations (from_id, kind, to_id, weight) VALUES (?1, 'used', ?2, ?3)
            ON CONFLICT DO UPDATE SET weight = excluded.weight WHERE excluded.weight > relations.weight""",
    Run: "INSERT OR IGNORE INTO runs (id, at, outcome, score, query, reasoning_id) VALUES (?, ?, ?, ?, ?, ?)",
    # What was of use after it went into the archive elsewhere is not archived here.
    Archived: """UPDATE chunks SET archived_at = ? WHERE id = ? AND archived_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM accesses WHERE chunk_id = chunks.id AND at > ?)""",
    Escalated: "INSERT OR IGNORE INTO escalations (chunk_id, action, at) VALUES (?, ?, ?)",
    LogEntry: """INSERT OR IGNORE INTO log_index
                 (term, file, line_start, line_end, section, phase, keyword, topic, query_id)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
    DeliverableEvent: """INSERT OR IGNORE INTO deliverable_events (id, change_id, at, received_at, source, body)
                         VALUES (?, ?, ?, ?, ?, ?)""",
}
"""How lines of each type are written, so that what is known already counts as no change."""
