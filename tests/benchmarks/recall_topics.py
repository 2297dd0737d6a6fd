"""`make bench-recall QUESTIONS=… CLONES=… KEEP=…`: topic, architecture and symbol questions with known files.

QUESTIONS is a folder with an `index.json` (name, language, revision, root) and one `NAME.jsonl` a repository: lines of
id, query, category, relevant, secondary. CLONES has a clone of each by that name, with history. NDCG@10 by the rules of
those benchmarks: an answer counts where it stands in a file that is wanted, and overlaps its lines where it has some.
Differences to plain BM25 of files are paired, with intervals. `first three` is the share of questions of which one of
the first three answers is of a file that is wanted, whichever lines of it.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import subprocess
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.kinship import read_some
from aurora_memory.store import Store
from aurora_server.workspace.recalled_text import file_text
from tests.benchmarks.baselines import Functions, bm25
from tests.benchmarks.recall_quality import database_of, paired

DEPTH = 10


class Target(Struct, frozen=True):
    """A file that is wanted, or lines of it."""

    path: str
    start_line: int = 1
    end_line: int = 1 << 30


class Topic(Struct, frozen=True):
    """A question and the places that answer it."""

    query: str
    category: str
    relevant: list[Target | str]
    secondary: list[Target | str] = []

    @property
    def targets(self) -> list[Target]:
        given = [*self.relevant, *self.secondary]
        return [Target(each) if isinstance(each, str) else each for each in given]


class Indexed(Struct, frozen=True):
    """A repository that questions are about."""

    name: str
    language: str
    revision: str
    root: str | None = None


class Answer(NamedTuple):
    """Lines of a file."""

    path: str
    start: int
    end: int


class Figures(NamedTuple):
    """NDCG, reciprocal rank and recall at 10, and whether the first three answers have a file that is wanted."""

    ndcg: float
    mrr: float
    recall: float
    at_3: float


def ranks_of(targets: Sequence[Target], answers: Sequence[Answer]) -> list[int]:
    """Rank (from 0) of the first of ten answers that hits each target, where one does."""
    ranks = []
    for target in targets:
        for rank, answer in enumerate(answers[:DEPTH]):
            same = f"/{target.path}".endswith(f"/{answer.path}") or f"/{answer.path}".endswith(f"/{target.path}")
            if same and answer.end >= target.start_line and answer.start <= target.end_line:
                ranks.append(rank)
                break
    return ranks


def ndcg(targets: Sequence[Target], answers: Sequence[Answer]) -> float:
    """Normalized discounted cumulative gain (NDCG): each target counts at the first answer that hits it."""
    best = sum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(targets))))
    hit = set(ranks_of(targets, answers))
    return sum(1 / math.log2(rank + 2) for rank in hit) / best if best else 0.0


def figures(targets: Sequence[Target], answers: Sequence[Answer]) -> Figures:
    """All of one question."""
    ranks = ranks_of(targets, answers)
    share = len(ranks) / min(DEPTH, len(targets)) if targets else 0.0
    whole = [Target(target.path) for target in targets]
    return Figures(
        ndcg(targets, answers),
        1 / (1 + min(ranks)) if ranks else 0.0,
        min(1.0, share),
        1.0 if ranks_of(whole, answers[:3]) else 0.0,
    )


async def asked(root: Path, database: Path, topics: Sequence[Topic]) -> list[list[Hit]]:
    """Recall for every question."""
    store = await Store.open(database)
    try:
        read = partial(file_text, root)
        while await store.read(read_some):
            pass
        return [await store.read(recall, parse_question(each.query), DEPTH, time.time(), read=read) for each in topics]
    finally:
        await store.close()


def measured(given: Indexed, questions: Path, clones: Path, keep: Path) -> Iterator[tuple[str, Figures, Figures]]:
    """Category, figures of AURORA and of BM25 over functions, of each question on one repository."""
    clone = clones / given.name
    subprocess.run(["git", "-C", str(clone), "checkout", "-q", "--detach", given.revision], check=True)
    root = clone / given.root if given.root else clone
    known = list((keep / given.name / "memory").glob("*.db"))
    database = known[0] if known else database_of(root, keep / given.name)
    lines = (questions / f"{given.name}.jsonl").read_text().splitlines()
    topics = [msgspec.json.decode(line, type=Topic) for line in lines]
    plain = bm25(Functions(root))
    for topic, hits in zip(topics, asyncio.run(asked(root, database, topics)), strict=True):
        ours = [Answer(hit.chunk.path, hit.chunk.line_start, hit.chunk.line_end) for hit in hits]
        files = dict.fromkeys(path for path, _ in plain(topic.query))
        theirs = [Answer(path, 1, 1 << 30) for path in files]
        yield topic.category, figures(topic.targets, ours), figures(topic.targets, theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="folder for databases, reused on the next run")
    options = parser.parse_args()
    index = msgspec.json.decode((options.questions / "index.json").read_bytes(), type=list[Indexed])
    rows: list[tuple[str, str, Figures, Figures]] = []
    for given in index:
        found = list(measured(given, options.questions, options.clones, options.keep))
        rows += [(given.language, *row) for row in found]
        print(f"{given.name:12} {given.language:10} NDCG@10 {sum(row[1].ndcg for row in found) / len(found):.3f}")
    for title, place in (("language", 0), ("category", 1)):
        for each in dict.fromkeys(row[place] for row in rows):
            tell(f"{title} {each}", [row[2:] for row in rows if row[place] == each])
    tell("all", [row[2:] for row in rows])


def tell(title: str, pairs: Sequence[tuple[Figures, Figures]]) -> None:
    """Print the means of AURORA, each with the paired difference to BM25 and its interval."""
    for name, place in (("NDCG@10", 0), ("MRR@10", 1), ("R@10", 2), ("first three", 3)):
        mean = sum(ours[place] for ours, _ in pairs) / len(pairs)
        over = paired([ours[place] - theirs[place] for ours, theirs in pairs])
        print(f"{title:24} {name:11} {mean:.4f}, over BM25 {over}")


if __name__ == "__main__":
    main()
