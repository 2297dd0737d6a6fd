"""Idempotent writer of entries into a record: each taken in once, duplicates left out, each that a forget reaches taken
out for good, with its keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from aurora_memory.record.entry import FORGET, Entry, EntryDraft, forget_of, moment_sum
from aurora_memory.record.entry_keys import entry_keys, row_key

COLUMNS = "id, author, machine, sequence, at, kind, body"
COUNTED = """INSERT INTO heads VALUES (?, ?, ?)
             ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)"""


def add(db: sqlite3.Connection, entries: Sequence[Entry]) -> int:
    """Take entries in, and out what those that are forgets reach; how many were new."""
    new = 0
    forgets: list[tuple[int, Entry]] = []
    standing = [
        (float(at), str(author), forget_of(body).pattern)
        for at, author, body in db.execute("SELECT at, author, body FROM entries WHERE kind = ?", (FORGET,))
    ]
    for each in entries:
        patterns: set[str] = set()
        key = ""
        if each.kind == FORGET:
            said = forget_of(each.body)
            standing.append((each.at, each.author, said.pattern))
        else:
            patterns, key, loose = entry_keys(each)
            if db.execute("SELECT 1 FROM forgotten WHERE id = ?", (each.id,)).fetchone():
                continue
            if any(_reaches(forget, each.at, each.author, patterns) for forget in standing):
                _count(db, each)
                latest = db.execute("SELECT max(number) FROM entries").fetchone()[0]
                db.execute("INSERT INTO forgotten VALUES (?, ?, ?, ?)", (each.id, key, int(latest or 0), loose))
                continue
        cursor = db.execute(
            f"INSERT OR IGNORE INTO entries ({COLUMNS}, moment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                each.id,
                each.author,
                each.machine,
                each.sequence,
                each.at,
                each.kind,
                each.body,
                moment_sum(each.id, each.at),
            ),
        )
        if not cursor.rowcount:
            continue
        new += 1
        assert cursor.lastrowid is not None
        number = cursor.lastrowid
        db.executemany("INSERT INTO patterns VALUES (?, ?)", [(pattern, number) for pattern in patterns])
        if key:
            db.execute("INSERT INTO keys VALUES (?, ?)", (key, number))
        _count(db, each)
        if each.kind == FORGET:
            forgets.append((number, each))
    for number, each in forgets:
        _erase(db, number, each)
    return new


def unknown(db: sqlite3.Connection, drafts: Iterable[EntryDraft]) -> list[EntryDraft]:
    """Deduplication: those of drafts that no entry says word for word."""
    new: dict[tuple[str, str], EntryDraft] = {}
    said = "SELECT 1 FROM keys JOIN entries USING (number) WHERE keys.key = ? AND kind = ? AND body = ?"
    for each in drafts:
        key = row_key(str(len(new)), each.kind, each.body)
        if db.execute(said, (key, each.kind, each.body)).fetchone() is None:
            new.setdefault((each.kind, each.body), each)
    return list(new.values())


def _count(db: sqlite3.Connection, entry: Entry) -> None:
    db.execute(COUNTED, (entry.author, entry.machine, entry.sequence))


def _reaches(forget: tuple[float, str, str], at: float, author: str, patterns: set[str]) -> bool:
    """Whether a forget (when, whose, which pattern) is about an entry."""
    until, whose, pattern = forget
    return at <= until and (pattern in patterns if pattern else author == whose)


def _erase(db: sqlite3.Connection, number: int, entry: Entry) -> None:
    """Erasure of the entries that a forget reaches; each leaves a tombstone."""
    pattern = forget_of(entry.body).pattern
    if pattern:
        where = "number IN (SELECT number FROM patterns WHERE pattern = ?)"
        value = pattern
    else:
        where, value = "author = ?", entry.author
    where = f"{where} AND kind <> '{FORGET}' AND at <= ?"
    rows = db.execute(f"SELECT number, {COLUMNS} FROM entries WHERE {where}", (value, entry.at)).fetchall()
    for row in rows:
        remove(db, row[0], Entry(row[1], "", *row[2:]), by=number)


def remove(db: sqlite3.Connection, number: int, entry: Entry, *, by: int | None = None) -> None:
    """Deletion of an entry, which leaves a tombstone (`forgotten`); `by` is the number of the one that says so, without
    one its own."""
    _, key, loose = entry_keys(entry)
    told = (entry.id, key, number if by is None else by, loose)
    db.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?, ?, ?)", told)
    db.execute("DELETE FROM patterns WHERE number = ?", (number,))
    db.execute("DELETE FROM keys WHERE key = ? AND number = ?", (key, number))
    db.execute("DELETE FROM entries WHERE number = ?", (number,))
