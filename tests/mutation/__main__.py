"""`make mutate` (mutation testing): mutants of the product files that a change touches, and which of them survive, as
no test notices them.

A library was looked for. mutmut 3 names what it mutates by a file's path below `src` or the root, and so never meets
packages that stand in folders of other names; cosmic-ray changes the work tree itself, starts a whole process for each
mutant, and leaves out words, sort keys and defaults.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

import msgspec

from tests.mutation.mutants import Mutant, mutants
from tests.mutation.selection import nearest_tests
from tests.mutation.trial import Baseline, Copy


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """`[tool.aurora.mutation]` of pyproject.toml; what a command line says comes first. Times are seconds."""

    packages: list[str]
    seconds: float = 600.0
    trial_seconds: float = 60.0
    baseline_seconds: float = 300.0
    test_files: int = 24
    seed: int = 1


class FileReport(msgspec.Struct):
    """What came of one file's mutants."""

    path: str
    made: int = 0
    outcomes: dict[str, int] = {}
    survivors: list[str] = []
    trouble: str = ""


def main() -> int:
    """Run, and tell of every survivor. Exit status 1 where there are any, 2 where a file could not be tried."""
    root = Path.cwd()
    settings = _settings(root)
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("files", nargs="*", help="product files; those changed since the base where none is given")
    parser.add_argument("--base", default="origin/main", help="commit that changes are counted from")
    parser.add_argument("--seconds", type=float, default=settings.seconds, help="time for all files together")
    parser.add_argument("--tests", nargs="+", default=[], help="test files to use, instead of those that are found")
    parser.add_argument("--seed", type=int, default=settings.seed, help="which mutants are tried where not all can be")
    parser.add_argument("--lines", default="", help="only mutants of these lines of the one file, as 10-20")
    given = parser.parse_args()
    files = given.files or _changed(root, given.base, settings.packages)
    if not files:
        print(f"no product file changed since {given.base}")
        return 0
    os.environ.pop("AURORA_SHARED", None)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    deadline = time.monotonic() + given.seconds
    told: list[FileReport] = []
    with tempfile.TemporaryDirectory(prefix="aurora-mutation-") as folder:
        copy = Copy(root, Path(folder), settings.packages)
        for n, path in enumerate(files):
            share = (deadline - time.monotonic()) / (len(files) - n)
            told.append(_tried(copy, root, path, given, settings, time.monotonic() + share))
            _print(told[-1])
    whole = sum((Counter(each.outcomes) for each in told), Counter[str]())
    tried = sum(whole.values())
    if len(told) > 1 and tried:
        print(f"\nall files: {_shares(whole, sum(each.made for each in told))}")
    return 2 if any(each.trouble for each in told) else 1 if whole["survived"] else 0


def _tried(
    copy: Copy, root: Path, path: str, given: argparse.Namespace, settings: Settings, deadline: float
) -> FileReport:
    source = (root / path).read_text()
    made = mutants(source)
    if given.lines:
        first, _, last = given.lines.partition("-")
        made = [each for each in made if int(first) <= each.line <= int(last or first)]
    told = FileReport(path, len(made))
    tests = given.tests or nearest_tests(root, path, settings.packages, settings.test_files)
    if not tests or not made:
        told.trouble = "" if not made else "no test file is named after it or imports it"
        return told
    try:
        baseline = copy.baseline(path, tests, settings.baseline_seconds)
    except RuntimeError as error:
        told.trouble = f"its tests do not pass as they are ({', '.join(tests)}):\n{error}"
        return told
    counts: Counter[str] = Counter()
    survivors: list[Mutant] = []
    for mutant in random.Random(given.seed).sample(made, len(made)):
        if time.monotonic() >= deadline:
            break
        outcome = _trial(copy, path, source, mutant, baseline, settings)
        counts[outcome] += 1
        if outcome in {"survived", "error"}:
            survivors.append(mutant)
    told.outcomes = dict(counts)
    lines = source.splitlines()
    for each in sorted(survivors, key=lambda mutant: mutant.start):
        told.survivors.append(f"{path}:{each.line}: {each.told}    | {lines[each.line - 1].strip()}")
    return told


def _trial(copy: Copy, path: str, source: str, mutant: Mutant, baseline: Baseline, settings: Settings) -> str:
    """What became of one mutant: killed, too slow (a timeout), or it survived."""
    tests = baseline.tests_of(mutant.function, settings.trial_seconds / 4)
    usual = sum(baseline.seconds[test] for test in tests)
    copy.write(path, mutant.of(source))
    try:
        outcome, _ = copy.trial(tests, min(settings.trial_seconds, 10 + 4 * usual))
    finally:
        copy.write(path, source)
    return outcome


def _print(told: FileReport) -> None:
    print(f"\n{told.path}: {_shares(Counter(told.outcomes), told.made)}")
    for line in told.survivors:
        print(f"  {line}")
    if told.trouble:
        print(f"  not tried: {told.trouble}")
    sys.stdout.flush()


def _shares(outcomes: Counter[str], made: int) -> str:
    tried = sum(outcomes.values())
    died = outcomes["killed"] + outcomes["too slow"]
    share = f", {100 * died / tried:.0f} %" if tried else ""
    return f"{died} of {tried} died{share} ({', '.join(f'{n} {what}' for what, n in outcomes.items())}; {made} made)"


def _changed(root: Path, base: str, packages: list[str]) -> list[str]:
    """Product files that differ from where this branch left the base, those not committed yet included."""
    since = _git(root, "merge-base", base, "HEAD").strip()
    names = [*_git(root, "diff", "--name-only", "--diff-filter=d", since).splitlines()]
    names += _git(root, "ls-files", "--others", "--exclude-standard").splitlines()
    return [name for name in names if name.endswith(".py") and name.startswith(tuple(f"{each}/" for each in packages))]


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}; give another base with --base")
    return done.stdout


def _settings(root: Path) -> Settings:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return msgspec.convert(project["tool"]["aurora"]["mutation"], Settings)


if __name__ == "__main__":
    sys.exit(main())
