"""Changed bits of a write-ahead log: told before SQLite would cut the log there, and nothing of it is lost then."""

import os
import random
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aurora_memory import StoreCorrupt, StoreError
from aurora_memory.store import LoggedEvent, Store
from aurora_memory.store.index_copy import copy_index
from aurora_memory.store.left_memory import LeftMemory
from aurora_memory.store.maintenance import salvage_file
from aurora_memory.store.memory_files import memory_file
from aurora_memory.store.wal_checksums import refuse_changed_log
from tests.memory.runs import NOON, run
from tests.memory.stores import new_store
from tests.memory.test_damage import learned
from tests.memory.test_export import already_taught
from tests.wait_limits import HANG

SEED = 23
HEADER, FRAME = 32, 24 + 4096


_LEFT: list[tuple[bytes, bytes]] = []


async def left(folder: Path) -> tuple[bytes, bytes]:
    """Memory file and log as a killed daemon leaves them: the last forty events are in the log alone; made once."""
    if not _LEFT:
        _LEFT.append(await _leave(folder))
    return _LEFT[0]


async def _leave(folder: Path) -> tuple[bytes, bytes]:
    store = await already_taught(folder / "memory.db")
    await store.remember("root", str(folder))
    await store.close()
    store = await Store.open(folder / "memory.db")
    for n in range(8):
        events = [LoggedEvent(f"late-{n}-{m}", "change", NOON + n, NOON, "cli", f'{{"n":{n}}}') for m in range(5)]
        await store.log_deliverable_events(events)
        await store.learn(run(500 + n, query=f"how is late request {n} sent"))
    found = tuple((folder / name).read_bytes() for name in ("memory.db", "memory.db-wal"))
    await store.close()
    return found[0], found[1]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        pytest.param("PRAGMA user_version = 1", "an older AURORA wrote it", id="of another shape, older"),
        pytest.param("PRAGMA user_version = 10000", "a newer AURORA wrote it", id="or newer"),
        pytest.param("DELETE FROM facts WHERE key = 'indexed_at'", "never indexed to its end", id="half a memory"),
        pytest.param("DELETE FROM facts WHERE key = 'root'", "never indexed to its end", id="of nobody knows where"),
        pytest.param("PRAGMA application_id = 7", "it is no memory file", id="of another program"),
        pytest.param("DELETE FROM facts WHERE key = 'git_root'", None, id="of no repository it is asked"),
    ],
)
async def test_which_memory_files_of_others_are_asked(tmp_path: Path, statement: str, told: str | None) -> None:
    store = await new_store(tmp_path / "memory.db")
    for key, value in (("root", str(tmp_path)), ("indexed_at", "5.0"), ("git_root", "g")):
        await store.remember(key, value)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        db.execute(statement)
        db.commit()
    if told is None:
        found = LeftMemory(tmp_path / "memory.db", time.monotonic() + HANG)
        assert (found.root, found.indexed_at, found.git_root) == (tmp_path, 5.0, "")
        found.close()
    else:
        with pytest.raises(StoreError, match=told):
            LeftMemory(tmp_path / "memory.db", time.monotonic() + HANG)


def put(folder: Path, file: bytes, log: bytes) -> Path:
    folder.mkdir()
    (folder / "memory.db").write_bytes(file)
    (folder / "memory.db-wal").write_bytes(log)
    for each in folder.iterdir():
        each.chmod(0o600)
    return folder / "memory.db"


def flips(log: bytes) -> Iterator[tuple[int, int]]:
    """Bits of every part of a log: its header, a frame's numbers, salts and checksum, pages anywhere, the last one."""
    chance = random.Random(SEED)
    yield from ((at, chance.randrange(8)) for at in (0, 9, 17, 26))
    frames = (len(log) - HEADER) // FRAME
    for at in range(0, 24, 4):
        yield HEADER + chance.randrange(frames) * FRAME + at, chance.randrange(8)
    yield from ((chance.randrange(HEADER, len(log)), chance.randrange(8)) for _ in range(2))
    yield len(log) - 1, 7
    yield len(log) - FRAME + 7, 0


async def test_a_changed_bit_of_a_log_is_told_and_costs_nothing(tmp_path: Path) -> None:
    file, log = await left(tmp_path)
    everything = learned(put(tmp_path / "whole", file, log))
    assert len(everything["deliverable_events"]) > 40
    for at, bit in flips(log):
        changed = bytearray(log)
        changed[at] ^= 1 << bit
        path = put(tmp_path / f"{at}-{bit}", file, bytes(changed))
        with pytest.raises(StoreCorrupt, match="a bit changed on the disk"):
            await Store.open(path)
        assert path.with_name("memory.db-wal").read_bytes() == changed, "it is as it was"
        await salvage_file(path, NOON)
        found = learned(path)
        where = f"seed {SEED} byte {at} bit {bit}"
        assert all(found[name] <= everything[name] for name in found), f"{where}: nothing is invented"
        assert sum(map(len, everything.values())) - sum(map(len, found.values())) <= 1, where


@pytest.mark.long
async def test_a_log_that_a_power_cut_tore_is_none_with_a_changed_bit(tmp_path: Path) -> None:
    file, log = await left(tmp_path)
    chance = random.Random(SEED)
    torn = [log[: chance.randrange(len(log))] for _ in range(30)]
    for _ in range(30):  # of what was not forced out some is there and some is not
        at = HEADER + chance.randrange((len(log) - HEADER) // FRAME) * FRAME + chance.choice((0, 24, 1000))
        torn.append(log[:at] + bytes(min(512, len(log) - at)) + log[at + 512 :])
    torn += [b"", bytes(len(log)), log[:HEADER], chance.randbytes(len(log)), bytes(HEADER) + log[HEADER:]]
    for number, each in enumerate(torn):
        refuse_changed_log(put(tmp_path / f"torn-{number}", file, each))


async def test_what_an_earlier_round_left_behind_the_end_of_a_log_is_no_damage(tmp_path: Path) -> None:
    file, log = await left(tmp_path)
    first, second = struct.unpack(">II", log[16:24])
    old = struct.pack(">II", first - 1, second ^ 0x5A5A5A5A)
    rest = bytearray(log)
    for at in range(HEADER + FRAME * 5, len(log) - FRAME, FRAME):
        rest[at + 8 : at + 16] = old
    refuse_changed_log(put(tmp_path / "restarted", file, bytes(rest)))


async def test_who_looks_at_a_memory_that_is_not_its_own_leaves_such_a_log_alone(tmp_path: Path) -> None:
    file, log = await left(tmp_path)
    changed = bytearray(log)
    changed[len(log) // 2] ^= 4
    path = put(tmp_path / "other", file, bytes(changed))
    assert memory_file(path) is None
    assert not copy_index(path, tmp_path / "copy.db", tmp_path)
    with pytest.raises(StoreCorrupt, match="a bit changed"):
        LeftMemory(path, time.monotonic() + 60)
    assert path.with_name("memory.db-wal").read_bytes() == changed
    os.truncate(path.with_name("memory.db-wal"), 0)
    assert memory_file(path) is not None, "what lies there now is looked at, and not what lay there"
