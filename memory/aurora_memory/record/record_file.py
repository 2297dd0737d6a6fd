"""File of a record (append-only log): one SQLite file a repository, to which every work tree and clone on this machine
appends.

What `append` and `union` have returned of is on the disk. Both write in one transaction, so that two processes may do
so at once; `version` tells that another one did. Nothing leaves the file but what is forgotten: of that only the ids
and keys stay, so that it does not come back. Blocks; run it in a thread, several may at once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.record import record_check
from aurora_memory.record.entry import Entry, EntryDraft, checked, entry_id
from aurora_memory.record.entry_writer import COLUMNS, COUNTED, add, remove, unknown
from aurora_memory.record.record_migrations import settle, transaction
from aurora_memory.store.connection import BUSY_SECONDS, explained
from aurora_memory.store.salvage import finish_exchange
from aurora_memory.store.wal_checksums import refuse_changed_log
from aurora_protocol.strict_modes import OWN_FILE, complaint, make_private_folder

_AT_ONCE = 10_000

FileMarks = tuple[tuple[int, int] | None, ...]


class Forgotten(Struct, frozen=True):
    """Tombstone, what is left of a forgotten entry: its id, and the keys of the row that it spoke of (`loose` "" for no
    code).
    """

    id: str
    key: str
    loose: str


class Record:
    """Record of one repository. `author` and `machine` are those of what is appended here. Close it.

    `mark` is another one for each file: numbers of entries mean nothing in another.
    """

    def __init__(self, path: Path, repository: str, author: str, machine: str, db: sqlite3.Connection) -> None:
        self.path = path
        self.repository = repository
        self.author = author
        self.machine = machine
        self._db = db
        self._turn = threading.Lock()
        self.mark = str(db.execute("SELECT value FROM facts WHERE key = 'mark'").fetchone()[0])

    @classmethod
    def open(cls, path: Path, repository: str, author: str, machine: str) -> Record:
        """Open or create the record of `repository`. Raises a StoreError that says what to do."""
        finish_exchange(path)
        make_private(path)
        refuse_changed_log(path)
        try:
            db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        except sqlite3.Error as error:
            raise explained(error, path) from error
        try:
            settle(db, path, repository)
        except sqlite3.Error as error:
            db.close()
            raise explained(error, path) from error
        except BaseException:
            db.close()
            raise
        return cls(path, repository, author, machine, db)

    def close(self) -> None:
        """Close the file; what is under way finishes first."""
        with self._turn:
            self._db.close()

    def append(self, drafts: Iterable[EntryDraft], *, only_new: bool = False) -> list[Entry]:
        """Append what arose here, in this order; the entries, which are on the disk.

        `only_new` leaves out what an entry says word for word already: done again, it changes nothing.
        Raises InvalidExport or msgspec.DecodeError, before anything is written, where a body is not what its kind says.
        """
        made: list[Entry] = []
        with self._writing() as db:
            found = db.execute(
                "SELECT sequence FROM heads WHERE author = ? AND machine = ?", (self.author, self.machine)
            ).fetchone()
            last = int(found[0]) if found else 0
            coming = unknown(db, drafts) if only_new else drafts
            for sequence, draft in enumerate(coming, last + 1):
                made.append(
                    Entry(
                        entry_id(self.author, self.machine, sequence, draft.kind, draft.body),
                        self.repository,
                        self.author,
                        self.machine,
                        sequence,
                        draft.at,
                        draft.kind,
                        draft.body,
                    )
                )
            add(db, made)
        return made

    def union(self, entries: Iterable[Entry]) -> int:
        """Merge of replicas, idempotent (a CRDT's join): entries that arose anywhere, in any order and any number of
        times; how many were new.

        All or none. Raises InvalidEntry, or InvalidExport, naming what is wrong.
        """
        coming = [checked(each, self.repository) for each in entries]
        with self._writing() as db:
            return add(db, coming)

    def take_over(self, former: Record) -> int:
        """Take in all of a record that this repository had under another id, which stays; how many entries were new.

        An entry's id says nothing of its repository: taken over twice, or by two machines, it is the same entry.
        """
        new = number = 0
        while some := former.after(number):
            number = some[-1][0]
            new += self.union(msgspec.structs.replace(each, repository=self.repository) for _, each in some)
        return new

    def exchange(self, pairs: Iterable[tuple[Entry, Entry]]) -> int:
        """Put entries in the place of others, which do not come back; how many of these were here. All or none."""
        with self._writing() as db:
            found = 0
            for before, now in pairs:
                row = db.execute("SELECT number FROM entries WHERE id = ?", (before.id,)).fetchone()
                if row is not None:
                    found += 1
                    remove(db, row[0], before)
                    add(db, [now])
        if found:
            self._rows("PRAGMA wal_checkpoint(TRUNCATE)")  # the log has what was taken out, too
        return found

    def fact(self, key: str) -> str | None:
        """A small fact about this file."""
        found = self._rows("SELECT value FROM facts WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    def remember(self, key: str, value: str) -> None:
        """Keep a small fact about this file."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))

    def last_number(self) -> int:
        """Number of the entry that this file took in last, 0 where it has none."""
        return int(self._rows("SELECT coalesce(max(number), 0) FROM entries")[0][0])

    def after(self, number: int, limit: int = _AT_ONCE) -> list[tuple[int, Entry]]:
        """Entries after the `number`th that this file took in, with their numbers, in that order."""
        rows = self._rows(
            f"SELECT number, {COLUMNS} FROM entries WHERE number > ? ORDER BY number LIMIT ?", (number, limit)
        )
        return [(row[0], Entry(row[1], self.repository, *row[2:])) for row in rows]

    def numbered(self, numbers: Sequence[int]) -> list[tuple[int, Entry]]:
        """Entries of those numbers that are there still, in that order."""
        found: list[tuple[int, Entry]] = []
        for start in range(0, len(numbers), 500):
            some = numbers[start : start + 500]
            marks = ", ".join("?" * len(some))
            rows = self._rows(f"SELECT number, {COLUMNS} FROM entries WHERE number IN ({marks}) ORDER BY number", some)
            found += [(row[0], Entry(row[1], self.repository, *row[2:])) for row in rows]
        return found

    def of(self, author: str, machine: str, sequence: int, limit: int = _AT_ONCE) -> list[Entry]:
        """Entries of one person at one machine after a `sequence`, in that order; more than `limit` where the last of
        them share a number, as after a home was put back from a backup.
        """
        where = "author = ? AND machine = ? AND sequence > ?"
        rows = self._rows(
            f"""SELECT {COLUMNS} FROM entries WHERE {where} AND sequence <= coalesce(
                  (SELECT sequence FROM entries WHERE {where} ORDER BY sequence LIMIT 1 OFFSET ?), {(1 << 63) - 1})
                ORDER BY sequence, id""",
            (author, machine, sequence, author, machine, sequence, limit - 1),
        )
        return [Entry(row[0], self.repository, *row[1:]) for row in rows]

    def of_kind(self, kind: str) -> list[Entry]:
        """Every entry of a kind, in the order in which this file took them in. Read whole: for kinds that are few."""
        rows = self._rows(f"SELECT {COLUMNS} FROM entries WHERE kind = ? ORDER BY number", (kind,))
        return [Entry(row[0], self.repository, *row[1:]) for row in rows]

    def uses_of(self, path: str, names: Sequence[str]) -> list[tuple[str, float]]:
        """Author and time of every use of the chunks of these names in a file, by its path in the repository."""
        rows = self._rows(
            """SELECT author, json_extract(body, '$.at') FROM entries
               WHERE kind = 'access' AND instr(body, ?) AND json_extract(body, '$.chunk.path') = ?
                 AND json_extract(body, '$.chunk.name') IN (SELECT value FROM json_each(?))""",
            (json.dumps(path, ensure_ascii=False), path, json.dumps(list(names))),
        )
        return [(row[0], float(row[1])) for row in rows]

    def heads(self) -> dict[tuple[str, str], int]:
        """Version vector (a vector clock of sequence numbers): the highest sequence by author and machine, of what is
        forgotten too."""
        return {(row[0], row[1]): int(row[2]) for row in self._rows("SELECT author, machine, sequence FROM heads")}

    def forgotten_keys(self, number: int) -> set[str]:
        """Keys (`line_key`) of rows that entries after the `number`th say are to be forgotten."""
        return {row[0] for row in self._rows("SELECT DISTINCT key FROM forgotten WHERE number > ?", (number,))}

    def loosely_forgotten(self) -> set[str]:
        """Keys (`loose_key`) of rows of code that are to be forgotten, wherever the code stands by now."""
        return {row[0] for row in self._rows("SELECT DISTINCT loose FROM forgotten WHERE loose <> ''")}

    def forgotten(self) -> int:
        """How many entries were forgotten."""
        return int(self._rows("SELECT count(*) FROM forgotten")[0][0])

    def fault(self) -> str | None:
        """What is wrong with the file; None where it is sound. Seconds where there is much in it."""
        return record_check.fault(self.path)

    def keep_forgotten(self, told: Iterable[Forgotten]) -> None:
        """Tombstones of another file: take what another file of this record has forgotten for forgotten here."""
        with self._writing() as db:
            for each in told:
                values = (each.id, each.key, 0, each.loose)
                db.execute("INSERT OR IGNORE INTO forgotten (id, key, number, loose) VALUES (?, ?, ?, ?)", values)

    def begin_after(self, sequence: int) -> None:
        """Number what is appended here after `sequence`, where another file of this record had come so far."""
        if sequence > 0:
            with self._writing() as db:
                db.execute(COUNTED, (self.author, self.machine, sequence))

    def version(self) -> int:
        """Number that changes when another connection has written to the file (SQLite's data_version)."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Query of the record, one thread at a time."""
        with self._turn:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise explained(error, self.path) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write transaction, one thread at a time."""
        with self._turn:
            try:
                with transaction(self._db) as db:
                    yield db
            except sqlite3.Error as error:
                raise explained(error, self.path) from error


def file_marks(path: Path) -> FileMarks:
    """What changes when something is written to a record: size and time of the file and of its log."""
    found: list[tuple[int, int] | None] = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            stat = each.stat()
            found.append((stat.st_size, stat.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)


def make_private(path: Path) -> None:
    """Make the file (0600) in a folder of ours (0700), or look whose it is. Raises StoreError.

    One that is there is not opened: to close it again would take from this process every lock that SQLite holds on it
    for another connection (POSIX), and another process would then take away the log that this one writes to.
    """
    try:
        make_private_folder(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OWN_FILE, 0o600))
        if path.is_symlink():
            raise StoreError(f"{path} is a link; put the record itself there")
        for each in (path.parent, path):
            told = complaint(each, each.stat())
            if told is not None:
                raise StoreError(told)
        path.chmod(0o600)
    except OSError as error:
        raise StoreError(f"cannot open the record {path}: {error.strerror}; check its folder's permissions") from error
