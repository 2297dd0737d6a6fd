"""Budget files on disk (spending, persisted): the tracking file, replaced atomically, and the history, appended to and
rotated. Both for their user only.

The history is forced to the disk behind its writer (`syncing`): it outlives a killed process as soon as it is written.

Every function here may raise OSError; whoever calls holds the lock, other than for reading.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from aurora_orchestration.group_commit import syncing
from aurora_orchestration.guardrails.ledger import LedgerEvent, Tracker
from aurora_orchestration.private_file import write_private
from aurora_protocol import typed
from aurora_protocol.strict_modes import open_own

MAX_TRACKER_BYTES = 16 << 20
MAX_LINE_BYTES = 64 << 10
ROTATE_BYTES = 8 << 20


class Corrupt(Exception):
    """The tracking file holds something else."""


def history_path(tracking: Path) -> Path:
    """The history beside a tracking file: `budget_tracker_history.jsonl`."""
    return tracking.with_name(f"{tracking.stem}_history.jsonl")


def read_tracker(path: Path) -> Tracker | None:
    """Tracker as the tracking file has it; None where there is none. Raises Corrupt, OSError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_TRACKER_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(content) > MAX_TRACKER_BYTES:
        raise Corrupt("it is larger than 16 MiB")
    try:
        tracker = typed.decode(content, Tracker)
        _ = tracker.span
    except (msgspec.DecodeError, ValueError) as error:
        raise Corrupt(str(error)) from error
    return tracker


def write_tracker(path: Path, tracker: Tracker) -> None:
    """Replace the tracking file: it is either the old or the new one, whenever the process ends.

    It is not forced to the disk, as the history is: should the power fail in between, it is rebuilt from that.
    """
    content = msgspec.json.format(msgspec.json.encode(tracker), indent=2) + b"\n"
    write_private(path, content)


def put_aside(path: Path) -> Path:
    """Quarantine, the rename of a file that cannot be used; returns where it is now."""
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.corrupt-{number}")
        if not aside.exists():
            break
    path.replace(aside)
    return aside


def history_size(path: Path) -> int:
    """Bytes of the history; 0 where there is none."""
    return known_by(path)[2]


def known_by(path: Path) -> tuple[int, int, int]:
    """Fingerprint of a file, which changes with it: inode, time of change, size; zeros where there is none."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return about.st_ino, about.st_mtime_ns, about.st_size


def append(path: Path, event: LedgerEvent) -> int:
    """Append `event` to the history; returns its size. A line that a crash cut off (torn write) is ended first."""
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        line = (b"\n" if torn else b"") + msgspec.json.encode(event) + b"\n"
        try:
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, "no space left on device", str(path))
            syncing.soon(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(size)
            raise
    return size + len(line)


def events_from(path: Path, begin: int = 0) -> Iterator[tuple[LedgerEvent, int]]:
    """The whole events of the history from byte `begin` on, each with where it ends. What is no event is left out."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    decoder = typed.decoder(LedgerEvent)
    with file:
        at = file.seek(begin)
        while line := file.readline(MAX_LINE_BYTES):
            at += len(line)
            if not line.endswith(b"\n"):
                continue
            try:
                yield decoder.decode(line), at
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue


def rotate(path: Path, label: str) -> None:
    """Put a history that has grown large aside, under the name of the period that it ended with."""
    older = path.with_name(f"{path.stem}.{label}{path.suffix}")
    number = 1
    while older.exists():
        number += 1
        older = path.with_name(f"{path.stem}.{label}-{number}{path.suffix}")
    path.replace(older)


def all_histories(path: Path) -> list[Path]:
    """The history and those put aside, oldest first."""
    dated = len(f"{path.stem}.2026-01-31")

    def when(aside: Path) -> tuple[str, int, str]:
        # Of one day the one without a number is the oldest; by name alone the tenth would come before the second.
        return aside.stem[:dated], len(aside.stem), aside.stem

    return [*sorted(path.parent.glob(f"{path.stem}.*{path.suffix}"), key=when), path]
