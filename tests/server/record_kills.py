"""Kills of a daemon's work at random moments: what it acknowledged is in both memories and the record, once.

`python -m tests.server.record_kills FOLDER KILLS SEED` prints what it counted; a test does a few.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from aurora_deliverables.events import Event, PhaseStarted
from aurora_indexer.workers.pool import WorkerPool
from aurora_memory.record.record_file import Record
from aurora_memory.store import record_outbox
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.workspace import Workspace
from tests.e2e.repositories import commit, git
from tests.memory.runs import NOON
from tests.memory.test_export import learned

ROOT = Path(__file__).parents[2]


def made(folder: Path) -> None:
    """A repository `shop` and its clone `clone`."""
    shop = folder / "shop"
    shop.mkdir(parents=True)
    git(shop, "init", "-q", "-b", "main")
    (shop / "cart.py").write_text("def total(lines):\n    return sum(line.price for line in lines)\n")
    commit(shop, "the shop")
    git(shop, "clone", "-q", str(shop), str(folder / "clone"))


async def _opened(folder: Path, pool: WorkerPool, records: SharedRecords) -> list[Workspace]:
    settings = Settings(home=folder / "home")
    return [await Workspace.open(folder / name, settings, pool, records=records) for name in ("shop", "clone")]


async def learn_for_ever(folder: Path, round_: int) -> None:
    """Learn in both by turns, and say each number when it is acknowledged."""
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    both = await _opened(folder, pool, SharedRecords(folder / "home"))
    for each in both:
        await each._indexer.first_run()
    number = 0
    while True:
        number += 1
        name = f"{round_}-{number}"
        if number % 2:
            await both[0]._store.record_accesses([1], name, NOON + number)
        else:
            await both[1].deliverables.record([Event(name, "c", NOON + number, PhaseStarted("apply"))])
        print(name, flush=True)


async def counted(folder: Path) -> tuple[list[Counter[str]], list[str]]:
    """How often each name is in both memories, once they have settled; and the record's bodies."""
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    records = SharedRecords(folder / "home")
    both = await _opened(folder, pool, records)
    try:
        for each in (*both, *both):
            assert each.record is not None
            await each.record.settled()
            assert await each._store.read(record_outbox.count) == 0
        found: list[Counter[str]] = []
        for each in both:
            rows = learned(each._store.path)
            found.append(Counter([row[4] for row in rows["accesses"]] + [row[0] for row in rows["deliverable_events"]]))
            assert (await each._store.check()).faults == ()
    finally:
        for each in both:
            await each.close()
        await pool.aclose()
    (path,) = [each for each in (folder / "home" / "records").glob("*.sqlite") if each.stem != "repositories"]
    with closing(Record.open(path, path.stem, "nobody", "none")) as record:
        return found, [entry.body for _, entry in record.after(0, 10_000_000)]


def killed(folder: Path, kills: int, seed: int) -> list[str]:
    """Begin and kill that often; every name that was acknowledged."""
    chance = random.Random(seed)
    acknowledged: list[str] = []
    for round_ in range(kills):
        program = [sys.executable, "-m", "tests.server.record_kills", str(folder), "child", str(round_)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
            assert child.stdout is not None
            first = child.stdout.readline()  # it has begun
            time.sleep(chance.uniform(0.0, 0.4))
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read()
        acknowledged += [line for line in (first + rest).split("\n")[:-1] if line]
    return acknowledged


def main() -> None:
    folder = Path(sys.argv[1])
    if sys.argv[2] == "child":
        asyncio.run(learn_for_ever(folder, int(sys.argv[3])))
        return
    made(folder)
    acknowledged = killed(folder, int(sys.argv[2]), int(sys.argv[3]))
    found, bodies = asyncio.run(counted(folder))
    lost = [sum(each not in memory for each in acknowledged) for memory in found]
    twice = [sum(count > 1 for count in memory.values()) for memory in found]
    print(f"{len(acknowledged)} acknowledged; lost {lost}, twice {twice}, equal {found[0] == found[1]}")
    print(f"{len(bodies)} entries, {len(bodies) - len(set(bodies))} twice")


if __name__ == "__main__":
    main()
