"""`python -m tests.benchmarks.report_fit CLONE … --keep FOLDER`: fits the weights of signals for reports on news
fragments.

A news fragment (`changelog.d/12.bugfix.rst`) says what was broken, not what was changed, and the commit that adds it
tells which functions were. Its first sentence is asked as a report, of the memory of the commit before the oldest of
forty. Every repository is measured by weights that were fitted on the others, before the weights of all are written.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from aurora_memory.recall import signals
from aurora_memory.recall.places import is_test
from aurora_memory.recall.signals import SIGNALS, Fit, fitted, weights_of
from tests.benchmarks import measures
from tests.benchmarks.recall_cases import MOST_FILES, MOST_FUNCTIONS, Case, changed_between
from tests.benchmarks.recall_fit import Example, Floats, fit, head, of_database, scores
from tests.benchmarks.recall_quality import paired

AT_ONCE, SNAPSHOTS = 40, 3
"""Fragments that are asked of one memory, and memories of a repository."""

FEWEST = 15
"""Fragments that a memory is made for."""

SHRINKING = 0.003
FROZEN = frozenset(
    {"learned", "named", "phrases", "name fit", "pointed at", "file pointed at", "test", "aside", "copied"}
)
"""Signals of which fragments tell nothing (no test is wanted, none points at code), and the one that is for topics."""

_FRAGMENT = re.compile(
    r"(?i)(?:^|/)(?:news|newsfragments|changelog\.d|changes|changelog|topfiles)/(?:[^/]*/)?[^/]*(?:bug|fix)[^/]*$"
    r"|(?:^|/)(?:changelog/unreleased_\d+|build/unreleased)/[^/]+\.rst$"
)
_FIELDS = re.compile(r"(?m)^\s*:(?:tags|tickets|versions):.*$|^\.\. change::.*$")
_ROLE = re.compile(r":[\w:.]+:`([^`<]*?)\s*(?:<[^`>]*>)?`")
_LITERAL = re.compile(r"`!?~?\.?([^`]*)`_*")
_NUMBER = re.compile(r"\[#?\d+\]\([^)]*\)|\(?`?#\d+`?\)?|\s-- by .*")
_MENDED = re.compile(
    r"(?i)^\W*(?:fix(?:ed|es)?\b:?|resolve[sd]?|correct(?:ed|s)?)\s+(?:an? |the |some )?"
    r"(?:long-?standing |rare |minor )?(?:(?:bug|issue|regression|problem|case)s?\s*,?\s*"
    r"(?:where|in which|that|when|with|for|of|in)\s+(?:caused |the )?)?"
)
"""`Fixed a bug where …`: what is left says what went wrong."""

_SENTENCE = re.compile(r"(?<=[.!?])\s")


class Entry(Struct, frozen=True):
    """A fragment's first sentence, the commit before the one that added it, and what that changed."""

    title: str
    before: str
    functions: frozenset[tuple[str, str]]


def entries(clone: Path, most: int) -> Iterator[Entry]:
    """The newest fragments of a repository about bugs that came with a change of up to five files of its code."""
    log = _git(clone, "log", "--first-parent", "-m", "--no-renames", "--name-status", "--format=%x01%H %P", "-n9000")
    count = 0
    for block in log.split("\x01")[1:]:
        commits, *rest = block.splitlines()
        commit, *parents = commits.split()
        files = [line.split("\t")[:2] for line in rest if "\t" in line]
        code = [path for state, path in files if state == "M" and path.endswith(".py") and not is_test(path)]
        fragments = [path for state, path in files if state == "A" and _FRAGMENT.search(path)]
        if not parents or len(fragments) != 1 or not 1 <= len(code) <= 5 or len(files) > MOST_FILES:
            continue
        title = said(_git(clone, "show", f"{commit}:{fragments[0]}"))
        changed = frozenset(each for each in changed_between(clone, parents[0], commit) if not is_test(each[0]))
        if len(title.split()) < 4 or not 1 <= len(changed) <= MOST_FUNCTIONS:
            continue
        yield Entry(title, parents[0], changed)
        count += 1
        if count == most:
            return


def said(fragment: str) -> str:
    """What a fragment says went wrong: its first sentence, without marks of reStructuredText."""
    plain = _NUMBER.sub("", _LITERAL.sub(r"`\1`", _ROLE.sub(r"`\1`", _FIELDS.sub("", fragment))).replace("``", "`"))
    text = _MENDED.sub("", " ".join(plain.split()).strip(" -*"), count=1)
    return _SENTENCE.split(text)[0].rstrip(". ")


def snapshots(clone: Path, folder: Path) -> Iterator[tuple[Path, list[Entry]]]:
    """Memories of a repository, each with the fragments that came next, as an earlier run left them or made now."""
    known = sorted(folder.glob("*.json"))
    if not known:
        _index(clone, folder)
        known = sorted(folder.glob("*.json"))
    for each in known:
        yield each.with_suffix(".db"), msgspec.json.decode(each.read_bytes(), type=list[Entry])


def _index(clone: Path, folder: Path) -> None:
    found = list(entries(clone, AT_ONCE * SNAPSHOTS))
    groups = [found[begin : begin + AT_ONCE] for begin in range(0, len(found), AT_ONCE)]
    tree = folder / "tree"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "-q", "-s", "-n", str(clone), str(tree)], check=True)
    _git(tree, "remote", "remove", "origin")
    for n, group in enumerate([group for group in groups if len(group) >= FEWEST][::-1]):
        _git(tree, "checkout", "-q", "-f", "--detach", group[-1].before)
        with measures.daemon(folder / "home") as address, measures.session(address, tree) as client:
            measures.index(client)
            measures.settled(client)
        (memory,) = (folder / "home" / "memory").glob("*.db")
        with sqlite3.connect(memory) as source, sqlite3.connect(folder / f"{n}.db") as target:
            source.backup(target)
        (folder / f"{n}.json").write_bytes(msgspec.json.encode(group))


def examples_of(clone: Path, folder: Path) -> list[Example]:
    """What is asked of a repository, where it reads like a report."""
    found: list[Example] = []
    for database, group in snapshots(clone, folder):
        found += asyncio.run(of_database(database, [Case(each.title, each.functions) for each in group]))
    return [each for each in found if each.kind == "report"]


def fit_apart(made: Mapping[str, list[Example]], start: Floats) -> Floats:
    """The weights that all repositories give; prints what each gains by those of the others."""
    differences: list[Floats] = []
    for name, own in made.items():
        others = [one for other, given in made.items() if other != name for one in given]
        differences.append(scores(own, fit(others, start, FROZEN, SHRINKING)) - scores(own, start))
        print(f"  {name}: recall@10 {differences[-1][:, 0].mean():+.3f} ({len(own)})")
    print(f"  all: recall@10 {paired(np.concatenate(differences)[:, 0])}")
    return fit([one for given in made.values() for one in given], start, FROZEN, SHRINKING)


def written(found: Floats, clones: Sequence[Path]) -> None:
    """Write the weights, with what they were fitted on."""
    known = fitted()
    held = known.kinds["report"]
    weights = {one.name: round(float(found[one.place]), 3) for one in SIGNALS}
    report = {name: weights[name] for name in weights if name in held or name not in FROZEN}
    used = {clone.name.replace("+", "/"): head(clone) for clone in clones}
    provenance = {**known.provenance, "fragments": used}
    target = Path(signals.__file__).with_name("fitted_weights.json")
    target.write_bytes(msgspec.json.format(msgspec.json.encode(Fit(provenance, {**known.kinds, "report": report}))))


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(clone), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=Path, help="clones with history that keep news fragments")
    parser.add_argument(
        "--keep", type=Path, required=True, help="folder for trees and databases, reused on the next run"
    )
    options = parser.parse_args()
    made = {clone.name: examples_of(clone, options.keep / clone.name) for clone in options.clones}
    asked = {name: own for name, own in made.items() if own}
    written(fit_apart(asked, np.array(weights_of("report"))), options.clones)


if __name__ == "__main__":
    main()
