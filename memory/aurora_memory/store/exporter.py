"""Exporter (dump, backup): what was learned, written to a file as JSON lines, as it stood at one moment (snapshot
isolation; `export_format`).
"""

from __future__ import annotations

import asyncio
import glob
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiosqlite
from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.document_builder import iso_time
from aurora_memory.store.carried_rows import RowSource, row_source
from aurora_memory.store.export_format import FORMAT, VERSION, ExportHeader, write_line
from aurora_memory.store.tables import carried
from aurora_memory.store.unfinished_file import UnfinishedFile

_AT_ONCE = 1000


class Exported(Struct, frozen=True):
    """Count of the lines that were written, by their type."""

    lines: dict[str, int]


_ABANDONED = 3600.0
"""Seconds after which an unfinished export is nobody's: it is written to all the time."""


async def export(db: aiosqlite.Connection, target: Path, workspace: str, git_root: str, now: float) -> Exported:
    """Write everything learned to `target`, which appears (0600) only once it is whole.

    `db` reads within one transaction. `now` is Unix seconds. Raises StoreError where the file cannot be written.
    """
    sources = [row_source(table, form) for table, form in carried()]
    unfinished: UnfinishedFile | None = None
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
        unfinished = await asyncio.to_thread(UnfinishedFile, target)
        await asyncio.to_thread(unfinished.write, write_line(header))
        async for rows, source in _batches(db, sources):
            await asyncio.to_thread(_write, unfinished.write, rows, source)
        await asyncio.to_thread(unfinished.finish)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; name another file") from error
    finally:
        if unfinished is not None:
            unfinished.close()
    return Exported({name: count for name, count in lines.items() if count})


async def _count(db: aiosqlite.Connection, source: RowSource) -> int:
    rows = await db.execute_fetchall(f"SELECT count(*) FROM ({source.select})")
    return next(int(row[0]) for row in rows)


async def _batches(
    db: aiosqlite.Connection, sources: Sequence[RowSource]
) -> AsyncIterator[tuple[list[Any], RowSource]]:
    """Batches of rows, table by table, by a cursor."""
    for source in sources:
        async with db.execute(source.select) as cursor:
            while rows := list(await cursor.fetchmany(_AT_ONCE)):
                yield rows, source


def _write(write: Callable[[bytes], None], rows: list[Any], source: RowSource) -> None:
    write(b"".join(write_line(source.make(row)) for row in rows))


def _forget_unfinished(target: Path) -> None:
    """Clean-up of temporary files: remove what exports to this file left that were killed an hour ago or more, where
    files had to have names."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()


def _is_other_than_file(path: Path) -> bool:
    return path.exists() and not path.is_file()
