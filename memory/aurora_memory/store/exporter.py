"""Writing what was learned into a file, line by line, as it stood at one moment (`aurora_memory.export_format`)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory import MemoryError_
from aurora_memory.document_builder import iso_time
from aurora_memory.documents import ReasoningDocument
from aurora_memory.export_format import (
    FORMAT,
    VERSION,
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
    write_line,
)
from aurora_protocol import typed

_AT_ONCE = 1000


class Exported(Struct, frozen=True):
    """What was written: lines by their type."""

    lines: dict[str, int]


class _Source(Struct, frozen=True):
    """The rows of one type of line, and how a row becomes one. `count` must see the rows that `select` gives."""

    type: str
    select: str
    make: Callable[[Sequence[Any]], Line]


def _key(alias: str) -> str:
    shape = f"CASE {alias}.kind WHEN 'reasoning' THEN {alias}.body_hash ELSE {alias}.shape_hash END"
    return f"{alias}.path, {alias}.name, {alias}.kind, lower(hex({shape})), {alias}.ordinal"


def _run(row: Sequence[Any]) -> Line:
    run_id, at, outcome, score, query, *key = row
    return Run(run_id, at, outcome, score, query, None if key[0] is None else ChunkKey(*key))


_OF_CHUNK = "JOIN chunks ON chunks.id ="

_SOURCES = (
    _Source(
        "reasoning",
        f"SELECT coalesce(chunks.changed_at, 0), json FROM documents {_OF_CHUNK} chunk_id ORDER BY chunk_id",
        lambda row: Reasoning(row[0], typed.decode(row[1], ReasoningDocument)),
    ),
    _Source(
        "access",
        f"SELECT {_key('chunks')}, at, accesses.kind FROM accesses {_OF_CHUNK} chunk_id ORDER BY accesses.id",
        lambda row: Access(ChunkKey(*row[:5]), *row[5:]),
    ),
    _Source(
        "boost",
        f"SELECT {_key('chunks')}, run_id, at, amount FROM boosts {_OF_CHUNK} chunk_id ORDER BY at, run_id, chunk_id",
        lambda row: Boost(ChunkKey(*row[:5]), *row[5:]),
    ),
    _Source(
        "use",
        f"""SELECT {_key("one")}, {_key("chunks")}, weight FROM relations JOIN chunks AS one ON one.id = from_id
            {_OF_CHUNK} to_id WHERE relations.kind = 'used' AND one.kind = 'reasoning' ORDER BY from_id, to_id""",
        lambda row: Use(ChunkKey(*row[:5]), ChunkKey(*row[5:10]), row[10]),
    ),
    _Source(
        "run",
        f"""SELECT runs.id, at, outcome, score, query, {_key("chunks")} FROM runs
            LEFT JOIN chunks ON chunks.id = reasoning_id ORDER BY at, runs.id""",
        _run,
    ),
    _Source(
        "difficult",
        "SELECT signature, query, failures, last_score, last_at FROM difficult ORDER BY last_at, signature",
        lambda row: Difficult(*row),
    ),
    _Source(
        "archived",
        f"SELECT {_key('chunks')}, archived_at FROM chunks WHERE archived_at IS NOT NULL ORDER BY id",
        lambda row: Archived(ChunkKey(*row[:5]), row[5]),
    ),
    _Source(
        "escalated",
        f"SELECT {_key('chunks')}, action, at FROM escalations {_OF_CHUNK} chunk_id ORDER BY at, chunk_id, action",
        lambda row: Escalated(ChunkKey(*row[:5]), *row[5:]),
    ),
    _Source(
        "log",
        """SELECT term, file, line_start, line_end, section, phase, keyword, topic, query_id FROM log_index
           ORDER BY file, line_start, term""",
        lambda row: LogEntry(*row),
    ),
    _Source(
        "deliverable",
        "SELECT id, change_id, at, received_at, source, body FROM deliverable_events ORDER BY number",
        lambda row: DeliverableEvent(row[0], row[1], row[2], row[3], row[4], msgspec.Raw(row[5].encode())),
    ),
)


async def export(db: aiosqlite.Connection, target: Path, workspace: str, git_root: str, now: float) -> Exported:
    """Write everything learned to `target`, which appears (0600) only once it is whole.

    `db` reads within one transaction. `now` is Unix seconds. Raises MemoryError_ where the file cannot be written.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if await asyncio.to_thread(_is_other_than_file, target):
            raise MemoryError_(f"{target} is no regular file; name one to write, or - for standard output")
        lines = {source.type: await _count(db, source) for source in _SOURCES}
        header = Header(
            format=FORMAT,
            version=VERSION,
            workspace=workspace,
            git_root=git_root,
            exported_at=iso_time(now),
            lines=sum(lines.values()),
        )
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(write_line(header))
            async for rows, source in _batches(db):
                await asyncio.to_thread(_write, file.write, rows, source)
            await asyncio.to_thread(_settle, file)
        unfinished.replace(target)
    except OSError as error:
        raise MemoryError_(f"cannot write {target}: {error.strerror}; name another file") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return Exported({name: count for name, count in lines.items() if count})


async def _count(db: aiosqlite.Connection, source: _Source) -> int:
    rows = await db.execute_fetchall(f"SELECT count(*) FROM ({source.select})")
    return next(int(row[0]) for row in rows)


async def _batches(db: aiosqlite.Connection) -> AsyncIterator[tuple[list[Any], _Source]]:
    for source in _SOURCES:
        async with db.execute(source.select) as cursor:
            while rows := list(await cursor.fetchmany(_AT_ONCE)):
                yield rows, source


def _write(write: Callable[[bytes], int], rows: list[Any], source: _Source) -> None:
    write(b"".join(write_line(source.make(row)) for row in rows))


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _is_other_than_file(path: Path) -> bool:
    return path.exists() and not path.is_file()
