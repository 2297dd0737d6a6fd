"""`python -m tests.benchmarks.recall_fit REPOSITORY …`: fits the weights of ranking signals on questions with answers
(learning to rank).

Each kind of question has weights of its own: `change` is fitted on subjects of commits and the functions they changed,
`issue` on whole messages of those that say much, `task` on first sentences of documentation and the functions they
document, which lose it in the copy that is searched. Repositories, never questions, are split into three: two quarters
are fitted on, one shows what amount of shrinking to the declared weights (regularization) is best, with which all three
are fitted; one is reported. A list's loss is the cross entropy of the softmax of its strengths with what the weights of
this step think of the answers (half) and with all answers alike (half): it is enough to find one.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from aurora_memory.recall import parse_question, signals
from aurora_memory.recall.candidates import gather
from aurora_memory.recall.kinship import read_some
from aurora_memory.recall.places import is_test
from aurora_memory.recall.question_kind import QuestionKind
from aurora_memory.recall.search import search
from aurora_memory.recall.signals import SIGNALS, Fit, SignalTable, asks_vectors, fitted, weights_of
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.reader import Reader
from tests.benchmarks.recall_cases import Case
from tests.benchmarks.recall_quality import paired, prepared

Floats = npt.NDArray[np.float64]

FITTED: dict[QuestionKind, tuple[Mapping[str, int], frozenset[str]]] = {
    # nothing was used yet, no file is read for phrases, and nobody changes a library that was copied in
    "change": ({"commit": 1}, frozenset({"learned", "named", "phrases", "copied"})),
    "issue": ({"message": 1}, frozenset({"learned", "named", "phrases", "copied"})),
    # the copy without documentation has no history, and no test is asked for
    "task": (
        {"docstring": 1, "commit": 1},
        frozenset({"learned", "named", "phrases", "copied", "recency", "changes", "test", "episodes", "file episodes"}),
    ),
}
"""Kinds that are fitted: on which questions, each how often, and the signals that those tell nothing of. Only questions
that are taken for the kind count for `task`: subjects of commits begin with a verb, too.
"""

SHRINKING = (0.003, 0.03, 0.3)
EPOCHS = 25
LEAST_STEPS = 200
BATCH = 64
STEP = 0.03
DEPTH = 10

BEHIND = -6.0
"""Weight of tests, and of what lies aside, for a long report: hardly one is mended there. More than words bring."""

_NO_TEST: frozenset[QuestionKind] = frozenset({"issue", "error"})
"""Kinds of questions that no test answers, although commits change tests, too."""


class Example(NamedTuple):
    """A question's candidates: one row of signals each, whether it is an answer; how many names answer, its kind."""

    values: Floats
    answers: npt.NDArray[np.bool_]
    wanted: int
    kind: QuestionKind


def examples(reader: Reader, cases: Sequence[Case], now: float) -> list[Example]:
    """The candidates of each question that have an answer among them or not."""
    found: list[Example] = []
    while read_some(reader):
        pass
    for case in cases:
        question = parse_question(case.question)
        if question.by_name:
            continue
        findings = search(reader, question, by_meaning=asks_vectors(question))
        candidates = gather(reader, question, chunk_reader.heads(reader, findings.ids), findings, now)
        values = np.array([row.values for row in SignalTable.of(candidates).rows], dtype=np.float64)
        wanted = case.answers
        if question.kind in _NO_TEST:
            wanted = frozenset(each for each in wanted if not is_test(each[0]))
        answers = np.array([(head.path, head.name) in wanted for head in candidates.heads], dtype=bool)
        found.append(Example(values.reshape(len(answers), len(SIGNALS)), answers, len(wanted), question.kind))
    return found


def fit(given: Sequence[Example], start: Floats, frozen: Collection[str], shrinking: float, seed: int = 0) -> Floats:
    """Weights that put answers first, by gradient descent (Adam); those of `frozen` signals stay."""
    weights, mean, spread = start.copy(), np.zeros_like(start), np.zeros_like(start)
    held = [each.place for each in SIGNALS if each.name in frozen]
    lists = [one for one in given if one.answers.any()]
    random = np.random.default_rng(seed)
    step = 0
    for _ in range(max(EPOCHS, LEAST_STEPS * BATCH // max(1, len(lists)))):
        order = random.permutation(len(lists))
        for begin in range(0, len(lists), BATCH):
            slope = shrinking * (weights - start)
            batch = order[begin : begin + BATCH]
            for one in batch:
                slope += _slope(lists[one], weights) / len(batch)
            slope[held] = 0.0
            step += 1
            mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope * slope
            weights -= STEP * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return weights


def _slope(one: Example, weights: Floats) -> Floats:
    """Gradient of the loss of one question."""
    strengths = one.values @ weights
    shares = np.exp(strengths - strengths.max())
    shares /= shares.sum()
    wanted = one.answers * shares
    wanted = 0.5 * wanted / max(float(wanted.sum()), 1e-12) + 0.5 * one.answers / one.answers.sum()
    slope: Floats = one.values.T @ (shares - wanted)
    return slope


def scores(given: Sequence[Example], weights: Floats) -> Floats:
    """Recall at 10 and reciprocal rank of each question, as columns."""
    rows = []
    for one in given:
        best = np.argsort(-(one.values @ weights), kind="stable")[:DEPTH]
        hits = np.flatnonzero(one.answers[best])
        rows.append((len(hits) / max(one.wanted, int(one.answers.sum())), 1 / (1 + hits[0]) if len(hits) else 0.0))
    return np.array(rows)


def quarter(name: str) -> int:
    """Training, validation or test set: the part of the split that a repository belongs to, by its name."""
    return int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % 4


def fit_kind(made: Mapping[str, Mapping[str, list[Example]]], kind: QuestionKind) -> dict[str, float]:
    """Weights of one kind, by signal; prints what they bring on repositories that they were not fitted on.

    `made` are the examples, by what they were made of and by repository.
    """
    sources, frozen = FITTED[kind]
    training, choosing, reporting = (
        [
            one
            for of, times in sources.items()
            for name, given in made[of].items()
            if quarter(name) in part
            for one in given * times
            if kind != "task" or one.kind == kind
            if one.wanted
        ]
        for part in _PARTS
    )
    start = np.array(weights_of())
    tried = [fit(training, start, frozen, shrinking) for shrinking in SHRINKING]
    worth = [float(scores(choosing, each).mean(axis=0).sum()) for each in tried]
    weights = fit([*training, *choosing], start, frozen, SHRINKING[worth.index(max(worth))])
    before, after = scores(reporting, start), scores(reporting, weights)
    for column, name in enumerate(("recall@10", "MRR@10")):
        means = f"{before[:, column].mean():.3f} → {after[:, column].mean():.3f}"
        print(f"  {kind}: {name} {means}, {paired(after[:, column] - before[:, column])}")
    return {each.name: round(float(weights[each.place]), 3) for each in SIGNALS if each.name not in frozen}


_PARTS = ({2, 3}, {1}, {0})


async def of_database(database: Path, cases: Sequence[Case]) -> list[Example]:
    """The examples that questions to a memory file make."""
    store = await Store.open(database)
    try:
        return await store.read(examples, cases, time.time())
    finally:
        await store.close()


def _examples_of(sources: Sequence[Path], kind: str, work: Path) -> Iterator[tuple[str, list[Example]]]:
    for source in sources:
        _, cases, database = prepared(kind, source, work / f"{source.name}-{kind}")
        yield source.name, asyncio.run(of_database(database, cases))


def head(repository: Path) -> str:
    """The commit that a clone is at."""
    done = subprocess.run(["git", "-C", str(repository), "rev-parse", "HEAD"], check=True, capture_output=True)
    return done.stdout.decode().strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, help="clones with history, permissively licensed")
    parser.add_argument("--keep", type=Path, required=True, help="folder for trees and databases")
    options = parser.parse_args()
    kinds = dict(fitted().kinds)
    made = {of: dict(_examples_of(options.repositories, of, options.keep)) for of in ("commit", "message", "docstring")}
    for kind in FITTED:
        kinds[kind] = fit_kind(made, kind)
    kinds["issue"] = kinds["error"] = {**kinds["issue"], "test": BEHIND, "aside": BEHIND}
    kinds["report"] = {**kinds["change"], "test": signals.test.weight}
    used = {source.name: head(source) for source in options.repositories}
    target = Path(signals.__file__).with_name("fitted_weights.json")
    target.write_bytes(msgspec.json.format(msgspec.json.encode(Fit({**fitted().provenance, "commits": used}, kinds))))


if __name__ == "__main__":
    main()
