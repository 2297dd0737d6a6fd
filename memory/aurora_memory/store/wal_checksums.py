"""Changed bits (bit rot, corruption) of a write-ahead log (WAL), looked for by its checksums before SQLite opens it.

SQLite takes a log up to the first frame whose checksum does not fit, as it has to after a power cut, and deletes it
when it is done: a single changed bit costs everything that was acknowledged after it, and nobody is told. A frame that
a power cut tore is not one bit from its checksum; one in which a bit changed is
(https://www.sqlite.org/fileformat2.html#walformat). Which bit that was the checksum does not always say, so nothing is
mended here: `salvage` reads what the frames hold, and rows have checksums of their own.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from aurora_memory import StoreCorrupt
from aurora_protocol.strict_modes import OWN_FILE

_HEADER, _FRAME = 32, 24
_MAGIC = 0x377F0682
"""First number of a log; with the last bit set its checksums take words as big-endian ones."""
_WORD = 0xFFFFFFFF

Sums = tuple[int, int]
"""Running checksum of a log."""

_sound: dict[str, tuple[int, int, int]] = {}
"""Inode, size and time of each log that was found sound last: one that is in use is looked at again and again."""


def refuse_changed_log(database: Path) -> None:
    """Raise StoreCorrupt where a bit changed in the log beside a database that is to be opened.

    Blocks: 0.2 s for a log of 8 MB. Where there is no log, or none that may be read, SQLite says what is wrong.
    """
    log = f"{os.path.realpath(database)}-wal"
    try:
        descriptor = os.open(log, os.O_RDONLY | OWN_FILE | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return
    try:
        status = os.fstat(descriptor)
        mark = (status.st_ino, status.st_size, status.st_mtime_ns)
        if not stat.S_ISREG(status.st_mode) or _sound.get(log) == mark:
            return
        if _has_changed_bit(descriptor):
            raise StoreCorrupt(f"{log} is damaged (a bit changed on the disk); 'aurora doctor --repair' sets it aside")
        _sound[log] = mark
    except OSError:
        return
    finally:
        os.close(descriptor)


def _has_changed_bit(log: int) -> bool:
    """Verification of the frames' checksums, up to the first that does not fit."""
    header = os.pread(log, _HEADER, 0)
    if len(header) < _HEADER:
        return False
    magic, _, size = struct.unpack(">III", header[:12])
    order = ">" if magic & 1 else "<"
    sums = _stored(header[24:])
    if not _is_header(header):
        return any(_is_header(each) for each in _neighbours(header))
    at = _HEADER
    while len(frame := os.pread(log, _FRAME + size, at)) == _FRAME + size:
        summed = _summed(frame[:8] + frame[_FRAME:], order, sums)
        if frame[8:16] != header[16:24] or summed != _stored(frame[16:24]):
            return _is_a_bit_off(frame, header[16:24], order, summed)
        sums = summed
        at += _FRAME + size
    return False


def _is_header(raw: bytes) -> bool:
    """Whether it is a WAL header whose checksum fits."""
    magic, _, size = struct.unpack(">III", raw[:12])
    order = ">" if magic & 1 else "<"
    return magic & ~1 == _MAGIC and 512 <= size <= 65536 and _summed(raw[:24], order, (0, 0)) == _stored(raw[24:])


def _neighbours(raw: bytes) -> Iterator[bytes]:
    """The bytes with each bit turned in turn."""
    changed = bytearray(raw)
    for at in range(len(raw)):
        for bit in range(8):
            changed[at] ^= 1 << bit
            yield bytes(changed)
            changed[at] ^= 1 << bit


def _is_a_bit_off(frame: bytes, salt: bytes, order: str, summed: Sums) -> bool:
    """Single-bit error: whether one bit of a frame is all that is wrong with it.

    A bit of a word changes the checksum by a number that depends on the word's place only, so each is looked up.
    """
    told = _stored(frame[16:24])
    if frame[8:16] != salt:
        return summed == told and _bits_between(frame[8:16], salt) == 1
    if _bits_between(struct.pack(">II", *told), struct.pack(">II", *summed)) == 1:
        return True
    content = frame[:8] + frame[_FRAME:]
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    wanted = ((told[0] - summed[0]) & _WORD, (told[1] - summed[1]) & _WORD)
    for place, (first, second) in enumerate(_weights(len(words))):
        for bit in range(32):
            change = -(1 << bit) if words[place] >> bit & 1 else 1 << bit
            if (first * change & _WORD, second * change & _WORD) == wanted:
                return True
    return False


def _bits_between(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


@cache
def _weights(words: int) -> list[Sums]:
    """How much each of so many words weighs in both halves of the checksum that they end in."""
    found: list[Sums] = []
    first, second = (1, 1), (0, 1)  # what the words of the last pair weigh
    for _ in range(words // 2):
        found += [second, first]
        first, second = _earlier(first), _earlier(second)
    return found[::-1]


def _earlier(weight: Sums) -> Sums:
    """Weight of a word one pair before."""
    s0 = (weight[0] + weight[1]) & _WORD
    return s0, (weight[1] + s0) & _WORD


def _stored(raw: bytes) -> Sums:
    """Checksum as it is stored."""
    first, second = struct.unpack(">II", raw)
    return first, second


def _summed(raw: bytes, order: str, sums: Sums) -> Sums:
    """Rolling checksum of some pairs of words, after the one of what is before them."""
    s0, s1 = sums
    words = iter(struct.unpack(f"{order}{len(raw) // 4}I", raw))
    for one, other in zip(words, words, strict=True):
        s0 = (s0 + one + s1) & _WORD
        s1 = (s1 + other + s0) & _WORD
    return s0, s1
