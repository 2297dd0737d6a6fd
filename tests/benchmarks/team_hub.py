"""Benchmark of a hub (load and crash test): `python -m tests.benchmarks.team_hub clients|pull`, with a PostgreSQL
server of its own.

`clients [SECONDS]`: 50 members write and exchange, in 10 processes, while processes and the server are killed at
random; then everyone has to have the same. `pull [ENTRIES]`: what a member lacks at 1,000,000 entries of 50 members,
how long the server works at it, and which partitions each query touches.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from aurora_memory import StoreError
from aurora_team import TeamError
from aurora_team.hub import HEADS, IDS_AT, PULL, Hub
from aurora_team.membership import ExchangeProgress
from aurora_team.synchronization import synchronize
from tests.team.postgres import Server, server
from tests.team.records import KINDS, REPOSITORY, TEAM, access, held, person, record_of

MEMBERS = [f"m{number:02}" for number in range(50)]
PROCESSES = 10
AT_ONCE = 10


def main() -> None:
    what = sys.argv[1]
    if what == "worker":
        work(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
        return
    with server() as running, tempfile.TemporaryDirectory() as folder:
        with running.connect() as db:
            for member in MEMBERS:
                db.execute(f"CREATE ROLE {member} LOGIN")
        with Hub.open(running.url(), as_owner=True) as owner:
            owner.create_team(TEAM)
            for member in MEMBERS:
                owner.add_member(TEAM, member)
        for member in MEMBERS:
            with Hub.open(running.url(member)) as hub:
                hub.claim(TEAM, person(member))
        if what == "clients":
            clients(running, Path(folder), float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
        else:
            pull(running, int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)


def work(url: str, folder: Path, members: list[str]) -> None:
    """Write and exchange as these members until killed."""

    def live(member: str) -> None:
        progress = ExchangeProgress()  # lost when killed: then all is exchanged anew
        while True:
            with closing(record_of(folder, member)) as record, suppress(TeamError, StoreError):
                made = record.append([access(time.time(), f"f{number}") for number in range(AT_ONCE)])
                with (folder / f"{member}.acknowledged").open("a") as file:
                    file.writelines(f"{each.id}\n" for each in made)
                with Hub.open(url.replace("ROLE", member)) as hub:
                    synchronize(hub, TEAM, record, progress, KINDS)

    threads = [threading.Thread(target=live, args=(member,)) for member in members]
    for each in threads:
        each.start()


def clients(running: Server, folder: Path, seconds: float) -> None:
    chance = random.Random(7)
    groups = [MEMBERS[at::PROCESSES] for at in range(PROCESSES)]

    def start(group: list[str]) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "tests.benchmarks.team_hub",
            "worker",
            running.url("ROLE"),
            str(folder),
            *group,
        ]
        return subprocess.Popen(command)

    processes = [start(group) for group in groups]
    until = time.monotonic() + seconds
    killed = servers = 0
    while time.monotonic() < until:
        time.sleep(chance.uniform(1, 3))
        if chance.random() < 0.25:
            running.kill()
            running.revive()
            servers += 1
        else:
            at = chance.randrange(PROCESSES)
            os.kill(processes[at].pid, signal.SIGKILL)
            processes[at].wait()
            processes[at] = start(groups[at])
            killed += 1
    for each in processes:
        each.kill()
        each.wait()
    acknowledged = {
        line for path in folder.glob("*.acknowledged") for line in path.read_text().split("\n") if len(line) == 32
    }
    held_by_one: set[object] | None = None
    reached = {member: ExchangeProgress() for member in MEMBERS}
    for _ in range(2):  # first everyone sends what is left, then everyone fetches it
        for member in MEMBERS:
            with closing(record_of(folder, member)) as record, Hub.open(running.url(member)) as hub:
                synchronize(hub, TEAM, record, reached[member], KINDS)
    with running.connect() as db:
        rows = db.execute("SELECT count(*), count(DISTINCT id) FROM aurora.entries").fetchone()
    for member in MEMBERS:
        with closing(record_of(folder, member)) as record:
            mine = {each.id for each in held(record)}
            assert acknowledged <= mine, f"{member} lost {len(acknowledged - mine)}"
            assert held_by_one is None or mine == held_by_one, f"{member} has another record"
            held_by_one = set(mine)
    assert held_by_one is not None
    print(
        f"{len(acknowledged)} acknowledged, {len(held_by_one)} in each of {len(MEMBERS)} records, "
        f"hub (rows, ids) {rows}; killed: {killed} client processes, {servers} servers"
    )


def pull(running: Server, entries: int) -> None:
    with running.connect() as db:
        db.execute(
            """INSERT INTO aurora.entries (team_id, repository, author, machine, id, sequence, at, kind, body)
               SELECT %s, %s, m.author, 'm1', md5(m.author || n), n, n, 'access', repeat('x', 120)
               FROM aurora.members AS m, generate_series(1, %s) AS n WHERE m.author IS NOT NULL""",
            (TEAM, REPOSITORY, entries // len(MEMBERS)),
        )
        db.execute("VACUUM ANALYZE aurora.entries")
    with Hub.open(running.url("m00")) as hub:
        heads = hub.news(TEAM, REPOSITORY, {}, 1).heads
    took = []
    busy = 0.0
    chance = random.Random(7)
    for _ in range(300):
        with Hub.open(running.url("m00")) as hub:
            cursors = {stream: head - chance.randrange(40) * len(MEMBERS) for stream, head in heads.items()}
            began, worked = time.perf_counter(), time.process_time()
            found = hub.news(TEAM, REPOSITORY, cursors, 100).arrivals
            took.append(time.perf_counter() - began)
            busy += time.process_time() - worked
    took.sort()
    p50, p95, most = (took[at] * 1e3 for at in (150, 285, -1))
    print(
        f"{len(found)} entries the last time; p50 {p50:.1f} ms, p95 {p95:.1f}, max {most:.1f}; "
        f"of each {busy / len(took) * 1e3:.1f} ms of this process's time; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    with running.connect() as db:
        size = db.execute(
            """SELECT pg_size_pretty(sum(pg_total_relation_size(relid))), count(*)
               FROM pg_partition_tree('aurora.entries') WHERE isleaf"""
        ).fetchone()
        print(f"{entries:,} entries; (size with indexes, partitions): {size}")
    shown = {stream: head - 20 * len(MEMBERS) for stream, head in heads.items()}
    values: dict[str, object] = {
        "team": TEAM,
        "repository": REPOSITORY,
        "authors": [author for author, _ in shown],
        "machines": [machine for _, machine in shown],
        "numbers": list(shown.values()),
        "limit": 100,
    }
    with running.connect("m00") as db:
        for name, query in (("heads", HEADS), ("ids at", IDS_AT), ("pull", PULL)):
            times = []
            for _ in range(20):
                rows = db.execute("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON) " + query, values).fetchall()
                plan = "\n".join(str(row[0]) for row in rows)
                times.append(float(plan.rpartition("Execution Time: ")[2].split()[0]))
            touched = sorted(set(re.findall(r"\bon (entries_[0-9]+)\b", plan)))
            times.sort()
            print(f"{name}: touches {touched}; the server takes {times[10]:.1f} ms, at most {times[-1]:.1f}")


if __name__ == "__main__":
    main()
