"""Rows that go into a table many at a time."""

from __future__ import annotations

import aiosqlite
import pytest

from aurora_memory.store.statements import insert_rows


@pytest.mark.parametrize("count", [0, 1, 299, 300, 301, 600, 1000])
async def test_any_number_of_rows_arrives_whole_and_in_order(count: int) -> None:
    rows = [(number, f"r{number}", b"\0" * (number % 3)) for number in range(count)]
    async with aiosqlite.connect(":memory:") as db:
        await db.execute("CREATE TABLE t (a INTEGER, b TEXT, c BLOB)")
        await insert_rows(db, "t", rows)
        assert list(await db.execute_fetchall("SELECT * FROM t ORDER BY rowid")) == rows


async def test_rows_of_one_statement_that_meet_each_other_are_added_up_in_order() -> None:
    async with aiosqlite.connect(":memory:") as db:
        await db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        rows = [(number % 7, str(number)) for number in range(1000)]
        await insert_rows(db, "t", rows, upsert="ON CONFLICT (a) DO UPDATE SET b = b || excluded.b")
        for a, b in await db.execute_fetchall("SELECT a, b FROM t"):
            assert b == "".join(map(str, range(a, 1000, 7)))


async def test_what_fails_in_the_middle_leaves_the_transaction_to_its_owner() -> None:
    async with aiosqlite.connect(":memory:", isolation_level=None) as db:
        await db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
        await db.execute("BEGIN")
        with pytest.raises(aiosqlite.IntegrityError):
            await insert_rows(db, "t", [*((number,) for number in range(2000)), (5,)])
        await db.execute("ROLLBACK")
        assert list(await db.execute_fetchall("SELECT * FROM t")) == []
