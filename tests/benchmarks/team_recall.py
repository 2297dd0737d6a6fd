"""Benchmark of recall latency with a team: `python -m tests.benchmarks.team_recall REPOSITORY [ENTRIES] [QUESTIONS]`.

Three daemons have clones of one repository: `alone`, `joined` with ENTRIES of five colleagues in its record, and
`faulty`, which is joined likewise, by a hub that is silent, hangs up, refuses or answers garbage, one or the other each
time. The same questions, which are subjects of commits, are asked of two of them by turns, each first as often as the
other, and each ROUNDS times of both. What counts is by how much more a question costs in one than in the other: the
ratio of the medians of its rounds, by the CPU time of the daemon, which is a sum over its threads, and by the clock;
what the ratios of single pairs are says how much the machine was busy with else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from aurora_memory.record.entry import Entry, entry_id
from aurora_memory.store.memory_files import memory_files
from aurora_protocol.client import Client
from aurora_server.workspace.record_place import open_record, record_place
from aurora_team.membership import Membership, Memberships
from tests.e2e.repositories import git
from tests.server.daemons import Daemon, until
from tests.team import faulty_hubs
from tests.team.records import person
from tests.wait_limits import HANG

COLLEAGUES = 5
ORIGIN = "https://example.org/one.git"
WHO = ("alone", "joined", "faulty")
ROUNDS = 8
"""How often each question is asked of both, after a round that warms them."""


@dataclass(frozen=True)
class Asked:
    """A daemon that is asked."""

    daemon: Daemon
    client: Client

    def recall(self, question: str) -> tuple[float, float]:
        """Seconds of CPU and of the clock that a recall took."""
        cpu, began = self.cpu(), time.perf_counter()
        self.client.request("aurora/recall", {"query": question})
        took = time.perf_counter() - began
        return self.cpu() - cpu, took

    def cpu(self) -> float:
        """CPU time of all threads that the daemon has, by the scheduler's clock."""
        total = 0
        for each in Path(f"/proc/{self.daemon.process.pid}/task").iterdir():
            total += int((each / "schedstat").read_text().split()[0])
        return total / 1e9


def main() -> None:
    """Print how long recall takes with a team, and with a hub that fails, beside without."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("entries", type=int, nargs="?", default=50_000)
    parser.add_argument("questions", type=int, nargs="?", default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aurora-recall-") as name, ExitStack() as stack:
        folder = Path(name)
        for who in WHO:
            subprocess.run(["git", "clone", "-q", "-s", str(options.repository), str(folder / who)], check=True)
            git(folder / who, "remote", "set-url", "origin", ORIGIN)
            git(folder / who, "config", "user.email", "ann@example.org")
        log = git(folder / "alone", "log", "--no-merges", "--format=%s")
        questions = list(dict.fromkeys(log.splitlines()))[: options.questions]
        lines: list[float] = []
        hub = stack.enter_context(faulty_hubs.served(_rotated(lines)))
        functions = _begun(folder)
        for who in WHO[1:]:
            _tell(folder, who, functions, options.entries)
        url = f"postgresql://ann@127.0.0.1:{hub}/aurora"
        Memberships(folder / "home-faulty").write([Membership(url, "crew", "ann")])
        asked = {who: _opened(stack, folder, who) for who in WHO}
        known = [_settle(folder, who, options.entries) for who in WHO[1:]]
        print(
            f"{len(functions)} functions; uses that the joined know of: {known}; {len(questions)} questions", flush=True
        )
        _compare(asked, "joined", "alone", questions)
        lines.clear()
        _compare(asked, "faulty", "joined", questions)
        print(
            f"  the hub that fails was asked {len(lines)} times; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        )


def _rotated(lines: list[float]) -> Callable[[socket.socket], None]:
    chance = random.Random(22)

    def answer(line: socket.socket) -> None:
        lines.append(time.monotonic())
        chance.choice((faulty_hubs.silent, *faulty_hubs.FAULTS))(line)

    return answer


def _begun(folder: Path) -> list[tuple[str, str, str]]:
    """Path, name and kind of each function of the repository, as a memory has them."""
    with Daemon(folder / "home-alone") as daemon, daemon.client(folder / "alone") as client:
        client.request("aurora/index")
    (memory,) = memory_files(folder / "home-alone" / "memory")
    with closing(sqlite3.connect(memory.path)) as db:
        return db.execute(
            """SELECT path, name, kind FROM chunks
               WHERE kind IN ('function', 'method') AND gone_at IS NULL ORDER BY path, name"""
        ).fetchall()


def _tell(folder: Path, who: str, functions: list[tuple[str, str, str]], entries: int) -> None:
    """Put what colleagues did in a year into a home's record: most of it is at few of the functions."""
    chance = random.Random(7)
    now = time.time()
    place = asyncio.run(record_place(folder / who, folder / f"home-{who}"))
    with closing(open_record(place)) as record:
        for colleague in range(COLLEAGUES):
            told = []
            for number in range(entries // COLLEAGUES):
                path, name, kind = functions[int(len(functions) * chance.random() ** 3)]
                at = now - chance.random() * 365 * 86_400
                chunk = {"path": path, "name": name, "kind": kind, "shape": "00", "ordinal": 0}
                body = json.dumps({"type": "access", "chunk": chunk, "at": at, "kind": "success"})
                told.append(_entry(place.repository, person(f"colleague {colleague}"), number + 1, at, body))
            record.union(told)


def _entry(repository: str, author: str, sequence: int, at: float, body: str) -> Entry:
    identity = entry_id(author, "m1", sequence, "access", body)
    return Entry(identity, repository, author, "m1", sequence, at, "access", body)


def _opened(stack: ExitStack, folder: Path, who: str) -> Asked:
    # A hub that fails is asked as often as can be; no other one is there to be asked.
    daemon = stack.enter_context(Daemon(folder / f"home-{who}", AURORA_TEAM_SYNC_SECONDS="1"))
    client = stack.enter_context(daemon.client(folder / who))
    client.request("aurora/index")
    # Git's history is read after the files, and all that is weighed has to be there for each of them.
    until(lambda: not client.request("aurora/status")["workspaces"][0]["learning_history"], seconds=20 * HANG)
    return Asked(daemon, client)


def _settle(folder: Path, who: str, entries: int) -> int:
    """Wait until a memory has what its record told, and return how many uses it knows of."""
    (memory,) = memory_files(folder / f"home-{who}" / "memory")
    with closing(sqlite3.connect(memory.path)) as db:
        until(lambda: db.execute("SELECT count(*) FROM accesses").fetchone()[0] >= entries, seconds=20 * HANG)
        return int(db.execute("SELECT count(*) FROM accesses").fetchone()[0])


def _compare(asked: dict[str, Asked], one: str, other: str, questions: list[str]) -> None:
    took: dict[str, list[list[tuple[float, float]]]] = {who: [[] for _ in questions] for who in (one, other)}
    cpu = {}
    for turn in range(ROUNDS + 1):  # the first warms both
        if turn == 1:
            cpu = {who: asked[who].cpu() for who in (one, other)}
        for number, question in enumerate(questions):
            for who in (one, other) if (number + turn) % 2 else (other, one):
                seconds = asked[who].recall(question)
                if turn:
                    took[who][number].append(seconds)
    spent = {who: asked[who].cpu() - cpu[who] for who in (one, other)}
    print(f"{one} by {other}, {len(questions)} questions, {ROUNDS} times each:")
    print(f"  CPU in all {spent[one] / spent[other]:.3f}")
    for place, clock in enumerate(("CPU", "clock")):
        questions_ratios = [
            statistics.median(each[place] for each in mine) / statistics.median(each[place] for each in others)
            for mine, others in zip(took[one], took[other], strict=True)
        ]
        pairs = [
            single[place] / beside[place]
            for mine, others in zip(took[one], took[other], strict=True)
            for single, beside in zip(mine, others, strict=True)
        ]
        print(f"  {clock} of a question {_spread(questions_ratios)}; of a pair {_spread(pairs)}")
    for who in (one, other):
        each = sorted(seconds[1] * 1e3 for rounds in took[who] for seconds in rounds)
        print(f"  {who}: p50 {each[len(each) // 2]:.1f} ms, p95 {each[len(each) * 95 // 100]:.1f}, max {each[-1]:.1f}")


def _spread(ratios: list[float]) -> str:
    cut = statistics.quantiles(ratios, n=20)
    return f"{cut[9]:.3f} (p5 {cut[0]:.3f}, p95 {cut[-1]:.3f}, most {max(ratios):.3f})"


if __name__ == "__main__":
    main()
