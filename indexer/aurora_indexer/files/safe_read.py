"""Safe reading of untrusted files: bounded in size, never a device, a pipe or through a symbolic link (symlink), never
more than asked for, never half an edit.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from aurora_indexer import IndexerError
from aurora_protocol.strict_modes import complaint


class NotARegularFile(IndexerError):
    """Error of a pipe, socket, device or folder where a file was expected."""


class NotOurs(IndexerError):
    """Error of a file that is not ours: another user made the file, or may write it."""


class TooLarge(IndexerError):
    """Error of a file that holds more bytes than the limit."""

    def __init__(self, message: str, size: int) -> None:
        super().__init__(message)
        self.size = size


class Changing(IndexerError):
    """Error of a file that was written to while it was read, every time."""


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_TICK_NS = 20_000_000
"""Nanoseconds between two times that a file system tells apart, with room: Linux's clock ticks every 1 to 10 ms."""
_COARSE_TICK_NS = 2_000_000_000
"""The same where times are whole seconds (FAT: two)."""
_PIECE = 1 << 20
"""Bytes asked for at once where nobody knows how many there are: room is made for all of them."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def read_prefix(path: str, at_most: int, *, follow: bool = False, owner: int | None = None) -> bytes:
    """The first `at_most` bytes of a regular file. Raises OSError (also for symbolic links, unless `follow`),
    `NotARegularFile`.

    With `owner` what is read is to be obeyed: it may belong to that user, to ours or to root, and nobody else may write
    it. Raises `NotOurs` otherwise.
    """
    with _opened(path, follow) as (descriptor, status):
        if owner is not None and (problem := complaint(path, status, owner)):
            raise NotOurs(problem)
        return _read(descriptor, at_most)


def read_steady(path: str, limit: int, *, attempts: int = 3) -> tuple[bytes, os.stat_result]:
    """Consistent read: the whole of a regular file of at most `limit` bytes, and the stat it belongs to: the same
    before and after.

    Raises OSError (also for symbolic links), `NotARegularFile`, `TooLarge`, `Changing`.
    """
    for _ in range(attempts):
        with _opened(path, follow=False) as (descriptor, before):
            if before.st_size > limit:
                raise TooLarge(f"{path} holds {before.st_size} bytes, the limit is {limit}", before.st_size)
            content = _read(descriptor, limit + 1, before.st_size)
            after = os.fstat(descriptor)
        if len(content) > limit:
            raise TooLarge(f"{path} grew past the limit of {limit} bytes", max(after.st_size, len(content)))
        if file_mark(before) == file_mark(after) and before.st_size == after.st_size == len(content):
            return content, after
    raise Changing(f"{path} was written to during each of {attempts} reads; it is read again at its next change")


def file_mark(status: os.stat_result) -> int:
    """Change mark of a file (ctime, inode): a number for when the inode changed, which one it is and where: a file that
    was replaced or written has another, though its size and mtime are kept (`rsync -t`, `cp -p`, `mv`). Never 0."""
    mark = 0
    for part in (status.st_ctime_ns, status.st_mtime_ns, status.st_ino, status.st_dev):
        mark = (mark * 0x9E3779B97F4A7C15 + part) & 0x7FFFFFFFFFFFFFFF
    return mark or 1


def settled_mark(status: os.stat_result, read_at_ns: int) -> int:
    """`file_mark` of a file whose reading began at `read_at_ns`; 0 where it was written so shortly before that another
    write would leave the same times (the racy files of git). Such a file is read again when it is looked at next.
    """
    tick = _TICK_NS if status.st_ctime_ns % 1_000_000_000 else _COARSE_TICK_NS
    return file_mark(status) if status.st_ctime_ns + tick <= read_at_ns else 0


@contextmanager
def _opened(path: str, follow: bool) -> Iterator[tuple[int, os.stat_result]]:
    """Open regular file, without following a symbolic link unless told to (`O_NOFOLLOW`)."""
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | _NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotARegularFile(f"{path} is not a regular file")
        yield descriptor, status
    finally:
        os.close(descriptor)


def _read(descriptor: int, at_most: int, expected: int = -1) -> bytes:
    """Bytes up to the end, or `at_most`. Where `expected` bytes come, though one more was asked for, they are all there
    is: no second read has to say so.
    """
    pieces: list[bytes] = []
    read = 0
    while read < at_most:
        size = expected + 1 - read if read <= expected else _PIECE
        piece = os.read(descriptor, min(at_most - read, size))
        if not piece:
            break
        pieces.append(piece)
        read += len(piece)
        if read == expected:
            break
    return b"".join(pieces)
