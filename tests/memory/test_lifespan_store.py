"""The archive and the flags in a real file: nothing is deleted, everything can come back."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiosqlite
import pytest
from msgspec.structs import replace

from aurora_memory.lifespans.evaluate import judge
from aurora_memory.lifespans.policies import BUILT_IN, Layer, merged
from aurora_memory.store import Store
from aurora_memory.store.connection import connect
from aurora_memory.store.lifespans import Escalation, archive, archived, escalate, escalations, lifespan_facts, restore
from aurora_memory.store.reader import Reader
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """A memory file with the chunks 1 to 3; 1 has a history."""
    store = await new_store(tmp_path / "memory.db")
    await store.write([file("a.py", *(chunk("a.py", f"f{n}", f"body {n}", line=n * 10) for n in (1, 2, 3)))])
    await store.record_accesses([1], "soar", 5.0)
    await store.close()
    db = await connect(tmp_path / "memory.db")
    yield db
    await db.close()


async def test_archived_chunks_are_kept_with_their_history_and_come_back(db: aiosqlite.Connection) -> None:
    assert await archive(db, [1, 2, 99], 1000.0) == 2
    assert await archived(db) == {1: 1000.0, 2: 1000.0}
    assert await archive(db, [2, 3], 2000.0) == 1
    assert await archived(db) == {1: 1000.0, 2: 1000.0, 3: 2000.0}
    assert await restore(db, [1, 99]) == 1
    assert await archived(db) == {2: 1000.0, 3: 2000.0}
    rows = await db.execute_fetchall("SELECT chunk_id, at FROM accesses")
    assert [tuple(row) for row in rows] == [(1, 5.0)]
    assert await archive(db, [], 1.0) == await restore(db, []) == 0


async def test_flags_are_those_of_the_latest_pass_and_know_since_when(db: aiosqlite.Connection) -> None:
    await escalate(db, {1: ("tune",), 2: ("tune", "show"), 99: ("tune",)}, 10.0)
    assert await escalations(db) == [
        Escalation(1, "tune", 10.0),
        Escalation(2, "show", 10.0),
        Escalation(2, "tune", 10.0),
    ]
    await escalate(db, {2: ("tune",), 3: ("tune",)}, 20.0)
    assert await escalations(db) == [Escalation(2, "tune", 10.0), Escalation(3, "tune", 20.0)]
    await escalate(db, {}, 30.0)
    assert await escalations(db) == []


async def test_a_flag_does_not_pass_to_the_next_chunk_of_that_id(db: aiosqlite.Connection, tmp_path: Path) -> None:
    await escalate(db, {3: ("tune",)}, 10.0)
    store = await Store.open(tmp_path / "memory.db")
    await store.write([file("a.py")])
    await store.write([file("b.py", *(chunk("b.py", f"g{n}", f"other {n}", line=n * 10) for n in (1, 2, 3)))])
    await store.close()
    assert await escalations(db) == []


async def test_an_edit_leaves_the_archive_alone(db: aiosqlite.Connection, tmp_path: Path) -> None:
    await archive(db, [1], 10.0)
    store = await Store.open(tmp_path / "memory.db")
    await store.write([file("a.py", chunk("a.py", "f1", "body 1 with more", line=10))])
    await store.close()
    assert await archived(db) == {1: 10.0}


async def test_policies_know_what_code_and_knowledge_are_about(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await new_store(path)
    login = replace(chunk("auth.py", "login", "def login", line=1), keywords="login password token session")
    total = replace(chunk("cart.py", "total", "def total", line=1), keywords="total sum items")
    await store.write([file("auth.py", login), file("cart.py", total)])
    await store.close()
    fintech = {"fintech": {"condition": "domain == 'security'", "lifespan": "730_days", "decay_mechanism": "none"}}
    reader = Reader(path)
    db = reader.connect()
    facts = lifespan_facts(reader, [1, 2])
    db.close()
    assert {number: (each.domain, each.tags) for number, each in facts.items()} == {
        1: ("security", ("security",)),
        2: ("general", ()),
    }
    configured = merged([Layer("config.json", {"policies": fintech})]).policies
    assert [judge(facts[1], each, 0.0).policy for each in (BUILT_IN, configured)] == ["security_critical", "fintech"]
    assert judge(facts[2], configured, 0.0).policy != "fintech"
