"""`python -m tests.benchmarks.file_order_fit QUESTIONS CLONES --keep FOLDER [--apart NAME …] [--members]`: fits what
orders files.

QUESTIONS and CLONES are as `recall_topics` has them; repositories `--apart` are left for choosing and measuring. Files
are fitted by the softmax of their features: a question's loss is the surprise at the files that are wanted. Taken is
the middle between the weights that were set by hand (`SET`) and what is fitted: all of it puts topics of other
repositories behind (decision 456). Members are fitted by the softmax within each file that is wanted, where a
question tells lines, and an answer is no more than three times as long. The lead is the least with which a file's
second chunk hardly ever hides a file that is wanted. With `--members` only these two are fitted, and files stay as
they are.

`--commits` are clones with history: what orders the files of a report is fitted on subjects of their commits and the
files these changed, from nothing and as a whole (decision 425). Without, it stays as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict, astuple

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.recall import file_features, parse_question
from aurora_memory.recall.candidates import gather
from aurora_memory.recall.file_evidence import BY_FILE, SECOND, TO_CHANGE
from aurora_memory.recall.file_features import (
    FileFeatures,
    FileOrder,
    MemberWeights,
    features_of,
    file_order,
    told_by_lines,
)
from aurora_memory.recall.kinship import read_some
from aurora_memory.recall.places import is_test
from aurora_memory.recall.ranking import ranked
from aurora_memory.recall.search import search
from aurora_memory.recall.signals import weights_of
from aurora_memory.store import Store, chunk_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkHead
from tests.benchmarks.recall_cases import Case
from tests.benchmarks.recall_fit import head
from tests.benchmarks.recall_quality import database_of, prepared
from tests.benchmarks.recall_topics import Indexed, Target, Topic

Floats = npt.NDArray[np.float64]
Choice = tuple[Floats, npt.NDArray[np.bool_]]
"""Rows of features, and which of them is wanted."""

SET = FileFeatures(
    chunks=1.0, best=0.0, near=0.5, near_function=0.0, words=0.0, documented=0.8, called=1.0, called_by=0.7,
    folders=0.3, best_part=0.0, episodes=0.0, depth=0.0, test=-1.1, aside=-0.5, document=-0.75, outdated=-0.75,
)  # fmt: skip
"""Weights that were set by hand (decisions 430, 417)."""

AGAINST = frozenset({"test", "aside", "document", "outdated"})
"""What speaks against a file, of which all that is fitted is taken."""

BY_VECTORS = ("near", "near_function")
TAKEN = 0.5
SHRINKING, SHRINKING_MEMBERS = 5.0, 3.0
SELDOM = 1000
"""Questions of which one may lose a file that is wanted to the second chunk of a file that leads."""

STEPS = 80
LEAST_STEP = 1e-6
SHORT, LONGER = 10, 3
"""Lines that are no more than any answer may have, and how much longer than what is wanted an answer may be."""


class Told(NamedTuple):
    """Of each question its files, of each topic with the number of their chunks, and of each file that is wanted its
    members.
    """

    files: list[Choice]
    members: list[Choice]
    topics: list[tuple[Choice, list[int]]]


def told_by(reader: Reader, topics: Sequence[Topic]) -> Told:
    """What questions tell of a memory's files."""
    files: list[Choice] = []
    members: list[Choice] = []
    of_topics: list[tuple[Choice, list[int]]] = []
    while read_some(reader):
        pass
    for topic in topics:
        asked = parse_question(topic.query)
        question = asked.as_topic or asked
        if question.by_name:
            continue
        findings = search(reader, question, by_meaning=True)
        candidates = gather(reader, question, chunk_reader.heads(reader, findings.ids), findings, time.time())
        ranks = ranked(candidates, reader.weighing, weights_of("topic"))
        told = features_of(candidates, ranks)
        wanted = np.array([any(_same(each.path, path) for each in topic.targets) for path in told], dtype=bool)
        members_of = {path: [r for r in ranks if candidates.heads[r.place].path == path] for path in told}
        if wanted.any():
            files.append((np.array([astuple(each) for each in told.values()], dtype=np.float64), wanted))
            if asked.kind in BY_FILE:
                of_topics.append((files[-1], list(map(len, members_of.values()))))
        calls = relation_reader.callees(reader, [own[0].id for own in members_of.values()])
        for path in [path for path, here in zip(told, wanted, strict=True) if here]:
            own = members_of[path]
            called = calls.get(own[0].id, ())
            heads = [candidates.heads[rank.place] for rank in own]
            right = np.array([any(_answers(head, each) for each in topic.targets) for head in heads], dtype=bool)
            if right.any() and not right.all():
                rows = [
                    (rank.strength, candidates.matches[rank.place].words, told_by_lines(head), rank.id in called)
                    for rank, head in zip(own, heads, strict=True)
                ]
                members.append((np.array(rows, dtype=np.float64), right))
    return Told(files, members, of_topics)


def least_lead(topics: Sequence[tuple[Choice, Sequence[int]]], weights: Floats) -> float:
    """The least lead over the third file with which the first one's second chunk hides a file that is wanted, where
    neither it nor the second is, in no more than one question of a thousand.
    """
    told: list[tuple[float, bool]] = []
    for (rows, wanted), counts in topics:
        worth = rows @ weights
        best = np.argsort(-worth, kind="stable")
        if len(best) > SECOND and counts[best[0]] > 1:
            hidden = bool(wanted[best[SECOND]] and not wanted[best[:SECOND]].any())
            told.append((float(worth[best[0]] - worth[best[SECOND]]), hidden))
    hiding = sorted((lead for lead, hidden in told if hidden), reverse=True)
    allowed = len(topics) // SELDOM
    most = hiding[allowed] if len(hiding) > allowed else 0.0
    return round(min(lead for lead, _ in told if lead > most), 2)


def told_by_commits(reader: Reader, cases: Sequence[Case]) -> list[Choice]:
    """Of each commit that is told as a change or a report its files, those it changed wanted; no test is."""
    found: list[Choice] = []
    for case in cases:
        question = parse_question(case.question)
        wanted_files = {path for path, _ in case.answers if question.about_tests or not is_test(path)}
        if question.kind not in TO_CHANGE or not wanted_files:
            continue
        findings = search(reader, question)
        candidates = gather(reader, question, chunk_reader.heads(reader, findings.ids), findings, time.time())
        told = features_of(candidates, ranked(candidates, reader.weighing))
        wanted = np.array([path in wanted_files for path in told], dtype=bool)
        if wanted.any():
            found.append((np.array([astuple(each) for each in told.values()], dtype=np.float64), wanted))
    return found


def order_of_reports(files: Sequence[Choice]) -> dict[str, float]:
    """The weights of the files of a report, which word vectors are not asked for."""
    names = [name for name in FileFeatures.__struct_fields__ if name not in BY_VECTORS]
    places = [FileFeatures.__struct_fields__.index(name) for name in names]
    found = fit([(rows[:, places], wanted) for rows, wanted in files], np.zeros(len(names)), SHRINKING)
    return dict.fromkeys(BY_VECTORS, 0.0) | {
        name: round(float(each), 2) for name, each in zip(names, found, strict=True)
    }


def _same(one: str, other: str) -> bool:
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _answers(head: ChunkHead, target: Target) -> bool:
    most = max(SHORT, LONGER * (target.end_line - target.start_line + 1))
    overlaps = head.line_end >= target.start_line and head.line_start <= target.end_line
    return (
        _same(head.path, target.path)
        and head.name != MODULE_NAME
        and overlaps
        and head.line_end - head.line_start < most
    )


def fit(given: Sequence[Choice], start: Floats, shrinking: float) -> Floats:
    """Weights by which the softmax of each choice is on what is wanted, by Newton's steps, each halved until it helps
    (line search); they are shrunk to `start`, each by how far its feature spreads.
    """
    spread = np.concatenate([rows for rows, _ in given]).std(axis=0) + 1e-9

    def loss(weights: Floats) -> float:
        surprise = 0.0
        for rows, wanted in given:
            strengths = rows @ weights - (rows @ weights).max()
            surprise += math.log(np.exp(strengths).sum()) - math.log(max(np.exp(strengths[wanted]).sum(), 1e-300))
        return surprise + float(shrinking * (spread**2 * (weights - start) ** 2).sum())

    weights = start.copy()
    for _ in range(STEPS):
        slope = 2 * shrinking * spread**2 * (weights - start)
        bend = np.diag(2 * shrinking * spread**2)
        for rows, wanted in given:
            shares = np.exp(rows @ weights - (rows @ weights).max())
            shares /= shares.sum()
            right = shares * wanted / max(float((shares * wanted).sum()), 1e-12)
            slope += (shares - right) @ rows
            bend += (rows.T * shares) @ rows - np.outer(shares @ rows, shares @ rows)
        step, now = np.linalg.solve(bend, slope), loss(weights)
        while np.abs(step).max() > LEAST_STEP and loss(weights - step) > now:
            step /= 2
        weights = weights - step
        if np.abs(step).max() <= LEAST_STEP:
            break
    return weights


def order_of(files: Sequence[Choice]) -> dict[str, float]:
    """The weights of files, in units of the one of their chunks' scores."""
    held = np.array(astuple(SET))
    found = fit(files, held, SHRINKING)
    weights = asdict(SET)
    for name, each in zip(FileFeatures.__struct_fields__, found / found[0], strict=True):
        weights[name] += (float(each) - weights[name]) * (1.0 if name in AGAINST else TAKEN)
    return {name: round(each, 2) for name, each in weights.items()}


def order_of_members(members: Sequence[Choice]) -> MemberWeights:
    """The weights of members, in units of their strength."""
    strength, *others = fit(members, np.array([0.8, 0.0, 0.0, 0.0]), SHRINKING_MEMBERS)
    return MemberWeights(*(round(float(each / strength), 2) for each in others))


def in_first(files: Sequence[Choice], weights: Floats, most: int = 3) -> float:
    """The share of choices of which one that is wanted is among the first."""
    return float(np.mean([wanted[np.argsort(-(rows @ weights), kind="stable")[:most]].any() for rows, wanted in files]))


async def _of_commits(database: Path, cases: Sequence[Case]) -> list[Choice]:
    store = await Store.open(database)
    try:
        return await store.read(told_by_commits, cases)
    finally:
        await store.close()


async def _of_database(database: Path, topics: Sequence[Topic]) -> Told:
    store = await Store.open(database)
    try:
        return await store.read(told_by, topics)
    finally:
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--keep", type=Path, required=True, help="folder for databases, reused on the next run")
    parser.add_argument("--apart", nargs="*", default=[], help="names of repositories that are not fitted on")
    parser.add_argument("--members", action="store_true", help="fit only which chunks answer for a file")
    parser.add_argument(
        "--commits", nargs="*", type=Path, default=[], help="clones whose commits reports are fitted on"
    )
    options = parser.parse_args()
    index = msgspec.json.decode((options.questions / "index.json").read_bytes(), type=list[Indexed])
    told = Told([], [], [])
    count, used = 0, {}
    for given in index:
        if given.name in options.apart:
            continue
        known = list((options.keep / given.name / "memory").glob("*.db"))
        root = options.clones / given.name / (given.root or "")
        lines = (options.questions / f"{given.name}.jsonl").read_text().splitlines()
        topics = [msgspec.json.decode(line, type=Topic) for line in lines]
        database = known[0] if known else database_of(root, options.keep / given.name)
        own = asyncio.run(_of_database(database, topics))
        told = Told(told.files + own.files, told.members + own.members, told.topics + own.topics)
        count, used[given.name.replace("+", "/")] = count + len(topics), given.revision
    known_order = file_order()
    weights = dict(known_order.files) if options.members else order_of(told.files)
    of_members = order_of_members(told.members)
    lead = least_lead(told.topics, np.array(astuple(FileFeatures(**weights))))
    for name, each in (("by hand", SET), ("fitted", FileFeatures(**weights))):
        share = in_first(told.files, np.array(astuple(each)))
        print(f"{name}: a file that is wanted among the first three of {share:.3f}")
    reports = dict.fromkeys(FileFeatures.__struct_fields__, 0.0) | known_order.reports
    of_reports = known_order.provenance["reports"]
    if options.commits:
        subjects = [prepared("commit", source, options.keep / f"{source.name}-commit") for source in options.commits]
        reports = order_of_reports([each for _, cases, at in subjects for each in asyncio.run(_of_commits(at, cases))])
        of_reports = {source.name.replace("+", "/"): head(source) for source in options.commits}
    questions = f"{count}, written by reading the code before any was asked, with the lines or files that answer"
    provenance = {
        "by": "tests/benchmarks/file_order_fit.py",
        "questions": known_order.provenance["questions"] if options.members else questions,
        "taken": f"{TAKEN} of what is fitted, all of what speaks against a file",
        "commits": known_order.provenance["commits"] if options.members else used,
        "members": {"questions": questions, "commits": used},
        "reports": of_reports,
    }
    target = Path(file_features.__file__).with_name("file_order.json")
    order = FileOrder(provenance, weights, of_members, lead, reports)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(order)))


if __name__ == "__main__":
    main()
