"""Damage of a memory file, seeded: cuts and changed bits. What is readable is saved, and no damage is called sound."""

import asyncio
import os
import random
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from aurora_memory import StoreCorrupt, StoreError
from aurora_memory.store import LoggedEvent, Store
from aurora_memory.store.maintenance import salvage_file
from aurora_memory.store.memory_files import memory_files
from aurora_memory.store.page_reader import TABLE_LEAF, Pages, varint
from aurora_memory.store.row_sums import SEALED
from aurora_memory.store.tables import TABLES
from tests import programs
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON, run
from tests.memory.stores import new_store
from tests.memory.test_export import FILES, taught
from tests.shares import long
from tests.wait_limits import HANG

PAGE = 4096
LEARNED = [table for table in TABLES if table.nature == "learned" and table.name != "chunks"]
SEED = 19
MANY, FEW = 150, 50
"""Events of a memory, and about as many of the rest together: the sums of `FEW` are on more than one page."""
SEEDS = [(SEED, FEW), *(long((SEED + n, MANY)) for n in range(5))]


_BUILT: dict[int, bytes] = {}


async def built(path: Path, many: int = MANY) -> bytes:
    """Memory file with rows of most kinds, closed; made once, then copied."""
    if many not in _BUILT:
        _BUILT[many] = await _build(path, many)
    path.write_bytes(_BUILT[many])
    return _BUILT[many]


async def _build(path: Path, many: int) -> bytes:
    store = await new_store(path)
    others = [file(f"m{n}.py", chunk(f"m{n}.py", f"name_{n}", f"words of {n}")) for n in range(30 + many // 5)]
    await store.write([*FILES, *others], first_time=True)
    await taught(store)
    events = [
        LoggedEvent(
            f"event-{n:05}", f"change-{n % 7}", NOON + n, NOON, "cli", f'{{"marker":"{n:05}-{"x" * (n % 90)}"}}'
        )
        for n in range(many)
    ]
    await store.log_deliverable_events(events)
    for n in range(many // 15):
        await store.record_accesses(range(1, 30), "success", NOON + n)
    for n in range(many // 5):
        await store.learn(run(100 + n, query=f"how is request number {n} sent {'on ' * (n * 9)}"))
    await store.close()
    return path.read_bytes()


def learned(path: Path) -> dict[str, set[tuple[Any, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        return {
            table.name: set(db.execute(f"SELECT * FROM {table.name} WHERE {table.rows or 'TRUE'}")) for table in LEARNED
        }


async def saved(path: Path, raw: bytes) -> dict[str, set[tuple[Any, ...]]]:
    path.write_bytes(raw)
    await salvage_file(path, NOON)
    store = await Store.open(path)
    assert (await store.check()).faults == ()
    await store.close()
    return learned(path)


def fresh(folder: Path, name: str) -> Path:
    folder = folder / name
    folder.mkdir()
    return folder / "memory.db"


@pytest.mark.parametrize(("seed", "many"), SEEDS)
async def test_a_cut_file_gives_what_is_before_the_cut(tmp_path: Path, seed: int, many: int) -> None:
    raw = await built(tmp_path / "memory.db", many)
    everything = learned(tmp_path / "memory.db")
    chance = random.Random(seed)
    pages = len(raw) // PAGE
    cuts = [pages - 1, pages // 2, *(chance.randrange(2, pages) for _ in range(many // 75))]
    places = [*(number * PAGE for number in cuts), len(raw) // 2 + 777]
    for cut in places:
        found = await saved(fresh(tmp_path, f"cut-{cut}"), raw[:cut])
        assert all(found[name] <= everything[name] for name in found), f"seed {seed} cut {cut}: nothing is invented"
        whole = raw[: cut // PAGE * PAGE]
        readable = {row for row in everything["deliverable_events"] if row[-1].encode() in whole}
        assert readable <= found["deliverable_events"], f"seed {seed} cut {cut}"


@pytest.mark.parametrize(("into", "many"), [(1792, FEW), *(long((into, MANY)) for into in range(256, PAGE, 1536))])
async def test_a_cut_within_a_page_of_checksums_costs_no_row_before_it(tmp_path: Path, into: int, many: int) -> None:
    raw = await built(tmp_path / "memory.db", many)
    everything = learned(tmp_path / "memory.db")
    with Pages(tmp_path / "memory.db") as pages:
        (root,) = (each.root for each in pages.schema() if each.name == "row_sums")
        last = max(number for number, kind in pages.tree(root, set()).pages() if kind == TABLE_LEAF)
    assert last != root, "there are others, which are read"
    cut = (last - 1) * PAGE + into
    found = await saved(fresh(tmp_path, "cut"), raw[:cut])
    readable = {row for row in everything["deliverable_events"] if row[-1].encode() in raw[: cut // PAGE * PAGE]}
    assert readable <= found["deliverable_events"]


@pytest.mark.parametrize(("seed", "many"), SEEDS)
async def test_a_changed_bit_is_mended_or_costs_its_row(tmp_path: Path, seed: int, many: int) -> None:
    raw = await built(tmp_path / "memory.db", many)
    everything = learned(tmp_path / "memory.db")
    rows = sum(map(len, everything.values()))
    chance = random.Random(seed)
    for number in range(many // 25):
        at, bit = chance.randrange(len(raw)), chance.randrange(8)
        flipped = bytearray(raw)
        flipped[at] ^= 1 << bit
        found = await saved(fresh(tmp_path, f"flip-{number}"), bytes(flipped))
        where = f"seed {seed} byte {at} bit {bit}"
        assert all(found[name] <= everything[name] for name in found), f"{where}: nothing is invented"
        assert rows - sum(map(len, found.values())) <= 1, where


@pytest.mark.parametrize("table", ["deliverable_events", "row_sums"])
async def test_a_changed_bit_of_a_row_id_is_mended_and_that_of_a_sum_costs_nothing(tmp_path: Path, table: str) -> None:
    raw = await built(tmp_path / "memory.db", FEW)
    everything = learned(tmp_path / "memory.db")
    with Pages(tmp_path / "memory.db") as pages:
        (root,) = (each.root for each in pages.schema() if each.name == table)
        *_, last = pages.tree(root, set()).cells
    _, row_id = varint(last.head, 0)
    flipped = bytearray(raw)
    flipped[raw.index(last.head) + row_id] ^= 2
    path = fresh(tmp_path, "flip")
    path.write_bytes(flipped)
    done = await salvage_file(path, NOON)
    assert (done.mended, done.left_out) == (table == "deliverable_events", 0)
    assert learned(path) == everything


async def test_where_sums_are_lost_a_page_without_a_table_gives_its_rows_and_one_of_deleted_rows_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    await built(path, FEW)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA secure_delete = 0")  # some builds of SQLite write zeros over what is deleted
        accesses = [(1, NOON, "edited")] * 999
        db.executemany("INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, ?)", accesses)
        db.commit()
        db.execute("DELETE FROM accesses WHERE kind = 'edited'")
        db.commit()
    everything = learned(path)
    raw = bytearray(path.read_bytes())
    with Pages(path) as pages:
        roots = {each.name: each.root for each in pages.schema()}
        lost = [roots["deliverable_events"], *(number for number, _ in pages.tree(roots["row_sums"], set()).pages())]
        assert pages.free() and pages.kind(roots["deliverable_events"]) != TABLE_LEAF
    for number in lost:
        raw[(number - 1) * PAGE : number * PAGE] = bytes(PAGE)
    mended = fresh(tmp_path, "lost")
    assert await saved(mended, bytes(raw)) == everything
    with closing(sqlite3.connect(mended)) as db:
        assert list(db.execute("SELECT * FROM outbox")) == [], "rows of an index over events look like its own"


async def test_no_changed_bit_in_what_was_learned_is_called_sound(tmp_path: Path) -> None:
    raw = await built(tmp_path / "memory.db", FEW)
    everything = learned(tmp_path / "memory.db")
    chance = random.Random(SEED)
    changed = 0
    for number in range(100):
        path = fresh(tmp_path, f"sound-{number}")
        at, bit = chance.randrange(PAGE, len(raw)), chance.randrange(8)
        flipped = bytearray(raw)
        flipped[at] ^= 1 << bit
        path.write_bytes(flipped)
        try:
            same = learned(path) == everything
        except (sqlite3.Error, UnicodeDecodeError):
            same = False
        if same:
            continue
        changed += 1
        try:
            store = await Store.open(path)
        except StoreError:
            continue
        assert (await store.check()).faults, f"seed {SEED} byte {at} bit {bit}"
        await store.close()
    assert changed > 5


async def test_a_text_that_is_none_costs_its_row_only(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    raw = await built(path, FEW)
    at = raw.index(b'{"marker":"00023') + 12
    path.write_bytes(raw[:at] + b"\xff" + raw[at + 1 :])
    store = await Store.open(path)
    assert (await store.check()).damaged
    (await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)).lines["deliverable"]
    done = await store.salvage(NOON)
    assert done.mended + done.left_out == 1
    assert done.saved["deliverable_events"] == len(learned(tmp_path / "memory.db")["deliverable_events"]) >= FEW
    assert (await store.check()).faults == ()
    await store.close()


async def test_a_text_that_became_a_blob_of_its_letters_is_known_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    raw = await built(path, FEW)
    everything = learned(path)
    text = next(row[-1] for row in everything["deliverable_events"] if '"marker":"00037-' in row[-1])
    header = (len(text) * 2 + 13).to_bytes(1) if len(text) * 2 + 13 < 0x80 else b""
    at = raw.index(text.encode())
    kind = raw.rindex(header or bytes((0x81, (len(text) * 2 + 13) & 0x7F)), at - 80, at) + (0 if header else 1)
    path.write_bytes(raw[:kind] + bytes((raw[kind] ^ 1,)) + raw[kind + 1 :])
    assert any(text.encode() in row for row in learned(path)["deliverable_events"]), "a blob now"
    store = await Store.open(path)
    assert "rows of deliverable_events are not what was written" in [each.what for each in (await store.check()).faults]
    done = await store.salvage(NOON)
    assert (done.mended, done.left_out) == (1, 0)
    assert (await store.check()).faults == ()
    await store.close()
    assert learned(path) == everything


_FULL: list[bytes] = []


async def full(path: Path) -> Store:
    """Store of a memory that has a row in each table; made once, then copied."""
    if not _FULL:
        store = await new_store(path)
        await store.write(FILES, first_time=True)
        await taught(store)
        async with store._transaction() as db:
            await db.execute("INSERT INTO outbox VALUES ('add-search', 1.0, 2.0)")
            await db.execute("INSERT INTO heard_changes VALUES ('add-search')")
            await db.execute("INSERT INTO others_accesses VALUES (1, 'bob')")
            await db.execute("INSERT INTO others_runs VALUES ('r', 'bob')")
            await db.execute("INSERT INTO others_patterns VALUES (1, 'bob')")
        await store.remember("root", "/home/me/shop")
        assert (await store.check()).faults == ()
        await store.close()
        _FULL.append(path.read_bytes())
    path.write_bytes(_FULL[0])
    return await Store.open(path)


@pytest.mark.parametrize("table", [each.name for each in SEALED])
async def test_a_row_of_each_table_that_changed_is_known(tmp_path: Path, table: str) -> None:
    store = await full(tmp_path / "memory.db")
    column = next(each.sealed[-1] for each in SEALED if each.name == table)
    where = next(each.sealed_rows for each in SEALED if each.name == table) or "TRUE"
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("DROP TRIGGER deliverable_events_hold")
        other.execute(
            f"UPDATE {table} SET {column} = "
            f"CASE typeof({column}) WHEN 'text' THEN {column} || '0' ELSE coalesce({column}, 0) + 7 END WHERE {where}"
        )
        other.commit()
    assert f"rows of {table} are not what was written" in [each.what for each in (await store.check()).faults]
    await store.close()


async def test_a_file_that_is_removed_in_use_is_noticed_and_written_back(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "memory.db"
    store = await Store.open(path)
    await store.write(FILES, first_time=True)
    await taught(store)
    before = learned(path)
    for each in path.parent.iterdir():
        each.unlink()
    assert (await store.check()).damaged and not path.exists()
    with pytest.raises(StoreError, match="doctor --repair"):
        await store.record_accesses([1], "success", NOON)
    path.write_bytes(b"")  # what a client that knows no better leaves
    aside = await store.write_back(NOON)
    assert aside is not None and aside.stat().st_size == 0
    assert (await store.check()).faults == () and learned(path) == before
    await store.record_accesses([1], "success", NOON)
    assert len(learned(path)["accesses"]) == len(before["accesses"]) + 1
    for each in path.parent.iterdir():
        each.unlink()
    await store.close()
    assert len(learned(path)["accesses"]) == len(before["accesses"]) + 1, "the last to have it leaves it behind"


async def test_a_home_that_is_removed_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "memory.db"
    store = await Store.open(path)
    for each in path.parent.iterdir():
        each.unlink()
    path.parent.rmdir()
    await store.close()
    assert not path.parent.exists()


async def test_an_empty_file_is_no_new_memory_and_its_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    kept, before = await left_beside(path)
    log = kept["memory.db-wal"]
    path.write_bytes(b"")
    (tmp_path / "memory.db-wal").write_bytes(log)
    with pytest.raises(StoreCorrupt, match="is empty"):
        await Store.open(path)
    assert (tmp_path / "memory.db-wal").read_bytes() == log
    await salvage_file(path, NOON)
    assert {name: len(rows) for name, rows in learned(path).items() if rows}.keys() >= {"accesses", "documents"}
    assert learned(path) == before


async def test_a_file_halved_in_use_is_mended_once(tmp_path: Path) -> None:
    raw = await built(tmp_path / "memory.db", FEW)
    store = await Store.open(tmp_path / "memory.db")
    os.truncate(store.path, len(raw) // 2)
    with suppress(StoreError):
        await store.record_accesses([1], "success", NOON)
    assert (await store.check()).damaged
    await store.salvage(NOON)
    assert (await store.check()).faults == ()
    await store.record_accesses([1], "success", NOON)
    await store.close()


async def test_many_stores_that_make_one_file_at_once_share_it(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(Store.open(tmp_path / "memory.db") for _ in range(6)))
    for number, each in enumerate(stores):
        await each.remember(f"key-{number}", "1")
    assert not any(each.lost for each in stores)
    assert len(await stores[0].read(lambda reader: reader.rows("SELECT * FROM facts"))) == 6
    for each in stores:
        await each.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["memory.db"]


async def test_what_a_killed_export_left_goes_with_a_later_one(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    old, young = (tmp_path / f".out.jsonl.{pid}.part" for pid in (11, 12))
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (1, 1))
    await store.export_learned(tmp_path / "out.jsonl", "shop", NOON)
    assert young.exists() and not old.exists(), "another export may be at work on a young one"
    await store.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


def _link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _link_to_the_file(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _no_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def _no_shared_memory(path: Path) -> None:
    path.with_name(f"{path.name}-shm").unlink()


REPLACED = [_folder, _pipe, _link_to_nothing, _link_to_itself]


@pytest.mark.skipif(os.name != "posix", reason="names of open files")
@pytest.mark.parametrize("change", [*REPLACED, _link_to_the_file, _no_log, _no_shared_memory])
async def test_a_file_or_log_exchanged_in_use_is_noticed_and_all_of_it_written_back(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.db"
    store = await full(path)
    await store.record_accesses([1], "success", NOON)  # in the log alone
    before = learned(path)
    change(path)
    with pytest.raises(StoreError, match="removed or exchanged while it is in use"):
        await store.record_accesses([1], "success", NOON)
    assert (await store.check()).damaged
    await store.write_back(NOON)
    assert (await store.check()).faults == () and not path.is_symlink()
    await store.close()
    assert learned(path) == before


_LEFT: list[tuple[dict[str, bytes], dict[str, set[tuple[Any, ...]]]]] = []


async def left_beside(path: Path) -> tuple[dict[str, bytes], dict[str, set[tuple[Any, ...]]]]:
    """What lies beside a memory in use, by its name, and what was learned, all of it in the log; made once."""
    if not _LEFT:
        store = await new_store(path)
        await store.write(FILES, first_time=True)
        await taught(store)
        _LEFT.append(({each.name: each.read_bytes() for each in path.parent.iterdir() if each != path}, learned(path)))
        await store.close()
    return _LEFT[0]


@pytest.mark.skipif(os.name != "posix", reason="kinds of files")
@pytest.mark.parametrize("change", REPLACED)
async def test_what_is_no_file_is_set_aside_and_the_log_beside_it_read(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.db"
    kept, before = await left_beside(path)
    path.touch()
    change(path)
    for name, raw in kept.items():
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(StoreCorrupt, match="no memory file; 'aurora doctor --repair' sets it aside"):
        await Store.open(path)
    await salvage_file(path, NOON)
    assert learned(path) == before


async def test_a_log_cut_in_use_is_damage_and_mended_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await Store.open(path)
    await store.write(FILES, first_time=True)
    await taught(store)
    log = path.with_name("memory.db-wal")
    os.truncate(log, log.stat().st_size // 2)
    assert (await store.check()).damaged
    await store.salvage(NOON)
    assert (await store.check()).faults == ()
    await store.record_accesses([1], "success", NOON)
    await store.close()


async def test_an_emptied_memory_is_not_asked_whose_it_is(tmp_path: Path) -> None:
    """SQLite deletes the log of an empty file as it connects."""
    (tmp_path / "one.db").touch()
    log = tmp_path / "one.db-wal"
    log.write_bytes(b"all there is")
    assert memory_files(tmp_path) == [] and log.exists()


async def test_a_repair_that_is_killed_before_the_last_step_is_ended_by_whoever_opens(tmp_path: Path) -> None:
    raw = await built(tmp_path / "memory.db", FEW)
    everything = learned(tmp_path / "memory.db")
    path = fresh(tmp_path, "killed")
    path.write_bytes(raw[:-PAGE])
    done = await salvage_file(path, NOON)
    saved_rows = learned(path)
    path.rename(path.with_name("memory.db.saved"))  # what a kill between its two renames leaves
    store = await Store.open(path)
    await store.close()
    assert learned(path) == saved_rows and all(saved_rows[name] <= everything[name] for name in saved_rows)
    assert sorted(each.name for each in path.parent.iterdir()) == ["memory.db", done.aside.name]


async def test_what_a_repair_left_ready_is_not_taken_for_a_memory_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    raw = await built(path, FEW)
    path.with_name("memory.db.saved").write_bytes(raw[:PAGE])
    store = await Store.open(path)
    assert (await store.check()).faults == ()
    await store.close()


FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from aurora_memory import StoreError
from aurora_memory.store.maintenance import salvage_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    asyncio.run(salvage_file(Path(sys.argv[1]), 1.0e9))
except (StoreError, OSError) as error:
    sys.exit(f"told: {error}")
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files")
async def test_a_disk_that_is_full_in_the_middle_of_a_repair_costs_nothing(tmp_path: Path) -> None:
    raw = await built(tmp_path / "memory.db", FEW)
    torn = raw[: len(raw) - PAGE]
    told = 0
    for number, limit in enumerate((4096, len(raw) // 3)):
        path = fresh(tmp_path, f"full-{number}")
        path.write_bytes(torn)
        done = await asyncio.to_thread(_run, FULL_DISK, str(path), str(limit))
        told += "told: " in done
        assert "Traceback" not in done
        if "told: " in done:
            assert path.read_bytes() == torn, "it is where it was, as it was"
            await salvage_file(path, NOON)
        store = await Store.open(path)
        assert (await store.check()).faults == ()
        await store.close()
    assert told == 2


def _run(program: str, *arguments: str) -> str:
    done = programs.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=HANG)
    return f"{done.stdout}{done.stderr}"
