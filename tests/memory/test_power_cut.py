"""A power cut: what was acknowledged is on the disk, at every moment, though the system's cache is lost.

A process writes to a memory file through a layer that records every write and every sync. The file is then put together
as a disk would have it at each of hundreds of moments: what was synced, and of the rest nothing, or some of it.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

CUTS = 150
SEED = 17

WRITER = """
import asyncio, os, sys
from pathlib import Path
from aurora_memory.learning import FinishedRun
from aurora_memory.store import LoggedEvent, Store
from tests.memory.chunks import chunk, file

async def main():
    store = await Store.open(Path(sys.argv[1]) / "memory.db")
    acknowledged = os.open(Path(sys.argv[1]) / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for n in range(int(sys.argv[2])):
        path = f"f{n % 7}.py"
        await store.write([file(path, *(chunk(path, f"g{m}", f"body {n} {m}", line=m * 9 + 1) for m in range(4)))])
        event = LoggedEvent(f"e{n}", f"change-{n % 5}", 1e9 + n, 1e9 + n, "cli", '{}')
        await store.log_deliverable_events([event])
        os.write(acknowledged, b"e%d\\n" % n)
        os.fsync(acknowledged)
        if n % 9 == 0:
            await store.record_accesses([1], "used", 1e9 + n)
            os.write(acknowledged, b"a%d\\n" % n)
            os.fsync(acknowledged)
        if n % 20 == 19:
            await store.tidy()
    await store.close()
asyncio.run(main())
"""


class Call(NamedTuple):
    """A recorded call: its kind, the file's name, an offset or size, and data."""

    kind: str
    name: str
    number: int
    data: bytes


class Disk:
    """Files as they are in the system's cache, and as they are on the disk."""

    def __init__(self) -> None:
        self.cached: dict[str, bytearray] = {}
        self.unsynced: dict[str, list[Call]] = {}
        self.synced: dict[str, bytearray] = {}

    def take(self, call: Call) -> None:
        if call.kind == "R":
            for files in (self.synced, self.unsynced):
                files.pop(call.name, None)
        elif call.kind == "M":
            self.synced[call.data.decode()] = self.synced.pop(call.name, bytearray())
        elif call.kind == "L":
            self.synced[Path(call.data.decode()).name] = bytearray(self.synced.get(call.name, b""))
        elif call.kind == "S":
            content = self.synced.setdefault(call.name, bytearray())
            for each in self.unsynced.pop(call.name, []):
                _apply(content, each)
        else:
            self.unsynced.setdefault(call.name, []).append(call)

    def after_a_cut(self, some_of: random.Random | None) -> dict[str, bytes]:
        """What is found after a power cut: nothing unsynced, or the first so many calls of it for each file."""
        found = {name: bytearray(content) for name, content in self.synced.items()}
        for name, calls in self.unsynced.items():
            content = found.setdefault(name, bytearray())
            for call in calls[: some_of.randint(0, len(calls))] if some_of else []:
                _apply(content, call)
        return {name: bytes(content) for name, content in found.items()}


def _apply(content: bytearray, call: Call) -> None:
    if call.kind == "T":
        del content[call.number :]
        content.extend(bytes(call.number - len(content)))
        return
    content.extend(bytes(max(0, call.number - len(content))))
    content[call.number : call.number + len(call.data)] = call.data


def recorded(log: bytes) -> Iterator[Call]:
    at = 0
    while at < len(log):
        kind, path, number, size = struct.unpack_from("=cIqI", log, at)
        at += 17
        name = Path(log[at : at + path].decode()).name
        at += path
        yield Call(kind.decode(), name, number, log[at : at + size])
        at += size


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> list[Call]:
    """Calls of a process that tells so many events."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    folder = tmp_path_factory.mktemp("cut")
    layer, log, below = folder / "file_calls.so", folder / "calls", folder / "disk"
    below.mkdir()
    source = Path(__file__).with_name("file_calls.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", layer, source, "-ldl", "-lpthread"], check=True)
    variables = {"LD_PRELOAD": str(layer), "RECORD_BELOW": str(below), "RECORD_TO": str(log)}
    command = [sys.executable, "-c", WRITER, str(below), str(request.param)]
    subprocess.run(command, env={**os.environ, **variables}, cwd=Path(__file__).parents[2], check=True, timeout=300)
    return list(recorded(log.read_bytes()))


@pytest.mark.parametrize("seed", [SEED + n for n in range(7)])
@pytest.mark.parametrize("calls", [60], indirect=True)
@pytest.mark.long
def test_what_was_acknowledged_outlives_a_power_cut_at_any_moment(calls: list[Call], tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    moments = sorted(chosen.choices(range(len(calls)), k=CUTS))
    disk, taken = Disk(), 0
    lost: list[str] = []
    for number, moment in enumerate(moments):
        for call in calls[taken : moment + 1]:
            disk.take(call)
        taken = moment + 1
        found = disk.after_a_cut(chosen if number % 2 else None)
        acknowledged = found.pop("acknowledged", b"").decode().split()
        for old in tmp_path.iterdir():
            old.unlink()
        for name, content in found.items():
            (tmp_path / name).write_bytes(content)
        if not acknowledged:
            continue
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
            assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
            events = {event for (event,) in db.execute("SELECT id FROM deliverable_events")}
            used = {f"a{at - 1e9:.0f}" for (at,) in db.execute("SELECT at FROM accesses")}
        lost += [f"{each} at call {moment}" for each in acknowledged if each not in events | used]
    assert lost == []


@pytest.mark.parametrize("calls", [20], indirect=True)
def test_the_index_is_written_without_waiting_for_the_disk(calls: list[Call]) -> None:
    """Only what is learned or told waits: a save must not."""
    syncs = sum(call.kind == "S" and call.name == "memory.db-wal" for call in calls)
    assert 20 <= syncs <= 20 + 3 + 10, f"20 events and 3 uses were acknowledged, the log was forced out {syncs} times"
