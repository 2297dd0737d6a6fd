"""Load test of two machines with one hub: `python -m tests.benchmarks.team_homes [ENTRIES] [SECONDS] [BEFORE]`.

Two homes of two users, each with a clone; 50 client processes append to the two records, for SECONDS at least and until
there are ENTRIES, while `aurora team sync` exchanges in both. Clients, exchanges and the server are killed at random.
BEFORE of the entries are there when that begins, by the same ways. In the end no entry may be lost or there twice, both
records have to be the same, and so have the memories that are made of them.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from aurora_indexer.workers.pool import WorkerPool
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.record_place import RecordPlace, open_record, record_place
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.workspace import Workspace
from tests.benchmarks.team_writer import FUNCTIONS
from tests.e2e.repositories import commit, git
from tests.programs import COMMAND
from tests.team.postgres import Server, server
from tests.team.records import access
from tests.team.test_daemon_exchange import known, team

USERS = ("ann", "bob")
CLIENTS = 25
"""Of each user."""


def main() -> None:
    given = [int(each) for each in sys.argv[1:]]
    entries, seconds, before = (*given, *(1_000_000, 180, 0)[len(given) :])
    with server() as running, tempfile.TemporaryDirectory(prefix="aurora-homes-") as name:
        folder = Path(name)
        found = places(running, folder)
        said = fill(folder, found, before)
        killed = live(running, folder, found, entries - before, seconds)
        checked(running, folder, found, said)
        print(f"killed: {killed}")
        asyncio.run(compared(folder))


def places(running: Server, folder: Path) -> dict[str, RecordPlace]:
    """Both users' clones and homes, joined to one team."""
    with running.connect() as db:
        for who in USERS:
            db.execute(f"CREATE ROLE {who} LOGIN")
    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    origin.joinpath("a.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(FUNCTIONS)))
    commit(origin, "functions")
    told = [team_of(origin, folder, "create", running.url(), "crew")]
    for who in USERS:
        git(folder, "clone", "-q", str(origin), who)
        git(folder / who, "config", "user.email", f"{who}@example.org")
        git(folder / who, "remote", "set-url", "origin", "https://example.org/one.git")
        told.append(team(folder, who, "members", running.url(), "crew", "--add", who))
        told.append(team(folder, who, "join", running.url(who)))
    print("".join(told), end="", flush=True)
    return {who: asyncio.run(record_place(folder / who, folder / f"home-{who}")) for who in USERS}


def team_of(root: Path, folder: Path, *arguments: str) -> str:
    """The owner's command."""
    return team(folder, root.name, *arguments)


def fill(folder: Path, found: dict[str, RecordPlace], before: int) -> int:
    """Entries that are there already, half of each user's, exchanged; how many."""
    began = time.monotonic()
    for number, who in enumerate(USERS):
        with closing(open_record(found[who])) as record:
            for start in range(0, before // 2, 10_000):
                count = min(10_000, before // 2 - start)
                record.append(access(1e9 + number * 1e8 + start + n, f"f{n % FUNCTIONS}") for n in range(count))
    for who in (*USERS, *USERS) if before else ():
        print(team_long(folder, who), end="", flush=True)
    if before:
        print(f"{before:,} entries before, exchanged in {time.monotonic() - began:.0f} s", flush=True)
    return before // 2 * 2


def team_long(folder: Path, who: str) -> str:
    environ = {**os.environ, "AURORA_HOME": str(folder / f"home-{who}")}
    done = subprocess.run(
        [*COMMAND, "team", "sync"], cwd=folder / who, env=environ, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def live(running: Server, folder: Path, found: dict[str, RecordPlace], entries: int, seconds: float) -> Counter[str]:
    """Fifty clients and two exchanges, and what kills them; how many of each were killed."""
    chance = random.Random(7)
    killed: Counter[str] = Counter()
    quota = -(-entries // (CLIENTS * len(USERS)))

    def client(who: str, number: int) -> subprocess.Popen[bytes]:
        place = found[who]
        told = (str(place.path), place.repository, place.author, place.machine, str(number), str(quota))
        return subprocess.Popen([sys.executable, "-m", "tests.benchmarks.team_writer", *told])

    def exchange(who: str) -> subprocess.Popen[bytes]:
        environ = {**os.environ, "AURORA_HOME": str(folder / f"home-{who}")}
        return subprocess.Popen(
            [*COMMAND, "team", "sync"],
            cwd=folder / who,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    began = time.monotonic()
    clients = {(who, number): client(who, number) for who in USERS for number in range(CLIENTS)}
    exchanges = {who: exchange(who) for who in USERS}
    at = began
    while time.monotonic() - began < seconds or any(each.poll() is None for each in clients.values()):
        time.sleep(0.1)
        for who, each in exchanges.items():
            if each.poll() is not None:
                exchanges[who] = exchange(who)
        for key, each in clients.items():
            if each.poll() not in (None, 0):
                clients[key] = client(*key)
        if time.monotonic() < at:
            continue
        at = time.monotonic() + chance.uniform(1, 4)
        drawn = chance.random()
        if drawn < 0.15:
            running.kill()
            running.revive()
            killed["server"] += 1
        elif drawn < 0.35:
            exchanges[chance.choice(USERS)].send_signal(signal.SIGKILL)
            killed["exchanges"] += 1
        else:
            alive = [each for each in clients.values() if each.poll() is None]
            if alive:
                chance.choice(alive).send_signal(signal.SIGKILL)
                killed["clients"] += 1
    for each in (*exchanges.values(), *clients.values()):
        each.kill()
        each.wait()
    print(
        f"{time.monotonic() - began:.0f} s of writing; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        flush=True,
    )
    return killed


def checked(running: Server, folder: Path, found: dict[str, RecordPlace], before: int) -> None:
    """Exchange what is left; then look at each side that none is lost and none is there twice."""
    began = time.monotonic()
    for who in (*USERS, *USERS):
        print(team_long(folder, who), end="", flush=True)
    acknowledged = {
        line for path in folder.glob("*.appended") for line in path.read_text().split("\n") if len(line) == 32
    }
    with running.connect() as db:
        rows, distinct = db.execute("SELECT count(*), count(DISTINCT id) FROM aurora.entries").fetchone() or (0, 0)
    digests: dict[str, dict[str, int]] = {}
    for who in USERS:
        digests[who] = {}
        with closing(open_record(found[who])) as record:
            number = 0
            twice = 0
            while page := record.after(number):
                number = page[-1][0]
                for _, entry in page:
                    twice += entry.id in digests[who]
                    digests[who][entry.id] = hash((entry.author, entry.machine, entry.sequence, entry.at, entry.body))
        lost = len(acknowledged - digests[who].keys())
        print(f"{who}: {len(digests[who]):,} entries, {lost} lost, {twice} twice", flush=True)
    same = digests["ann"] == digests["bob"]
    print(
        f"{len(acknowledged):,} acknowledged and {before:,} before; hub: {rows:,} rows of {distinct:,} ids; "
        f"the records are {'the same' if same else 'NOT THE SAME'}; all of it {time.monotonic() - began:.0f} s later"
    )


async def compared(folder: Path) -> None:
    """Make both memories of the records, and compare what they know."""
    memories = []
    for who in USERS:
        home = folder / f"home-{who}"
        pool = WorkerPool(1, folder=folder, environment=os.environ)
        workspace = await Workspace.open(folder / who, Settings(home=home), pool, records=SharedRecords(home))
        try:
            began = time.monotonic()
            assert workspace.record is not None
            await workspace.record.settled()
            memories.append(known(workspace))
            print(f"{who}: memory has it after {time.monotonic() - began:.0f} s", flush=True)
        finally:
            await workspace.close()
            await pool.aclose()
    print(f"the memories are {'the same' if memories[0] == memories[1] else 'NOT THE SAME'}")


if __name__ == "__main__":
    main()
