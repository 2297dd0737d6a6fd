"""Register of the repositories that this machine knows (repository identity): which record belongs to which.

A repository's id is made of its first commit and its remote, so that machines that never met agree on it. What these
alone cannot tell is known by what was seen before in the same git directory: that a remote was renamed, that a history
that was cut off is whole now. Blocks; run it in a thread.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_memory import StoreForeign
from aurora_memory.record.record_file import make_private
from aurora_memory.store.connection import BUSY_SECONDS, explained
from aurora_protocol import typed

APPLICATION_ID = 0x41555250
"""`AURP`: tells the register from records and memory files."""

NAME = "repositories.sqlite"


class RepositoryFacts(Struct, frozen=True):
    """Facts that git tells of a repository now.

    `common`: its common git directory. `first_commit` is "" where unknown, `remote` "" without one; `remotes` are all
    that it has. `has_known`: the first commit that it was known by (`known_commit`) is in it.
    """

    common: str
    first_commit: str = ""
    remote: str = ""
    remotes: Collection[str] = ()
    has_known: bool = False


class Belonging(Struct, frozen=True):
    """Id of the record of a repository, and the ids of those that it had before: what is in them belongs to it."""

    id: str
    former: tuple[str, ...] = ()


class KnownRecord(Struct, frozen=True):
    """Record on this machine: its file, the repository's id and what that goes by here (`names`), and whether another
    record has taken over what is in it.
    """

    path: Path
    repository: str
    name: str
    taken_over: bool


class Repositories:
    """The register, a file in the folder of records. Every call opens it anew: it is asked when a folder is opened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def known_commit(self, common: str) -> str:
        """The first commit that a git directory was known by; "" where it was not."""
        with closing(self._open()) as db:
            found = db.execute("SELECT first_commit FROM places WHERE common = ?", (common,)).fetchone()
        return str(found[0]) if found else ""

    def belonging(self, seen: RepositoryFacts) -> Belonging:
        """Record of a repository, which is kept in mind. Raises a StoreError."""
        try:
            with closing(self._open()) as db:
                db.execute("BEGIN IMMEDIATE")
                found = _belonging(db, seen)
                db.execute("COMMIT")
                return found
        except sqlite3.Error as error:
            raise explained(error, self.path) from error

    def names(self) -> tuple[dict[str, str], set[str]]:
        """What repositories go by here: the last part of their remote, else of their folder; the whole of it where two
        would be called the same. And the ids of records that were taken over by another.
        """
        try:
            with closing(self._open()) as db:
                rows = db.execute("SELECT common, remote, id, former FROM places ORDER BY common").fetchall()
        except sqlite3.Error as error:
            raise explained(error, self.path) from error
        whole: dict[str, str] = {}
        taken_over: set[str] = set()
        for common, remote, belongs, former in rows:
            whole.setdefault(belongs, remote.removeprefix("file:") or _folder(common))
            taken_over.update(typed.decode(former, list[str]))
        short = Counter(name.rpartition("/")[2] for name in set(whole.values()))
        names = {
            belongs: name.rpartition("/")[2] if short[name.rpartition("/")[2]] == 1 else name
            for belongs, name in whole.items()
        }
        return names, taken_over

    def records(self) -> list[KnownRecord]:
        """Every record on this machine; first those that no other one has taken over. Raises a StoreError."""
        if not self.path.parent.is_dir():
            return []
        names, taken_over = self.names()
        found = [
            KnownRecord(path, path.stem, names.get(path.stem, path.stem[:8]), path.stem in taken_over)
            for path in self.path.parent.glob("*.sqlite")
            if path != self.path
        ]
        return sorted(found, key=lambda each: (each.taken_over, each.repository))

    def common_folders(self, repository: str) -> list[Path]:
        """The common git directories in which a repository was met, of folders without git the folders; some may be
        gone. Raises a StoreError.
        """
        try:
            with closing(self._open()) as db:
                rows = db.execute("SELECT common FROM places WHERE id = ? ORDER BY common", (repository,)).fetchall()
        except sqlite3.Error as error:
            raise explained(error, self.path) from error
        return [Path(row[0]) for row in rows]

    def _open(self) -> sqlite3.Connection:
        """Connection to the register, whose tables are made where they are missing. Raises StoreError."""
        make_private(self.path)
        try:
            db = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_SECONDS)
        except sqlite3.Error as error:
            raise explained(error, self.path) from error
        try:
            application = int(db.execute("PRAGMA application_id").fetchone()[0])
            if application not in (0, APPLICATION_ID):
                raise StoreForeign(f"{self.path} belongs to another program (application id {application}); move it")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            db.execute(
                """CREATE TABLE IF NOT EXISTS places (common TEXT PRIMARY KEY, first_commit TEXT NOT NULL,
                     remote TEXT NOT NULL, id TEXT NOT NULL, former TEXT NOT NULL) WITHOUT ROWID"""
            )
            db.execute(
                """CREATE TABLE IF NOT EXISTS names (first_commit TEXT, remote TEXT, id TEXT NOT NULL,
                     PRIMARY KEY (first_commit, remote)) WITHOUT ROWID"""
            )
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute("COMMIT")
        except sqlite3.Error as error:
            db.close()
            raise explained(error, self.path) from error
        except BaseException:
            db.close()
            raise
        return db


def _belonging(db: sqlite3.Connection, seen: RepositoryFacts) -> Belonging:
    """Identity across renamed remotes, forks and shallow clones."""
    row = db.execute("SELECT first_commit, remote, id, former FROM places WHERE common = ?", (seen.common,)).fetchone()
    first, remote, found, former = row or ("", "", "", "[]")
    if first and not seen.has_known:  # the git directory was made anew: another repository
        first, remote, found, former = "", "", "", "[]"
    before: list[str] = typed.decode(former, list[str])
    commit = first or seen.first_commit
    if not found:
        belongs = _of(db, commit, seen)
        before = [row[0] for row in db.execute("SELECT id FROM places WHERE common = ?", (_folder(seen.common),))]
        before = [each for each in before if each != belongs]  # what was learned before the folder had git
    elif not commit and seen.remote == remote and (whole := _whole(db, remote)) and whole != found:
        belongs = whole  # its history is cut off still, and a clone that has all of it came later
        before = list(dict.fromkeys((*before, found)))
    elif not seen.remote or (seen.remote == remote and (first or not commit)):
        belongs, seen = found, msgspec.structs.replace(seen, remote=remote)
    elif first and remote and seen.remote != remote and remote not in seen.remotes:
        belongs = found  # renamed
    elif remote and seen.remote != remote:
        belongs, before = _of(db, commit, seen), []  # a fork, or another history that was cut off
    else:  # it has a remote at last, or a whole history
        belongs = _of(db, commit, seen)
        before = list(dict.fromkeys((*before, found))) if belongs != found else before
    db.execute(
        "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)",
        (seen.common, commit, seen.remote, belongs, msgspec.json.encode(before).decode()),
    )
    if seen.remote:
        db.execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?)", (commit, seen.remote, belongs))
    return Belonging(belongs, tuple(before))


def _of(db: sqlite3.Connection, commit: str, seen: RepositoryFacts) -> str:
    """The record of a repository that was not met in this place: known by name, or new."""
    if not seen.remote:
        for (found,) in db.execute("SELECT id FROM names WHERE remote = ?", (f"file:{_folder(seen.common)}",)):
            return str(found)  # a clone of it was here first
        return _id(commit, f"file:{_folder(seen.common)}")
    if commit:
        row = db.execute("SELECT id FROM names WHERE (first_commit, remote) = (?, ?)", (commit, seen.remote)).fetchone()
    else:  # history was cut off: the remote tells
        row = db.execute("SELECT id FROM names WHERE remote = ? ORDER BY first_commit DESC", (seen.remote,)).fetchone()
    return str(row[0]) if row else _id(commit, seen.remote)


def _whole(db: sqlite3.Connection, remote: str) -> str:
    """The record of the one whole history that was met of a remote; "" without one, or with several."""
    rows = db.execute("SELECT DISTINCT id FROM names WHERE remote = ? AND first_commit <> ''", (remote,)).fetchall()
    return str(rows[0][0]) if len(rows) == 1 else ""


def _folder(common: str) -> str:
    path = Path(common)
    return str(path.parent if path.name == ".git" else path)


def _id(commit: str, remote: str) -> str:
    return hashlib.blake2b(msgspec.json.encode(("repository", commit, remote)), digest_size=16).hexdigest()
