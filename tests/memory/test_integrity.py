"""Memory files looked over, made anew, backed up and saved from damage: real files, really damaged."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import aiosqlite
import pytest

from aurora_memory import StoreError
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.patterns import recall_reasoning
from aurora_memory.store import LoggedEvent, Store, deliverable_log, migrations
from aurora_memory.store.integrity import Fault
from aurora_memory.store.maintenance import salvage_file
from aurora_memory.store.memory_files import memory_file
from aurora_memory.store.migrations import MIGRATIONS
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON, retrieved, run

PAGE = 4096
TODAY = len(MIGRATIONS)
"""The version of the tables' shape."""

FILES = [
    file(
        f"{name}.py",
        *(
            chunk(f"{name}.py", f"{name}_{n}", f"{name} body {n}", line=n * 10, calls=(f"alpha_{n}",))
            for n in range(1, 9)
        ),
    )
    for name in ("alpha", "beta", "gamma")
]
LEARNED = ("accesses", "boosts", "documents", "runs", "difficult", "log_index", "escalations", "deliverable_events")


EVENTS = [LoggedEvent(f"e{n}", "add-search", NOON + n, NOON + n, "cli", f'{{"n":{n}}}') for n in range(3)]


_MADE: list[bytes] = []


async def _make(path: Path) -> None:
    store = await Store.open(path)
    await store.write(FILES, first_time=True)
    await store.resolve()
    await store.learn(run(1, retrieved=retrieved(1, 2, 3, helpful=True)))
    await store.learn(run(2, score=0.2, query="Why does the login page flicker?", retrieved=retrieved(9)))
    await store.index_log("2025/12/run.md", "# Execution\n\nToken validation was implemented for OAuth2 providers.\n")
    await store.log_deliverable_events(EVENTS)
    await store.close()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Three files, two runs learned (one of them a failure), a log indexed: made once, then copied."""
    path = tmp_path / "memory.db"
    if not _MADE:
        await _make(path)
        _MADE.append(path.read_bytes())
    path.write_bytes(_MADE[0])
    store = await Store.open(path)
    yield store
    await store.close()


def dump(path: Path, *tables: str) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        return {table: sorted(db.execute(f"SELECT * FROM {table}")) for table in tables}


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


async def test_a_sound_file_has_no_faults(store: Store) -> None:
    found = await store.check()
    assert (found.version, found.faults, found.damaged) == (TODAY, (), False)
    await store.write(removed=["beta.py"])
    assert (await store.check()).faults == ()


ORPHANS = {
    "relations": ("(1, 'calls', 999, 1.0), (998, 'used', 1, 1.0)", 2),
    "refs": ("(999, 'f', 'calls', '')", 1),
    "accesses (chunk_id, at, kind)": ("(999, 1.0, 'success'), (999, 2.0, 'success')", 2),
    "boosts": ("(999, 'r', 1.0, 0.2)", 1),
    "unresolved": ("(999)", 1),
    "escalations": ("(999, 'tune', 1.0)", 1),
    "changes": ("(999, 1, 1)", 1),
    "embeddings": ("(999, 'm', x'00', x'00')", 1),
    "parts": ("(999, 999, 1, 2, x'80')", 1),
}
"""Rows that speak of chunks that are not there, and how many, by table."""


async def test_orphans_are_counted_and_go_with_a_rebuild(store: Store) -> None:
    change(store.path, *(f"INSERT INTO {table} VALUES {rows}" for table, (rows, _) in ORPHANS.items()))
    faults = (await store.check()).faults
    for table, (_, count) in ORPHANS.items():
        what = f"rows of {table.partition(' ')[0]} speak of chunks that are not there"
        assert Fault(what, count, "rebuild") in faults
    await store.rebuild()
    await store.write(FILES, edited=False)
    assert (await store.check()).faults == ()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM parts WHERE chunk_id = 3", "chunks lack parts to be found by"),
        ("UPDATE blocks SET parts = zeroblob(24)", "blocks of the word index do not fit the parts"),
        ("UPDATE blocks SET block = 7", "blocks of the word index do not fit the parts"),
        ("UPDATE blocks SET block = 7", "blocks have words but no parts"),
        ("DELETE FROM postings WHERE term = 'beta'", "of 64 parts looked at lack words in the word index"),
        ("UPDATE postings SET entries = x'00'", "of 64 parts looked at lack words in the word index"),
        ("UPDATE chunks SET gone_at = 1 WHERE id = 2", "parts of chunks that are gone can be found"),
        ("DELETE FROM files WHERE path = 'beta.py'", "chunks belong to files that are not known"),
        ("DELETE FROM reasoning_words", "reasoning chunks and their searchable words do not match"),
        ("DELETE FROM reasoning_words_data WHERE id > 10", "the text index reasoning_words does not fit its content"),
        ("DELETE FROM chunks WHERE kind = 'reasoning'", "rows of documents speak of chunks that are not there"),
    ],
)
async def test_each_fault_is_found_and_mended(store: Store, statement: str, what: str) -> None:
    change(store.path, statement)
    assert what in [fault.what for fault in (await store.check()).faults]
    await store.rebuild()
    await store.write(FILES, edited=False)
    assert (await store.check()).faults == ()


async def test_a_rebuild_keeps_what_was_learned_and_every_row_id(store: Store) -> None:
    before = dump(store.path, *LEARNED)
    ids = dump(store.path, "(SELECT id, path, name, ordinal, changed_at FROM chunks)")
    relations = dump(store.path, "relations", "refs")
    assert all(before[table] for table in LEARNED if table != "escalations") and relations["relations"]
    done = await store.rebuild()
    assert (done.files, done.recovered, done.dropped) == (3, 0, 0)
    assert await store.read(recall, parse_question("beta body"), 5, NOON) == []
    assert await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON)
    await store.write(FILES, edited=False)
    await store.resolve()
    assert dump(store.path, *LEARNED) == before
    assert dump(store.path, "(SELECT id, path, name, ordinal, changed_at FROM chunks)") == ids
    assert dump(store.path, "relations", "refs") == relations
    assert [hit.chunk.name for hit in await store.read(recall, parse_question("beta_3"), 1, NOON)] == ["beta_3"]


async def test_of_rows_that_a_rebuild_drops_those_are_told_that_were_learned(store: Store) -> None:
    change(store.path, "INSERT INTO changes VALUES (999, 1, 1)")
    change(store.path, "INSERT INTO boosts VALUES (999, 'r', 1.0, 0.2)")
    assert (await store.rebuild()).dropped == 1


async def test_a_rebuild_with_other_words_in_as_many_blocks_is_seen_at_once(store: Store) -> None:
    assert await store.read(recall, parse_question("alpha"), 3, NOON)
    await store.rebuild()
    await store.write(list(reversed(FILES)), edited=False)  # block 0 has as many parts as before, in another order
    assert {hit.chunk.path for hit in await store.read(recall, parse_question("gamma_5"), 1, NOON)} == {"gamma.py"}


async def test_a_reasoning_chunk_comes_back_from_its_document(store: Store) -> None:
    change(store.path, "DELETE FROM chunks WHERE kind = 'reasoning'")
    assert (await store.rebuild()).recovered == 1
    (hit,) = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON)
    assert hit.chunk.name == "oauth2-authentication-api-implementation"
    assert hit.history == (NOON + 1,)


def corrupt(path: Path, *pages: int) -> None:
    with path.open("r+b") as raw:
        for page in pages:
            raw.seek((page - 1) * PAGE)
            raw.write(b"\xaa" * PAGE)


def pages_of(path: Path, table: str) -> list[int]:
    """The root page of a table and the pages below it, told by which of them break it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return [root, *_children(path.read_bytes(), root)]


def _children(raw: bytes, page: int) -> list[int]:
    start = (page - 1) * PAGE
    if raw[start] not in (2, 5):
        return []
    count = int.from_bytes(raw[start + 3 : start + 5], "big")
    cells = [int.from_bytes(raw[start + 12 + 2 * n : start + 14 + 2 * n], "big") for n in range(count)]
    found = [int.from_bytes(raw[start + cell : start + cell + 4], "big") for cell in cells]
    found.append(int.from_bytes(raw[start + 8 : start + 12], "big"))
    return [each for child in found for each in (child, *_children(raw, child))]


ACCESSES = 24 * 40
_MANY: list[bytes] = []


async def many_accesses(path: Path) -> None:
    """A closed memory whose accesses take several pages, and one above them: made once, then copied."""
    if not _MANY:
        store = await Store.open(path)
        await store.write(FILES, first_time=True)
        for at in range(ACCESSES // 24):
            await store.record_accesses(range(1, 25), "success", NOON + at)
        await store.learn(run(1, retrieved=retrieved(1, 2, 3)))
        await store.log_deliverable_events(EVENTS)
        await store.close()
        _MANY.append(path.read_bytes())
    path.write_bytes(_MANY[0])


async def test_a_damaged_open_file_is_set_aside_and_what_is_readable_saved(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await many_accesses(path)
    leaves = pages_of(path, "accesses")[1:]
    assert len(leaves) > 5
    corrupt(path, leaves[2], *pages_of(path, "postings")[1:3])
    damaged = path.read_bytes()
    store = await Store.open(path)
    found = await store.check()
    assert found.damaged and "accesses" not in found.faults[0].what
    done = await store.salvage(NOON)
    assert done.aside.name == "memory.db.damaged-20251212T120000Z"
    assert done.aside.read_bytes()[: len(damaged)] == damaged
    assert "accesses" in done.unreadable and "boosts" not in done.unreadable
    assert ACCESSES // 2 < done.saved["accesses"] < ACCESSES + 4
    assert (done.saved["boosts"], done.saved["documents"], done.saved["runs"]) == (3, 1, 1)
    assert done.saved["deliverable_events"] == 3 and "deliverable_events" not in done.unreadable
    assert [each.id for each in await store.read(deliverable_log.events_of, "add-search")] == ["e0", "e1", "e2"]
    assert (await store.check()).faults == ()
    assert path.stat().st_mode & 0o077 == 0
    assert await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + 10)
    await store.write(FILES, first_time=True)
    (hit,) = await store.read(recall, parse_question("gamma_5"), 1, NOON + 4000)
    assert hit.chunk.id == 21 and len(hit.history) > ACCESSES // 24 // 2
    await store.close()
    assert (await _reopened(path)) == ()


async def _reopened(path: Path) -> tuple[Fault, ...]:
    store = await Store.open(path)
    found = await store.check()
    await store.close()
    return found.faults


@pytest.mark.parametrize("how", ["garbage", "first page", "short", "interior"])
async def test_files_that_nobody_can_open_are_set_aside_too(tmp_path: Path, how: str) -> None:
    path = tmp_path / "memory.db"
    await many_accesses(path)
    if how == "garbage":
        path.write_bytes(b"nothing of the kind" * 1000)
    elif how == "first page":
        corrupt(path, 1)
    elif how == "short":
        path.write_bytes(path.read_bytes()[: 9 * PAGE + 100])
    else:
        corrupt(path, pages_of(path, "accesses")[0], pages_of(path, "documents")[0])
    raw = path.read_bytes()
    done = await salvage_file(path, NOON)
    assert done.aside.read_bytes()[:PAGE] == raw[:PAGE] and done.unreadable
    assert not list(tmp_path.glob("*.salvaged*"))
    assert (await _reopened(path)) == ()
    if how == "interior":
        assert done.saved["boosts"] == 3
        assert done.saved["accesses"] == ACCESSES + 4, "leaves that nothing leads to are found by their checksums"
    again = await salvage_file(path, NOON)
    assert again.aside.name == "memory.db.damaged-20251212T120000Z-2"


OLDER = """DROP TRIGGER chunks_former_places; DROP INDEX chunks_gone;
DROP TABLE deliverable_events; DROP TABLE deliverable_folds; DROP TABLE outbox; DROP TABLE row_sums;
DROP TABLE unrecorded; DROP TABLE unread_entries; DROP TABLE heard_changes; DROP TABLE others_accesses;
DROP TABLE others_runs; DROP TABLE others_patterns; DROP TABLE former_places;
ALTER TABLE files DROP COLUMN mark; ALTER TABLE skips DROP COLUMN mark;
ALTER TABLE chunks DROP COLUMN lead; PRAGMA user_version = 1"""
"""Makes a file of today one of the first shape."""


async def test_an_older_file_gets_the_log_of_deliverables_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await Store.open(path)
    await store.write(FILES, first_time=True)
    await store.learn(run(1, retrieved=retrieved(1, 2, 3, helpful=True)))
    await store.remember("root", str(tmp_path))
    await store.close()
    for statement in OLDER.split(";"):
        change(path, statement)
    known = memory_file(path)
    assert known is not None and known.learned
    before = dump(path, *LEARNED[:-1], "chunks")
    before["chunks"] = [(*row, 0) for row in before["chunks"]]  # where names stand is not known yet
    store = await Store.open(path)
    assert (await store.check()).version == TODAY
    assert list(await store.log_deliverable_events(EVENTS)) == ["e0", "e1", "e2"]
    await store.close()
    assert dump(path, *LEARNED[:-1], "chunks") == before
    after = memory_file(path)
    assert after is not None and after.learned == known.learned + len(EVENTS)


async def test_events_of_deliverables_are_never_changed_or_deleted(store: Store) -> None:
    before = dump(store.path, "deliverable_events")
    for statement in ("DELETE FROM deliverable_events", "UPDATE deliverable_events SET at = 0"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            change(store.path, statement)
    await store.rebuild()
    assert dump(store.path, "deliverable_events") == before


async def test_an_event_that_cannot_be_read_is_told(store: Store) -> None:
    change(store.path, "INSERT INTO deliverable_events VALUES (9, 'e9', 'x', 0, 0, 'cli', '{')")
    fault, changed = (await store.check()).faults
    assert (fault.count, fault.mend) == (1, "none") and "deliverables" in fault.what
    assert changed == Fault("rows of deliverable_events were added by another program", 1, "rebuild")


async def add_a_table(db: aiosqlite.Connection) -> None:
    await db.execute("CREATE TABLE added (x)")


async def test_a_migration_is_preceded_by_a_backup(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.close()
    before = dump(store.path, *LEARNED, "chunks")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_a_table))
    await (await Store.open(store.path)).close()
    backup = store.path.with_name(f"memory.db.v{TODAY}.bak")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert dump(backup, *LEARNED, "chunks") == before == dump(store.path, *LEARNED, "chunks")
    with closing(sqlite3.connect(backup)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (TODAY,)
    for more in (1, 2):
        monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_a_table, *[_nothing] * more))
        await (await Store.open(store.path)).close()
    assert {each.name for each in store.path.parent.glob("*.bak*")} == {
        f"memory.db.v{TODAY + more}.bak" for more in (1, 2)
    }


@pytest.mark.skipif(sys.platform == "win32", reason="whether a process is there cannot be asked for")
async def test_what_a_killed_backup_left_goes_with_the_next_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.close()
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    living, dead = os.getpid(), ended.pid
    old = f"memory.db.v{TODAY - 1}.bak"
    names = [f"{old}.{dead}-0", f"{old}.{dead}-0-journal", f"{old}.{living}-8", f"{old}.{living}-9"]
    for name in names:
        store.path.with_name(name).write_bytes(b"half")
    os.utime(store.path.with_name(names[2]), (1, 1))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_a_table))
    await (await Store.open(store.path)).close()
    found = {each.name for each in store.path.parent.glob("*.bak*")}
    assert found == {f"memory.db.v{TODAY}.bak", names[3]}, "another process may be at work on a young one"


async def _nothing(_: aiosqlite.Connection) -> None: ...


async def test_without_room_for_the_backup_nothing_is_migrated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.close()
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_a_table))
    monkeypatch.setattr(migrations, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(StoreError, match="free some disk space"):
        await Store.open(store.path)
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (TODAY,)
    assert not list(store.path.parent.glob("*.bak*"))


async def test_a_new_file_needs_no_backup(tmp_path: Path) -> None:
    await (await Store.open(tmp_path / "memory.db")).close()
    assert not list(tmp_path.glob("*.bak*"))
