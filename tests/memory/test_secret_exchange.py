"""Secrets in a record from before today's rules: taken out on the next opening, the same way by every member."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from aurora_memory.record.entry import Entry, EntryDraft
from aurora_memory.record.record_file import Record
from aurora_memory.record.secret_exchange import exchange_secrets

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6"
REPOSITORY = "a" * 32


def _opened(folder: Path, author: str) -> Record:
    return Record.open(folder / f"{author}.sqlite", REPOSITORY, author, "m1")


def _use(at: float, name: str) -> EntryDraft:
    chunk = {"path": "a.py", "name": name, "kind": "function", "shape": "00", "ordinal": 0}
    return EntryDraft("access", json.dumps({"type": "access", "chunk": chunk, "at": at, "kind": "success"}), at)


def _held(record: Record) -> set[Entry]:
    return {each for _, each in record.after(0, 100_000)}


def test_secrets_of_later_rules_leave_a_record_once_and_do_not_come_back(tmp_path: Path) -> None:
    with closing(_opened(tmp_path, "ann")) as ann, closing(_opened(tmp_path, "bob")) as bob:
        made = ann.append([_use(float(n), SECRET if n == 600 else f"f{n}") for n in range(1, 700)])
        bob.append([_use(1.0, f"{SECRET}-his")])
        ann.union(_held(bob))
        bob.union(made)
        before = _held(ann)
        for record in (ann, bob):
            assert exchange_secrets(record) == 2
            assert exchange_secrets(record) == 0, "once for each number of the rules"
        assert _held(ann) == _held(bob), "all make the same of it"
        assert len(_held(ann)) == len(before) and len(_held(ann) & before) == len(before) - 2
        assert ann.heads() == {("ann", "m1"): 699, ("bob", "m1"): 1}
        ann.union(before)
        assert ann.forgotten() == 2 and not any(SECRET in each.body for each in _held(ann))
        (new,) = ann.append([_use(9e3, "later")])
        assert new.sequence == 700
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file


def test_a_record_that_cannot_be_read_as_lines_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(_opened(tmp_path, "ann")) as ann:
        ann.append([EntryDraft("of a newer AURORA", json.dumps({"x": SECRET}), 1.0)])
        assert exchange_secrets(ann) == 0
        assert len(_held(ann)) == 1
