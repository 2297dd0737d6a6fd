"""Removal of secrets, after the fact, from conversation logs written before today's rules (`secret_mask.RULES`).

What is written goes through the rules; what an AURORA wrote that knew fewer kinds is gone through once. A log that may
still be written to is left for the next time. Everything may be done twice, and by two daemons at once.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_orchestration.conversations.log_reader import MAX_LOG, conversation, files, text_of
from aurora_orchestration.private_file import write_private
from aurora_protocol.secret_mask import RULES, masked
from aurora_protocol.strict_modes import read_own

QUIET = 3600.0
"""Seconds after its last write from which on nobody goes on with a log that has no end."""

_LOCK, _RULES = ".upkeep.lock", ".secret-rules"


class CleanedLogs(Struct, frozen=True, kw_only=True):
    """Result of a removal of secrets: paths below the folder of logs that had secrets, what failed, and whether it is
    done for good.
    """

    cleaned: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    complete: bool = True


def clean_logs(folder: Path, now: float) -> CleanedLogs:
    """Take secrets out of every log, once for each number of the rules. `now` is Unix seconds. Blocks."""
    try:
        if not folder.is_dir() or _known_rules(folder) == RULES:
            return CleanedLogs()
        with FileLock(folder / _LOCK, timeout=0, mode=0o600):
            return _clean(folder, now)
    except Timeout:
        return CleanedLogs(complete=False)
    except OSError as error:
        return CleanedLogs(problems=(f"{folder}: {error.strerror}",), complete=False)


def _clean(folder: Path, now: float) -> CleanedLogs:
    """Pass over all logs; those being written are left for the next time."""
    cleaned: list[str] = []
    problems: list[str] = []
    busy = False
    for file, day, path in files(folder):
        try:
            if now - path.lstat().st_mtime < QUIET and conversation(file, day, path).state == "unfinished":
                busy = True
            elif _clean_log(path):
                cleaned.append(file)
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
    complete = not busy and not problems
    if complete:
        write_private(folder / _RULES, RULES.encode())
    return CleanedLogs(cleaned=tuple(cleaned), problems=tuple(problems[:20]), complete=complete)


def _clean_log(path: Path) -> bool:
    """Write a log anew where it has secrets; it keeps its time, by which it is compressed and deleted."""
    before = path.stat()
    if before.st_size > MAX_LOG:
        raise OSError(f"too large to be looked through ({before.st_size:,} bytes); remove it if it may hold secrets")
    text = text_of(path)
    clean = masked(text)
    if clean == text:
        return False
    packed = path.name.endswith(".gz")
    write_private(path, gzip.compress(clean.encode(), mtime=int(before.st_mtime)) if packed else clean.encode())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return True


def _known_rules(folder: Path) -> str:
    try:
        return read_own(folder / _RULES, 100).decode("ascii", "replace")
    except OSError:  # the first time, or not ours any more
        return ""
