"""Runs that are under way, as files: what a run that was killed or cancelled is gone on with from.

`$AURORA_HOME/runs/<id>.json` says what was asked and what the first phases gave; beside it, a lock that its process
holds while it works and that the system lets go of when it dies. Paid replies are in the journal of `llm`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from filelock import BaseFileLock, FileLock, Timeout
from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.types import Assessment, ContextBundle
from aurora_protocol import typed

logger = logging.getLogger(__name__)

MAX_BYTES = 16_000_000
RESUMABLE_SECONDS = 7 * 86_400.0
"""How long an unfinished run can be gone on with."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}\Z")


class CannotResume(OrchestrationError):
    """There is no such unfinished run, or somebody is at it."""


class Unfinished(Struct, frozen=True, kw_only=True):
    """A run as far as it came. `request.query` is what passed the guardrails; `resumed` counts its continuations.

    What a phase gave is kept where a second time could give something else, and with it other prompts: replies that
    were paid for answer the very same prompts only. `log` is the conversation log's file, below the folder of logs.
    """

    id: str
    workspace: str
    request: RunRequest
    started_at: float
    state: Literal["running", "interrupted", "cancelled"] = "running"
    resumed: int = 0
    notices: tuple[str, ...] = ()
    log: str | None = None
    deliverable: str = ""
    assessment: Assessment | None = None
    context: ContextBundle | None = None


LOCK_SECONDS = 3.0
"""How long a run that is only looked at may be held by whoever looks."""


class RunFiles:
    """The unfinished runs of one user. All methods block for milliseconds: call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def lock(self, run: str) -> BaseFileLock:
        """Say that this process is at a run; release it when it is over. Not for the event loop's thread.

        Raises CannotResume where another one is at it for longer than a look at it takes.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self._path(run, "lock"), timeout=LOCK_SECONDS, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise CannotResume(f"run {run} is under way in another process; wait for it or stop it") from None
        return lock

    def save(self, run: Unfinished) -> None:
        """Keep how far a run came, all of it or nothing."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".run-")  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(run))
            Path(name).replace(self._path(run.id, "json"))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def load(self, run: str) -> Unfinished:
        """A run that can be gone on with. Raises CannotResume."""
        path = self._path(run, "json")
        try:
            if path.stat().st_size > MAX_BYTES:
                raise CannotResume(f"{path} is too large to be a run; delete it and ask again")
            return typed.decode(path.read_bytes(), Unfinished)
        except FileNotFoundError:
            raise CannotResume(
                f"there is no unfinished run {run}; `aurora logs list` shows those that are over"
            ) from None
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise CannotResume(f"{path} cannot be read ({error}); ask the question again") from error

    def remove(self, run: str) -> None:
        """Forget a run that is over, and what its agents answered."""
        for kind in ("json", "agents"):
            self._path(run, kind).unlink(missing_ok=True)

    def release(self, run: str, lock: BaseFileLock) -> None:
        """No longer be at a run; its lock goes with it where there is nothing to go on with."""
        if not self._path(run, "json").exists():
            self._path(run, "lock").unlink(missing_ok=True)
        lock.release()

    def all(self) -> Iterator[Unfinished]:
        """Every unfinished run that can be read, by id."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                yield self.load(path.stem)
            except CannotResume as error:
                logger.warning("an unfinished run is left out", extra={"error": str(error)})

    @contextlib.contextmanager
    def left(self, run: str) -> Iterator[bool]:
        """Whether nobody is at a run, which nobody takes up meanwhile."""
        try:
            lock = self.lock(run)
        except CannotResume:
            yield False
            return
        try:
            yield True
        finally:
            self.release(run, lock)

    def _path(self, run: str, kind: str) -> Path:
        if not _ID.match(run):
            raise CannotResume(f"{run[:80]!r} is no id of a run; it looks like aurora-20260101-120000-abc123")
        return self._folder / f"{run}.{kind}"
