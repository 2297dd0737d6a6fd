"""Real SQLite files: what survives edits, moves, renames, branch switches and crashes."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aurora_memory import StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from aurora_memory.chunks import Import
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import (
    FileStat,
    IndexedFile,
    SkippedFile,
    Store,
    chunk_reader,
    chunk_writer,
    commit_reader,
    file_reader,
    relation_reader,
)
from aurora_memory.store.chunk_diff import FilePlan, plan_file
from aurora_memory.store.chunk_writer import INLINE
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.store.connection import explained
from aurora_memory.store.migrations import MIGRATIONS, lead_to_names
from aurora_memory.store.reader import Reader
from aurora_memory.views import UsageCounts
from tests import programs
from tests.memory.chunks import chunk, file
from tests.memory.runs import retrieved, run
from tests.memory.stores import new_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


async def only(store: Store, path: str, name: str) -> int:
    found = await store.read(chunk_reader.by_name, path, name)
    assert len(found) == 1, f"{len(found)} chunks named {name} in {path}"
    return found[0].id


async def test_unchanged_chunks_keep_their_row_and_shifted_ones_their_words(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one"), chunk("a.py", "two", "other", line=10))])
    before = await only(store, "a.py", "two")
    written = await store.write([file("a.py", chunk("a.py", "one"), chunk("a.py", "two", "other", line=20))])
    assert (written.unchanged, written.shifted, written.rewritten, written.added) == (1, 1, 0, 0)
    (two,) = await store.read(chunk_reader.by_name, "a.py", "two")
    assert (two.id, two.line_start) == (before, 20)
    (hit,) = await store.read(recall, parse_question("other"), 5, 2000.0)
    assert (hit.chunk.id, hit.focus[0]) == (before, 20)


async def test_where_a_name_stands_is_kept_and_follows(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await new_store(path)
    await store.write([file("a.py", chunk("a.py", "one", line=4, lead=2))])
    (one,) = await store.read(chunk_reader.by_name, "a.py", "one")
    assert (one.line_start, one.line) == (4, 6)
    await store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE chunks DROP COLUMN lead")
        db.execute(f"PRAGMA user_version = {MIGRATIONS.index(lead_to_names)}")
    store = await Store.open(path)
    (older,) = await store.read(chunk_reader.by_name, "a.py", "one")
    assert older.line == 4, "of a memory of before, where the chunk begins"
    written = await store.write([file("a.py", chunk("a.py", "one", line=4, lead=2))])
    (again,) = await store.read(chunk_reader.by_name, "a.py", "one")
    assert (again.id, again.line, written.shifted, written.rewritten) == (one.id, 6, 1, 0)
    await store.close()


async def test_history_survives_edit_rename_and_move(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "login", "check the password and issue a token"))])
    chunk_id = await only(store, "a.py", "login")
    await store.record_accesses([chunk_id], "soar", 1000.0)
    await store.write([file("a.py", chunk("a.py", "login", "check the password, issue a token, log it"))])
    await store.write([file("a.py", chunk("a.py", "sign_in", "check the password, issue a token, log it"))])
    assert await only(store, "a.py", "sign_in") == chunk_id
    await store.write(
        [file("b.py", chunk("b.py", "sign_in", "check the password, issue a token, log it"))], removed=["a.py"]
    )
    assert await only(store, "b.py", "sign_in") == chunk_id
    assert await store.read(chunk_reader.accesses, [chunk_id]) == {chunk_id: [1000.0]}


async def test_history_survives_rename_and_edit_in_one_save(store: Store) -> None:
    body = "check the password against the hash and issue a signed token for the session"
    await store.write([file("a.py", chunk("a.py", "login", body))])
    chunk_id = await only(store, "a.py", "login")
    await store.write([file("a.py", chunk("a.py", "sign_in", body + " today"))])
    assert await only(store, "a.py", "sign_in") == chunk_id


async def test_history_survives_a_branch_switch_there_and_back(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "login", "a body of its own"))])
    chunk_id = await only(store, "a.py", "login")
    await store.record_accesses([chunk_id], "soar", 1000.0)
    await store.write(removed=["a.py"])
    assert (await store.counts()).chunks == 0
    assert await store.read(recall, parse_question("login"), 5, 2000.0) == []
    await store.write([file("a.py", chunk("a.py", "login", "a body of its own"))])
    assert await only(store, "a.py", "login") == chunk_id
    assert await store.read(chunk_reader.accesses, [chunk_id]) == {chunk_id: [1000.0]}


async def test_history_follows_a_function_saved_into_its_new_file_first(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "login", "a body of its own"))])
    await store.record_accesses([await only(store, "a.py", "login")], "soar", 1000.0)
    await store.write([file("b.py", chunk("b.py", "login", "a body of its own"))])
    await store.write([file("a.py")])
    moved = await only(store, "b.py", "login")
    assert await store.read(chunk_reader.accesses, [moved]) == {moved: [1000.0]}


async def test_two_functions_may_swap_names(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "f", "first body"), chunk("a.py", "g", "second body", line=9))])
    await store.write([file("a.py", chunk("a.py", "g", "first body"), chunk("a.py", "f", "second body", line=9))])
    assert (await store.counts()).chunks == 2


async def test_overloads_are_chunks_of_their_own(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "f", "int"), chunk("a.py", "f", "str", line=9, ordinal=1))])
    assert len(await store.read(chunk_reader.by_name, "a.py", "f")) == 2


def overloads(*bodies: str) -> IndexedFile:
    chunks = (chunk("a.py", "f", body, line=10 * n, ordinal=n) for n, body in enumerate(bodies))
    return file("a.py", *chunks)


async def rows(store: Store) -> list[int]:
    return [view.id for view in await store.read(chunk_reader.by_name, "a.py", "f")]


async def test_an_overload_before_the_others_takes_nothing_of_theirs(store: Store) -> None:
    await store.write([overloads("of an int", "of a str")])
    of_int, of_str = await rows(store)
    written = await store.write([overloads("of utf8", "of an int", "of a str")])
    assert (written.added, written.shifted, written.rewritten, written.vanished) == (1, 2, 0, 0)
    of_utf8, *others = await rows(store)
    assert others == [of_int, of_str]
    written = await store.write([overloads("of utf8", "of an int", "of a str")])
    assert (written.unchanged, written.shifted) == (3, 0), "what was shifted is known by its new place"
    await store.write([overloads("of a str", "of an int", "of utf8")])
    assert await rows(store) == [of_str, of_int, of_utf8]


async def test_an_overload_that_is_edited_is_known_by_its_neighbours(store: Store) -> None:
    await store.write([overloads("of an int", "of a str")])
    of_int, of_str = await rows(store)
    await store.write([overloads("of utf8", "of an int", "something else altogether")])
    assert (await rows(store))[1:] == [of_int, of_str]
    words = "check the password against the hash and issue a token"
    await store.write([overloads(words, "count the days of a month")])
    checks, counts = await rows(store)
    await store.write([overloads("of utf8", f"{words} today", "count the days of a month, then of a year")])
    assert (await rows(store))[1:] == [checks, counts], "where the neighbours leave a choice, by its words"


async def test_a_function_that_comes_back_is_not_taken_for_its_copy_elsewhere_too(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "f", "a body of its own"))])
    await store.record_accesses([await only(store, "a.py", "f")], "soar", 1000.0)
    await store.write([file("a.py")])
    await store.write([file(path, chunk(path, "f", "a body of its own")) for path in ("b.py", "a.py")])
    assert await only(store, "a.py", "f") != await only(store, "b.py", "f")


async def test_an_overload_that_goes_and_comes_back_has_its_history(store: Store) -> None:
    await store.write([overloads("of an int", "of a str")])
    of_int, of_str = await rows(store)
    await store.record_accesses([of_int, of_str], "soar", 1000.0)
    await store.write([overloads("of a str")])
    assert await rows(store) == [of_str]
    await store.write([overloads("of an int", "of a str")])
    assert await rows(store) == [of_int, of_str]
    await store.write([overloads("of a str")])
    await store.write([overloads("of an int")])
    await store.write([overloads("of a str", "of utf8", "of an int")])
    found = await rows(store)
    assert (found[0], found[2]) == (of_str, of_int)
    assert await store.read(chunk_reader.accesses, found) == {of_int: [1000.0], of_str: [1000.0]}


async def test_a_function_that_moves_into_a_class_keeps_its_history(store: Store) -> None:
    body = "check the password against the hash and issue a signed token for the session"
    await store.write([file("a.py", chunk("a.py", "login", body))])
    login = await only(store, "a.py", "login")
    service = chunk("a.py", "Service", "all of it", kind="class")
    await store.write([file("a.py", service, chunk("a.py", "Service.login", body, kind="method", line=2))])
    assert await only(store, "a.py", "Service.login") == login
    await store.write([file("a.py", service, chunk("a.py", "login", body + " today", line=9))])
    assert await only(store, "a.py", "login") == login, "moved and edited at once"


async def test_many_chunks_and_all_that_needs_their_words_are_compared_beside_the_event_loop(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bool] = []

    def plan(*of_one_file: Any, anew: bool) -> FilePlan:
        compared.append(threading.current_thread() is threading.main_thread())
        return plan_file(*of_one_file, anew=anew)

    monkeypatch.setattr(chunk_writer, "plan_file", plan)
    body = "check the password against the hash and issue a signed token for the session"
    await store.write([file("a.py", *(chunk("a.py", f"f{number}", body) for number in range(INLINE + 1)))])
    assert compared == [False]
    await store.write([file("b.py", chunk("b.py", "login", body))])
    await store.write([file("b.py", chunk("b.py", "sign_in", body + " today"))])
    assert compared == [False, True, True, False], "a name in place of another may be a rename: by its words"


async def test_a_skipped_file_leaves_recall_and_is_remembered(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "login"))])
    await store.write(skipped=[SkippedFile("a.py", "binary", "has a NUL byte", FileStat(9, 9))])
    counts = await store.counts()
    assert (counts.files, counts.chunks, counts.skipped) == (0, 0, 1)
    assert await store.read(file_reader.skips) == {"a.py": ("binary", "has a NUL byte", FileStat(9, 9))}
    await store.write([file("a.py", chunk("a.py", "login"))])
    assert (await store.counts()).skipped == 0


async def called(store: Store) -> tuple[int, int]:
    """Row ids of `check_password`, and of `login` of another file, which calls it."""
    await store.write(
        [
            file("auth.py", chunk("auth.py", "check_password")),
            file(
                "web.py",
                chunk("web.py", "login", calls=("check_password",)),
                imports=(Import("auth", "check_password"),),
            ),
        ]
    )
    await store.resolve()
    return await only(store, "auth.py", "check_password"), await only(store, "web.py", "login")


async def test_relations_follow_the_names(store: Store) -> None:
    checked, login = await called(store)
    assert (await store.counts()).unresolved == 0
    assert (await store.read(relation_reader.usages, [checked])) == {checked: UsageCounts(callers=1)}
    # The callee is renamed and the caller not yet saved: the edge must go, and come back with the name.
    await store.write([file("auth.py", chunk("auth.py", "verify"))])
    await store.resolve()
    await store.write([file("auth.py", chunk("auth.py", "verify"), chunk("auth.py", "check_password", "new", line=9))])
    await store.resolve()
    again = await only(store, "auth.py", "check_password")
    assert [edge.other.id for edge in await store.read(relation_reader.edges, again) if edge.kind == "calls"] == [login]


async def test_classes_contain_their_methods(store: Store) -> None:
    await store.write(
        [file("a.py", chunk("a.py", "Auth", kind="class"), chunk("a.py", "Auth.login", kind="method", line=2))]
    )
    await store.resolve()
    edges = await store.read(relation_reader.edges, await only(store, "a.py", "Auth"))
    assert [(edge.kind, edge.outgoing, edge.other.name) for edge in edges] == [("contains", True, "Auth.login")]


async def test_a_file_moved_and_edited_counts_every_chunk_once(store: Store) -> None:
    chunks = [chunk("a.py", f"f{n}", f"body number {n} of many", line=n * 10 + 1) for n in range(20)]
    await store.write([file("a.py", *chunks)])
    moved = [chunk("b.py", f"f{n}", f"body number {n} of many", line=n * 10 + 1) for n in range(19)]
    await store.write([file("b.py", *moved, chunk("b.py", "g", "entirely new"))], removed=["a.py"])
    counts = await store.counts()
    assert (counts.files, counts.chunks) == (1, 20)


async def test_the_database_is_private(store: Store) -> None:
    assert store.path.stat().st_mode & 0o077 == 0


async def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"certainly not SQLite, but long enough to look at" * 100)
    with pytest.raises(StoreCorrupt, match=r"memory\.db"):
        await Store.open(path)
    assert path.read_bytes().startswith(b"certainly")


async def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA application_id = 42")
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(StoreCorrupt, match="another program"):
        await Store.open(path)


async def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await (await Store.open(path)).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        await Store.open(path)


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        await Store.open(tmp_path / "file" / "memory.db")


async def test_two_processes_opening_at_once_agree_on_the_shape(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(Store.open(tmp_path / "memory.db") for _ in range(4)))
    await stores[0].write([file("a.py", chunk("a.py", "login"))])
    assert (await stores[3].counts()).chunks == 1
    for store in stores:
        await store.close()
    assert not list(tmp_path.glob("*.bak")), "a new file is nobody's older version"


def test_kill_during_writes_loses_no_committed_file(tmp_path: Path) -> None:
    script = """
import asyncio, sys
from contextlib import closing
from pathlib import Path
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file
async def main():
    store = await Store.open(Path(sys.argv[1]))
    for n in range(100000):
        path = f"f{n}.py"
        await store.write([file(path, *(chunk(path, f"g{m}", f"body {n} {m}", line=m * 9 + 1) for m in range(20)))])
        print(n, flush=True)
asyncio.run(main())
"""
    path = tmp_path / "memory.db"
    for _ in range(3):
        with programs.start([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            acknowledged = [process.stdout.readline() for _ in range(5)]
            time.sleep(0.03)
            process.kill()
            acknowledged += process.stdout.readlines()
        last = int([line for line in acknowledged if line.endswith("\n")][-1])
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            files = {row[0] for row in db.execute("SELECT path FROM files")}
            assert {f"f{n}.py" for n in range(last + 1)} <= files
            assert db.execute("SELECT count(*) FROM chunks").fetchone() == (20 * len(files),)
            entries = db.execute("SELECT sum(length(entries)) FROM postings WHERE term = 'bodi'").fetchone()
            assert entries == (4 * 20 * len(files),)
        db.close()


async def test_what_was_edited_lately_is_found_by_an_index(store: Store) -> None:
    old = [file(f"{n}.py", chunk(f"{n}.py", "one", "a body")) for n in range(20)]
    await store.write(old, edited=False)
    assert await store.read(chunk_reader.changed_since, 0.0, 10) == [], "a first indexing is no edit"
    before = time.time()
    for n in (3, 5):
        await store.write([file(f"{n}.py", chunk(f"{n}.py", "one", "another body altogether"))])
    assert [each.path for each in await store.read(chunk_reader.changed_since, before - 1, 10)] == ["5.py", "3.py"]
    assert [each.path for each in await store.read(chunk_reader.changed_since, before - 1, 1)] == ["5.py"]
    assert await store.read(chunk_reader.changed_since, time.time() + 60, 10) == []
    with sqlite3.connect(store.path) as db:
        plan = str(
            db.execute(
                "EXPLAIN QUERY PLAN SELECT id FROM chunks WHERE changed_at >= 5 AND gone_at IS NULL"
                " AND kind != 'reasoning' ORDER BY changed_at DESC, id LIMIT 5"
            ).fetchall()
        )
    db.close()
    assert "chunks_changed" in plan, plan


async def test_files_are_found_by_the_end_of_their_path(store: Store) -> None:
    await store.write([file(path, chunk(path, "f")) for path in ("a.py", "src/a.py", "src/b/a.py", "src/aa.py")])
    assert await store.read(file_reader.files_like, "a.py") == ["a.py", "src/a.py", "src/b/a.py"]
    assert await store.read(file_reader.files_like, "src/a.py") == ["src/a.py"]
    assert await store.read(file_reader.files_like, "%.py") == []


async def test_a_count_holds_what_is_sure_apart_from_what_is_likely(store: Store) -> None:
    await store.write(
        [
            file("base.py", chunk("base.py", "Base", kind="class")),
            file("other.py", chunk("other.py", "Base", kind="class")),
            file(
                "a.py",
                chunk("a.py", "Sure", kind="class", inherits=("Base",)),
                imports=(Import("base", "Base"),),
            ),
            file("b.py", chunk("b.py", "Guess", kind="class", inherits=("Base",))),
        ]
    )
    await store.resolve()
    base = await only(store, "base.py", "Base")
    assert await store.read(relation_reader.usages, [base]) == {base: UsageCounts(subclasses=1, likely_subclasses=1)}


def asked_for(reader: Reader, ask: Callable[[Reader], object]) -> tuple[str, Sequence[object]]:
    """The first statement that is asked, beside whether anything was written, and its values."""
    asked: list[tuple[str, Sequence[object]]] = []
    rows = reader.rows
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reader, "rows", lambda sql, values=(): asked.append((sql, values)) or rows(sql, values))
        ask(reader)
    return next(each for each in asked if not each[0].startswith("PRAGMA"))


async def test_callers_are_counted_by_an_index_alone(store: Store) -> None:
    sql, values = await store.read(asked_for, lambda reader: relation_reader.usages(reader, [1]))
    found = str(await store.read(lambda reader: reader.rows(f"EXPLAIN QUERY PLAN {sql}", values)))
    assert "COVERING INDEX relations_to" in found and "chunks" not in found, found


async def test_names_with_letters_in_them_are_looked_for_among_names_alone(store: Store) -> None:
    sql, values = await store.read(asked_for, lambda reader: chunk_reader.names_with(reader, "oo"))
    found = str(await store.read(lambda reader: reader.rows(f"EXPLAIN QUERY PLAN {sql}", values)))
    assert "INDEX chunks_leaf" in found and "SCAN chunks" not in found, found


async def test_what_commits_changed_is_told_by_an_index_alone(store: Store) -> None:
    sql, values = await store.read(asked_for, lambda reader: commit_reader.changed_by(reader, [1, 2]))
    found = str(await store.read(lambda reader: reader.rows(f"EXPLAIN QUERY PLAN {sql}", values)))
    assert "COVERING INDEX changes_commit" in found and "chunks" not in found, found
    gone = "EXPLAIN QUERY PLAN SELECT id FROM chunks WHERE gone_at IS NOT NULL"
    assert "COVERING INDEX chunks_gone" in str(await store.read(lambda reader: reader.rows(gone)))


async def test_a_commit_changed_nothing_that_is_gone(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "login", "a body"), chunk("a.py", "logout", "another one"))])
    login, logout = await only(store, "a.py", "login"), await only(store, "a.py", "logout")
    await store.record_accesses([login], "soar", 1000.0)
    change = ChangingCommit("abc", 1000, "Sign people in", "", 1, False, (login, logout))
    await store.history.save([change], {login: "login", logout: "logout"})
    found = await store.read(commit_reader.similar_commits, ["sign"], 5)
    assert await store.read(commit_reader.changed_by, [found[0].id]) == {found[0].id: [login, logout]}
    await store.write([file("a.py", chunk("a.py", "logout", "another one"))])
    assert await store.read(commit_reader.changed_by, [found[0].id]) == {found[0].id: [logout]}
    await store.write([file("a.py", chunk("a.py", "login", "a body"), chunk("a.py", "logout", "another one"))])
    assert await store.read(commit_reader.changed_by, [found[0].id]) == {found[0].id: [login, logout]}


async def test_a_recall_goes_through_no_more_relations_than_its_chunks_have(store: Store) -> None:
    """SQLite makes a Bloom filter of all of them where it knows that they are many, and is asked for more than ids."""
    sql, values = await store.read(asked_for, lambda reader: relation_reader.arcs(reader, [1], 32))
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("ANALYZE")
        db.execute("DELETE FROM sqlite_stat1")
        many = [("relations", "180757 6 5 1"), ("relations_to", "180757 8 5 5")]
        db.executemany("INSERT INTO sqlite_stat1 VALUES ('relations', ?, ?)", many)
        db.execute("ANALYZE sqlite_schema")
        found = str(db.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall())
    assert "SEARCH relations" in found and "BLOOM FILTER" not in found and "SCAN relations" not in found, found


async def test_who_is_gone_with_something_learned_is_no_caller(store: Store) -> None:
    checked, login = await called(store)
    await store.learn(run(1, retrieved=retrieved(login)))
    await store.write(removed=["web.py"])
    await store.resolve()
    assert await store.read(relation_reader.usages, [checked]) == {}


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        pytest.param(sqlite3.OperationalError("database is locked"), StoreBusy, "another process", id="locked"),
        pytest.param(sqlite3.OperationalError("file is busy"), StoreBusy, "another process", id="or busy"),
        pytest.param(sqlite3.DatabaseError("file is not a database"), StoreCorrupt, "sets it aside", id="another file"),
        pytest.param(sqlite3.DatabaseError("disk image is malformed"), StoreCorrupt, "sets it aside", id="malformed"),
        pytest.param(sqlite3.OperationalError("database or disk is full"), StoreError, "free some disk", id="no room"),
        pytest.param(sqlite3.OperationalError("no such table"), StoreError, "run 'aurora doctor'", id="anything else"),
    ],
)
def test_what_sqlite_says_is_told_with_the_next_step(error: sqlite3.Error, kind: type[StoreError], said: str) -> None:
    told = explained(error, Path("m.db"))
    assert type(told) is kind and said in str(told) and "m.db" in str(told)
