"""`python -m tests.benchmarks.recall_replay REPOSITORY…`: offline evaluation by replay: does what was used help to find
what is wanted next?

Walks a repository's history as its developer would: before each commit, its tree and history are indexed, its subject
is asked, and what it then changes of what was found is of use. The next question is asked of memory as it is (commits
included), of one that has learned these uses, and of one that took all that was shown for use. Times are the commits'.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.store import Store
from tests.benchmarks import measures
from tests.benchmarks.recall_cases import Case, Function, Step, walked
from tests.benchmarks.recall_quality import DEPTH, functions_in, scored

Arm = Literal["nothing", "what was used", "what was shown"]
ARMS: tuple[Arm, ...] = ("nothing", "what was used", "what was shown")

Access = tuple[int, float]
"""(row id, Unix seconds)"""

_DRAWS = 2000


def keep(database: Path, accesses: Sequence[Access]) -> None:
    """Make these, and no others, what memory has learned."""
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("DELETE FROM accesses")
        rows = [(row, at) for row, at in accesses if db.execute("SELECT 1 FROM chunks WHERE id = ?", (row,)).fetchone()]
        db.executemany("INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, 'edited')", rows)


async def asked(database: Path, step: Step) -> list[Hit]:
    """The answer to a step's subject at its time."""
    store = await Store.open(database)
    try:
        return await store.read(recall, parse_question(step.case.question), DEPTH, step.at)
    finally:
        await store.close()


def replay(repository: Path, back: int, most: int, home: Path) -> tuple[list[Case], dict[Arm, list[list[Function]]]]:
    """The questions of a history with what each arm answered."""
    tree = home / "tree"
    subprocess.run(["git", "clone", "-q", "-s", "-n", str(repository), str(tree)], check=True)
    learned: dict[Arm, list[Access]] = {arm: [] for arm in ARMS}
    answers: dict[Arm, list[list[Function]]] = {arm: [] for arm in ARMS}
    cases: list[Case] = []
    with measures.daemon(home / "aurora") as address:
        for step in walked(repository, back, most):
            subprocess.run(["git", "-C", str(tree), "checkout", "-q", "-f", step.before], check=True)
            with measures.session(address, tree) as client:
                measures.index(client)
                measures.settled(client)
            (database,) = (home / "aurora" / "memory").glob("*.db")
            cases.append(step.case)
            for arm in ARMS:
                keep(database, learned[arm])
                hits = asyncio.run(asked(database, step))
                answers[arm].append(functions_in(hits))
                if arm != "nothing":
                    used = [
                        hit.chunk.id
                        for hit in hits
                        if arm == "what was shown" or (hit.chunk.path, hit.chunk.name) in step.case.answers
                    ]
                    learned[arm] += [(row, step.at) for row in used]
            keep(database, ())
    return cases, answers


def reciprocals(cases: Sequence[Case], answers: Sequence[Sequence[Function]]) -> list[float]:
    """The reciprocal rank of each question's first answer."""
    return [scored([case], [answer]).mrr for case, answer in zip(cases, answers, strict=True)]


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """95 % of the means that a paired bootstrap draws."""
    chance = random.Random(1)
    means = sorted(sum(chance.choices(differences, k=len(differences))) / len(differences) for _ in range(_DRAWS))
    return means[_DRAWS // 40], means[-_DRAWS // 40]


def main() -> None:
    """Print each repository's scores, learned and not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--back", type=int, default=400, help="commits to go back")
    parser.add_argument("--most", type=int, default=100, help="questions of each repository")
    options = parser.parse_args()
    gains: dict[Arm, list[float]] = {arm: [] for arm in ARMS}
    for repository in options.repositories:
        with tempfile.TemporaryDirectory(prefix="aurora-replay-") as home:
            cases, answers = replay(repository.resolve(), options.back, options.most, Path(home))
        base = reciprocals(cases, answers["nothing"])
        print(f"{repository} ({len(cases)} questions)")
        for arm in ARMS:
            print(f"  learned {arm:<14}  {scored(cases, answers[arm])}", flush=True)
            own = reciprocals(cases, answers[arm])
            gains[arm] += [mine - other for mine, other in zip(own, base, strict=True)]
    for arm in ARMS[1:]:
        low, high = interval(gains[arm])
        print(f"MRR by {arm}: {sum(gains[arm]) / len(gains[arm]):+.4f} (95 %: {low:+.4f} to {high:+.4f})")


if __name__ == "__main__":
    main()
