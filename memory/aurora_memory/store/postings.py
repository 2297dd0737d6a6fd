"""Postings: the inverted index as tables, the parts a term stands in and how often in which field; its compaction.

Parts are numbered without gaps and live in blocks of 4,096. A row of `postings` holds one term's entries within one
block: unsigned 32-bit integers, the low 12 bits a part's place in the block, the high 20 its packed counts
(`aurora_memory.term_counts`). `blocks` has what weighing needs of each part. So that a save costs as much as what it
changed, parts are only ever added at the end; a part that goes is struck out of its block, and its entries stay until
the block is mostly dead and is rewritten. Blocks of which nothing lives give their numbers to the last ones, once they
are many: what is edited all day would otherwise leave an index of the dead.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.chunks import ChunkPart
from aurora_memory.store.statements import insert_rows
from aurora_memory.term_counts import most_of

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
_PLACE = BLOCK - 1

MAX_LENGTH = 0xFFFF
_MAX_NAME = 0xFF
_ROW = struct.Struct("<IIHBB")
"""Record of one part in `blocks`: its chunk (0 where it is struck out), file, length, name's length, chunk's type."""

ROW_SIZE = _ROW.size

GAPS = 8
"""Blocks that are closed up in one transaction: each takes some hundredths of a second."""

_MANY = 500
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, int]).decode


class NewPart(Struct, frozen=True, array_like=True, gc=False):
    """A part to be added, with the rows it belongs to."""

    chunk_id: int
    file_id: int
    type: int
    part: ChunkPart


class _Rows(Struct, frozen=True):
    """Rows of new parts, with their blocks and postings."""

    parts: list[tuple[int, int, int, int, bytes]]
    blocks: list[tuple[int, bytes]]
    postings: list[tuple[int, str, bytes]]


async def add(db: aiosqlite.Connection, parts: Sequence[NewPart]) -> None:
    """Insertion into the inverted index: make parts searchable, inside the caller's transaction."""
    if not parts:
        return
    rows = await db.execute_fetchall("SELECT block, length(parts) FROM blocks ORDER BY block DESC LIMIT 1")
    first = next((block * BLOCK + size // ROW_SIZE for block, size in rows), 0)
    made = await asyncio.to_thread(_rows, first, parts)
    await insert_rows(db, "parts", made.parts)
    await db.executemany(
        """INSERT INTO blocks (block, parts) VALUES (?, ?)
           ON CONFLICT (block) DO UPDATE SET parts = CAST(parts || excluded.parts AS BLOB)""",
        made.blocks,
    )
    await insert_rows(
        db,
        "postings",
        made.postings,
        upsert="ON CONFLICT (block, term) DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)",
    )


def _rows(first: int, parts: Iterable[NewPart]) -> _Rows:
    """The rows of parts numbered from `first` on."""
    part_rows: list[tuple[int, int, int, int, bytes]] = []
    blocks: dict[int, bytearray] = {}
    entries: dict[int, dict[str, array[int]]] = {}  # arrays are nothing the garbage collector looks at
    for number, new in enumerate(parts, start=first):
        part = new.part
        block, place = number >> BLOCK_BITS, number & _PLACE
        part_rows.append((number, new.chunk_id, part.line_start, part.line_end, _encode(part.occurrences)))
        of_block = entries.get(block)
        if of_block is None:
            of_block = entries[block] = {}
            blocks[block] = bytearray()
        length, name_length = min(part.length, MAX_LENGTH), min(part.name_length, _MAX_NAME)
        blocks[block] += _ROW.pack(new.chunk_id, new.file_id, length, name_length, new.type)
        known_of = of_block.get
        for term, value in part.occurrences.items():
            known = known_of(term)
            if known is None:
                of_block[term] = array("I", (value << BLOCK_BITS | place,))
            else:
                known.append(value << BLOCK_BITS | place)
    return _Rows(
        part_rows,
        [(block, bytes(rows)) for block, rows in blocks.items()],
        [
            (block, term, of_block[term].tobytes())
            for block, of_block in _little(entries).items()
            for term in sorted(of_block)
        ],
    )


def _little(entries: dict[int, dict[str, array[int]]]) -> dict[int, dict[str, array[int]]]:
    """The same, their bytes in the file's order: the lowest first."""
    if sys.byteorder == "big":
        for of_block in entries.values():
            for values in of_block.values():
                values.byteswap()
    return entries


async def forget(db: aiosqlite.Connection, chunk_ids: Sequence[int]) -> None:
    """Deletion from the inverted index: strike the parts of some chunks out, inside the caller's transaction."""
    struck: list[int] = []
    for start in range(0, len(chunk_ids), _MANY):
        some = chunk_ids[start : start + _MANY]
        marks = ", ".join("?" * len(some))
        for (number,) in await db.execute_fetchall(f"SELECT id FROM parts WHERE chunk_id IN ({marks})", some):
            struck.append(number)
        await db.execute(f"DELETE FROM parts WHERE chunk_id IN ({marks})", some)
    await _strike(db, struck)


async def mostly_dead(db: aiosqlite.Connection) -> list[int]:
    """Blocks that call for compaction: full ones of which half or more, but not all, is struck out."""
    rows = await db.execute_fetchall(
        "SELECT block FROM blocks WHERE 2 * dead >= ? AND dead < ? AND length(parts) = ?",
        (BLOCK, BLOCK, BLOCK * ROW_SIZE),
    )
    return [int(block) for (block,) in rows]


async def rewrite_block(db: aiosqlite.Connection, block: int) -> None:
    """Compaction of a block: move what lives in it to the end and drop its entries, in the caller's transaction."""
    span = (block * BLOCK, (block + 1) * BLOCK - 1)
    rows = list(
        await db.execute_fetchall(
            "SELECT id, chunk_id, line_start, line_end, occurrences FROM parts WHERE id BETWEEN ? AND ? ORDER BY id",
            span,
        )
    )
    living: list[NewPart] = []
    for (packed,) in await db.execute_fetchall("SELECT parts FROM blocks WHERE block = ?", (block,)):
        for number, chunk_id, line_start, line_end, occurrences in rows:
            _, file_id, length, name_length, type_ = _ROW.unpack_from(packed, (number & _PLACE) * ROW_SIZE)
            part = ChunkPart(line_start, line_end, decode_occurrences(occurrences), length, name_length)
            living.append(NewPart(chunk_id, file_id, type_, part))
    await db.execute("DELETE FROM parts WHERE id BETWEEN ? AND ?", span)
    await db.execute("DELETE FROM postings WHERE block = ?", (block,))
    await db.execute("UPDATE blocks SET parts = ?, dead = ? WHERE block = ?", (bytes(BLOCK * ROW_SIZE), BLOCK, block))
    await add(db, living)


async def has_gaps(db: aiosqlite.Connection) -> bool:
    """Whether blocks of which nothing lives are many beside the others: to close them up, all vectors are read anew."""
    rows = await db.execute_fetchall(f"SELECT count(*), total(dead * {ROW_SIZE} = length(parts)) FROM blocks")
    return any(empty >= max(2, (blocks - empty) // 2) for blocks, empty in rows)


async def close_gaps(db: aiosqlite.Connection) -> None:
    """Put the last blocks in the place of some of which nothing lives, inside the caller's transaction.

    Parts have other numbers afterwards: who holds some (`ReaderThread.forget_words`) has to read them again.
    """
    sql = f"SELECT block, dead * {ROW_SIZE} = length(parts) FROM blocks ORDER BY block"
    blocks = [(int(block), bool(empty)) for block, empty in await db.execute_fetchall(sql)]
    gaps = [block for block, empty in blocks if empty][:GAPS]
    for last, empty in reversed(blocks):
        if not gaps or last < gaps[0]:
            return
        to = last if empty else gaps.pop(0)
        await db.execute("DELETE FROM postings WHERE block = ?", (to,))
        if not empty:
            await _move(db, last, to)
        elif last in gaps:
            gaps.remove(last)
        await db.execute("DELETE FROM blocks WHERE block = ?", (last,))


async def _move(db: aiosqlite.Connection, last: int, to: int) -> None:
    """Give the last block another number, of which nothing lives; only the last may be short, so it is filled up."""
    await db.execute("UPDATE postings SET block = ? WHERE block = ?", (to, last))
    span = (last * BLOCK, (last + 1) * BLOCK - 1)
    await db.execute("UPDATE parts SET id = id - ? WHERE id BETWEEN ? AND ?", ((last - to) * BLOCK, *span))
    for rows, dead in await db.execute_fetchall("SELECT parts, dead FROM blocks WHERE block = ?", (last,)):
        missing = BLOCK - len(rows) // ROW_SIZE
        filled = bytes(rows) + bytes(missing * ROW_SIZE)
        await db.execute("UPDATE blocks SET parts = ?, dead = ? WHERE block = ?", (filled, dead + missing, to))


async def rewrite_terms(db: aiosqlite.Connection, pattern: str, renewed: Callable[[str], Iterable[str]]) -> None:
    """Index the parts that have a term like `pattern` (SQLite's GLOB) anew, inside the caller's transaction.

    `renewed` says which terms stand for one of before.
    """
    numbers: set[int] = set()
    for block, blob in await db.execute_fetchall("SELECT block, entries FROM postings WHERE term GLOB ?", (pattern,)):
        entries = struct.unpack(f"<{len(blob) // 4}I", blob[: len(blob) // 4 * 4])
        numbers.update(block * BLOCK + (entry & _PLACE) for entry in entries)
    affected = sorted(numbers)
    for start in range(0, len(affected), _MANY):
        some = affected[start : start + _MANY]
        marks = ", ".join("?" * len(some))
        rows = await db.execute_fetchall(
            f"""SELECT parts.id, line_start, line_end, occurrences,
                  substr(blocks.parts, (parts.id & {_PLACE}) * {ROW_SIZE} + 1, {ROW_SIZE})
                FROM parts JOIN blocks ON block = parts.id >> {BLOCK_BITS} WHERE parts.id IN ({marks})""",
            some,
        )
        anew: list[NewPart] = []
        for _, line_start, line_end, blob, row in rows:
            chunk_id, file_id, length, name_length, type_ = _ROW.unpack(row)
            found: dict[str, int] = {}
            for term, value in decode_occurrences(blob).items():
                for new in renewed(term):
                    found[new] = most_of(found.get(new, 0), value)
            part = ChunkPart(line_start, line_end, found, length, name_length)
            anew.append(NewPart(chunk_id, file_id, type_, part))
        gone = [number for number, *_ in rows]
        await db.execute(f"DELETE FROM parts WHERE id IN ({', '.join('?' * len(gone))})", gone)
        await _strike(db, gone)
        await add(db, anew)


async def _strike(db: aiosqlite.Connection, numbers: Iterable[int]) -> None:
    """Strike parts out of their blocks."""
    struck: dict[int, list[int]] = {}
    for number in numbers:
        struck.setdefault(number >> BLOCK_BITS, []).append(number & _PLACE)
    for block, places in struck.items():
        for (rows,) in await db.execute_fetchall("SELECT parts FROM blocks WHERE block = ?", (block,)):
            changed = bytearray(rows)
            for place in places:
                changed[place * ROW_SIZE : (place + 1) * ROW_SIZE] = bytes(ROW_SIZE)
            await db.execute(
                "UPDATE blocks SET parts = ?, dead = dead + ? WHERE block = ?", (bytes(changed), len(places), block)
            )


async def occurrences_of(db: aiosqlite.Connection, chunk_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """The packed counts of some chunks' terms, their parts taken together."""
    found: dict[int, dict[str, int]] = {}
    for start in range(0, len(chunk_ids), _MANY):
        some = chunk_ids[start : start + _MANY]
        sql = f"SELECT chunk_id, occurrences FROM parts WHERE chunk_id IN ({', '.join('?' * len(some))})"
        for chunk_id, blob in await db.execute_fetchall(sql, some):
            known = found.setdefault(chunk_id, {})
            for term, value in decode_occurrences(blob).items():
                known[term] = known.get(term, 0) | value
    return found


def decode_occurrences(blob: bytes) -> dict[str, int]:
    """Terms of a part; none where its bytes are damaged, which the integrity check tells (`readable`)."""
    try:
        return _decode(blob)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def readable(blob: bytes) -> bool:
    """Whether the terms of a part can be read."""
    return bool(decode_occurrences(blob)) or blob == _encode({})


def chunks_of_block(packed: bytes) -> list[int] | None:
    """The chunks of a block's parts in order, 0 for those struck out; None where it is no block at all."""
    if len(packed) % ROW_SIZE or len(packed) > BLOCK * ROW_SIZE:
        return None
    return [row[0] for row in _ROW.iter_unpack(packed)]


async def entries_of(db: aiosqlite.Connection, number: int, terms: Sequence[str]) -> dict[str, list[int]]:
    """The packed counts that the index has of some terms in one part."""
    block, place = number >> BLOCK_BITS, number & _PLACE
    found: dict[str, list[int]] = {}
    for start in range(0, len(terms), _MANY):
        some = terms[start : start + _MANY]
        sql = f"SELECT term, entries FROM postings WHERE block = ? AND term IN ({', '.join('?' * len(some))})"
        for term, blob in await db.execute_fetchall(sql, (block, *some)):
            entries = struct.unpack(f"<{len(blob) // 4}I", blob[: len(blob) // 4 * 4])
            found[term] = [entry >> BLOCK_BITS for entry in entries if entry & _PLACE == place]
    return found
