"""Log retention (rotation, compression by gzip, pruning): old conversations compressed, older ones deleted, unfinished
ones marked (AURORA §9.7).

Only files that are named like our logs and lie in the folder of their month are ever touched. A log is old by the day
in its name *and* by when it was last written. Everything may be done twice, and by two daemons at once.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_orchestration.conversations import log_markdown
from aurora_orchestration.conversations.log_reader import MAX_LOG, conversation, files, text_of
from aurora_orchestration.conversations.run_statistics import keep
from aurora_orchestration.private_file import write_private
from aurora_orchestration.settings import ConversationSettings
from aurora_protocol.strict_modes import open_own

DAY = 86_400.0
LEAP = 30 * DAY
"""A clock further ahead of the last time than this may be wrong: nothing is deleted by it until a day later."""

_LOCK, _MARKING, _STATE = ".upkeep.lock", ".marking.lock", ".upkeep.json"


class Tidied(Struct, frozen=True, kw_only=True):
    """Result of log retention. Paths below the folder of logs, without `.gz`: `deleted` is what memory's index is to
    forget.
    """

    deleted: tuple[str, ...] = ()
    compressed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    busy: bool = False
    held: bool = False


def tidy(folder: Path, settings: ConversationSettings, now: float) -> Tidied:
    """Delete and compress what is due. `busy`: another process does; `held`: the clock leapt, nothing is deleted."""
    try:
        if not folder.is_dir():
            return Tidied()
        with FileLock(folder / _LOCK, timeout=0, mode=0o600):
            return _tidy(folder, settings, now)
    except Timeout:
        return Tidied(busy=True)
    except OSError as error:
        return Tidied(problems=(f"{folder}: {error.strerror}",))


def mark_interrupted(folder: Path, file: str, when: float) -> bool:
    """Give a log that nobody finished its end; whether it had none. A piece that was cut off is closed first.

    `file` is its path below the folder. Only for runs that are known to be over. Raises OSError.
    """
    path = folder / file
    with FileLock(folder / _MARKING, timeout=5, mode=0o600):
        if not path.exists():
            return False
        found = conversation(file, "", path)
        text = text_of(path)
        ended = found.state != "unfinished"
        if not ended:
            fenced = sum(line.startswith("```") for line in text.splitlines()) % 2
            closing = ("" if text.endswith("\n") or not text else "\n") + ("```\n" if fenced else "")
            with os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "ab") as out:
                out.write((closing + log_markdown.interruption(found.id or "unknown", when)).encode())
                out.flush()
                os.fsync(out.fileno())
    return not ended


def unfinished(folder: Path, first: str = "0000-00-00") -> list[tuple[str, Path, str | None]]:
    """Logs since a day that have no end: (file, path, the run's id). Theirs may still be going on."""
    found = (conversation(*each) for each in files(folder, first) if not each[2].name.endswith(".gz"))
    return [(each.file, each.path, each.id) for each in found if each.state == "unfinished"]


def _tidy(folder: Path, settings: ConversationSettings, now: float) -> Tidied:
    """One pass: logs past their retention deleted, older ones compressed, after a leap of the clock nothing deleted."""
    held = _clock_jumped(folder / _STATE, now)
    deleted, compressed, problems = [], [], []
    logs = list(files(folder))
    keep(folder, [each for each in logs if _due(*each, settings, now)])
    for file, day, path in logs:
        if file[:7] != day[:7].replace("-", "/"):
            continue
        try:
            age = _age(path, day, now)
            if age >= settings.retention_days * DAY:
                if not held:
                    for each in (path, path.with_name(f"{path.name}.gz")):
                        each.unlink(missing_ok=True)
                    deleted.append(file)
            elif age >= settings.compress_after_days * DAY and not path.name.endswith(".gz") and _compress(path):
                compressed.append(file)
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
    for place in {(folder / file).parent for file in deleted}:
        with contextlib.suppress(OSError):  # others are still in it
            place.rmdir()
            place.parent.rmdir()
    return Tidied(deleted=tuple(deleted), compressed=tuple(compressed), problems=tuple(problems[:20]), held=held)


def _due(file: str, day: str, path: Path, settings: ConversationSettings, now: float) -> bool:
    """Whether what a log comes to is to be written down: it is about to be deleted or compressed, or has been."""
    try:
        ours = file[:7] == day[:7].replace("-", "/")
        return ours and _age(path, day, now) >= min(settings.compress_after_days, settings.retention_days) * DAY
    except OSError:
        return False


def _age(path: Path, day: str, now: float) -> float:
    """Seconds since a log's day was over or since it was last written, whichever is less; below 0 in days to come."""
    told = path.lstat()
    if not stat.S_ISREG(told.st_mode):
        return -1.0
    over = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() + DAY
    return min(now - over, now - told.st_mtime)


def _compress(path: Path) -> bool:
    """Put the compressed form in a log's place; both are never missing at once."""
    packed = path.with_name(f"{path.name}.gz")
    if path.stat().st_size > MAX_LOG:
        return False
    content = path.read_bytes()
    if packed.exists():  # we were killed between making it and removing the other
        if text_of(packed) != text_of(path):
            raise OSError(f"{packed.name} is there already and says something else; move one of the two away")
    else:
        before = path.stat()
        waiting = path.with_name(f".{packed.name}.tmp")
        waiting.unlink(missing_ok=True)
        descriptor = os.open(waiting, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with gzip.GzipFile(filename=path.name, mode="wb", fileobj=file, mtime=int(before.st_mtime)) as out:
                out.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(waiting, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            waiting.unlink()  # somebody still writes to it
            return False
        waiting.replace(packed)
        _settle(path.parent)
    path.unlink()
    return True


def _settle(folder: Path) -> None:
    """Make a rename last; where folders can't be synced, the system does it in its own time."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _clock_jumped(state: Path, now: float) -> bool:
    """Clock jump: whether the clock is further ahead than a daemon is ever left alone; remembers what it says.

    It is believed once it has gone on for a day from there.
    """
    last, suspect = _remembered(state)
    held = last is not None and now - last > LEAP and not (suspect is not None and DAY <= now - suspect <= LEAP)
    if held:
        keep = {"at": last, "suspect": suspect if suspect is not None and 0 <= now - suspect <= LEAP else now}
    else:
        keep = {"at": now}
    write_private(state, json.dumps(keep).encode())
    return held


def _remembered(state: Path) -> tuple[float | None, float | None]:
    """Clock state kept since the last pass: when it was, and a leap that is suspected."""
    try:
        told = json.loads(state.read_bytes()[:4096])
        at, suspect = told.get("at"), told.get("suspect")
    except (OSError, ValueError, AttributeError):  # the first time, or not ours any more
        return None, None
    return tuple(each if isinstance(each, int | float) else None for each in (at, suspect))  # type: ignore[return-value]
