"""Learned memory from one file to another: identities, moves, merges, and lines that nobody should believe."""

import asyncio
import errno
import json
import os
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aurora_memory import StoreError
from aurora_memory.documents import PatternSubgoal
from aurora_memory.learning import Feedback
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import IndexedFile, LoggedEvent, Store, chunk_reader, importer
from aurora_memory.store.export_format import MAX_LINE, InvalidExport, line_reader, read_header
from aurora_memory.store.lifespans import archive, escalate
from aurora_memory.store.tables import carried
from aurora_memory.store.unfinished_file import UnfinishedFile
from tests import programs
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON, retrieved, run
from tests.memory.stores import new_store
from tests.shares import examples

AUTH = chunk("src/auth.py", "Auth.login", "check the token and let them in", line=1)
CACHE = chunk("src/cache.py", "evict", "throw the oldest entry out", line=1)
FILES = (file("src/auth.py", AUTH), file("src/cache.py", CACHE))

Opener = Callable[..., Awaitable[Store]]

read_line = line_reader(form.line for _, form in carried())


_INDEXED: list[bytes] = []
_TAUGHT: list[bytes] = []


async def with_files(path: Path) -> Store:
    """Store of a new memory of `FILES`: made once, then copied."""
    if not _INDEXED:
        store = await new_store(path)
        await store.write(FILES, first_time=True)
        await store.close()
        _INDEXED.append(path.read_bytes())
    path.write_bytes(_INDEXED[0])
    return await Store.open(path)


async def already_taught(path: Path) -> Store:
    """Store of a new memory of `FILES` that was `taught`: made once, then copied."""
    if not _TAUGHT:
        store = await taught(await with_files(path))
        await store.close()
        _TAUGHT.append(path.read_bytes())
    path.write_bytes(_TAUGHT[0])
    return await Store.open(path)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    """Opens memory files by name, with files in them, and closes them in the end."""
    stores: list[Store] = []

    async def make(name: str, *files: IndexedFile, knowing: bool = False) -> Store:
        path = tmp_path / f"{name}.db"
        store = await (already_taught if knowing else with_files if files == FILES else new_store)(path)
        stores.append(store)
        if files and files != FILES:
            await store.write(files, first_time=True)
        return store

    yield make
    for store in stores:
        await store.close()


async def taught(store: Store) -> Store:
    """One success, one failure, a log, an archived and a flagged chunk."""
    (login,) = await store.read(chunk_reader.by_name, "src/auth.py", "Auth.login")
    (evict,) = await store.read(chunk_reader.by_name, "src/cache.py", "evict")
    await store.learn(run(1, retrieved=retrieved(login.id, evict.id, helpful=True)))
    await store.learn(run(2, score=0.1, query="Why does the login page flicker?", retrieved=retrieved(login.id)))
    await store.index_log("2025/12/run.md", "# Execution\n\nToken validation was implemented for OAuth2 providers.\n")
    body = '{"id":"e1","change_id":"add-search","at":1,"what":{"event":"phase_start","phase":"apply"}}'
    await store.log_deliverable_events([LoggedEvent("e1", "add-search", NOON, NOON + 1, "cli", body)])
    async with store._transaction() as db:
        await archive(db, [login.id], NOON + 500)
        await escalate(db, {evict.id: ("candidate_for_fine_tuning",)}, NOON + 600)
    return store


def learned(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything learned, by what chunks are rather than by their rows."""
    key = "chunks.path, chunks.name, chunks.ordinal"
    queries = {
        "accesses": f"SELECT {key}, at, accesses.kind FROM accesses JOIN chunks ON chunks.id = chunk_id",
        "boosts": f"SELECT {key}, run_id, at, amount FROM boosts JOIN chunks ON chunks.id = chunk_id",
        "documents": f"SELECT {key}, pattern, fingerprint, json FROM documents JOIN chunks ON chunks.id = chunk_id",
        "used": f"""SELECT one.name, {key}, weight FROM relations JOIN chunks AS one ON one.id = from_id
                    JOIN chunks ON chunks.id = to_id WHERE relations.kind = 'used'""",
        "runs": f"""SELECT runs.id, at, outcome, score, query, {key} FROM runs
                    LEFT JOIN chunks ON chunks.id = reasoning_id""",
        "difficult": "SELECT * FROM difficult",
        "archived": f"SELECT {key}, archived_at FROM chunks WHERE archived_at IS NOT NULL",
        "escalations": f"SELECT {key}, action, at FROM escalations JOIN chunks ON chunks.id = chunk_id",
        "log_index": "SELECT * FROM log_index",
        "deliverable_events": "SELECT id, change_id, at, received_at, source, body FROM deliverable_events",
    }
    with closing(sqlite3.connect(path)) as db:
        return {name: sorted(db.execute(sql)) for name, sql in queries.items()}


async def exported(store: Store, tmp_path: Path, name: str = "memory.jsonl") -> Path:
    target = tmp_path / name
    await store.export_learned(target, "shop", NOON + 1000)
    return target


async def test_everything_learned_arrives_and_twice_is_once(opened: Opener, tmp_path: Path) -> None:
    here = await opened("here", knowing=True)
    there = await opened("there", file("other.py", chunk("other.py", "noise")), *FILES)
    path = await exported(here, tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    done = await there.import_learned(path, NOON + 2000)
    assert (done.moved, done.waiting) == (0, 0)
    assert done.header.workspace == "shop" and done.header.lines == sum(done.lines.values())
    assert done.added == done.lines
    assert {key: done.lines[key] for key in ("access", "boost", "use", "run", "reasoning")} == {
        "access": 3,
        "boost": 2,
        "use": 2,
        "run": 2,
        "reasoning": 1,
    }
    everything = learned(here.path)
    assert all(everything.values())
    assert learned(there.path) == everything
    again = await there.import_learned(path, NOON + 3000)
    assert again.added == {} and again.lines == done.lines
    assert learned(there.path) == everything
    assert (await there.check()).faults == ()
    assert (await exported(there, tmp_path, "again.jsonl")).read_bytes() == path.read_bytes()


async def test_an_import_before_the_first_index_waits_for_the_files(opened: Opener, tmp_path: Path) -> None:
    here = await opened("here", knowing=True)
    there = await opened("there")
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    assert (done.moved, done.waiting) == (0, 2)
    assert await there.read(recall, parse_question("evict"), 5, NOON) == []
    moved = chunk("src/store/cache.py", "evict", "throw the oldest entry out", line=40)
    await there.write([FILES[0], file("src/store/cache.py", moved)], first_time=True)
    (hit,) = await there.read(recall, parse_question("evict"), 1, NOON + 5000)
    assert (hit.chunk.path, hit.history) == ("src/store/cache.py", (NOON + 1,))
    (login,) = await there.read(chunk_reader.by_name, "src/auth.py", "Auth.login")
    assert (await there.read(chunk_reader.accesses, [login.id]))[login.id] == [NOON + 1]
    assert (await there.import_learned(tmp_path / "memory.jsonl", NOON)).added == {}


async def test_moved_chunks_are_known_by_their_shape(opened: Opener, tmp_path: Path) -> None:
    here = await opened("here", knowing=True)
    renamed = chunk("lib/login.py", "sign_in", "check the token and let them in", line=7)
    there = await opened("there", file("lib/login.py", renamed))
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    assert (done.moved, done.waiting) == (1, 1)
    (found,) = await there.read(chunk_reader.by_name, "lib/login.py", "sign_in")
    assert (await there.read(chunk_reader.accesses, [found.id]))[found.id] == [NOON + 1]
    assert (await there.import_learned(tmp_path / "memory.jsonl", NOON)).added == {}


async def test_what_is_told_of_a_former_place_is_told_of_the_chunk_that_was_there(
    opened: Opener, tmp_path: Path
) -> None:
    here = await opened("here", knowing=True)
    path = await exported(here, tmp_path)
    there = await opened("there", *FILES)
    await there.import_learned(path, NOON + 2000)
    before = learned(there.path)
    moved = chunk("src/store/cache.py", "evict", "throw the oldest entry out", line=40)
    await there.write([file("src/store/cache.py", moved)], removed=["src/cache.py"])
    edited = chunk("src/store/cache.py", "evict", "throw every entry out that nobody asked for since noon", line=40)
    await there.write([file("src/store/cache.py", edited)])
    after = learned(there.path)
    assert len(after["boosts"]) == len(before["boosts"])
    assert ("src/store/cache.py", "evict") in {row[:2] for row in after["boosts"]}
    done = await there.import_learned(path, NOON + 3000)
    assert (done.moved, done.waiting) == (0, 0)
    assert learned(there.path) == after, "what is known already is not known twice"
    await there.write([*FILES])
    again = await there.import_learned(path, NOON + 4000)
    assert again.added["access"] == 1, "another function stands there by now: it is the one that is meant"
    assert (await there.check()).faults == ()


async def test_of_chunks_with_one_shape_the_one_with_the_same_name_is_the_moved_one(
    opened: Opener, tmp_path: Path
) -> None:
    here = await opened("here", knowing=True)
    twins = [
        chunk(path, name, "check the token and let them in", line=1)
        for path, name in (("lib/a.py", "sign_in"), ("lib/b.py", "Session.login"), ("lib/c.py", "admit"))
    ]
    there = await opened("there", *(file(each.path, each) for each in twins))
    await there.import_learned(await exported(here, tmp_path), NOON)
    heirs = {row[:2] for row in learned(there.path)["accesses"] if row[0].startswith("lib/")}
    assert heirs == {("lib/b.py", "Session.login")}


async def test_of_two_lines_on_a_difficult_question_the_later_counts_whichever_comes_first(
    opened: Opener, tmp_path: Path
) -> None:
    here = await opened("here", knowing=True)
    header, *lines = [json.loads(line) for line in (await exported(here, tmp_path)).read_text().splitlines()]
    (difficult,) = (line for line in lines if line["type"] == "difficult")
    later = {**difficult, "failures": 5, "last_at": difficult["last_at"] + 10}
    for name, two in (("rising", [difficult, later]), ("falling", [later, difficult])):
        joined = tmp_path / f"{name}.jsonl"
        joined.write_text("".join(f"{json.dumps(line)}\n" for line in ({**header, "lines": 2}, *two)))
        there = await opened(name)
        await there.import_learned(joined, NOON + 100)
        assert [row[2] for row in learned(there.path)["difficult"]] == [5]


async def test_two_memories_are_merged(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    (login,) = await there.read(chunk_reader.by_name, "src/auth.py", "Auth.login")
    await there.learn(run(7, score=0.99, retrieved=retrieved(login.id)))  # the same decomposition, and it went better
    await there.learn(run(8, query="Why is the login page flickering?", subgoals=()))  # solves what failed here
    before = learned(there.path)
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    after = learned(there.path)
    (document,) = (json.loads(row[-1]) for row in after["documents"])
    assert document["content"]["success_score"] == 0.99 and "reasoning" not in done.added
    assert document["created_at"] < document["metadata"]["timestamp"]
    assert set(before["accesses"]) | set(learned(here.path)["accesses"]) == set(after["accesses"])
    assert [row[0] for row in after["runs"]] == ["aurora-1", "aurora-2", "aurora-7", "aurora-8"]
    assert after["difficult"] == [] and done.lines["difficult"] == 1
    back = await here.import_learned(await exported(there, tmp_path, "back.jsonl"), NOON)
    assert back.added["reasoning"] == 1
    assert learned(here.path) == after


async def test_what_was_used_after_it_was_archived_elsewhere_stays(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    (login,) = await there.read(chunk_reader.by_name, "src/auth.py", "Auth.login")
    await there.record_accesses([login.id], "success", NOON + 900)
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    assert "archived" not in done.added and learned(there.path)["archived"] == []


async def test_other_decompositions_of_a_pattern_become_versions(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    other = tuple(reversed(run().subgoals))
    await there.learn(run(7, subgoals=other))
    await there.import_learned(await exported(here, tmp_path), NOON)
    names = [row[1] for row in learned(there.path)["documents"]]
    assert names == ["oauth2-authentication-api-implementation", "oauth2-authentication-api-implementation:v2"]
    assert (await there.import_learned(tmp_path / "memory.jsonl", NOON)).added == {}
    runs = {row[0]: row[6] for row in learned(there.path)["runs"]}
    assert runs["aurora-1"] == names[1] and runs["aurora-7"] == names[0]


BAD = {
    "not JSON": b"{",
    "no object": b"[1, 2]",
    "unknown type": b'{"type": "secret", "chunk": 1}',
    "missing field": b'{"type": "access", "at": 1.0, "kind": "success"}',
    "wrong type": b'{"type": "run", "id": 7, "at": 1, "outcome": "success", "score": 1, "query": "q"}',
    "unknown field": b'{"type": "run", "id": "x", "at": 1, "outcome": "success", "score": 1, "query": "q", "more": 1}',
    "score": b'{"type": "run", "id": "x", "at": 1, "outcome": "success", "score": 1.5, "query": "q"}',
    "time": b'{"type": "run", "id": "x", "at": 1e300, "outcome": "success", "score": 1, "query": "q"}',
    "infinite": b'{"type": "run", "id": "x", "at": 1e999, "outcome": "success", "score": 1, "query": "q"}',
    "not a number": b'{"type": "run", "id": "x", "at": NaN, "outcome": "success", "score": 1, "query": "q"}',
    "kind": b'{"type": "access", "chunk": {"path": "a", "name": "b", "kind": "x", "shape": ""}, "at": 1, "kind": "k"}',
    "shape": b'{"type": "access", "chunk": {"path": "a", "name": "b", "kind": "class", "shape": "zz"}, '
    b'"at": 1, "kind": "k"}',
    "no path": b'{"type": "access", "chunk": {"path": "", "name": "b", "kind": "class", "shape": ""}, '
    b'"at": 1, "kind": "k"}',
    "big integer": b'{"type": "access", "chunk": {"path": "a", "name": "b", "kind": "class", "shape": "", '
    b'"ordinal": 99999999999999999999999}, "at": 1, "kind": "k"}',
    "unknown reasoning": b'{"type": "access", "chunk": {"path": "", "name": "b", "kind": "reasoning", "shape": "00"}, '
    b'"at": 1, "kind": "k"}',
    "surrogate": b'{"type": "run", "id": "\\ud800", "at": 1, "outcome": "success", "score": 1, "query": "q"}',
    "not UTF-8": b'{"type": "run", "id": "\xff\xfe", "at": 1, "outcome": "success", "score": 1, "query": "q"}',
    "deep": b'{"type": "run", "id": ' + b"[" * 100_000,
    "huge": b'{"type": "run", "id": "' + b"x" * MAX_LINE + b'"}',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_line_is_named_and_nothing_is_written(opened: Opener, tmp_path: Path, bad: bytes) -> None:
    there = await opened("there", *FILES)
    path = tmp_path / "memory.jsonl"
    lines = (await _an_export(opened, tmp_path)).splitlines()
    path.write_bytes(b"\n".join([*lines, bad]))
    before = learned(there.path)
    with pytest.raises(InvalidExport, match=f"^line {len(lines) + 1}: .*nothing was imported") as told:
        await there.import_learned(path, NOON)
    assert len(str(told.value)) < 500 and "\n" not in str(told.value)
    assert learned(there.path) == before
    await there.record_accesses([1], "success", NOON)  # and the memory goes on


_EXPORTED: list[bytes] = []


async def _an_export(opened: Opener, tmp_path: Path) -> bytes:
    """Export of what was taught; made once."""
    if not _EXPORTED:
        _EXPORTED.append((await exported(await opened("exported", knowing=True), tmp_path)).read_bytes())
    return _EXPORTED[0]


async def test_an_export_from_before_deliverables_is_read(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    lines = (await exported(here, tmp_path)).read_bytes().splitlines(keepends=True)
    older = tmp_path / "older.jsonl"
    rest = [line for line in lines[1:] if b'"type":"deliverable"' not in line]
    header = json.loads(lines[0]) | {"version": 1, "lines": len(rest)}
    older.write_bytes(json.dumps(header).encode() + b"\n" + b"".join(rest))
    done = await there.import_learned(older, NOON)
    assert done.added == done.lines and "deliverable" not in done.added


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"", "no export"),
        (b"# Notes\n", "no export"),
        (b'{"a": 1}\n', "no export"),
        (b'{"type": "access"}', "no export"),
        ({"format": "other"}, "its format is 'other'"),
        ({"version": 3}, "format version 3, and this AURORA reads up to 2"),
        ({"version": "1"}, "no export"),
        ({"lines": -1}, "no export"),
    ],
)
async def test_a_bad_header_is_refused(
    opened: Opener, tmp_path: Path, header: bytes | dict[str, Any], problem: str
) -> None:
    here = await opened("here", *FILES)
    path = tmp_path / "memory.jsonl"
    first, _, rest = (await _an_export(opened, tmp_path)).partition(b"\n")
    start = header if isinstance(header, bytes) else json.dumps(json.loads(first) | header).encode() + b"\n"
    path.write_bytes(start + (rest if start else b""))
    before = learned(here.path)
    with pytest.raises(InvalidExport, match=r"^line 1: ") as told:
        await here.import_learned(path, NOON)
    assert problem in str(told.value)
    assert learned(here.path) == before


async def test_a_file_that_was_cut_off_is_refused(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    path = await exported(here, tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(InvalidExport, match=f"^line {len(lines) - 2}: .*should be {len(lines)}: .*cut off"):
        await there.import_learned(path, NOON)
    assert not any(learned(there.path).values())


async def test_an_export_that_fails_leaves_no_part_and_the_older_one_stays(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = await opened("here", knowing=True)
    path = await exported(here, tmp_path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("aurora_memory.store.unfinished_file.os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        await here.export_learned(path, "shop")
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*part"))


async def test_an_export_is_written_to_no_file_that_somebody_made_for_it(opened: Opener, tmp_path: Path) -> None:
    """In a folder that many may write to, another user may have made whatever name can be guessed."""
    here = await opened("here", knowing=True)
    path = tmp_path / "out" / "memory.jsonl"
    path.parent.mkdir()
    with (path.parent / f".memory.jsonl.{os.getpid()}.part").open("w+b") as made:
        await here.export_learned(path, "shop")
        made.seek(0)
        assert made.read() == b""
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes().count(b"\n") > 3


async def test_an_export_that_is_killed_leaves_nothing_beside_the_older_one(opened: Opener, tmp_path: Path) -> None:
    here = await opened("here", knowing=True)
    path = await exported(here, tmp_path)
    before = set(tmp_path.iterdir())
    unfinished = UnfinishedFile(path)
    unfinished.write(b"half of it")
    if sys.platform == "linux":
        assert set(tmp_path.iterdir()) == before
    unfinished.close()
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("unnamed", [True, False])
def test_a_file_appears_whole_in_the_place_of_the_older_one(tmp_path: Path, unnamed: bool) -> None:
    path = tmp_path / "x"
    path.write_text("older")
    for text in ("one", "two"):
        unfinished = UnfinishedFile(path, unnamed=unnamed)
        unfinished.write(text.encode())
        assert path.read_text() != text
        unfinished.finish()
        unfinished.close()
        assert path.read_text() == text and path.stat().st_mode & 0o777 == 0o600
    left = UnfinishedFile(path, unnamed=unnamed)
    left.write(b"three")
    left.close()
    assert [each.name for each in tmp_path.iterdir()] == ["x"] and path.read_text() == "two"


async def test_parts_that_nobody_wrote_to_for_an_hour_are_removed(opened: Opener, tmp_path: Path) -> None:
    here = await opened("here", knowing=True)
    old, young, other = (
        tmp_path / name for name in (".memory.jsonl.7.part", ".memory.jsonl.8.part", ".x.jsonl.7.part")
    )
    for part, age in ((old, 3700), (young, 3500), (other, 3700)):
        part.touch()
        os.utime(part, (time.time() - age,) * 2)
    await exported(here, tmp_path)
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)


async def test_the_better_document_of_a_pattern_counts_and_its_first_day(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", *FILES), await opened("there", *FILES)

    async def scores() -> list[tuple[float, str]]:
        found = [json.loads(row[-1]) for row in learned(there.path)["documents"]]
        return [(each["content"]["success_score"], each["created_at"]) for each in found]

    await there.learn(run(5, score=0.85))
    ((first, made),) = await scores()
    await here.learn(run(900, score=0.82))
    await there.import_learned(await exported(here, tmp_path), NOON)
    assert await scores() == [(first, made)]
    await here.learn(run(901, score=0.99))
    await there.import_learned(await exported(here, tmp_path), NOON)
    ((better, since),) = await scores()
    assert better > first and since == made
    older = await opened("older", *FILES)
    await older.learn(run(1, score=0.81))
    await there.import_learned(await exported(older, tmp_path), NOON)
    ((best, earliest),) = await scores()
    assert best == better and earliest < made


async def test_many_lines_are_taken_in_pieces(opened: Opener, tmp_path: Path) -> None:
    functions = [chunk("a.py", f"f{n}", f"the body of number {n}", line=n * 10 + 1) for n in range(130)]
    here, there = await opened("here", file("a.py", *functions)), await opened("there", file("a.py", *functions[:65]))
    for at in range(5):
        await here.record_accesses(range(1, 131), "success", NOON + at)
    assert importer._AT_ONCE < 5 * 130
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    assert (done.added, done.waiting) == ({"access": 650}, 65)
    assert learned(there.path)["accesses"] == learned(here.path)["accesses"]


async def test_files_that_cannot_be_read_or_written_are_named(opened: Opener, tmp_path: Path) -> None:
    store = await opened("here", *FILES)
    with pytest.raises(StoreError, match=r"missing\.jsonl"):
        await store.import_learned(tmp_path / "missing.jsonl")
    with pytest.raises(StoreError, match="no regular file"):
        await store.import_learned(tmp_path)
    with pytest.raises(StoreError, match="no regular file"):
        await store.export_learned(tmp_path, "shop")
    with pytest.raises(StoreError, match=r"missing/x\.jsonl"):
        await store.export_learned(tmp_path / "missing" / "x.jsonl", "shop")
    assert not list(tmp_path.glob(".*part"))


@pytest.mark.long  # what it says of kinds of lines, `BAD` and the headers say as well
@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "chunk", "path", "name", "kind", "shape", "at", "run", "document", "lines", "format"]
                ),
                inner | st.sampled_from(["access", "boost", "reasoning", "run", "aurora-memory"]),
                max_size=8,
            )
        ),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode())
)
def test_whatever_a_line_says_it_is_read_or_refused(raw: bytes) -> None:
    for read in (lambda: read_header(raw), lambda: read_line(2, raw)):
        try:
            read()
        except InvalidExport as error:
            assert str(error).startswith("line ")


_WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=300)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=_WORDS.filter(str.strip),
    steps=st.lists(_WORDS, min_size=1, max_size=3),
    log=st.lists(st.one_of(_WORDS, st.sampled_from(["# Phase 3: PLAN", "#" + "x" * 300, "w" * 240, "é" * 5000]))),
    score=st.floats(0, 1),
    verdict=st.sampled_from(["praised", "insufficient", "incorrect"]),
    action=_WORDS,
)
async def test_whatever_was_learned_is_exported_and_taken_in_again(
    tmp_path_factory: pytest.TempPathFactory,
    query: str, steps: list[str], log: list[str], score: float, verdict: Any, action: str,
) -> None:  # fmt: skip
    place = tmp_path_factory.mktemp("fuzzed")
    here, there = await new_store(place / "here.db"), await new_store(place / "there.db")
    try:
        await here.write(FILES, first_time=True)
        (login,) = await here.read(chunk_reader.by_name, "src/auth.py", "Auth.login")
        done = run(
            1, score, id="r" * 200, query=query, retrieved=retrieved(login.id),
            subgoals=tuple(PatternSubgoal(id=f"SG{n}", description=text, agent="a") for n, text in enumerate(steps)),
        )  # fmt: skip
        kept = await here.learn(done)
        if kept.reasoning_id:
            await here.judge(
                Feedback(run=done.id, reasoning_id=kept.reasoning_id, verdict=verdict, query=query, at=NOON + 9)
            )
        await here.index_log("2025/12/run.md", "\n".join(("# Execution", *log)), "q" * 200, action)
        async with here._transaction() as db:
            await escalate(db, {login.id: (action,)}, NOON)
        path = await exported(here, place)
        took = await there.import_learned(path, NOON + 2000)
        assert took.lines == took.added
        assert (await exported(there, place, "again.jsonl")).read_bytes() == path.read_bytes()
    finally:
        await here.close()
        await there.close()


async def test_a_word_of_240_letters_that_an_older_version_indexed_is_taken_in(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", *FILES), await opened("there", *FILES)
    async with here._transaction() as db:
        await db.execute(
            "INSERT INTO log_index (term, file, line_start, line_end, section, phase, keyword, topic, query_id) "
            "VALUES (?, '2025/12/run.md', 1, 2, ?, NULL, ?, 'general', '')",
            ("w" * 240, "s" * 6000, "w" * 6000),
        )
    assert (await there.import_learned(await exported(here, tmp_path), NOON)).added == {"log": 1}


async def test_what_another_repository_delivered_is_not_told_as_delivered_here(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    await here.remember("git_root", "a" * 40)
    await there.remember("git_root", "b" * 40)
    path = await exported(here, tmp_path)
    done = await there.import_learned(path, NOON)
    assert (done.left_out, "deliverable" in done.added, done.added["reasoning"]) == (1, False, 1)
    same = await opened("same", *FILES)
    await same.remember("git_root", "a" * 40)
    assert (await same.import_learned(path, NOON)).added["deliverable"] == 1


async def test_an_open_memory_is_no_export_and_keeps_its_locks(opened: Opener, tmp_path: Path) -> None:
    store = await opened("here", knowing=True)
    link = tmp_path / "memory.jsonl"
    link.symlink_to(store.path)
    for source in (store.path, link, *(store.path.with_name(f"{store.path.name}-{each}") for each in ("wal", "shm"))):
        with pytest.raises(StoreError, match="is a database"):
            await store.import_learned(source, NOON + 2000)
    look = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM facts'); db.close()"
    await asyncio.to_thread(programs.run, [sys.executable, "-c", look, str(store.path)], check=True)
    assert not store.lost, "who closes last takes the log away, and here he was not the last"
    await store.record_accesses([1], "success", NOON + 2000)


async def test_deliverables_of_an_export_that_names_no_repository_are_taken_in(opened: Opener, tmp_path: Path) -> None:
    here, there = await opened("here", knowing=True), await opened("there", *FILES)
    await there.remember("git_root", "b" * 40)
    done = await there.import_learned(await exported(here, tmp_path), NOON)
    assert (done.left_out, done.added["deliverable"]) == (0, 1)
