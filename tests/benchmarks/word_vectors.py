"""`python -m tests.benchmarks.word_vectors CLONE …`: trains the table of word vectors (embeddings by contrastive
learning; `aurora_memory.word_vectors`).

Needs torch, which nothing else of the project does: `pip install torch`. One core, a few minutes. Of each pair both
sides become vectors; the other pairs of a batch, which come from few repositories, are what an answer is told apart
from (in-batch negatives). Of half of the documentations and commits the words that the question says are taken out of
the code: those BM25 finds without vectors. Clones whose licence is not permissive, and those left for measuring, are
not to be given.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aurora_memory import word_vectors
from aurora_memory.term_counts import FIELD_BITS
from aurora_memory.word_vectors import DIMENSIONS
from tests.benchmarks.word_vector_pairs import FIELDS, KINDS, Pair, git, pairs_of

WORDS = 30_000
LONGEST = 24
LEAST_REPOSITORIES = 2
LEAST_PAIRS = 5
BATCH = 512
OF_ONE = 64
"""Pairs of one repository in a batch: the hard ones to tell apart."""

STEPS = 2200
RATE = 6e-3
GATE_RATE = 1e-2
HIDDEN = 0.45
NAMELESS = 0.25
KEPT = 0.85
ASKED_KEPT = 0.9

LICENCES = {
    "Apache-2.0": r"Apache License",
    "MIT": r"Permission is hereby granted, free of charge",
    "BSD": r"Redistribution and use in source and binary forms",
    "ISC": r"Permission to use, copy, modify, and/?(or)? ?distribute this software",
    "BSL-1.0": r"Boost Software License",
    "Zlib": r"This software is provided 'as-is'",
}

Ints = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """Lists of different lengths in one array: where each begins, and all of them."""

    starts: Ints
    values: Ints

    def places(self, rows: Ints) -> tuple[Ints, Ints]:
        """The places of some rows' values, and which of those rows each belongs to."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        owners = np.repeat(np.arange(len(rows)), sizes)
        before = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) + np.repeat(self.starts[rows] - before, sizes), owners


class Pairs(NamedTuple):
    """All pairs as arrays: terms of questions and of code by their places; `bounds` are those of repositories."""

    kinds: Ints
    asked: Rows
    code: Rows
    fields: Ints
    weights: npt.NDArray[np.float32]
    said: npt.NDArray[np.bool_]
    bounds: list[tuple[int, int]]


def vocabulary(repositories: Sequence[Sequence[Pair]]) -> tuple[list[str], dict[str, int]]:
    """The terms that several repositories use, the most usual first, and how many pairs have each."""
    pairs: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for given in repositories:
        of_one: set[str] = set()
        for pair in given:
            both = set(pair.asked).union(*pair.code.values())
            pairs.update(both)
            of_one |= both
        spread.update(of_one)
    known = [
        term
        for term, count in pairs.items()
        if spread[term] >= LEAST_REPOSITORIES and count >= LEAST_PAIRS and len(term) <= LONGEST and not term.isdigit()
    ]
    known.sort(key=lambda term: (-spread[term] * math.log1p(pairs[term]), term))
    return known[:WORDS], pairs


def arrays(repositories: Sequence[Sequence[Pair]], words: Sequence[str]) -> Pairs:
    """Pairs of which the vocabulary knows enough."""
    places = {word: place for place, word in enumerate(words)}
    kinds: list[int] = []
    asked, code = ([0], list[int]()), ([0], list[int]())
    fields: list[int] = []
    weights: list[float] = []
    said: list[bool] = []
    bounds = []
    for given in repositories:
        begin = len(kinds)
        for pair in given:
            question = sorted({places[term] for term in pair.asked if term in places})
            terms = [
                (places[term], number, count)
                for number, field in enumerate(FIELDS)
                for term, count in pair.code[field].items()
                if term in places
            ]
            if len(question) < 2 or len(terms) < 4:
                continue
            kinds.append(pair.kind)
            asked[1].extend(question)
            asked[0].append(len(asked[1]))
            code[1].extend(place for place, _, _ in terms)
            code[0].append(len(code[1]))
            fields.extend(number for _, number, _ in terms)
            weights.extend(math.log1p(count) for _, _, count in terms)
            said.extend(place in question for place, _, _ in terms)
        if len(kinds) - begin >= OF_ONE:
            bounds.append((begin, len(kinds)))
    return Pairs(
        np.array(kinds),
        Rows(np.array(asked[0]), np.array(asked[1])),
        Rows(np.array(code[0]), np.array(code[1])),
        np.array(fields),
        np.array(weights, dtype=np.float32),
        np.array(said),
        bounds,
    )


def train(given: Pairs, rarity: npt.NDArray[np.float32], steps: int) -> dict[str, npt.NDArray[np.float32]]:
    """The table: vectors, what a word weighs in a question (`asked`) and in code (`told`), and what fields weigh."""
    torch: Any = __import__("torch")
    torch.manual_seed(1)
    torch.set_num_threads(1)  # threads that wait for each other cost more than they bring
    random = np.random.default_rng(1)
    vectors = torch.nn.Parameter(torch.randn(len(rarity), DIMENSIONS) * 0.1)
    asked, told = (torch.nn.Parameter(torch.tensor(np.log(np.maximum(rarity, 0.05)))) for _ in range(2))
    fields = torch.nn.Parameter(torch.tensor([0.7, 0.3, 0.3, 0.3, 0.0]))
    sharpness = torch.nn.Parameter(torch.tensor(math.log(14.0)))
    rates = (RATE, GATE_RATE)
    optimizer = torch.optim.Adam(
        [{"params": [vectors]}, {"params": [asked, told, fields, sharpness]}], lr=RATE, betas=(0.9, 0.99)
    )

    def sums(places: Ints, owners: Ints, count: int, weights: Any) -> Any:
        starts = np.searchsorted(owners, np.arange(count))
        bags = torch.nn.functional.embedding_bag(
            torch.from_numpy(places), vectors, torch.from_numpy(starts), mode="sum", per_sample_weights=weights
        )
        return torch.nn.functional.normalize(bags, dim=1)

    shares = np.array([min(end - begin, 2500) ** 0.7 for begin, end in given.bounds])
    for step in range(steps):
        cooled = min(1.0, (step + 1) / 50) * (0.52 + 0.5 * math.cos(math.pi * step / steps))
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * cooled
        chosen = random.choice(len(shares), BATCH // OF_ONE, p=shares / shares.sum())
        rows = np.unique(np.concatenate([random.integers(*given.bounds[each], OF_ONE) for each in chosen]))
        at, of = given.asked.places(rows)
        at, of = _kept(at, of, random.random(len(at)) < ASKED_KEPT, 2)
        places = given.asked.values[at]
        questions = sums(places, of, len(rows), asked[places].exp())
        at, of = given.code.places(rows)
        drawn, is_name = random.random(len(rows))[of], given.kinds[rows][of] == KINDS.index("name")
        hidden = ~is_name & (drawn < HIDDEN) & given.said[at]
        nameless = ~is_name & (drawn > 1 - NAMELESS) & (given.fields[at] == FIELDS.index("name"))
        at, of = _kept(at, of, ~hidden & ~nameless & (random.random(len(at)) < KEPT), 3)
        places, weights = given.code.values[at], torch.from_numpy(given.weights[at])
        codes = sums(places, of, len(rows), weights * (told[places] + fields[given.fields[at]]).exp())
        alike = questions @ codes.T * sharpness.exp().clamp(max=60)
        right = torch.arange(len(rows))
        loss = torch.nn.functional.cross_entropy(alike, right) + torch.nn.functional.cross_entropy(alike.T, right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item() / 2:.3f}", flush=True)
    found = {"vectors": vectors, "asked": asked.exp(), "told": told.exp(), "fields": fields.exp()}
    return {name: value.detach().numpy() for name, value in found.items()}


def _kept(at: Ints, of: Ints, kept: npt.NDArray[np.bool_], least: int) -> tuple[Ints, Ints]:
    """Those that are kept; all of a row of which fewer than `least` would be."""
    left = np.bincount(of[kept], minlength=int(of.max()) + 1)
    kept = kept | (left < least)[of]
    return at[kept], of[kept]


def write(target: Path, words: Sequence[str], table: dict[str, npt.NDArray[np.float32]]) -> None:
    """The table as the package has it: each vector in eight bits, its scale in the word's weights.

    Single letters stand for something else everywhere, so they are left out.
    """
    kept = [place for place, word in enumerate(words) if len(word) > 1]
    words = [words[place] for place in kept]
    table = {name: values if name == "fields" else values[kept] for name, values in table.items()}
    scales = np.maximum(np.abs(table["vectors"]).max(axis=1), 1e-9) / 127
    of_fields = dict(zip(FIELDS, table["fields"].tolist(), strict=True))
    of_fields["doc"] = of_fields["signature"]  # hidden while it was the question
    np.savez_compressed(
        target,
        words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        vectors=np.rint(table["vectors"] / scales[:, None]).astype(np.int8),
        asked=(table["asked"] * scales).astype(np.float16),
        told=(table["told"] * scales).astype(np.float16),
        fields=np.array([of_fields[field] for field in FIELD_BITS], dtype=np.float32),
    )


def licence_of(repository: Path) -> str:
    """The permissive licence that a clone's newest commit has. Raises SystemExit where none is known."""
    names = git(repository, "ls-tree", "--name-only", "HEAD").decode("utf-8", "replace").splitlines()
    for name in sorted(names):
        if re.match(r"(?i)(licen[sc]e|copying|copyright|mit-licen[sc]e)", name):
            text = " ".join(git(repository, "show", f"HEAD:{name}").decode("utf-8", "replace").split())
            for licence, words in LICENCES.items():
                if re.search(words, text, re.IGNORECASE):
                    return licence
    raise SystemExit(f"{repository} has no permissive licence that is known here; leave it out")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, help="clones, permissively licensed")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    used = {
        each.name: {"commit": git(each, "rev-parse", "HEAD").decode().strip(), "licence": licence_of(each)}
        for each in options.repositories
    }
    repositories = [pairs_of(each) for each in options.repositories]
    words, counts = vocabulary(repositories)
    given = arrays(repositories, words)
    rarity = np.log(1 + len(given.kinds) / (np.array([counts[word] for word in words]) + 1)).astype(np.float32)
    table = train(given, rarity / rarity.mean(), options.steps)
    target = Path(word_vectors.__file__).with_suffix(".npz")
    write(target, words, table)
    kinds = {kind: int((given.kinds == place).sum()) for place, kind in enumerate(KINDS)}
    about = {
        "by": "tests/benchmarks/word_vectors.py",
        "words": sum(len(word) > 1 for word in words),
        "pairs": kinds,
        "repositories": used,
    }
    target.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
