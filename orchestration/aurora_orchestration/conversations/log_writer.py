"""Log writer: a conversation piece by piece while a run goes on (AURORA §9.7).

Logs are append-only and each piece is written beside the next phase: after a `kill -9` the log tells everything up to
the phase before the one that was killed. A disk that is full never stops a run: what could not be written is tried
again with the next piece, and `problem` says what is missing. All calls block: from the event loop go through a thread.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from aurora_orchestration.conversations import log_markdown
from aurora_orchestration.conversations.log_names import reserve
from aurora_orchestration.run_record import PhaseRecord, RunRecord
from aurora_orchestration.settings import ConversationSettings
from aurora_orchestration.types import SubgoalResult
from aurora_protocol.closed_paths import closed_on_way, opening
from aurora_protocol.strict_modes import open_own

MAX_PENDING = 64 << 20
"""Bytes that wait for a disk to have room again; what comes on top is lost, and said to be."""


class ConversationLog:
    """Log (transcript) of one run. Methods may be called from several threads; none raises for what the disk does."""

    def __init__(self, folder: Path, settings: ConversationSettings) -> None:
        """`folder` is where all logs are, below it `YYYY/MM/`. Nothing is touched before `begin`."""
        self.path: Path | None = None
        self.problem: str | None = None
        self._folder = folder
        self._settings = settings
        self._descriptor: int | None = None
        self._written = 0
        self._pending = bytearray()
        self._lost = 0
        self._attempts: dict[str, int] = {}
        self._current = ""
        self._told: set[tuple[str, float]] = set()
        self._agents: set[str] = set()
        self._lock = threading.Lock()
        self._begun: tuple[str, float] | None = None
        self._finished = False

    @property
    def file(self) -> str | None:
        """The log's path below the folder of logs, as memory's index has it; None where there is none."""
        return None if self.path is None else self.path.relative_to(self._folder).as_posix()

    def begin(self, run: str, query: str, started_at: float) -> None:
        """Choose the log's name and write its header."""
        with self._lock:
            if not self._settings.enabled or self._begun is not None:
                return
            self._begun = (query, started_at)
            count = self._settings.file_naming.keyword_count
            self._add(log_markdown.header(run, query, started_at, count))

    def resume(self, file: str, query: str, started_at: float, when: float) -> bool:
        """Go on with the log of an interrupted run, `file` below the folder; whether it is there to go on with."""
        with self._lock:
            if not self._settings.enabled or self._begun is not None:
                return False
            path = self._folder / file
            try:
                if not path.resolve().is_relative_to(self._folder.resolve()):
                    return False
                self._descriptor = open_own(path, os.O_WRONLY | os.O_APPEND)
            except (OSError, ValueError, RuntimeError):  # a NUL in the name, a circle of links
                return False
            self.path, self._begun = path, (query, started_at)
            self._add(f"\n**Resumed**: {log_markdown.moment(when)}\n")
            return True

    def phase(self, record: PhaseRecord, results: Sequence[SubgoalResult] = ()) -> None:
        """A phase is over. `results` are what agents gave, where it is `collect`; those that `agent` told are known."""
        with self._lock:
            if self._begun is None or self._finished:
                return
            self._phase(record, results)

    def agent(self, result: SubgoalResult) -> None:
        """An agent is done, while others may still work."""
        with self._lock:
            if self._begun is None or self._finished or not log_markdown.included("collect", self._settings):
                return
            self._add("".join(self._collecting() + self._outputs([result])))

    def finish(self, record: RunRecord) -> str | None:
        """Add what has not been told yet and the execution summary; close. Returns a notice where there are gaps."""
        with self._lock:
            if self._begun is None or self._finished:
                return self.problem
            for each in record.phases:
                if (each.phase, each.at) not in self._told:
                    self._phase(each, record.results)
            missing = [each for each in record.results if each.subgoal.id not in self._agents]
            if missing and log_markdown.included("collect", self._settings):
                self._add("".join(self._collecting() + self._outputs(missing)))
            if log_markdown.included("respond", self._settings):
                self._add(log_markdown.answer_block(record.answer))
            self._add(log_markdown.ending(record, self._settings))
            self._finished = True
            self._close()
            return self.problem

    def abandon(self) -> None:
        """Let go of the file without a summary, as a killed process would."""
        with self._lock:
            self._finished = True
            self._close()

    def _phase(self, record: PhaseRecord, results: Sequence[SubgoalResult]) -> None:
        """Section of a phase, written once."""
        key = (record.phase, record.at)
        if key in self._told:
            return
        self._told.add(key)
        new = [each for each in results if each.subgoal.id not in self._agents] if record.phase == "collect" else []
        parts, self._current = log_markdown.phase_parts(record, new, self._attempts, self._current, self._settings)
        if parts:
            self._agents.update(each.subgoal.id for each in new)
            self._add("".join(parts))

    def _collecting(self) -> list[str]:
        if self._current == log_markdown.COLLECT:
            return []
        self._current = log_markdown.COLLECT
        self._attempts[log_markdown.COLLECT] = self._attempts.get(log_markdown.COLLECT, 0) + 1
        return [log_markdown.heading("collect", self._attempts[log_markdown.COLLECT])]

    def _outputs(self, results: Sequence[SubgoalResult]) -> list[str]:
        self._agents.update(each.subgoal.id for each in results)
        return [log_markdown.agent_block(each, self._settings) for each in results]

    def _add(self, text: str) -> None:
        """Append a piece, with everything that could not be written before."""
        piece = text.encode("utf-8", "backslashreplace")
        if len(self._pending) + len(piece) > MAX_PENDING:
            self._lost += len(piece)
        else:
            self._pending += piece
        try:
            if self._descriptor is None:
                assert self._begun is not None, "begin comes first"
                self.path, self._descriptor = reserve(self._folder, *self._begun, self._settings.file_naming)
            while self._pending:
                self._pending = self._pending[os.write(self._descriptor, self._pending) :]
        except OSError as error:
            closed = closed_on_way(self._folder, folder=True) if error.errno == errno.EACCES else None
            step = "make room there" if closed is None else opening(closed)
            self.problem = f"the conversation log cannot be written in {self._folder}: {error.strerror}; {step}"
            return
        self.problem = None
        if self._lost:
            self.problem = f"{self._lost:,} bytes of the conversation log {self.path} are lost: the disk was full"

    def _close(self) -> None:
        """Close the file, forced to the disk (fsync) where that can be."""
        if self._descriptor is None:
            return
        with contextlib.suppress(OSError):  # a pipe or an odd file system can't; the data is with the kernel anyway
            os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None
