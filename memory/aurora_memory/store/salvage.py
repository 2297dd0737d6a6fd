"""Salvage: recovery of learned rows from a corrupt database file (SQLite), page by page and never by SQLite.

A row whose checksum (`row_sums`) does not fit is mended where one changed bit explains it, and else left out. Pages
that nothing points to any more are looked through for rows whose checksum says whose they are. The damaged file stays,
set aside as `<name>.damaged-<time>`. Chunks that something was learned of come along with the row ids
they had, put aside as gone: indexing finds them again by their identity. Everything blocks, so callers use a thread.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.store.page_reader import TABLE_LEAF, Cell, Pages, Raw, RawText, record, varint
from aurora_memory.store.row_sums import SCHEME, row_sum
from aurora_memory.store.tables import CHUNKS, TABLES, Table, spoken_of

MENDING_SECONDS = 20.0
"""CPU time in which changed bits are looked for: a row of a kilobyte takes some 30 ms."""

_SUM_RECORD = b"\x02\x00"
"""Record of a row of `row_sums`: all it holds is its row id."""
MOST_MENDED = 64
"""Rows in which changed bits are looked for: where there are more, it was no bit that changed."""
_COMPANIONS = ("-wal", "-shm", "-journal")
_OF_NOTHING = (
    "DELETE FROM outbox WHERE change_id NOT IN (SELECT change_id FROM deliverable_events)",
    "DELETE FROM others_accesses WHERE access_id NOT IN (SELECT id FROM accesses)",
    "DELETE FROM others_runs WHERE run_id NOT IN (SELECT run_id FROM boosts)",
    "DELETE FROM others_patterns WHERE chunk_id NOT IN (SELECT chunk_id FROM documents)",
)
"""Statements for rows so short that rows of an index look the same: without what they speak of they are none."""
_TYPES: dict[str, type] = {"INTEGER": int, "REAL": float, "TEXT": RawText, "BLOB": bytes}


class Salvaged(Struct, frozen=True):
    """Rows that were saved, by table, and the tables not all of which could be read. `aside` is the old file.

    `mended` rows had one bit that was not what was written; `left_out` ones more.
    """

    aside: Path
    saved: dict[str, int]
    unreadable: tuple[str, ...]
    mended: int = 0
    left_out: int = 0


class Copied(Struct, frozen=True):
    """Result of `copy_learned`, in the words of `Salvaged`."""

    saved: dict[str, int]
    unreadable: tuple[str, ...]
    mended: int
    left_out: int


def copy_learned(damaged: Path, fresh: Path, now: float) -> Copied:
    """Recover the learned rows of a corrupted SQLite file into the empty memory file `fresh`. `now` is Unix seconds."""
    with closing(sqlite3.connect(fresh, isolation_level=None)) as new, _pages_of(damaged) as pages:
        new.execute("BEGIN IMMEDIATE")
        reading = _Reading(pages, [_Shape(new, table) for table in TABLES if table.nature != "derived"])
        reading.read()
        for shape in reading.shapes:
            shape.insert(new, reading.rows[shape.table.name])
        _name_chunks(new, reading)
        for statement in _OF_NOTHING:
            new.execute(statement)
        # Of the chunks those stay that something was learned of, gone until they are indexed again.
        new.execute(f"DELETE FROM chunks WHERE NOT ({spoken_of()})")
        new.execute(
            "UPDATE chunks SET gone_at = coalesce(gone_at, ?), body_hash = x'' WHERE kind != 'reasoning'", (now,)
        )
        saved = {
            table.name: next(count for (count,) in new.execute(f"SELECT count(*) FROM {table.name}"))
            for table in TABLES
            if table.nature == "learned" and not table.rows
        }
        new.execute("COMMIT")
    return Copied(
        {table: count for table, count in saved.items() if count},
        tuple(sorted(reading.damaged)),
        reading.mended,
        reading.left_out,
    )


def set_aside(path: Path, now: float) -> Path:
    """Quarantine of a corrupt file: move it, with SQLite's files beside it, out of the way; returns where to."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    target = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        path.rename(target)
        for suffix in _COMPANIONS:
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                companion.rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise StoreError(f"cannot move {path} aside: {error.strerror}; check its folder's permissions") from error
    return target


def exchange(path: Path, fresh: Path, now: float) -> Path | None:
    """Put a whole file in the place of a damaged one, which is set aside; returns where to, None where nothing was.

    A process that is killed between the two leaves nothing at `path`: `finish_exchange` then ends it. `fresh` is not
    open.
    """
    ready = _ready(path)
    try:
        fresh.replace(ready)
        aside = set_aside(path, now) if os.path.lexists(path) else None
        for suffix in _COMPANIONS:  # a log without its file would be taken for the new one's
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        ready.rename(path)
    except OSError as error:
        raise StoreError(f"cannot put {path} in its place: {error.strerror}; check its folder's permissions") from error
    return aside


def finish_exchange(path: Path) -> None:
    """Crash recovery: put the file in its place that a killed `exchange` was about to put there, if one was."""
    ready = _ready(path)
    if os.path.lexists(path) or not ready.is_file():
        return
    try:
        ready.rename(path)
    except OSError as error:
        raise StoreError(f"cannot put {ready} in its place: {error.strerror}; rename it to {path}") from error


def _ready(path: Path) -> Path:
    return path.with_name(f"{path.name}.saved")


class _Shape:
    """How the records of one table are laid out."""

    def __init__(self, new: sqlite3.Connection, table: Table) -> None:
        self.table = table
        columns = list(new.execute(f"PRAGMA table_info({table.name})"))
        (sql,) = next(iter(new.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table.name,))))
        self.by_rowid = not sql.rstrip().endswith("WITHOUT ROWID")
        if not self.by_rowid:  # the key comes first
            columns.sort(key=lambda column: (column[5] == 0, column[5]))
        self.names = [str(column[1]) for column in columns]
        self.kinds = [str(column[2]) for column in columns]
        self._required = [bool(column[3]) or column[5] > 0 for column in columns]
        self._rowid_at = self.names.index(table.key) if self.by_rowid else -1
        self._sealed = [self.names.index(column) for column in table.sealed]

    def values(self, rowid: int | None, payload: bytes) -> list[Raw] | None:
        """Values of a row by columns; None where a row of this table cannot look so."""
        decoded = record(payload)
        return None if decoded is None else self.row(rowid, decoded)

    def row(self, rowid: int | None, decoded: Sequence[Raw]) -> list[Raw] | None:
        """Values by columns of a record that was decoded; None as above."""
        if len(decoded) > len(self.names) or self.by_rowid != (rowid is not None):
            return None
        values = [*decoded, *[None] * (len(self.names) - len(decoded))]  # columns that came later
        if self.by_rowid:
            values[self._rowid_at] = rowid
        for at, (value, kind) in enumerate(zip(values, self.kinds, strict=True)):
            if kind == "REAL" and isinstance(value, int):  # whole numbers are kept so
                values[at] = value = float(value)
            if not self._required[at] and value is None:
                continue
            if not isinstance(value, _TYPES[kind]) or (kind == "BLOB" and isinstance(value, RawText)):
                return None
        return values

    def sum(self, values: Sequence[Raw]) -> int:
        """Checksum that a row has."""
        return row_sum(self.table.name, [values[at] for at in self._sealed])

    def insert(self, new: sqlite3.Connection, rows: Sequence[Sequence[Raw]]) -> None:
        """Write rows into the new file; of two with one key the first."""
        marks = ", ".join("?" * len(self.names))
        statement = f"INSERT OR IGNORE INTO {self.table.name} ({', '.join(self.names)}) VALUES ({marks})"
        for row in rows:
            told = [value.decode("utf-8", "replace") if isinstance(value, RawText) else value for value in row]
            if self.table.intact is None or self.table.intact(dict(zip(self.names, told, strict=True))):
                new.execute(statement, told)


class _Reading:
    """Rows recovered from the pages of a corrupted file, by table: those that are what was written come first."""

    def __init__(self, pages: Pages, shapes: Sequence[_Shape]) -> None:
        self.shapes = shapes
        self.rows: dict[str, list[list[Raw]]] = {shape.table.name: [] for shape in shapes}
        self.damaged: set[str] = set()
        self.mended = 0
        self.left_out = 0
        self.pages = pages
        self.roots = {entry.name: entry.root for entry in pages.schema()}
        self._seen: set[int] = set()
        self._unmatched: set[int] = set()
        self._heads: list[bytes] = []
        self._sums_lost = True
        self._until = time.thread_time() + MENDING_SECONDS

    def read(self) -> None:
        """Read every table, then what no table led to."""
        summed = self._read_sums()
        doubtful: list[tuple[_Shape, Cell]] = []
        for shape in self.shapes:
            tree = self.pages.tree(self.roots.get(shape.table.name, 0), self._seen)
            for cell in tree.cells:
                values = shape.values(cell.rowid, cell.payload)
                if not summed:
                    self._keep(shape, values)
                elif values is None or not self._known(shape, values):
                    doubtful.append((shape, cell))
            if tree.damaged:
                self.damaged.add(shape.table.name)
        if self.damaged or self._unmatched:
            self._read_strays(summed)
        self._mend(doubtful)
        if not self._sums_lost and not self._unmatched:
            self.damaged.clear()  # every row that there was is here

    def chunk_names(self) -> Iterator[tuple[Raw, Raw, Raw, int]]:
        """Path, name, ordinal and row id of chunks, as the index over them tells."""
        root = self.roots.get("sqlite_autoindex_chunks_1", 0)
        for cell in self.pages.tree(root, set()).cells:
            values = record(cell.payload) or []
            match values:
                case [RawText() as path, RawText() as name, int() as ordinal, int() as number]:
                    yield path, name, ordinal, number

    def _read_sums(self) -> bool:
        """Read the checksums; False in a file that is older than they are, or has lost them."""
        tree = self.pages.tree(self.roots.get("row_sums", 0), self._seen)
        for cell in tree.cells:
            if cell.rowid is not None:
                self._unmatched.add(cell.rowid)
                self._heads.append(cell.head)
        self._sums_lost = tree.damaged
        if SCHEME not in self._unmatched or tree.damaged:  # its leaves are told by their shape
            self._sums_lost = True
            found = {
                cell.rowid: cell.head
                for number in range(1, self.pages.count + 1)
                if self.pages.kind(number) == TABLE_LEAF
                for cell in self.pages.cells(number)
                if cell.payload == _SUM_RECORD and cell.rowid is not None
            }
            if SCHEME in found or self._unmatched:
                self._unmatched |= found.keys()
                self._heads += found.values()
        self._unmatched.discard(SCHEME)
        return bool(self._unmatched)

    def _known(self, shape: _Shape, values: list[Raw]) -> bool:
        """Whether a row is what was written; then it is kept."""
        if shape.table.sealed_rows and not self._is_sealed(shape, values):
            return True  # nothing learned: it is made again
        told = shape.sum(values)
        if told not in self._unmatched:
            return False
        self._unmatched.discard(told)
        self.rows[shape.table.name].append(values)
        return True

    def _is_sealed(self, shape: _Shape, values: Sequence[Raw]) -> bool:
        key = shape.names.index("kind" if shape.table.name == "relations" else shape.table.key)
        value = values[key]
        return isinstance(value, bytes) and f"'{value.decode('utf-8', 'replace')}'" in shape.table.sealed_rows

    def _keep(self, shape: _Shape, values: list[Raw] | None) -> None:
        if values is not None and (not shape.table.sealed_rows or self._is_sealed(shape, values)):
            self.rows[shape.table.name].append(values)

    def _read_strays(self, summed: bool) -> None:
        """Look through the pages that no table led to.

        Where checksums are lost, a row there is of the table that it looks like, unless it was deleted.
        """
        owned = set(self._seen)
        for name, root in self.roots.items():
            if name not in self.rows and name != "row_sums":
                for _ in self.pages.tree(root, owned).pages():
                    pass
        owned |= self.pages.free()
        guessed = self._sums_lost and (bool(self.roots) or not summed)  # an index of a lost schema looks like a table
        for number in range(1, self.pages.count + 1):
            if number in self._seen:
                continue
            for cell in self.pages.cells(number):
                decoded = record(cell.payload)
                if decoded is None:
                    continue
                fitting = [
                    (shape, values) for shape in self.shapes if (values := shape.row(cell.rowid, decoded)) is not None
                ]
                if any(self._known(shape, values) for shape, values in fitting):
                    continue
                if guessed and len(fitting) == 1 and number not in owned:
                    self._keep(*fitting[0])

    def _mend(self, doubtful: Sequence[tuple[_Shape, Cell]]) -> None:
        """Give rows the bit back that changed, or find that their checksum is what changed."""
        heads = [] if self._sums_lost else self._heads  # where sums are lost, a row without one stays anyway
        flipped_sums = {each for head in heads if _rowid(head) in self._unmatched for each in _flipped_rowids(head)}
        left: list[tuple[_Shape, list[Raw]]] = []
        broken = 0
        few = len(doubtful) <= MOST_MENDED
        for shape, cell in doubtful:
            values = shape.values(cell.rowid, cell.payload)
            if values is not None and shape.sum(values) in flipped_sums:
                self.rows[shape.table.name].append(values)
                self._unmatched.discard(next(iter(self._unmatched), 0))
                continue
            mended = self._mended(shape, cell) if self._unmatched and few else None
            if mended is not None:
                self.mended += self._known(shape, mended)
            elif values is not None:
                left.append((shape, values))
            else:
                broken += shape.table is not CHUNKS
        # A row that changed has left its checksum behind: where more rows than checksums are over, checksums were lost.
        kept = left
        if not self._sums_lost and len(left) <= len(self._unmatched):
            kept = [(shape, values) for shape, values in left if shape.table is CHUNKS]  # the files tell what is right
            self.left_out = max(broken + len(left) - len(kept), len(self._unmatched) - len(kept))
        for shape, values in kept:
            self.rows[shape.table.name].append(values)

    def _mended(self, shape: _Shape, cell: Cell) -> list[Raw] | None:
        """Single-bit error correction: each bit of a row is flipped in turn until a checksum fits."""
        raw = bytearray(cell.payload)
        for at in range(len(raw)):
            for bit in range(8):
                raw[at] ^= 1 << bit
                values = shape.values(cell.rowid, bytes(raw))
                raw[at] ^= 1 << bit
                if values is not None and shape.sum(values) in self._unmatched:
                    return values
            if time.thread_time() > self._until:
                return None
        for bit in range(64) if cell.rowid is not None else ():
            values = shape.values((cell.rowid or 0) ^ (1 << bit) if bit < 63 else -(cell.rowid or 0), cell.payload)
            if values is not None and shape.sum(values) in self._unmatched:
                return values
        return None


def _name_chunks(new: sqlite3.Connection, reading: _Reading) -> None:
    """Give chunks that learned rows speak of, and whose own rows are lost, the name back that the index has."""
    columns = [(table.name, each.column) for table in TABLES if table.nature == "learned" for each in table.references]
    spoken = {
        row[0]
        for table, column in columns
        for row in new.execute(f"SELECT {column} FROM {table} WHERE {column} NOT IN (SELECT id FROM chunks)")
    }
    if not spoken:
        return
    documents = {row[0] for row in new.execute("SELECT chunk_id FROM documents")}
    for path, name, ordinal, number in reading.chunk_names():
        if number not in spoken or number in documents or not path:
            continue  # a reasoning chunk comes back by its document
        told = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in (path, name)]
        new.execute(
            """INSERT OR IGNORE INTO chunks (id, path, name, ordinal, leaf, kind, language, line_start, line_end,
               signature, docstring, complexity, branches, loops, keywords, body_hash, shape_hash, tokens, part_count)
               VALUES (?, ?, ?, ?, ?, 'function', '', 1, 1, '', '', 'O(1)', 0, 0, '', x'', x'', 0, 0)""",
            (number, *told, ordinal, told[1]),
        )


def _rowid(head: bytes) -> int:
    """Row id in the head of a cell (varint)."""
    _, at = varint(head, 0)
    value, _ = varint(head, at)
    return value - (1 << 64) if value >= 1 << 63 else value


def _flipped_rowids(head: bytes) -> Iterator[int]:
    """Row ids that a cell would have had before one bit of it changed."""
    raw = bytearray(head[:12])
    for at in range(len(raw)):
        for bit in range(8):
            raw[at] ^= 1 << bit
            yield _rowid(bytes(raw))
            raw[at] ^= 1 << bit


def _pages_of(path: Path) -> Pages:
    """Pages of a damaged file. Raises StoreError."""
    try:
        return Pages(path)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; check its permissions") from error
