"""The registry of tables: complete, and all that salvage, export, import, rebuild and the check go by."""

import gzip
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from aurora_memory.store import Store, chunk_reader, integrity, migrations, rebuild, salvage, tables
from aurora_memory.store.export_format import ChunkKey, ExportLine, Moment, Name
from aurora_memory.store.migrations import MIGRATIONS
from aurora_memory.store.tables import TABLES, Carried, ChunkColumn, Table
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON
from tests.memory.test_export import CACHE, FILES, learned, taught

SAMPLES = Path(__file__).parent / "samples"
LEARNED = [table for table in TABLES if table.nature == "learned"]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    await store.write(FILES, first_time=True)
    yield await taught(store)
    await store.close()


def read(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.execute(sql))


def learned_rows(path: Path, table: Table) -> list[Any]:
    return read(path, f"SELECT * FROM {table.name} WHERE {table.rows or 'TRUE'} ORDER BY {table.key}")


async def test_every_table_and_column_is_registered(store: Store) -> None:
    found = {
        name: kind for _, name, kind, *_ in read(store.path, "PRAGMA table_list") if not name.startswith("sqlite_")
    }
    shadows = {name for name, kind in found.items() if kind == "shadow"}  # of the full text tables
    assert found.keys() - shadows == {table.name for table in TABLES}
    assert len({table.name for table in TABLES}) == len(TABLES)
    for table in TABLES:
        columns = [row[1] for row in read(store.path, f"PRAGMA table_info({table.name})")]
        assert sorted(columns) == sorted(table.columns), table.name
        named = {each.column for each in table.references} | set(table.here) | {table.key} - {"rowid"}
        assert named <= set(columns), table.name


def test_every_column_that_names_a_chunk_is_a_reference() -> None:
    for table in TABLES:
        references = {each.column for each in table.references}
        assert {column for column in table.columns if column == "chunk_id"} <= references, table.name
        fields = table.carried.fields if table.carried and table.name != "chunks" else ()
        keys = {table.carried.columns.get(field.name, field.name) for field in fields if field.type in _KEYS}
        assert keys <= references, table.name


_KEYS = (ChunkKey, ChunkKey | None)


@pytest.mark.parametrize("table", LEARNED, ids=lambda table: table.name)
def test_every_learned_column_travels_or_is_said_to_stay_here(table: Table) -> None:
    assert table.carried is not None
    carried = {table.carried.columns.get(field.name, field.name) for field in table.carried.fields}
    if table.rows:  # part of the rows, and of their columns
        assert carried <= set(table.columns)
    elif not table.carried.select:
        assert carried | set(table.here) == set(table.columns)
        assert not carried & set(table.here)


async def test_nothing_learned_is_empty_or_lost_on_its_way(store: Store, tmp_path: Path) -> None:
    before = {table.name: learned_rows(store.path, table) for table in LEARNED}
    assert all(before.values()), "teach what the new table holds in test_export.taught"
    everything = learned(store.path)
    await store.rebuild()
    assert {table.name: len(learned_rows(store.path, table)) for table in LEARNED} == {
        name: len(rows) for name, rows in before.items()
    }
    assert learned(store.path) == everything
    done = await store.salvage(NOON)
    assert done.unreadable == () and learned(store.path) == everything
    await store.write(FILES)
    for table in LEARNED:
        if table.name != "chunks":
            assert learned_rows(store.path, table) == before[table.name]
    lines = (await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)).lines
    assert set(lines) == {table.carried.tag for table in LEARNED if table.carried}
    there = await Store.open(tmp_path / "there.db")
    await there.import_learned(tmp_path / "out.jsonl", NOON)
    await there.write(FILES, first_time=True)
    assert learned(there.path) == everything
    await there.close()


async def test_what_is_of_this_machine_survives_mending_and_stays(store: Store, tmp_path: Path) -> None:
    async with store._transaction() as db:
        await db.execute("INSERT INTO outbox VALUES ('add-search', 1.0, 2.0)")
    await store.remember("root", "/home/me/shop")
    await store.remember("indexed_at", "1")
    await store.rebuild()
    await store.salvage(NOON)
    assert read(store.path, "SELECT * FROM outbox") == [("add-search", 1.0, 2.0)]
    assert read(store.path, "SELECT * FROM facts") == [("root", "/home/me/shop")]
    await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)
    assert "/home/me" not in (tmp_path / "out.jsonl").read_text()


async def test_a_memory_file_and_an_export_of_before_are_read_and_written_alike(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((SAMPLES / "memory-3.db.gz").read_bytes()))
    shape = "SELECT name, sql FROM sqlite_master ORDER BY name"
    before = [name for name, _ in read(path, shape)]
    old = await Store.open(path)
    assert (await old.check()).faults == ()
    await old.export_learned(tmp_path / "again.jsonl", "shop", NOON + 1000)
    assert (tmp_path / "again.jsonl").read_bytes() == (SAMPLES / "export-2.jsonl").read_bytes()
    there = await Store.open(tmp_path / "there.db")
    done = await there.import_learned(SAMPLES / "export-2.jsonl", NOON + 2000)
    assert done.added == done.lines
    assert learned(there.path) == learned(old.path)
    await old.close()
    await there.close()
    assert [name for name, _ in read(path, shape)] == sorted(
        [
            *before,
            "chunks_gone",
            "row_sums",
            "unrecorded",
            "unread_entries",
            "heard_changes",
            "others_accesses",
            "others_runs",
            "others_patterns",
            "former_places",
            "former_places_chunk",
            "chunks_former_places",
        ]
    )
    assert read(tmp_path / "there.db", shape) == read(path, shape), "an older file becomes what a new one is"


class NoteLine(ExportLine, frozen=True, tag="note"):
    """Note on a chunk."""

    chunk: ChunkKey
    text: Name
    at: Moment


NOTES = Table(
    name="notes",
    key="chunk_id",
    columns=("chunk_id", "text", "at"),
    nature="learned",
    references=(ChunkColumn("chunk_id", holds=True),),
    carried=Carried(NoteLine, ("chunk_id", "text"), ("chunk", "text"), {"chunk": "chunk_id"}),
)


async def add_notes(db: aiosqlite.Connection) -> None:
    await db.execute(
        """CREATE TABLE notes (chunk_id INTEGER NOT NULL, text TEXT NOT NULL, at REAL NOT NULL,
           PRIMARY KEY (chunk_id, text)) WITHOUT ROWID"""
    )


@pytest.mark.parametrize(("version", "committed"), [(0, [3]), (1, [2, 3]), (2, [3]), (3, [])])
async def test_a_new_file_gets_its_whole_shape_at_once_an_older_one_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, committed: list[int]
) -> None:
    """Else who opens a new one meanwhile takes half of its shape for an older version's, and copies it aside."""
    done: list[int] = []

    def step(number: int) -> Callable[[aiosqlite.Connection], Awaitable[None]]:
        async def run(db: aiosqlite.Connection) -> None:
            done.append(number)

        return run

    monkeypatch.setattr(migrations, "MIGRATIONS", tuple(map(step, (1, 2, 3))))
    path = tmp_path / "memory.db"
    said: list[str] = []
    async with aiosqlite.connect(path, isolation_level=None) as db:
        await db.execute(f"PRAGMA user_version = {version}")
        await db.set_trace_callback(said.append)
        await migrations.migrate(db, path)
    versions = [int(each.rpartition(" ")[2]) for each in said if "user_version =" in each]
    assert (done, versions, said.count("COMMIT")) == ([1, 2, 3][version:], committed, len(committed))
    assert path.with_name(f"memory.db.v{version}.bak").exists() == (0 < version < 3)


async def test_a_new_learned_table_is_a_migration_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is exported, imported, salvaged, rebuilt and checked, holds its chunk and moves with it."""
    for module in (tables, salvage, rebuild, integrity):
        monkeypatch.setattr(module, "TABLES", (*TABLES, NOTES))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_notes))
    store = await Store.open(tmp_path / "memory.db")
    await store.write(FILES, first_time=True)
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    async with store._transaction() as db:
        await db.executemany("INSERT INTO notes VALUES (?, ?, ?)", [(evict.id, "slow", NOON), (999, "whose", NOON)])
    assert [(fault.what, fault.count) for fault in (await store.check()).faults if "notes" in fault.what] == [
        ("rows of notes speak of chunks that are not there", 1)
    ]
    assert (await store.rebuild()).dropped == 1
    assert (await store.salvage(NOON)).saved == {"notes": 1}
    exported = await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)
    assert exported.lines == {"note": 1}
    await store.write(FILES)
    moved = chunk("lib/cache.py", "evict", "throw the oldest entry out", line=1)
    await store.write([file("lib/cache.py", moved)])
    await store.write(removed=[CACHE.path])
    named = "SELECT path, text, at FROM notes JOIN chunks ON chunks.id = chunk_id WHERE gone_at IS NULL"
    assert read(store.path, named) == [("lib/cache.py", "slow", NOON)]
    await store.write(removed=["lib/cache.py"])
    assert read(store.path, "SELECT path FROM notes JOIN chunks ON id = chunk_id") == [("lib/cache.py",)]
    there = await Store.open(tmp_path / "there.db")
    await there.write(FILES, first_time=True)
    assert (await there.import_learned(tmp_path / "out.jsonl", NOON)).added == {"note": 1}
    assert (await there.import_learned(tmp_path / "out.jsonl", NOON)).added == {}
    assert read(there.path, named) == [("src/cache.py", "slow", NOON)]
    await there.close()
    await store.close()
