"""Checkpoint of a run: what a run that was killed or cancelled is resumed from, and the store of all files of runs.

`$AURORA_HOME/runs/<id>.json` is the checkpoint; beside it lie a lock that the run's process holds while it works and
that the system lets go of when it dies, the journal of paid replies (`.jsonl`) and the agent cache (`.agents`).
`$AURORA_HOME/answers` is the answer cache.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from filelock import BaseFileLock, FileLock, Timeout
from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.detection.prompts import change_of
from aurora_orchestration import OrchestrationError
from aurora_orchestration.llm.journal import Journal, JournalEntry, answered
from aurora_orchestration.private_file import write_private
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.soar.answer_cache import AnswerCache
from aurora_orchestration.types import Assessment, ContextBundle
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder

logger = logging.getLogger(__name__)

MAX_BYTES = 16_000_000
RESUMABLE_SECONDS = 7 * 86_400.0
"""How long an unfinished run can be resumed."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}\Z")


class CannotResume(OrchestrationError):
    """There is no such unfinished run, or somebody is at it."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """Checkpoint of a run: its request, and what of its phases a resumed run must not ask for again.

    What a phase gave is kept where a second time could give something else, and with it other prompts: replies that
    were paid for answer the very same prompts only. `request.query` is what passed the guardrails; `resumed` counts
    continuations; `log` is the conversation log's file, below the folder of logs; `deliverable` the id of its change.
    """

    id: str
    workspace: str
    request: RunRequest
    started_at: float
    state: Literal["running", "interrupted", "cancelled"] = "running"
    resumed: int = 0
    log: str | None = None
    deliverable: str = ""
    assessment: Assessment | None = None
    context: ContextBundle | None = None

    def continued(self, now: float, *, force: bool) -> Checkpoint:
        """The same run, resumed now. What was interrupted goes on; what was cancelled has failed, and its
        continuation is another deliverable."""
        resumed = self.resumed + 1
        change = self.deliverable or change_of(self.id)
        return replace(
            self,
            request=replace(self.request, resume=self.id, force=force),
            started_at=now,
            state="running",
            resumed=resumed,
            deliverable=f"{change_of(self.id)}-{resumed}" if self.state == "cancelled" else change,
        )


LOCK_SECONDS = 3.0
"""How long a run that is only looked at may be held by whoever looks."""


class RunStore:
    """Store of one user's runs, and of the answers kept for one workspace (`answers`).

    All methods block for milliseconds: call them in a thread.
    """

    def __init__(self, home: Path, workspace: Path) -> None:
        self._folder = home / "runs"
        self.answers = AnswerCache(home / "answers", workspace)

    def lock(self, run: str) -> BaseFileLock:
        """Lock a run for this process; `release` it when it is over.

        Raises CannotResume where another one has it for longer than a look at it takes.
        """
        make_private_folder(self._folder)
        lock = FileLock(self._path(run, "lock"), timeout=LOCK_SECONDS, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise CannotResume(f"run {run} is under way in another process; wait for it or stop it") from None
        return lock

    def release(self, run: str, lock: BaseFileLock) -> None:
        """Give a run's lock back; its file goes with it where there is nothing to resume."""
        if not self._path(run, "json").exists():
            self._path(run, "lock").unlink(missing_ok=True)
        lock.release()

    @contextlib.contextmanager
    def idle(self, run: str) -> Iterator[bool]:
        """Whether no process is at a run; while the block lasts, none takes it up."""
        try:
            lock = self.lock(run)
        except CannotResume:
            yield False
            return
        try:
            yield True
        finally:
            self.release(run, lock)

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep how far a run came, all of it or nothing."""
        write_private(self._path(checkpoint.id, "json"), msgspec.json.encode(checkpoint))

    def load(self, run: str) -> Checkpoint:
        """The checkpoint of an unfinished run. Raises CannotResume."""
        path = self._path(run, "json")
        try:
            if path.stat().st_size > MAX_BYTES:
                raise CannotResume(f"{path} is too large to be a run; delete it and ask again")
            return typed.decode(path.read_bytes(), Checkpoint)
        except FileNotFoundError:
            raise CannotResume(
                f"there is no unfinished run {run}; `aurora logs list` shows those that are over"
            ) from None
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise CannotResume(f"{path} cannot be read ({error}); ask the question again") from error

    def unfinished(self) -> Iterator[Checkpoint]:
        """Every checkpoint that can be read, by id."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield self.load(path.stem)
            except CannotResume as error:
                logger.warning("an unfinished run is left out", extra={"error": str(error)})

    def journal(self, run: str) -> Journal:
        """The journal of a run's paid replies, opened for this process. Raises LlmError."""
        return Journal(self._folder, run)

    def paid(self, run: str) -> tuple[list[JournalEntry], float]:
        """The calls that an unfinished run paid for, and when it was last heard of. Raises OSError."""
        return answered(self._folder, run)

    def agent_answers(self, run: str) -> Path:
        """The file of the agent cache."""
        return self._path(run, "agents")

    def forget(self, run: str) -> None:
        """Forget a run that is over; its open journal deletes itself."""
        for kind in ("json", "agents"):
            self._path(run, kind).unlink(missing_ok=True)

    def forget_journal(self, run: str) -> None:
        """Forget what a run that nobody is at has paid for."""
        for kind in ("jsonl", "jsonl.lock"):
            self._path(run, kind).unlink(missing_ok=True)

    def _path(self, run: str, kind: str) -> Path:
        if not _ID.match(run):
            raise CannotResume(f"{run[:80]!r} is no id of a run; it looks like aurora-20260101-120000-abc123")
        return self._folder / f"{run}.{kind}"
