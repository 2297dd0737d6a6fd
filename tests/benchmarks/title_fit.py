"""`python -m tests.benchmarks.title_fit CLONE …`: fits what tells titles of reports and changes from topics.

Titles are subjects of commits, titles of merged pull requests and entries of changelogs; topics are headings and short
entries of lists in documentation. Only texts count that rules leave open (`kind_of` says *topic*), in lower case but
for code, equally many of each repository at most. A feature counts that occurs in half of the repositories; weights are
shrunk, both classes weigh the same. Printed is the share of pairs (a title, a topic) that are in order, of repositories
that were not fitted on: a quarter, by name; what is written is fitted on all.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from aurora_memory.recall import parse_question
from aurora_memory.recall import title_likeness as likeness
from aurora_memory.recall.title_likeness import TitleWeights, features
from tests.benchmarks.recall_fit import quarter

Floats = npt.NDArray[np.float64]

TITLES, TOPICS = 300, 250
"""Texts of one repository, at most."""

SHRINKING = 3.0
COMMITS = "6000"
ROUNDS = 12

_PAGES = re.compile(r"(?i)\.(?:md|rst|adoc|mdx)$")
_OF_CHANGES = re.compile(r"(?i)change|history|news|release|whats?[-_]?new")
_NO_TOPICS = re.compile(r"(?i)contributor|authors|migrat|upgrad")
_FENCED = re.compile(r"(?ms)^```.*?^```")
_ENTRY = re.compile(r"(?m)^\s{0,6}[-*+] {1,3}(\S.{5,300})$")
_HEADINGS = (re.compile(r"(?m)^#{1,5} +(.{5,90}?) *#*$"), re.compile(r"(?m)^(\S.{4,90})\n([=\-~^\"'+*#])\2{3,}$"))
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BOLD = re.compile(r"[*_]{1,2}([^*_]+)[*_]{1,2}")
_REST = re.compile(r"\s[-–—]+\s|:\s|\. |\((?=[A-Z])")
_NUMBERS = re.compile(r"\{#.*?\}|\(\[?#?\d+\]?.*$|\s*[(\[]*#\d+.*$")
_ABOUT_ALL = re.compile(
    r"(?i)bump|https?:|@\w|contributor|copyright|commit\]|^\d+ |travis|readme|changelog|\bdocs?\b|javadoc|typo"
    r"|licen[cs]e|whitespace|lint|\bCI\b|release|version|^merge|^revert|^update dep|^v?\d+\.\d"
)
"""What is said of a repository rather than of its code."""


def titles_of(clone: Path) -> Iterator[str]:
    """Subjects of commits, titles of merged pull requests, entries of changelogs."""
    yield from _git(clone, "log", "--no-merges", "--format=%s", "-n", COMMITS).splitlines()
    for message in _git(clone, "log", "--merges", "--format=%B%x00", "-n", COMMITS).split("\0"):
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].startswith("Merge pull request"):
            yield lines[1]
    for path, text in _pages(clone):
        if _OF_CHANGES.search(path):
            yield from (entry[1] for entry in _ENTRY.finditer(text))


def topics_of(clone: Path) -> Iterator[str]:
    """Headings and short entries of lists in documentation."""
    for path, text in _pages(clone):
        if _OF_CHANGES.search(path) or _NO_TOPICS.search(path):
            continue
        for heading in _HEADINGS:
            yield from (found[1] for found in heading.finditer(text))
        for entry in _ENTRY.finditer(text):
            yield _REST.split(_BOLD.sub(r"\1", _LINK.sub(r"\1", entry[1])))[0]


def left_open(texts: Iterator[str], words: range, most: int, seed: int) -> list[str]:
    """Texts of so many words that rules take for a topic, at most `most`, in lower case but for code."""
    found = dict.fromkeys(
        text
        for each in texts
        if not _ABOUT_ALL.search(each) and len((text := _NUMBERS.sub("", each).strip(" .;:,")).split()) in words
        if parse_question(text).kind == "topic"
    )
    return random.Random(seed).sample(list(found), min(most, len(found)))


def fit(rows: Floats, wanted: Floats, weights: Floats) -> Floats:
    """Coefficients of a shrunken (regularized) logistic regression, by Newton's steps; the last column is the base."""
    found = np.zeros(rows.shape[1])
    shrinking = np.full(rows.shape[1], SHRINKING)
    shrinking[-1] = 1e-6
    for _ in range(ROUNDS):
        told = 1 / (1 + np.exp(-(rows @ found)))
        slope = rows.T @ (weights * (told - wanted)) + shrinking * found
        bend = (rows.T * np.maximum(weights * told * (1 - told), 1e-6)) @ rows + np.diag(shrinking)
        found -= np.linalg.solve(bend, slope)
    return found


def in_order(titles: Floats, topics: Floats) -> float:
    """ROC area (AUC): the share of pairs of which the title is more like one."""
    return float((titles[:, None] > topics[None, :]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=Path, help="clones or bare repositories, named OWNER+NAME or NAME")
    options = parser.parse_args()
    texts: list[tuple[str, str, bool]] = []
    for clone in options.clones:
        name = _name(clone)
        titles = left_open(titles_of(clone), range(3, 17), TITLES, 1)
        topics = left_open(topics_of(clone), range(2, 13), TOPICS, 1)
        print(f"{name}: {len(titles)} titles, {len(topics)} topics")
        texts += [(name, each, True) for each in titles] + [(name, each, False) for each in topics]
    told = [features(text) for _, text, _ in texts]
    occurs: dict[str, set[str]] = defaultdict(set)
    for (name, _, _), found in zip(texts, told, strict=True):
        for feature in found:
            occurs[feature].add(name)
    names = sorted(feature for feature, where in occurs.items() if 2 * len(where) >= len(options.clones))
    places = {feature: place for place, feature in enumerate(names)}
    rows = np.zeros((len(texts), len(names) + 1))
    rows[:, -1] = 1
    for n, found in enumerate(told):
        rows[n, [places[feature] for feature in found if feature in places]] = 1
    wanted = np.array([title for _, _, title in texts], dtype=np.float64)
    weights = np.where(wanted == 1, 0.5 / wanted.mean(), 0.5 / (1 - wanted.mean()))
    held = np.array([quarter(name) == 0 for name, _, _ in texts])
    tried = rows @ fit(rows[~held], wanted[~held], weights[~held])
    order = round(in_order(tried[held & (wanted == 1)], tried[held & (wanted == 0)]), 3)
    print(f"{len(names)} features; held out, {order} of pairs in order")
    *found_weights, base = fit(rows, wanted, weights).round(2).tolist()
    provenance = {
        "by": "tests/benchmarks/title_fit.py",
        "titles": f"{int(wanted.sum())} subjects of commits, titles of pull requests and entries of changelogs",
        "topics": f"{int((1 - wanted).sum())} headings and entries of lists in documentation",
        "licences": "repositories of fitted_weights.json, all permissive; only weights are kept, nothing of their text",
        "pairs in order": f"{order} of the repositories that were held out (recall_fit.quarter 0)",
        "commits": {
            _name(clone).replace("+", "/"): _git(clone, "rev-parse", "HEAD").strip() for clone in options.clones
        },
    }
    fitted = TitleWeights(
        provenance, base, {name: each for name, each in zip(names, found_weights, strict=True) if each}
    )
    target = Path(likeness.__file__).with_name("title_weights.json")
    target.write_bytes(msgspec.json.format(msgspec.json.encode(fitted)))


def _name(clone: Path) -> str:
    """A clone's name; a bare repository's is that of its folder."""
    return clone.parent.name if clone.name in {"repo", ".git"} else clone.name


def _pages(clone: Path) -> Iterator[tuple[str, str]]:
    for path in _git(clone, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if _PAGES.search(path):
            yield path, _FENCED.sub("", _git(clone, "show", f"HEAD:{path}"))


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
