"""Record of the repository that a workspace is in, where this machine has one: read, and who is asking."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git.repository_identity import RepositoryIdentity, repository_identity
from aurora_memory.record.person import machine_id, person_id
from aurora_memory.record.record_file import Record
from aurora_memory.record.repositories import Repositories, Seen

FOLDER = "records"


class RecordPlace(Struct, frozen=True):
    """Where a repository's record is, and who writes it here, with the name that git has for him ("" without).

    `below`: the workspace's place in the repository.
    """

    path: Path
    repository: str
    author: str
    machine: str
    below: str
    name: str = ""

    def open(self) -> Record:
        """The record, made where there is none yet. Blocks; close it."""
        return Record.open(self.path, self.repository, self.author, self.machine)

    @contextmanager
    def opened(self) -> Iterator[Record | None]:
        """The record; None where nothing was recorded yet. Blocks."""
        if not self.path.exists():
            yield None
            return
        with closing(self.open()) as record:
            yield record


async def record_place(root: Path, home: Path) -> RecordPlace:
    """Place of the record of the repository that `root` is in. Raises a StoreError."""
    known = Repositories(home / FOLDER)
    identity = await repository_identity(root)
    commit = await asyncio.to_thread(known.known_commit, str(identity.common))
    if commit:
        identity = await repository_identity(root, commit)
    return await asyncio.to_thread(_place, known, identity, home)


def _place(known: Repositories, identity: RepositoryIdentity, home: Path) -> RecordPlace:
    seen = Seen(
        common=str(identity.common),
        first_commit=identity.first_commit,
        remote=identity.remote,
        remotes=identity.remotes,
        has_known=identity.known_commit,
    )
    repository = known.belonging(seen).id
    machine = machine_id(home)
    author = person_id(identity.email, getpass.getuser(), machine)
    return RecordPlace(
        home / FOLDER / f"{repository}.sqlite", repository, author, machine, identity.below, identity.name
    )
