"""Benchmark of a member's first day: `python -m tests.benchmarks.team_join REPOSITORY`, with a PostgreSQL server of its
own.

A year of the repository's history is lived by one member: each commit's subject is asked, and what it changed is of
use. A colleague with a fresh clone joins his team, another one does not; all three are asked the same questions. Then
recall is timed in the clone that joined, and in the one that did not, by turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from aurora_memory.recall import parse_question, recall
from aurora_memory.store import chunk_reader
from aurora_protocol.methods import RecallParams
from aurora_server.workspace.workspace import Workspace
from tests.benchmarks.recall_cases import Function, Step, walked
from tests.benchmarks.recall_quality import DEPTH, functions_in, scored
from tests.e2e.repositories import git
from tests.team.postgres import Server, server
from tests.team.test_daemon_exchange import daemon, team, until

YEAR = 365 * 86_400.0
ROUNDS = 5


def main() -> None:
    """Print what each member finds, and how long recall takes joined and not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--back", type=int, default=1000, help="commits to go back at most")
    parser.add_argument("--most", type=int, default=150, help="commits that are lived, at most")
    parser.add_argument("--years", type=float, default=1.0, help="how much of the history is lived")
    options = parser.parse_args()
    with server() as running, tempfile.TemporaryDirectory(prefix="aurora-join-") as folder:
        asyncio.run(joined(running, options.repository.resolve(), Path(folder), options))


async def joined(running: Server, repository: Path, folder: Path, options: argparse.Namespace) -> None:
    steps = list(walked(repository, options.back, 100_000))
    steps = [each for each in steps if each.at > steps[-1].at - options.years * YEAR][: options.most]
    for who in ("ann", "bob", "carl"):
        clone(repository, folder / who, who, steps[0].before)
    with running.connect() as db:
        for role in ("ann", "bob"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    told = [team(folder, "ann", "create", running.url(), "crew")]
    for who in ("ann", "bob"):
        told.append(team(folder, "ann", "members", running.url(), "crew", "--add", who))
        told.append(team(folder, who, "join", running.url(who)))
    async with AsyncExitStack() as stack:
        ann, exchange = await stack.enter_async_context(daemon(folder, "ann"))
        await exchange.close()  # it is done here when it is to be done
        uses = await lived(ann, steps)
        assert ann.record is not None
        await ann.record.settled()
        print(await asyncio.to_thread(team, folder, "ann", "sync"), end="")
        begun = time.perf_counter()
        print(await asyncio.to_thread(team, folder, "bob", "sync"), end="")
        bob, exchange = await stack.enter_async_context(daemon(folder, "bob"))
        await exchange.close()  # it is done here when it is to be done
        took = time.perf_counter() - begun
        carl, exchange = await stack.enter_async_context(daemon(folder, "carl"))
        await exchange.close()  # it is done here when it is to be done
        print(f"{len(steps)} commits, {uses} uses; bob had them {took:.1f} s after he began to exchange")
        for name, member in (("ann", ann), ("bob, joined", bob), ("carl, did not", carl)):
            await member.index(None)
            await until(lambda member=member: not member._indexer.learning_history)  # it is read after the files
            answers = [await asked(member, step, steps[-1].at + 86_400) for step in steps]
            print(f"  {name:<14} {scored([step.case for step in steps], answers)}", flush=True)
        await timed(bob, carl, [step.case.question for step in steps])


def clone(repository: Path, root: Path, who: str, commit: str) -> None:
    """A clone as it was a year ago, with the identity of a person."""
    subprocess.run(["git", "clone", "-q", "-s", "-n", str(repository), str(root)], check=True)
    git(root, "checkout", "-q", "-f", "-B", "main", commit)
    git(root, "config", "user.email", f"{who}@example.org")
    git(root, "remote", "set-url", "origin", "https://example.org/one.git")


async def lived(member: Workspace, steps: Sequence[Step]) -> int:
    """Let what each commit changed be of use when it was made; how many uses that were. Rebased commits may be of one
    second, in which a chunk is used once: to the record, two uses of one moment are the same.
    """
    uses = 0
    at, seen = 0.0, set[int]()
    for step in steps:
        if step.at != at:
            at, seen = step.at, set()
        rows = [
            chunk.id
            for path, name in sorted(step.case.answers)
            for chunk in (await member._store.read(chunk_reader.by_name, path, name))[:1]
            if chunk.id not in seen
        ]
        seen.update(rows)
        if rows:
            await member._store.record_accesses(rows, "success", step.at)
        uses += len(rows)
    return uses


async def asked(member: Workspace, step: Step, now: float) -> list[Function]:
    return functions_in(await member._store.read(recall, parse_question(step.case.question), DEPTH, now))


async def timed(with_team: Workspace, alone: Workspace, questions: Sequence[str]) -> None:
    """Recall in both by turns, each first as often as the other."""
    took: dict[str, list[float]] = {"joined": [], "alone": []}
    pairs: list[float] = []
    began = time.process_time()
    for turn in range(ROUNDS + 1):
        for number, question in enumerate(questions):
            pair: dict[str, float] = {}
            order = (("joined", with_team), ("alone", alone))
            for name, member in order if (turn + number) % 2 else reversed(order):
                begun = time.perf_counter()
                await member.recall(RecallParams(query=question))
                pair[name] = time.perf_counter() - begun
            if turn:  # the first round warms both
                pairs.append(pair["joined"] / pair["alone"])
                for name, seconds in pair.items():
                    took[name].append(seconds * 1e3)
    for name, each in took.items():
        each.sort()
        p50, p95 = each[len(each) // 2], each[len(each) * 95 // 100]
        print(f"  recall {name:<7} p50 {p50:.1f} ms, p95 {p95:.1f}, max {each[-1]:.1f} of {len(each)}")
    print(f"  joined takes {statistics.median(pairs):.3f} of alone (median of {len(pairs)} pairs)")
    print(f"  {time.process_time() - began:.1f} s of CPU; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
