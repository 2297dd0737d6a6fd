"""Page reader of a corrupted SQLite file, which SQLite itself refuses: rows of b-tree pages, with the write-ahead log.

It knows as much of SQLite's file format (https://www.sqlite.org/fileformat2.html) as rows of tables need. Whatever a
page says is doubted: no pointer is followed twice, no length past the page, and a page that makes no sense costs only
itself. Blocks; never writes.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from msgspec import Struct

TABLE_INTERIOR, TABLE_LEAF, INDEX_INTERIOR, INDEX_LEAF = 0x05, 0x0D, 0x02, 0x0A
_KINDS = (TABLE_INTERIOR, TABLE_LEAF, INDEX_INTERIOR, INDEX_LEAF)
_MAGIC = b"SQLite format 3\0"
_LOG_MAGIC = b"\x37\x7f\x06\x82"
_USUAL_PAGE = 4096
_MOST_PAYLOAD = 256 << 20
_INTS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


class RawText(bytes):
    """Bytes of a text column; they may be no UTF-8."""


Raw = int | float | bytes | None
"""Value as the file has it: texts are `RawText`, blobs other bytes."""


class Cell(Struct, frozen=True):
    """Row of a table as it lies in its page: `payload` is the record, whole; `rowid` is None in an index's b-tree.

    `head` are the first bytes of the cell.
    """

    rowid: int | None
    payload: bytes
    head: bytes = b""


class ByteRange(Struct, frozen=True):
    """Range of bytes of a file, or of its write-ahead log: where they begin, and how many."""

    in_log: bool
    at: int
    length: int


class SchemaEntry(Struct, frozen=True):
    """Table or index by what the file's first page says of it."""

    kind: str
    name: str
    root: int


class Pages:
    """Pages of a file as the last commit left them. Close it."""

    def __init__(self, path: Path) -> None:
        self._file = _opened(path)
        self._wal: int | None = None
        self._frames: dict[int, int] = {}
        try:
            header = b"" if self._file is None else os.pread(self._file, 100, 0)
            size = int.from_bytes(header[16:18], "big") if header.startswith(_MAGIC[:8]) else 0
            size = 65536 if size == 1 else size
            self.size = size if 512 <= size <= 65536 and size & (size - 1) == 0 else 0
            self._read_log(path.with_name(path.name + "-wal"))
            self.size = self.size or _USUAL_PAGE
            self._usable = self.size - (header[20] if len(header) > 20 and header[20] < 64 else 0)
            length = 0 if self._file is None else os.fstat(self._file).st_size
            self.count = max([-(-length // self.size), *self._frames])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and its log."""
        for each in (self._file, self._wal):
            if each is not None:
                os.close(each)
        self._file = self._wal = None

    def page(self, number: int) -> bytes:
        """One page, from 1; shorter, or empty, where the file ends before it does."""
        frame = self._frames.get(number)
        try:
            if frame is not None and self._wal is not None:
                return os.pread(self._wal, self.size, frame)
            if self._file is None or number <= 0:
                return b""
            return os.pread(self._file, self.size, (number - 1) * self.size)
        except (OSError, OverflowError):  # a bad sector costs its page
            return b""

    def is_cut(self, number: int) -> bool:
        """Whether the file ends within a page: rows of it may be missing, whatever the rest of it says."""
        return len(self.page(number)) < self.size

    def kind(self, number: int) -> int:
        """First byte of a b-tree page; 0 for a page that is none."""
        page = self.page(number)
        start = 100 if number == 1 else 0
        return page[start] if len(page) > start and page[start] in _KINDS else 0

    def schema(self) -> list[SchemaEntry]:
        """Tables and indexes that the schema still names."""
        found = []
        for cell in self.tree(1, set()).cells:
            values = record(cell.payload) or []
            if len(values) >= 4 and isinstance(values[3], int) and values[3] > 1:
                kind, name = (
                    value.decode("utf-8", "replace") if isinstance(value, bytes) else "" for value in values[:2]
                )
                found.append(SchemaEntry(kind, name, values[3]))
        return found

    def tree(self, root: int, seen: set[int]) -> Tree:
        """The b-tree below a root; `seen` gets its pages."""
        return Tree(self, root, seen)

    def free(self) -> set[int]:
        """Freelist pages: what they hold was deleted."""
        found: set[int] = set()
        trunk = int.from_bytes(self.page(1)[32:36], "big")
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            count = min(int.from_bytes(page[4:8], "big"), self.size // 4 - 2)
            found.update(int.from_bytes(page[8 + 4 * n : 12 + 4 * n], "big") for n in range(count))
            trunk = int.from_bytes(page[:4], "big")
        return found

    def children(self, number: int) -> list[int]:
        """Pages below an interior page."""
        page, start = self.page(number), 100 if number == 1 else 0
        below = [int.from_bytes(page[at : at + 4], "big") for at in _pointers(page, start, 12) if at + 4 <= len(page)]
        return [*below, int.from_bytes(page[start + 8 : start + 12], "big")]

    def cells(self, number: int) -> Iterator[Cell]:
        """Rows on one page: of a table's leaf, or of any page of an index's b-tree."""
        page, start = self.page(number), 100 if number == 1 else 0
        kind = page[start] if len(page) > start else 0
        table = kind == TABLE_LEAF
        if not table and kind not in (INDEX_LEAF, INDEX_INTERIOR):
            return
        for first in _pointers(page, start, 12 if kind == INDEX_INTERIOR else 8):
            at = first + 4 if kind == INDEX_INTERIOR else first
            rowid: int | None = None
            length, at = varint(page, at)
            if table:
                rowid, at = varint(page, at)
                rowid = rowid - (1 << 64) if rowid >= 1 << 63 else rowid
            if not 0 < length <= min(_MOST_PAYLOAD, self.count * self.size) or at >= len(page):
                continue
            payload = self._payload(page, at, length, table)
            if payload is not None:
                yield Cell(rowid, payload, page[first : first + 24])

    def spilled(self) -> Iterator[list[ByteRange]]:
        """What lies on more than one page, each as its places in order: payloads, and pages that nobody leads to."""
        seen: set[int] = set()
        others = []
        for number in range(1, self.count + 1):
            page, start = self.page(number), 100 if number == 1 else 0
            kind = self.kind(number)
            if kind == 0:
                others.append(number)
            if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
                continue
            for first in _pointers(page, start, 12 if kind == INDEX_INTERIOR else 8):
                length, at = varint(page, first + 4 if kind == INDEX_INTERIOR else first)
                if kind == TABLE_LEAF:
                    _, at = varint(page, at)
                local = self._local(length, kind == TABLE_LEAF)
                if local < length and at + local + 4 <= len(page):
                    following = int.from_bytes(page[at + local : at + local + 4], "big")
                    yield [self._place(number, at, local), *self._chain(following, seen)]
        for number in others:
            if number not in seen:
                yield self._chain(number, seen)

    def _chain(self, number: int, seen: set[int]) -> list[ByteRange]:
        """Pages of which each names the next, up to one that was `seen` before: it ends the chain."""
        found = []
        known = False
        while 0 < number <= self.count and not known and not self.kind(number):
            known = number in seen
            seen.add(number)
            page = self.page(number)
            found.append(self._place(number, 4, min(len(page), self._usable) - 4))
            number = int.from_bytes(page[:4], "big")
        return found

    def _place(self, number: int, at: int, length: int) -> ByteRange:
        """Byte range within a page: of the log's frame where that has a newer one."""
        frame = self._frames.get(number)
        start = (number - 1) * self.size if frame is None else frame
        return ByteRange(frame is not None, start + at, max(length, 0))

    def _local(self, length: int, table: bool) -> int:
        """How many bytes of a payload its own page has."""
        most = self._usable - 35 if table else (self._usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (self._usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (self._usable - 4)
        return local if local <= most else least

    def _payload(self, page: bytes, at: int, length: int, table: bool) -> bytes | None:
        """Payload with its overflow pages; None where the chain of them breaks off."""
        local = self._local(length, table)
        if local == length:
            return page[at : at + length] if at + length <= len(page) else None
        if at + local + 4 > len(page):
            return None
        parts = [page[at : at + local]]
        left = length - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        seen: set[int] = set()
        while left > 0:
            more = self.page(following) if following not in seen else b""
            seen.add(following)
            parts.append(more[4 : 4 + min(left, self._usable - 4)])
            if len(parts[-1]) < min(left, self._usable - 4):
                return None
            left -= len(parts[-1])
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)

    def _read_log(self, path: Path) -> None:
        """Frames of the log up to the last commit, by their salts alone: a changed bit must not cost what follows.

        The first frame's salt counts where the header's is a bit from it, and the file's page size before the log's.
        """
        with suppress(OSError):
            self._wal = _opened(path)
        if self._wal is None:
            return
        header = os.pread(self._wal, 56, 0)
        size = self.size or int.from_bytes(header[8:12], "big")
        if len(header) < 56 or _bits_between(header[:4], _LOG_MAGIC) > 2 or size < 512 or size & (size - 1):
            return
        self.size = size
        salt = header[40:48] if _bits_between(header[40:48], header[16:24]) == 1 else header[16:24]
        pending: dict[int, int] = {}
        at = 32
        while len(head := os.pread(self._wal, 24, at)) == 24 and _bits_between(head[8:16], salt) <= 1:
            number, commit = struct.unpack(">II", head[:8])
            pending[number] = at + 24
            at += 24 + size
            if commit:
                self._frames.update(pending)
                pending.clear()


def _opened(path: Path) -> int | None:
    """File descriptor of a file; None where there is none, but a folder, a pipe that nobody writes to, or nothing."""
    try:
        found = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    return None


class Tree:
    """B-tree traversal of one table or index. `damaged` says, after its cells were read, that not all of it was
    there.
    """

    def __init__(self, pages: Pages, root: int, seen: set[int]) -> None:
        self._pages = pages
        self._root = root
        self.damaged = False
        self.seen = seen

    @property
    def cells(self) -> Iterator[Cell]:
        """Every row that can be reached from the root."""
        for number, _ in self.pages():
            yield from self._pages.cells(number)

    def pages(self) -> Iterator[tuple[int, int]]:
        """Every page that can be reached from the root, with its kind."""
        waiting = [self._root]
        of_table: bool | None = None
        while waiting:
            number = waiting.pop()
            if number in self.seen or not 0 < number <= self._pages.count:
                self.damaged = True
                continue
            kind = self._pages.kind(number)
            table = kind in (TABLE_INTERIOR, TABLE_LEAF)
            of_table = table if of_table is None else of_table
            if not kind or table != of_table:
                self.damaged = True
                continue
            if self._pages.is_cut(number):
                self.damaged = True
            self.seen.add(number)
            if kind in (TABLE_INTERIOR, INDEX_INTERIOR):
                waiting += self._pages.children(number)
            yield number, kind


def _pointers(page: bytes, start: int, header: int) -> list[int]:
    """Cell pointer array of a b-tree page: where each of its cells begins."""
    count = min(int.from_bytes(page[start + 3 : start + 5], "big"), (len(page) - start - header) // 2)
    if count <= 0:
        return []
    return list(struct.unpack_from(f">{count}H", page, start + header))


def _bits_between(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def varint(raw: bytes, at: int) -> tuple[int, int]:
    """Number of SQLite's variable length at a place, and the place behind it; 0 where the bytes end."""
    value = 0
    for place in range(at, min(at + 8, len(raw))):
        value = value << 7 | raw[place] & 0x7F
        if raw[place] < 0x80:
            return value, place + 1
    if at + 8 < len(raw):
        return value << 8 | raw[at + 8], at + 9
    return 0, len(raw)


def record(payload: bytes) -> list[Raw] | None:
    """Values of a record; None where it makes no sense."""
    length, at = varint(payload, 0)
    if not at <= length <= len(payload):
        return None
    values: list[Raw] = []
    body = length
    while at < length:
        serial, at = varint(payload, at)
        if serial >= 12:
            width = (serial - 12) // 2
            piece = payload[body : body + width]
            values.append(RawText(piece) if serial & 1 else piece)
        elif serial in _INTS:
            width = _INTS[serial]
            piece = payload[body : body + width]
            values.append(int.from_bytes(piece, "big", signed=True))
        elif serial == 7:
            width = 8
            piece = payload[body : body + width]
            values.append(struct.unpack(">d", piece)[0] if len(piece) == 8 else None)
        elif serial in (0, 8, 9):
            width, piece = 0, b""
            values.append((None, 0, 1)[0 if serial == 0 else serial - 7])
        else:
            return None
        if len(piece) != width:
            return None
        body += width
    return values if body == len(payload) and at == length else None
