"""Audit trail of guardrails: what kinds of things were redacted or held back, when, in which run. Never values."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock
from msgspec import Struct

from aurora_deliverables.timestamps import timestamp
from aurora_orchestration.guardrails.blocked import QuestionBlocked, Reason
from aurora_orchestration.guardrails.guard import Guarded, Held, guard
from aurora_orchestration.guardrails.redaction import Redaction
from aurora_orchestration.settings import GuardrailSettings
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder, open_own

FILE = "guardrails.jsonl"
ROTATE_BYTES = 1 << 20
KEPT = 5
_LOCK_SECONDS = 10.0


class AuditEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Line of the audit trail: kinds and counts of what was found in the question of `run`, and what was done
    about it.
    """

    at: str
    run: str
    action: Literal["redacted", "rejected"]
    found: dict[str, int] = {}
    reason: Reason | None = None


class Audit:
    """Audit trail in `folder`, which several processes may write at once; closed to other users.

    A file that has grown beyond 1 MiB is put aside as `guardrails.1.jsonl`, and so on; the last five are kept. `now`
    gives Unix seconds. All methods block, and raise OSError (filelock's Timeout is one) where nothing can be written.
    """

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self.path = folder / FILE
        self._now = now

    def passed(self, run: str, guarded: Guarded) -> None:
        """Note what was redacted from a question; nothing where nothing was."""
        if guarded.redactions:
            self._write(AuditEntry(at=self._at(), run=run, action="redacted", found=_counts(guarded.redactions)))

    def blocked(self, run: str, blocked: QuestionBlocked) -> None:
        """Note that a question was held back, and for what."""
        found = _counts(blocked.found) if isinstance(blocked, Held) else {}
        self._write(AuditEntry(at=self._at(), run=run, action="rejected", reason=blocked.reason, found=found))

    def entries(self) -> list[AuditEntry]:
        """All that is kept, oldest first; lines that cannot be read are left out."""
        found = []
        for path in [self._older(number) for number in range(KEPT, 0, -1)] + [self.path]:
            if path.exists():
                for line in path.read_bytes().splitlines():
                    try:
                        found.append(typed.decode(line, AuditEntry))
                    except (msgspec.DecodeError, UnicodeDecodeError):
                        continue
        return found

    def _at(self) -> str:
        return timestamp(self._now())

    def _write(self, entry: AuditEntry) -> None:
        """Append of an entry under a file lock, after rotation."""
        make_private_folder(self.path.parent)
        with FileLock(f"{self.path}.lock", timeout=_LOCK_SECONDS, mode=0o600, poll_interval=0.005):
            self._rotate()
            descriptor = open_own(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "ab") as file:
                file.write(msgspec.json.encode(entry) + b"\n")

    def _rotate(self) -> None:
        """Log rotation by size."""
        if not self.path.exists() or self.path.stat().st_size < ROTATE_BYTES:
            return
        for number in range(KEPT - 1, 0, -1):
            if self._older(number).exists():
                self._older(number).replace(self._older(number + 1))
        self.path.replace(self._older(1))

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")


def guard_noted(
    query: str, settings: GuardrailSettings, home: Path, run: str, now: Callable[[], float]
) -> tuple[Guarded, tuple[str, ...]]:
    """`guard` with an entry in `<home>/logs/guardrails.jsonl`, unless `settings.audit` is off. Blocks.

    Also gives what the user should know: notices, and that the entry could not be written. Raises QuestionBlocked.
    """
    audit = Audit(home / "logs", now) if settings.audit else None
    try:
        guarded = guard(query, settings)
    except QuestionBlocked as blocked:
        if audit is not None:
            with suppress(OSError):  # being held back is what must be told
                audit.blocked(run, blocked)
        raise
    if audit is None:
        return guarded, guarded.notices
    try:
        audit.passed(run, guarded)
    except OSError as error:
        told = f"{audit.path} cannot be written ({error.strerror or 'it is locked'}): what was redacted is not noted"
        return guarded, (*guarded.notices, told)
    return guarded, guarded.notices


def _counts(found: tuple[Redaction, ...]) -> dict[str, int]:
    return {each.kind: each.count for each in found}
