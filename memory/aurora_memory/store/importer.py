"""Importer (restore, merge) of an export: what was learned elsewhere, inside the caller's transaction: all of it, or
nothing (`export_format`).

A chunk is found by its identity, then, where it has moved, by where it was or by its shape. One that is not here is
put aside as a gone chunk with its history, so that it comes back when its file does. Nothing that is known already is
added twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.chunks import REASONING
from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import Difficulty, fingerprint, similar_difficulties
from aurora_memory.store import learned_writer
from aurora_memory.store.chunk_diff import TELLING_TOKENS
from aurora_memory.store.export_format import (
    MAX_LINE,
    AccessLine,
    ChunkKey,
    DeliverableLine,
    DifficultLine,
    ExportHeader,
    ExportLine,
    ReasoningLine,
    invalid,
    line_reader,
    read_header,
)
from aurora_memory.store.rows import leaf
from aurora_memory.store.tables import Carried, Table, carried
from aurora_protocol import typed
from aurora_protocol.secret_mask import masked_struct

_AT_ONCE = 500
_KEYS_KEPT = 50_000
"""Chunks whose row is remembered between lines; more of them are looked up again."""

_SUCCESSES_COMPARED = 500
"""Successful runs, latest first, that may have settled what was difficult."""

_LOGS = ("-wal", "-shm")
"""What SQLite keeps beside a database while somebody has it open."""

_LineReader = Callable[[int, bytes], ExportLine]


class TakenLines(Struct, frozen=True):
    """Outcome of taking in lines of a record. `added` counts what was new, by type of line.

    `waiting` lines speak of a reasoning chunk that did not come yet; nothing of them was taken in.
    """

    added: dict[str, int]
    waiting: tuple[ExportLine, ...]


class Imported(Struct, frozen=True):
    """Outcome of an import. `added` counts what was new, by type of line; `lines` what there was.

    `moved` chunks were found by their shape, `waiting` ones are not in the workspace now: their history waits for them.
    `left_out` are events of deliverables of another repository: what was delivered there is not told as delivered here.
    """

    header: ExportHeader
    lines: dict[str, int]
    added: dict[str, int]
    moved: int
    waiting: int
    left_out: int = 0


async def take_in(db: aiosqlite.Connection, source: Path, now: float, git_root: str = "") -> Imported:
    """Import a file. Raises InvalidExport, naming the line, and StoreError where the file cannot be read.

    `git_root` is this repository's first commit, "" where that is not known.
    """
    file = await asyncio.to_thread(_opened, source)
    try:
        header = read_header(await asyncio.to_thread(_read_raw, file, 1))
        foreign = bool(git_root and header.git_root and git_root != header.git_root)
        taking = _Taking(db, now, foreign=foreign)
        lines: Counter[str] = Counter()
        async for batch in _batches(file, line_reader(form.line for _, form in carried())):
            lines.update(str(type(line).__struct_config__.tag) for _, line in batch)
            await taking.take(batch)
        if lines.total() < header.lines:
            last, all_lines = lines.total() + 1, header.lines + 1
            raise invalid(last, f"it is the last, where there should be {all_lines}: the file was cut off")
        await taking.finish()
    finally:
        file.close()
    return Imported(header, dict(lines), dict(+taking.added), len(taking.moved), len(taking.waiting), taking.left_out)


async def take_in_lines(db: aiosqlite.Connection, lines: Sequence[ExportLine], now: float) -> TakenLines:
    """Take in lines, in any order. The same lines make the same memory, however they are ordered, repeated and parted,
    if those that wait are given again with later ones. Names of a pattern's versions go by who came first.
    """
    taking = _Taking(db, now, foreign=False)
    waiting: list[ExportLine] = []
    for start in range(0, len(lines), _AT_ONCE):
        documents = [each for each in lines[start : start + _AT_ONCE] if isinstance(each, ReasoningLine)]
        await taking.take(list(enumerate(documents, start + 1)))
    for start in range(0, len(lines), _AT_ONCE):
        known: list[tuple[int, ExportLine]] = []
        for number, each in enumerate(lines[start : start + _AT_ONCE], start + 1):
            if isinstance(each, ReasoningLine):
                continue
            if await taking.knows_patterns(each):
                known.append((number, each))
            else:
                waiting.append(each)
        await taking.take(known)
    await taking.finish()
    return TakenLines(dict(+taking.added), tuple(waiting))


def _opened(path: Path) -> BinaryIO:
    """An export, open. A database that somebody has open is not touched: to close it again would take every lock that
    SQLite holds on it from this process (POSIX), and another process would then take away the log that is written to.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for
    try:
        real = Path(os.path.realpath(path))
        if real.name.endswith(_LOGS) or any(real.with_name(real.name + each).exists() for each in _LOGS):
            raise StoreError(f"cannot read {path}: it is a database in use; give what 'aurora memory export' wrote")
        descriptor = os.open(real, flags)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; check the path") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StoreError(f"cannot read {path}: it is no regular file; give - for standard input")
    return os.fdopen(descriptor, "rb")


def _read_raw(file: BinaryIO, number: int) -> bytes:
    """Line of bounded length. Raises InvalidExport and StoreError."""
    try:
        raw = file.readline(MAX_LINE + 1)
    except OSError as error:
        raise StoreError(f"cannot read line {number}: {error.strerror}; nothing was imported") from error
    if len(raw) > MAX_LINE:
        raise invalid(number, f"it is longer than {MAX_LINE >> 20} MiB")
    return raw


async def _batches(file: BinaryIO, read_line: _LineReader) -> AsyncIterator[list[tuple[int, ExportLine]]]:
    """Stream of an export's lines in batches, read and parsed on other threads."""
    number = 2
    while True:
        batch, number, ended = await asyncio.to_thread(_batch, file, read_line, number)
        if batch:
            yield batch
        if ended:
            return


def _batch(file: BinaryIO, read_line: _LineReader, number: int) -> tuple[list[tuple[int, ExportLine]], int, bool]:
    """Batch of parsed lines without secrets, the next line's number, and whether the file has ended."""
    batch: list[tuple[int, ExportLine]] = []
    while len(batch) < _AT_ONCE:
        raw = _read_raw(file, number)
        if not raw:
            return batch, number, True
        if raw.strip():
            batch.append((number, masked_struct(read_line(number, raw))))
        number += 1
    return batch, number, False


class _Taking:
    """One import under way."""

    def __init__(self, db: aiosqlite.Connection, now: float, *, foreign: bool) -> None:
        self.left_out = 0
        self._foreign = foreign
        self.added: Counter[str] = Counter()
        self.moved: set[int] = set()
        self.waiting: set[int] = set()
        self._db = db
        self._now = now
        self._forms = {form.line: (table, form) for table, form in carried()}
        self._rows_of: dict[ChunkKey, int] = {}
        self._difficult: dict[str, Difficulty] = {}
        self._used: dict[int, float] = {}

    async def knows_patterns(self, line: ExportLine) -> bool:
        """Whether every reasoning chunk that a line speaks of is here."""
        for field in line.__struct_fields__:
            key = getattr(line, field)
            if isinstance(key, ChunkKey) and key.kind == REASONING and await self._reasoning_row(key) is None:
                return False
        return True

    async def take(self, batch: Sequence[tuple[int, ExportLine]]) -> None:
        """Write some lines down. Lines of one type go together, reasoning chunks first: others may name them."""
        if len(self._rows_of) > _KEYS_KEPT:
            self._rows_of.clear()
        for number, line in batch:
            if isinstance(line, ReasoningLine):
                self.added["reasoning"] += await self._reasoning(number, line)
        values: dict[type[ExportLine], list[dict[str, Any]]] = {}
        for number, line in batch:
            if isinstance(line, DifficultLine):
                self._keep_newer(line)
            elif self._foreign and isinstance(line, DeliverableLine):
                self.left_out += 1
            elif not isinstance(line, ReasoningLine):
                _, form = self._forms[type(line)]
                values.setdefault(type(line), []).append(await self._values(number, form, line))
        for kind, rows in values.items():
            table, form = self._forms[kind]
            if kind is AccessLine:
                for row in rows:
                    self._used[row["chunk_id"]] = max(row["at"], self._used.get(row["chunk_id"], 0.0))
            cursor = await self._db.executemany(_upsert(table, form), rows)
            self.added[form.tag] += cursor.rowcount
            await cursor.close()

    async def finish(self) -> None:
        """Settle what only the whole can tell: what was of use since it was archived, what is difficult still."""
        await self._db.executemany(
            "UPDATE chunks SET archived_at = NULL WHERE id = ? AND archived_at < ?", list(self._used.items())
        )
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

    def _keep_newer(self, line: DifficultLine) -> None:
        """Conflict resolution for a difficult question: the newer word on it wins."""
        known = self._difficult.get(line.signature)
        given = Difficulty(line.signature, line.query, line.failures, line.last_score, line.last_at)
        if known is None or _newer(given) > _newer(known):
            self._difficult[line.signature] = given
        if len(self._difficult) > 2 * learned_writer.MAX_DIFFICULT:
            oldest = sorted(self._difficult.values(), key=lambda each: each.last_at)[: learned_writer.MAX_DIFFICULT]
            for each in oldest:
                del self._difficult[each.signature]

    async def _values(self, number: int, form: Carried, line: ExportLine) -> dict[str, Any]:
        """The line's values by the names of their columns."""
        values: dict[str, Any] = {}
        for field in form.fields:
            value = getattr(line, field.name)
            if isinstance(value, ChunkKey):
                value = await self._row(number, value)
            elif isinstance(value, msgspec.Raw):
                value = bytes(value).decode()
            values[form.columns.get(field.name, field.name)] = value
        return values

    async def _reasoning(self, number: int, line: ReasoningLine) -> int:
        """Merge of a pattern, by its fingerprint, into the one that is here: the better run is kept, and the first
        date."""
        document = line.document
        pattern = _VERSION_MARK.sub("", document.id.removeprefix("reas:"))
        mark = fingerprint(document.content.subgoals)
        rows = await self._rows(
            "SELECT chunk_id, json, changed_at, archived_at FROM documents LEFT JOIN chunks ON id = chunk_id "
            "WHERE pattern = ? AND fingerprint = ?",
            (pattern, mark),
        )
        for chunk_id, json, changed_at, archived_at in rows:
            self._rows_of[_key_of(document, mark)] = chunk_id
            old = typed.decode(json, ReasoningDocument)
            first = min(filter(None, (old.created_at, document.created_at)), default=None)
            since = msgspec.structs.replace(old, created_at=first)
            if _rank(document, line.at) > _rank(old, changed_at):
                await learned_writer.replace_reasoning(self._db, chunk_id, pattern, mark, since, document, line.at)
                # Only a use brings back from the archive: else it would depend on which of two documents came first.
                await self._db.execute("UPDATE chunks SET archived_at = ? WHERE id = ?", (archived_at, chunk_id))
                return 1
            if since != old:
                await learned_writer.save_document(self._db, chunk_id, pattern, mark, since)
            return 0
        chunk_id = await learned_writer.add_reasoning(self._db, pattern, mark, document, line.at)
        self._rows_of[_key_of(document, mark)] = chunk_id
        return 1

    async def _row(self, number: int, key: ChunkKey) -> int:
        """The row of a chunk, found by identity, now or formerly, then by shape, else made as one that is gone."""
        known = self._rows_of.get(key)
        if known is None:
            known = self._rows_of[key] = await self._found(number, key)
        return known

    async def _found(self, number: int, key: ChunkKey) -> int:
        """Row of a chunk by its key: by place, by a former place, by shape, else a new one. Raises InvalidExport."""
        if key.kind == REASONING:
            chunk_id = await self._reasoning_row(key)
            if chunk_id is None:
                raise invalid(
                    number, f"it speaks of the reasoning chunk {key.name[:100]!r}, which no line before it brings"
                )
            return chunk_id
        shape = bytes.fromhex(key.shape)
        for chunk_id, gone in await self._rows(
            """SELECT id, gone_at IS NOT NULL FROM (
                 SELECT id, gone_at, 0 AS former FROM chunks WHERE (path, name, ordinal) = (?1, ?2, ?3) UNION ALL
                 SELECT id, gone_at, 1 FROM chunks WHERE id = (
                   SELECT chunk_id FROM former_places WHERE (path, name, ordinal) = (?1, ?2, ?3)))
               ORDER BY gone_at IS NOT NULL, former LIMIT 1""",
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

    async def _reasoning_row(self, key: ChunkKey) -> int | None:
        """Row id of a pattern by name and fingerprint; None where it is not here."""
        pattern = _VERSION_MARK.sub("", key.name)
        sql = "SELECT chunk_id FROM documents WHERE pattern = ? AND fingerprint = ?"
        for (chunk_id,) in await self._rows(sql, (pattern, bytes.fromhex(key.shape))):
            return int(chunk_id)
        return None

    async def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return list(await self._db.execute_fetchall(sql, values))


def _newer(difficulty: Difficulty) -> tuple[float, int, float, str]:
    """Last write wins (conflict resolution): order of two words on one kind of question; of those of one moment the
    graver one counts."""
    return difficulty.last_at, difficulty.failures, -difficulty.last_score, difficulty.query


def _still_difficult(
    known: dict[str, Difficulty], given: dict[str, Difficulty], successes: Sequence[tuple[str, float]]
) -> list[Difficulty]:
    """Of two memories' difficult questions the newer word on each, without those that succeeded later in either."""
    newer = {
        signature: each
        for signature, each in given.items()
        if signature not in known or _newer(each) > _newer(known[signature])
    }
    merged = known | newer
    for query, at in successes:
        for each in similar_difficulties(query, [each for each in merged.values() if each.last_at <= at]):
            del merged[each.signature]
    return sorted(merged.values(), key=lambda each: (-each.last_at, each.signature))[: learned_writer.MAX_DIFFICULT]


_VERSION_MARK = re.compile(r":v[1-9][0-9]{0,5}\Z")


def _rank(document: ReasoningDocument, at: float) -> tuple[float, float, bytes]:
    """Conflict resolution between two runs of one decomposition, their order: what went better, then what is newer;
    then any, but always the same."""
    content = msgspec.json.encode(msgspec.structs.replace(document, id="reas:", created_at=None))
    return document.content.success_score, at, hashlib.blake2b(content, digest_size=8).digest()


def _key_of(document: ReasoningDocument, mark: bytes) -> ChunkKey:
    return ChunkKey("", document.id.removeprefix("reas:"), REASONING, mark.hex())


def _upsert(table: Table, form: Carried) -> str:
    """Statement that writes lines of a type, so that what is known already counts as no change."""
    if form.write:
        return form.write
    columns = [form.columns.get(field.name, field.name) for field in form.fields]
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT OR IGNORE INTO {table.name} ({', '.join(columns)}) VALUES ({values})"
