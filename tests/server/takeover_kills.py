"""Kills of the first openings of a memory of before: in the end the record has everything that was learned, once.

`python -m tests.server.takeover_kills FOLDER ROWS KILLS SEED` prints what it counted; a test does a few.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from aurora_indexer.workers.pool import WorkerPool
from aurora_memory.record.record_file import Record
from aurora_memory.store import record_outbox
from aurora_memory.store.row_sums import row_sum
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.memory_settings import database_path
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.workspace import Workspace
from tests.e2e.repositories import commit, git
from tests.memory.runs import NOON

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "memory" / "samples" / "memory-6.db.gz"


def made(folder: Path, rows: int) -> Path:
    """A repository `shop`, and its memory as an older version left it, with that many accesses more; its path."""
    shop = folder / "shop"
    (shop / "src").mkdir(parents=True)
    git(shop, "init", "-q", "-b", "main")
    (shop / "src" / "auth.py").write_text("class Auth:\n    def login(self):\n        return 1\n")
    (shop / "src" / "cache.py").write_text("def evict(key):\n    return key\n")
    commit(shop, "the shop")
    path = database_path(shop, Settings(home=folder / "home"))
    path.parent.mkdir(parents=True, mode=0o700)
    path.parent.parent.chmod(0o700)
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    path.chmod(0o600)
    new = [(number, 1 + number % 2, NOON + number, "success") for number in range(100, 100 + rows)]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM row_sums WHERE sum = ?", (row_sum("facts", ("root", "/home/me/shop")),))
        db.execute("UPDATE facts SET value = ? WHERE key = 'root'", (str(shop),))
        db.executemany("INSERT INTO accesses (id, chunk_id, at, kind) VALUES (?, ?, ?, ?)", new)
        sums = [row_sum("facts", ("root", str(shop))), *(row_sum("accesses", row) for row in new)]
        db.executemany("INSERT INTO row_sums VALUES (?)", [(each,) for each in sums])
    return path


async def take_over(folder: Path) -> list[str]:
    """Open the memory until the record has all of it; what the memory's check then finds."""
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    print("begun", flush=True)
    workspace = await Workspace.open(
        folder / "shop", Settings(home=folder / "home"), pool, records=SharedRecords(folder / "home")
    )
    try:
        assert workspace.record is not None
        await workspace.record.settled()
        assert await workspace._store.read(record_outbox.count) == 0
        print("taken over", flush=True)
        return [each.what for each in (await workspace._store.check()).faults]
    finally:
        await workspace.close()
        await pool.aclose()


def recorded(folder: Path) -> Counter[str]:
    """Bodies of the record's entries."""
    (path,) = [each for each in (folder / "home" / "records").glob("*.sqlite") if each.stem != "repositories"]
    with closing(Record.open(path, path.stem, "nobody", "none")) as record:
        return Counter(entry.body for _, entry in record.after(0, 10_000_000))


def killed(folder: Path, kills: int, seed: int, longest: float) -> int:
    """Begin to take over and be killed within `longest` seconds, that often; how often it was done already."""
    chance = random.Random(seed)
    done = 0
    for _ in range(kills):
        program = [sys.executable, "-m", "tests.server.takeover_kills", str(folder)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(chance.uniform(0.0, longest))
            child.send_signal(signal.SIGKILL)
            done += "taken over" in child.stdout.read()
    return done


def main() -> None:
    folder = Path(sys.argv[1])
    if len(sys.argv) == 2:
        asyncio.run(take_over(folder))
        return
    rows, kills, seed = (int(each) for each in sys.argv[2:])
    lost: list[int] = []
    twice: list[int] = []
    interrupted = 0
    for round_ in range(kills // 5):
        here = folder / str(round_)
        made(here, rows)
        interrupted += 5 - killed(here, 5, seed + round_, 2.0)
        faults = asyncio.run(take_over(here))
        found = recorded(here)
        if round_ == 0:
            made(folder / "whole", rows)
            asyncio.run(take_over(folder / "whole"))
            whole = recorded(folder / "whole")
        lost.append(sum((whole - found).values()))
        twice.append(sum((found - whole).values()))
        assert not faults, faults
    print(f"{sum(whole.values())} entries each; {interrupted} takeovers were killed; lost {lost}, twice {twice}")


if __name__ == "__main__":
    main()
