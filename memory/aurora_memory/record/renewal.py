"""Renewal (recovery) of a damaged record: the corrupted file is set aside, and what can be read of it goes into a new
one.

Its pages are read one by one, and never by SQLite, so that a page that is lost costs only what was on it. An entry's id
is the hash of its content: one that is not what was written is known, and left out. Blocks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.record.entry import Entry, InvalidEntry, entry_id, mended_moment
from aurora_memory.record.record_file import Forgotten, Record
from aurora_memory.store.export_format import InvalidExport
from aurora_memory.store.page_reader import INDEX_INTERIOR, INDEX_LEAF, TABLE_LEAF, Pages, RawText, record
from aurora_memory.store.salvage import exchange

_AT_ONCE = 500
_MOST_ENTRIES = 1 << 40
"""What a number of an entry stays below: a changed bit must not use the numbers up."""
_HASH = re.compile(rb"[0-9a-f]{32}")


class Renewed(Struct, frozen=True):
    """Outcome of a renewal: where the damaged file is now, and how many entries were read from it."""

    aside: Path
    saved: int


def renew(path: Path, repository: str, author: str, machine: str) -> Renewed:
    """Put a new record in the place of a damaged one, which is set aside. Nobody may have it open.

    Raises a StoreError: then the damaged one is where it was.
    """
    fresh = path.with_name(f"{path.name}.renewed")
    try:
        saved = _copied(path, fresh, repository, author, machine)
        aside = exchange(path, fresh, time.time())
    finally:
        for suffix in ("", "-wal", "-shm"):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    if aside is None:
        raise StoreError(f"{path} was removed meanwhile; what could be read of it is in the new one")
    return Renewed(aside, saved)


def _copied(path: Path, fresh: Path, repository: str, author: str, machine: str) -> int:
    """Copy of every entry that can be read into a new record; how many."""
    fresh.unlink(missing_ok=True)  # of a renewal that was killed
    saved = 0
    with closing(Record.open(fresh, repository, author, machine)) as record, _pages_of(path) as pages:
        record.keep_forgotten(_forgotten(pages))
        some: list[Entry] = []
        for each in _entries(pages, repository):
            some.append(each)
            if len(some) == _AT_ONCE:
                saved += _taken(record, some)
                some = []
        saved += _taken(record, some)
        record.begin_after(_last_sequence(pages, author, machine))
    return saved


def _pages_of(path: Path) -> Pages:
    """Pages of a damaged record's file. Raises StoreError."""
    try:
        return Pages(path)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def _taken(record: Record, entries: list[Entry]) -> int:
    """Bulk insert of entries; one by one where some are refused."""
    try:
        return record.union(entries)
    except (InvalidEntry, InvalidExport, ValueError):
        new = 0
        for each in entries:
            try:
                new += record.union([each])
            except (InvalidEntry, InvalidExport, ValueError):
                continue  # it is not what was written
        return new


def _entries(pages: Pages, repository: str) -> Iterator[Entry]:
    """What is an entry by its id, in the order of their numbers as far as pages have one."""
    free = pages.free()
    leaves: list[tuple[int, int]] = []
    for number in range(1, pages.count + 1):
        if number not in free and pages.kind(number) == TABLE_LEAF:
            rowids = [cell.rowid for cell in pages.cells(number) if cell.rowid is not None]
            leaves.append((min(rowids, default=0), number))
    for _, number in sorted(leaves):
        for cell in pages.cells(number):
            match record(cell.payload):
                case [None, RawText() as id_, RawText() as who, RawText() as machine, int() as sequence, at,
                      RawText() as kind, RawText() as body, *sums] if isinstance(at, (int, float)):  # fmt: skip
                    told = [each.decode("utf-8", "replace") for each in (id_, who, machine, kind, body)]
                    if told[0] == entry_id(told[1], told[2], sequence, told[3], told[4]):
                        moment = _moment(told[0], float(at), sums)
                        if moment is not None:
                            yield Entry(told[0], repository, told[1], told[2], sequence, moment, told[3], told[4])


def _moment(id_: str, at: float, sums: Sequence[object]) -> float | None:
    """When an entry was appended; None where it cannot be told. A record of before had no sums of that."""
    match sums:
        case []:
            return at
        case [int() as told]:
            return mended_moment(id_, at, told)
    return None


def _forgotten(pages: Pages) -> Iterator[Forgotten]:
    """Ids of what was forgotten, with the keys of the rows that it spoke of: it must not come back."""
    for row in _index_rows(pages):
        match row:
            case [RawText() as id_, RawText() as key, int(), RawText() as loose]:
                if all(_HASH.fullmatch(each) for each in (id_, key, loose or key)):
                    yield Forgotten(id_.decode(), key.decode(), loose.decode())


def _last_sequence(pages: Pages, author: str, machine: str) -> int:
    """The last number that entries of this person at this machine had: given again, it would be another's here."""
    own = [author.encode(), machine.encode()]
    found = (row[2] for row in _index_rows(pages) if row[:2] == own)
    return max((each for each in found if isinstance(each, int) and each < _MOST_ENTRIES), default=0)


def _index_rows(pages: Pages) -> Iterator[list[object]]:
    """Rows of tables without row ids, and of indexes, which look the same."""
    free = pages.free()
    for number in range(1, pages.count + 1):
        if number not in free and pages.kind(number) in (INDEX_LEAF, INDEX_INTERIOR):
            for cell in pages.cells(number):
                values = record(cell.payload)
                if values is not None and len(values) in (3, 4):
                    yield list(values)
