"""`make bench-recall`: retrieval evaluation: does recall find the right function? Against ripgrep and BM25, in the same
run.

`REPOS="path …"` names clones with history, in any language AURORA knows; every second one is for tuning, the others are
reported apart. Without it, packages from the registry serve, with docstring questions only. `--model PATH` reports a
local embedding model as well, alone and fused with AURORA's own ranking.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from aurora_indexer.embedding.embedder import Embedder
from aurora_indexer.embedding.model_process import ModelProcess
from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.recall.kinship import read_some
from aurora_memory.recall.signals import weights_of
from aurora_memory.store import Store, chunk_reader
from aurora_server.workspace.recalled_text import file_text
from tests.benchmarks import measures
from tests.benchmarks.baselines import Functions, Ranker, bm25, ripgrep
from tests.benchmarks.corpus import package
from tests.benchmarks.recall_cases import FUNCTIONS, Case, Function, commit_cases, docstring_cases

PACKAGES = ("rich==13.9.4", "scrapy==2.13.3", "networkx==3.5")
QUESTIONS = 200
BACK = 400
"""First-parent commits to go back for commit questions."""

DEPTH = 10
ACTIVATION = ("spreading", "episodes", "file episodes", "context boost", "recency", "learned")
"""The signals that come from activation."""


class Score(Struct, frozen=True):
    """Recall at 1, 5 and 10, mean reciprocal rank (MRR) and NDCG at 10, tokens per answer; means over questions."""

    at_1: float
    at_5: float
    at_10: float
    mrr: float
    tokens: float = 0.0
    ndcg: float = 0.0

    def __str__(self) -> str:
        shown = f"R@1 {self.at_1:.3f}  R@5 {self.at_5:.3f}  R@10 {self.at_10:.3f}"
        shown += f"  MRR@10 {self.mrr:.3f}  NDCG@10 {self.ndcg:.3f}"
        return shown + (f"  {self.tokens:.0f} tokens" if self.tokens else "")


def scored(cases: Sequence[Case], answers: Sequence[Sequence[Function]], tokens: float = 0.0) -> Score:
    """Compare ranked answers with what was asked for."""
    at = {1: 0.0, 5: 0.0, 10: 0.0}
    reciprocal = 0.0
    for case, answer in zip(cases, answers, strict=True):
        for depth in at:
            at[depth] += len(case.answers & set(answer[:depth])) / len(case.answers)
        reciprocal += next((1 / rank for rank, one in enumerate(answer[:DEPTH], 1) if one in case.answers), 0.0)
    count = max(1, len(cases))
    gain = sum(gains(cases, answers))
    return Score(at[1] / count, at[5] / count, at[10] / count, reciprocal / count, tokens / count, gain / count)


def gains(cases: Sequence[Case], answers: Sequence[Sequence[Function]]) -> list[float]:
    """NDCG@10 of each question."""
    found = []
    for case, answer in zip(cases, answers, strict=True):
        best = sum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(case.answers))))
        told = dict.fromkeys(answer[:DEPTH])
        found.append(sum(1 / math.log2(rank + 2) for rank, one in enumerate(told) if one in case.answers) / best)
    return found


def paired(differences: Sequence[float] | npt.NDArray[np.float64], rounds: int = 2000) -> str:
    """Bootstrap confidence interval: the mean of paired differences with its 95 % interval, by drawing them anew:
    `+0.021 (+0.010 to +0.032)`.
    """
    given = np.asarray(differences, dtype=np.float64)
    drawn = np.random.default_rng(1).integers(0, len(given), (rounds, len(given)))
    low, high = np.quantile(given[drawn].mean(axis=1), (0.025, 0.975))
    return f"{given.mean():+.3f} ({low:+.3f} to {high:+.3f}, n={len(given)})"


def mean(scores: Sequence[Score]) -> Score:
    """The mean over repositories."""
    fields = Score.__struct_fields__
    return Score(*(sum(getattr(score, field) for score in scores) / len(scores) for field in fields))


def database_of(root: Path, home: Path) -> Path:
    """Index a tree with a daemon of its own, wait for all background work, and return the memory file."""
    with measures.daemon(home) as address, measures.session(address, root) as client:
        measures.index(client)
        measures.settled(client)
    (database,) = (home / "memory").glob("*.db")
    return database


async def ask(
    root: Path, database: Path, cases: Sequence[Case], now: float, without: Sequence[str] = ()
) -> tuple[list[list[Hit]], list[float]]:
    """Recall for every question, with some signals left out; also the seconds each took."""
    store = await Store.open(database)
    read = partial(file_text, root)
    try:
        hits, seconds = [], []
        while await store.read(read_some):
            pass
        for case in cases:
            begun = time.perf_counter()
            question = parse_question(case.question)
            weights = weights_of(question.kind, without) if without else None
            hits.append(await store.read(recall, question, DEPTH, now, weights=weights, read=read))
            seconds.append(time.perf_counter() - begun)
        return hits, seconds
    finally:
        await store.close()


async def ask_model(
    root: Path, database: Path, cases: Sequence[Case], now: float, model: str
) -> tuple[list[list[Hit]], list[list[Function]], list[float]]:
    """Recall fused with the model's ranking, the functions it ranks first by itself, and the seconds each fusion took.

    Embeds what an earlier run has not embedded yet. Raises ModelError.
    """
    process = ModelProcess(model, folder=database.parent, environment=os.environ, niceness=0)
    store = await Store.open(database)
    embedder = Embedder(root, store, process)
    try:
        begun = time.perf_counter()
        count = await embedder.catch_up()
        print(f"  {count} chunks embedded in {time.perf_counter() - begun:.1f} s; {await embedder.state()}")
        await embedder.nearest("anything")  # reads the vectors
        hits, alone, seconds = [], [], []
        for case in cases:
            begun = time.perf_counter()
            hits.append(
                await store.read(
                    recall,
                    parse_question(case.question),
                    DEPTH,
                    now,
                    near=await embedder.nearest(case.question),
                    by_meaning=False,
                )
            )
            seconds.append(time.perf_counter() - begun)
            near = [chunk for chunk, _ in await embedder.nearest(case.question)]
            views = await store.read(chunk_reader.by_id, near)
            found = [views[chunk] for chunk in near if chunk in views and views[chunk].kind in FUNCTIONS]
            alone.append([(view.path, view.name) for view in found[:DEPTH]])
        return hits, alone, seconds
    finally:
        await embedder.close()
        await store.close()
        await process.aclose()


def functions_in(hits: Sequence[Hit]) -> list[Function]:
    """What a list of hits names, as (path, name)."""
    return [(hit.chunk.path, hit.chunk.name) for hit in hits]


def measure(kind: str, root: Path, cases: list[Case], database: Path, model: str | None = None) -> dict[str, Score]:
    """All rankers on one tree."""
    functions = Functions(root)
    rankers: dict[str, Ranker | None] = {"ripgrep": ripgrep(functions), "BM25": bm25(functions)}
    scores = {
        name: scored(cases, [rank(case.question) for case in cases])
        for name, rank in rankers.items()
        if rank is not None
    }
    now = time.time()
    hits, seconds = asyncio.run(ask(root, database, cases, now))
    tokens = sum(hit.chunk.tokens for found in hits for hit in found)
    ours = [functions_in(found) for found in hits]
    scores["AURORA"] = scored(cases, ours, tokens)
    plain = bm25(functions)
    both = gains(cases, ours), gains(cases, [plain(case.question) for case in cases])
    if kind == "commit":
        hits, _ = asyncio.run(ask(root, database, cases, now, ACTIVATION))
        scores["AURORA, activation off"] = scored(cases, [functions_in(found) for found in hits])
    if model is not None:
        hits, alone, fused_seconds = asyncio.run(ask_model(root, database, cases, now, model))
        tokens = sum(hit.chunk.tokens for found in hits for hit in found)
        scores["AURORA + semantic"] = scored(cases, [functions_in(found) for found in hits], tokens)
        scores["embeddings alone"] = scored(cases, alone)
        print(f"  with the model: {measures.Sample(fused_seconds)}")
    print(f"  NDCG@10 over BM25 {paired(np.subtract(*both))}")
    print(f"  {len(cases)} {kind} questions, {len(functions.names)} functions; {measures.Sample(seconds)}")
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for trees and databases, reused on the next run")
    parser.add_argument("--model", help="folder of an embedding model, or package:NAME (the semantic extra)")
    options = parser.parse_args()
    model = options.model
    if model and not model.startswith("package:"):
        model = str(Path(model).absolute())
    with tempfile.TemporaryDirectory(prefix="aurora-recall-") as temporary:
        work = options.keep or Path(temporary)
        results: dict[tuple[str, str], dict[str, list[Score]]] = {}
        sources = options.repositories or [package(name) for name in PACKAGES]
        for place, source in enumerate(sources):
            half = "tuning" if place % 2 == 0 else "reporting"
            kinds = ("docstring", "commit") if (source / ".git").exists() else ("docstring",)
            for kind in kinds:
                root, cases, database = prepared(kind, source, work / f"{source.name}-{kind}")
                print(f"{source.name} ({half})")
                for name, score in measure(kind, root, cases, database, model).items():
                    print(f"    {name:24} {score}")
                    results.setdefault((half, kind), {}).setdefault(name, []).append(score)
        for (half, kind), by_name in results.items():
            print(f"\n{half} half, {kind} questions, mean of {len(next(iter(by_name.values())))} repositories")
            for name, scores in by_name.items():
                print(f"    {name:24} {mean(scores)}")
            ours, plain = mean(by_name["AURORA"]), mean(by_name["BM25"])
            if kind == "commit":
                print(f"    recall@10 = {ours.at_10 / plain.at_10:.2f} x BM25 (target 1.25, goal 1.5)")
            else:
                print(f"    MRR@10 = BM25 {ours.mrr - plain.mrr:+.3f} (target +0.10)")


def prepared(kind: str, source: Path, folder: Path) -> tuple[Path, list[Case], Path]:
    """A tree, its questions and its memory file, from an earlier run if there was one."""
    root, kept = folder / "tree", folder / "cases.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "docstring":
            cases = docstring_cases(source, root, QUESTIONS)
        else:
            cases = commit_cases(source, root, BACK, QUESTIONS, whole=kind == "message")
        kept.write_bytes(msgspec.json.encode(cases))
    cases = msgspec.json.decode(kept.read_bytes(), type=list[Case])
    databases = list((folder / "home" / "memory").glob("*.db"))
    return root, cases, databases[0] if databases else database_of(root, folder / "home")


if __name__ == "__main__":
    main()
