"""Memberships of this user (state of synchronization, cursors): the teams that were joined, how far each repository's
record was sent and fetched, and how the last attempt went. One file of AURORA_HOME, for this user alone; it holds no
password, but the keys of pseudonyms.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct

from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder
from aurora_team import TeamError

NAME = "team.json"


class ExchangeProgress(Struct):
    """Sync cursor of one repository's record and one hub: how far they were exchanged.

    `sent`: number in the record up to which it was sent, with `kinds` shared; `acknowledged`: the hub's number for the
    last of that. `pulled`: author, machine and the hub's number up to which that stream was fetched; `ids` the entry at
    that number: a hub that has another one there was restored from a backup. `forgotten`: how many entries the record
    had forgotten when what is gone was erased at the hub last.
    """

    sent: int = 0
    kinds: tuple[str, ...] = ()
    acknowledged: int = 0
    pulled: list[tuple[str, str, int]] = []
    ids: list[tuple[str, str, str]] = []
    forgotten: int = 0


class Membership(Struct):
    """Membership in one team: its hub, the author that this role's entries have, when it was last reached (Unix s)
    and what went wrong since, as one line. `key` is that of its pseudonyms, "" where members go by their names.
    """

    url: str
    team: str
    author: str
    repositories: dict[str, ExchangeProgress] = {}
    reached_at: float = 0.0
    problem: str = ""
    key: str = ""


class Memberships:
    """The file of memberships, in AURORA_HOME. Blocks."""

    def __init__(self, home: Path) -> None:
        self.path = home / NAME

    def read(self) -> list[Membership]:
        """Every membership; none where nothing was joined. Raises TeamError."""
        try:
            return typed.decode(self.path.read_bytes(), list[Membership])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise TeamError(f"{self.path} cannot be read ({error}); remove it and join again") from error

    def write(self, memberships: list[Membership]) -> None:
        """Atomic write of all of them, whole or not at all. Raises TeamError."""
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{NAME}-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.encode(memberships))
                Path(name).replace(self.path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise TeamError(f"{self.path} cannot be written: {error.strerror}") from error

    @contextmanager
    def held(self) -> Iterator[list[Membership]]:
        """Memberships under a file lock (mutual exclusion between processes); what became of them is written. Raises
        TeamError.
        """
        make_private_folder(self.path.parent)
        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=0):
                found = self.read()
                try:
                    yield found
                finally:
                    self.write(found)
        except Timeout as error:
            raise TeamError("another command exchanges records with a team just now; wait for it") from error
