"""Journal (replay log) of model answers: what models answered in a run, written down as it comes: an interrupted run is
gone on with and not paid twice.

One file per run, `<folder>/<run id>.jsonl`, 0600: a header line, then one line per answer, each with the system before
it is used and forced to the disk right behind (`syncing`). It holds answers and digests of questions, not the
questions. A run that ends deletes it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict, deque
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_orchestration.group_commit import syncing
from aurora_orchestration.llm.completion import LlmError, ModelReply
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder, open_own

_MAX_LINE = 24_000_000
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Header(Struct, frozen=True, kw_only=True):
    """Header, the first line: which run this is."""

    run: str
    version: Literal[1] = 1


class JournalEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Entry of the journal, one call: its key, the digest of its question, and what came of it.

    `usd` is what was settled for it; a call without a `reply` failed and may have cost something all the same.
    """

    key: str
    digest: str
    phase: str
    usd: float
    reply: ModelReply | None = None


class Journal:
    """Journal of one run (replay log), held by one process at a time. Writing is done in threads: see
    `metered_model`.
    """

    def __init__(self, folder: Path, run: str) -> None:
        """Begin a run's journal, or go on with it. Raises `LlmError` when another process holds it or it can't be."""
        if not _RUN.fullmatch(run):
            raise LlmError(f"no run has the id {run[:80]!r}; aurora query --resume wants one as it was printed")
        self.run = run
        self.path = folder / f"{run}.jsonl"
        self._lock = Lock()
        self._held = FileLock(f"{self.path}.lock", mode=0o600, thread_local=False)
        try:
            make_private_folder(folder)
            self._held.acquire(timeout=0)
        except Timeout:
            raise LlmError(f"run {run} is going on in another process; wait for it or stop it there") from None
        except OSError as error:
            raise LlmError(
                f"cannot keep a journal in {folder}: {error.strerror or error}; check AURORA_HOME"
            ) from error
        try:
            self._begin()
        except OSError as error:
            self._held.release()
            raise LlmError(f"cannot write {self.path}: {error.strerror or error}; check AURORA_HOME") from error

    def _begin(self) -> None:
        """Recovery of the journal: replies to replay are read, a torn last line is truncated."""
        header, entries, whole = _read(self.path)
        self.entries: tuple[JournalEntry, ...] = tuple(entries)
        self._waiting: dict[str, deque[JournalEntry]] = defaultdict(deque)
        for entry in entries:
            if entry.reply is not None:
                self._waiting[entry.digest].append(entry)
        self._file = open_own(self.path, os.O_WRONLY | os.O_CREAT)
        os.ftruncate(self._file, whole if header else 0)  # a line that was being written when the run was killed
        os.lseek(self._file, 0, os.SEEK_END)
        if header is None:
            self._append(Header(run=self.run))

    def replay(self, digest: str) -> JournalEntry | None:
        """Replay: the next recorded answer to this question; None when there is none left."""
        waiting = self._waiting.get(digest)
        return waiting.popleft() if waiting else None

    def record(self, entry: JournalEntry) -> None:
        """Write a call down; no kill can lose it when this returns. Raises `OSError`."""
        with self._lock:
            self._append(entry)

    def _append(self, line: Struct) -> None:
        """Line appended and, in a batch, forced to the disk (fsync)."""
        left = memoryview(msgspec.json.encode(line) + b"\n")
        while left:
            left = left[os.write(self._file, left) :]
        syncing.soon(self._file)

    def close(self) -> None:
        """Let go of it; the run can be gone on with."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
                self._held.release()

    def delete(self) -> None:
        """The run has ended: nothing is left to go on with."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.close()
        with contextlib.suppress(OSError):
            Path(self._held.lock_file).unlink()


def answered(folder: Path, run: str) -> tuple[list[JournalEntry], float]:
    """The calls of a run that nobody is at, and when it was last heard of (Unix seconds). Raises `OSError`."""
    path = folder / f"{run}.jsonl"
    return _read(path)[1], path.stat().st_mtime


def _read(path: Path) -> tuple[Header | None, list[JournalEntry], int]:
    """Log replay: header, calls, and how many bytes are whole lines; the first unreadable ends it: a torn write."""
    header: Header | None = None
    entries: list[JournalEntry] = []
    whole = 0
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None, [], 0
    with file:
        while (line := file.readline(_MAX_LINE)).endswith(b"\n"):
            try:
                if header is None:
                    header = typed.decode(line, Header)
                else:
                    entries.append(typed.decode(line, JournalEntry))
            except (msgspec.MsgspecError, RecursionError):
                break
            whole += len(line)
    return header, entries, whole
