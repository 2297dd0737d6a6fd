"""Place of a workspace in the records: which repository's it is (repository identity), where in it the workspace stands
(monorepo subfolder), and who learns."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git.commands import GitSilent
from aurora_indexer.git.repository_identity import repository_identity
from aurora_memory import StoreError
from aurora_memory.record.person import machine_id, person_id
from aurora_memory.record.record_file import Record
from aurora_memory.record.repositories import Repositories, RepositoryFacts

FOLDER = "records"
"""Folder of records in AURORA_HOME."""


class OwnerUntold(StoreError):
    """Error of a git that is slow or was killed, as on a machine under load: the next try may go well."""


class RecordPlace(Struct, frozen=True):
    """Place of a workspace: the file of its repository's record, the repository's id, the workspace's folder in it
    (`below`, "" for the top), the person and the machine. `former` are records that the repository had before; `name`
    and `email` are what git calls the person, "" without.
    """

    path: Path
    repository: str
    below: str
    author: str
    machine: str
    former: tuple[Path, ...] = ()
    name: str = ""
    email: str = ""


async def record_place(root: Path, home: Path, environment: Mapping[str, str] = os.environ) -> RecordPlace:
    """Place of the workspace at `root`, with `home` for AURORA_HOME. Asks git; raises a StoreError, and `OwnerUntold`
    where git does not say whose it is.
    """
    try:
        return await _place(root, home, environment)
    except GitSilent as error:
        raise OwnerUntold(f"not known whose {root} is: {error}") from error


async def _place(root: Path, home: Path, environment: Mapping[str, str]) -> RecordPlace:
    """Place found by git: repository identity, owner, and the folder within."""
    folder = home / FOLDER
    known = Repositories(folder)
    identity = await repository_identity(root, environment=environment)
    commit = await asyncio.to_thread(known.known_commit, str(identity.common))
    if commit:
        identity = await repository_identity(root, commit, environment=environment)
    seen = RepositoryFacts(
        common=str(identity.common),
        first_commit=identity.first_commit,
        remote=identity.remote,
        remotes=identity.remotes,
        has_known=identity.known_commit,
    )
    belonging = await asyncio.to_thread(known.belonging, seen)
    machine = await asyncio.to_thread(machine_id, home)
    return RecordPlace(
        path=folder / f"{belonging.id}.sqlite",
        repository=belonging.id,
        below=identity.below,
        author=person_id(identity.email, getpass.getuser(), machine),
        machine=machine,
        former=tuple(folder / f"{each}.sqlite" for each in belonging.former),
        name=identity.name,
        email=identity.email,
    )


def open_record(place: RecordPlace) -> Record:
    """Open a repository's record, and take over those that it had before. Blocks; raises a StoreError."""
    record = Record.open(place.path, place.repository, place.author, place.machine)
    try:
        for each in place.former:
            if each.is_file():
                with closing(Record.open(each, each.stem, place.author, place.machine)) as former:
                    record.take_over(former)
    except BaseException:
        record.close()
        raise
    return record


@contextmanager
def record_if_there(place: RecordPlace) -> Iterator[Record | None]:
    """A repository's record; None where nothing was recorded yet. Blocks; raises a StoreError."""
    if not place.path.exists():
        yield None
        return
    with closing(open_record(place)) as record:
        yield record
