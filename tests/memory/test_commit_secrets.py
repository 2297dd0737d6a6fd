"""Secrets in commit messages: nothing of them is kept, whatever the message is beside them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from aurora_memory.store.commit_writer import ChangingCommit
from tests.memory.stores import new_store

KEY = "qW7xRtY9KmLpZ3nBvC5dFgH1jKs8Tu2V"


@pytest.mark.parametrize("said", [KEY, f"prod:{KEY}", f"use {KEY}", f"DB_KEY={KEY}"])
async def test_a_message_of_one_word_is_no_id(tmp_path: Path, said: str) -> None:
    store = await new_store(tmp_path / "memory.db")
    await store.history.save([ChangingCommit(f"{1:040x}", 1, said, said, 1, False, ())], {})
    await store.close()
    with sqlite3.connect(tmp_path / "memory.db") as db:
        rows = db.execute(
            "SELECT hash, subject, terms FROM git_commits c JOIN git_messages m ON m.rowid = c.id"
        ).fetchall()
    (row,) = rows
    assert row[0] == f"{1:040x}"
    assert KEY.lower() not in repr(row).lower()
