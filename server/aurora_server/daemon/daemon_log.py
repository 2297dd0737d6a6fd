"""Log of the daemon (structured logging): one JSON object per line, rotated, written off the event loop, rate limited.

What must not get in: document text, message bodies, queries. pygls logs whole messages, so it is silenced, and all that
is worth knowing about a session is logged by us. Unexpected errors are logged with their frames; what they *say* may
quote a buffer or a query and is only kept at level DEBUG, unless the error is one of ours or the operating system's.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import queue
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

from aurora_indexer import IndexerError
from aurora_memory import StoreError
from aurora_protocol import ProtocolError
from aurora_protocol.address import in_home
from aurora_protocol.strict_modes import make_private_folder, open_own
from aurora_server.configuration.settings import LoggingSettings, RotationSettings, SettingsError

MAX_WAITING = 10_000
"""Records kept for the writer thread; what comes on top is counted and dropped, never waited for."""

MOST_ALIKE = 200
"""Records of one wording that a minute may have; of more, the next minute's first says how many (`repeated`)."""
_MOST_SAID = 1_000

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_QUOTABLE = (OSError, ImportError, IndexerError, StoreError, ProtocolError)
_SILENCED = {"pygls": logging.CRITICAL, "cattrs": logging.CRITICAL, "watchdog": logging.WARNING}


class JsonLines(logging.Formatter):
    """Formatter of log records, each as one JSON object: time, level, logger, message, the record's `extra`, and the
    error if any.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Log record as one line of JSON (structured logging)."""
        milliseconds = int(record.msecs)
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{milliseconds:03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line.update((key, value) for key, value in vars(record).items() if key not in _STANDARD)
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = describe(record.exc_info[1], verbose=logging.getLogger().isEnabledFor(logging.DEBUG))
        return json.dumps(line, ensure_ascii=False, default=str)


def describe(error: BaseException, *, verbose: bool) -> dict[str, object]:
    """An error for the log: its type, its frames, and its words where they cannot quote what a user wrote."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    told: dict[str, object] = {"type": type(error).__name__, "frames": frames}
    if verbose or isinstance(error, _QUOTABLE):
        told["message"] = str(error)
    if error.__cause__ is not None:
        told["cause"] = describe(error.__cause__, verbose=verbose)
    return told


class _Enqueue(QueueHandler):
    """Bounded queue of rendered records to the writer thread; never blocks. What is said again and again is rate
    limited: so much a minute.
    """

    def __init__(self, waiting: queue.Queue[logging.LogRecord]) -> None:
        super().__init__(waiting)
        self.dropped = 0
        self._said: dict[tuple[str, object], tuple[float, int]] = {}

    def handle(self, record: logging.LogRecord) -> bool:
        """Rate limit of repeated messages, by logger and text."""
        said = (record.name, record.msg)
        with self.lock or nullcontext():
            since, times = self._said.get(said, (record.created, 0))
            if record.created - since >= 60.0:
                if times > MOST_ALIKE:
                    record.repeated = times - MOST_ALIKE
                since, times = record.created, 0
            if len(self._said) >= _MOST_SAID:
                self._said.clear()
            self._said[said] = (since, times + 1)
        return bool(super().handle(record)) if times < MOST_ALIKE else False

    def enqueue(self, record: logging.LogRecord) -> None:
        """Record put into the queue; of a full one it is dropped and counted."""
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


def log_file(usual: Path, settings: LoggingSettings, home: Path) -> Path:
    """Where the log whose usual place is `usual` is: below `logging.log_path`."""
    return home / Path(in_home(settings.log_path, home)).expanduser() / usual.name


class _OwnFile(RotatingFileHandler):
    """Rotated log file, opened by its own name alone: a symlink in its place is refused, not written through.

    While it is closed to us (EACCES), what it should have goes to stderr; each record tries it again.
    """

    echoed = False
    """Whether stderr has all records anyway."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Fallback to standard error where the file is closed to us."""
        error = sys.exc_info()[1]
        if not (isinstance(error, OSError) and error.errno == errno.EACCES):
            super().handleError(record)
        elif not self.echoed:
            sys.stderr.write(f"{self.format(record)}\n")

    def _open(self) -> TextIOWrapper:
        """Log file opened privately (0600), in append mode."""
        make_private_folder(Path(self.baseFilename).parent)
        descriptor = open_own(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


def _rotated(path: Path, rotation: RotationSettings, *, echoed: bool) -> RotatingFileHandler:
    """Handler of a rotated log file, by size and number."""
    most = max(1, int(rotation.max_size_mb * 1024 * 1024))
    handler = _OwnFile(
        path, maxBytes=most, backupCount=rotation.max_files, encoding="utf-8", errors="backslashreplace", delay=True
    )
    handler.echoed = echoed
    try:
        handler.stream = handler._open()
    except OSError as error:
        if error.errno != errno.EACCES:
            raise SettingsError(f"{path}: {error.strerror or error}; name another folder: logging.log_path") from error
    return handler


@contextmanager
def to_file(path: Path, settings: LoggingSettings, rotation: RotationSettings, *, echo: bool) -> Iterator[None]:
    """Log what `settings` ask for to `path`, and with `echo` to stderr, until the block ends. See `log_file`.

    Raises SettingsError where the file cannot be written. One that is closed to its own user stops nobody: `doctor`
    tells of it.
    """
    handlers: list[logging.Handler] = []
    echo = echo or "console" in settings.outputs
    if {"file", "json"} & set(settings.outputs):
        handlers.append(_rotated(path, rotation, echoed=echo))
    if echo:
        handlers.append(logging.StreamHandler(sys.stderr))
    waiting: queue.Queue[logging.LogRecord] = queue.Queue(MAX_WAITING)
    entry = _Enqueue(waiting)
    entry.setFormatter(JsonLines())
    listener = QueueListener(waiting, *handlers)
    root = logging.getLogger()
    root.addHandler(entry)
    root.setLevel(settings.level.upper())
    for name, least in _SILENCED.items():
        logging.getLogger(name).setLevel(least)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(entry)
        listener.stop()
        for handler in handlers:
            handler.close()
