"""Check of a record's file: what SQLite itself says of it is told in a few words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aurora_memory.record.record_check import fault

PAGE = 4096
HASH = "0a" * 16


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the table of entries and nothing in it that could be one."""
    path = tmp_path / "record.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE entries (id, author, machine, sequence, kind, body, at, moment)")
        db.execute("CREATE TABLE heads (author, machine, sequence)")
        db.execute("CREATE TABLE forgotten (id, key, loose)")
        db.commit()
    return path


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        pytest.param("SELECT 1", None, id="an empty record is sound"),
        pytest.param("INSERT INTO entries VALUES ('i', 'a', 'm', 1, 'run', '{}', 1.0, 5)",
                     "1 entries are not what was written", id="an entry is known by its id"),
        pytest.param("INSERT INTO forgotten VALUES ('i', 'k', NULL)",
                     "what it says is forgotten is not what was written", id="what is forgotten by hashes"),
        pytest.param(f"INSERT INTO forgotten VALUES ('{HASH}', '{HASH}', NULL)", None, id="one key is enough"),
        pytest.param(f"INSERT INTO forgotten VALUES ('{HASH}', '{HASH}', 'k')",
                     "what it says is forgotten is not what was written", id="the other is a hash where there is one"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_its_rows(path: Path, statement: str, told: str | None) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    assert fault(path) == told


def test_a_file_that_sqlite_cannot_read_is_damaged(path: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(b"no database at all" + raw[18:])
    told = fault(path)
    assert told is not None and ";" not in told
    path.write_bytes(raw[:100] + b"\xff" * (PAGE - 100) + raw[PAGE:])
    told = fault(path)
    assert told is not None and ";" not in told
