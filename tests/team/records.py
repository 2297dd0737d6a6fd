"""Records of members that tests make up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from aurora_memory.record.entry import Entry, EntryDraft
from aurora_memory.record.record_file import Record

REPOSITORY = "a" * 32
TEAM = "crew"
KINDS = ("reasoning", "access", "boost", "use", "run", "archived", "escalated", "deliverable")


def person(name: str) -> str:
    """Id of a person."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def record_of(folder: Path, name: str, machine: str = "m1", repository: str = REPOSITORY) -> Record:
    """Record of a person at a machine. Close it."""
    return Record.open(folder / f"{name}-{machine}" / f"{repository}.sqlite", repository, person(name), machine)


def access(at: float, name: str = "f") -> EntryDraft:
    """Use of a function."""
    chunk = {"path": "a.py", "name": name, "kind": "function", "shape": "00", "ordinal": 0}
    return EntryDraft("access", json.dumps({"type": "access", "chunk": chunk, "at": at, "kind": "success"}), at)


def boost(pattern: str, run: str, at: float) -> EntryDraft:
    """Boost of a pattern."""
    chunk = {"path": "", "name": pattern, "kind": "reasoning", "shape": "00", "ordinal": 0}
    return EntryDraft("boost", json.dumps({"type": "boost", "chunk": chunk, "run": run, "at": at, "amount": 0.1}), at)


def held(record: Record) -> set[Entry]:
    """Everything that a record holds."""
    found: set[Entry] = set()
    number = 0
    while page := record.after(number):
        found.update(entry for _, entry in page)
        number = page[-1][0]
    return found
