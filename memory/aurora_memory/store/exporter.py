"""Export of what was learned to a file, line by line, as it stood at one moment (`export_format`)."""

from __future__ import annotations

import asyncio
import glob
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.document_builder import iso_time
from aurora_memory.store.export_format import FORMAT, VERSION, ChunkKey, ExportHeader, ExportLine, write_line
from aurora_memory.store.tables import Carried, Table, carried
from aurora_protocol import typed
from aurora_protocol.strict_modes import OWN_FILE

_AT_ONCE = 1000


class Exported(Struct, frozen=True):
    """Count of the lines that were written, by their type."""

    lines: dict[str, int]


_ABANDONED = 3600.0
"""Seconds after which an unfinished export is nobody's: it is written to all the time."""


class _Source(Struct, frozen=True):
    """Rows of one table that travel, and the reader of a row. `count` must see the rows that `select` gives."""

    type: str
    select: str
    make: Callable[[Sequence[Any]], ExportLine]


async def export(db: aiosqlite.Connection, target: Path, workspace: str, git_root: str, now: float) -> Exported:
    """Write everything learned to `target`, which appears (0600) only once it is whole.

    `db` reads within one transaction. `now` is Unix seconds. Raises StoreError where the file cannot be written.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    sources = [_source(table, form) for table, form in carried()]
    try:
        if await asyncio.to_thread(_is_other_than_file, target):
            raise StoreError(f"{target} is no regular file; name one to write, or - for standard output")
        await asyncio.to_thread(_forget_unfinished, target)
        lines = {source.type: await _count(db, source) for source in sources}
        header = ExportHeader(
            format=FORMAT,
            version=VERSION,
            workspace=workspace,
            git_root=git_root,
            exported_at=iso_time(now),
            lines=sum(lines.values()),
        )
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN_FILE, 0o600), "wb") as file:
            file.write(write_line(header))
            async for rows, source in _batches(db, sources):
                await asyncio.to_thread(_write, file.write, rows, source)
            await asyncio.to_thread(_settle, file)
        unfinished.replace(target)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; name another file") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return Exported({name: count for name, count in lines.items() if count})


def _source(table: Table, form: Carried) -> _Source:
    """A table's query and its reader, made from what the line's fields are."""
    columns: list[str] = []
    joins: list[str] = []
    takes: list[tuple[int, Callable[[Sequence[Any]], Any]]] = []
    for field in msgspec.structs.fields(form.line):
        column = form.columns.get(field.name, field.name)
        if field.type in (ChunkKey, ChunkKey | None):
            # Only where the field may be left out do rows stay whose chunk is not there.
            kind = "JOIN" if field.type is ChunkKey else "LEFT JOIN"
            joins.append(f"{kind} chunks AS {column}_chunk ON {column}_chunk.id = {table.name}.{column}")
            columns.append(_key(f"{column}_chunk"))
            takes.append((5, _chunk_key))
        else:
            columns.append(f"{table.name}.{column}")
            takes.append((1, _reader(field.type)))
    where = " AND ".join(f"({each})" for each in (table.rows, form.where) if each) or "TRUE"
    select = form.select or f"SELECT {', '.join(columns)} FROM {table.name} {' '.join(joins)} WHERE {where}"
    order = ", ".join(f"{table.name}.{column}" for column in form.order)

    def make(row: Sequence[Any]) -> ExportLine:
        values: list[Any] = []
        at = 0
        for width, take in takes:
            values.append(take(row[at : at + width]))
            at += width
        return form.line(*values)

    return _Source(form.tag, f"{select} ORDER BY {order}", make)


def _key(alias: str) -> str:
    shape = f"CASE {alias}.kind WHEN 'reasoning' THEN {alias}.body_hash ELSE {alias}.shape_hash END"
    return f"{alias}.path, {alias}.name, {alias}.kind, lower(hex({shape})), {alias}.ordinal"


def _chunk_key(values: Sequence[Any]) -> ChunkKey | None:
    return None if values[0] is None else ChunkKey(*values)


def _reader(kind: Any) -> Callable[[Sequence[Any]], Any]:
    """From a column's value to a field's: JSON is kept as text."""
    if kind is msgspec.Raw:
        return lambda values: msgspec.Raw(values[0].encode())
    if isinstance(kind, type) and issubclass(kind, Struct):
        return lambda values: typed.decode(values[0], kind)
    return lambda values: values[0]


async def _count(db: aiosqlite.Connection, source: _Source) -> int:
    rows = await db.execute_fetchall(f"SELECT count(*) FROM ({source.select})")
    return next(int(row[0]) for row in rows)


async def _batches(db: aiosqlite.Connection, sources: Sequence[_Source]) -> AsyncIterator[tuple[list[Any], _Source]]:
    for source in sources:
        async with db.execute(source.select) as cursor:
            while rows := list(await cursor.fetchmany(_AT_ONCE)):
                yield rows, source


def _write(write: Callable[[bytes], int], rows: list[Any], source: _Source) -> None:
    write(b"".join(write_line(source.make(row)) for row in rows))


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _forget_unfinished(target: Path) -> None:
    """Remove what exports to this file left that were killed an hour ago or more."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()


def _is_other_than_file(path: Path) -> bool:
    return path.exists() and not path.is_file()
