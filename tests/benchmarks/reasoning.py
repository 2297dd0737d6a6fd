"""`make bench-reasoning`: what verification finds in answers without any model: planted faults that are caught
(detection rate), and false alarms.

    python -m tests.benchmarks.reasoning [--repos PATH …] [--cases 120] [--show]

Repositories are working trees in any language; without them, packages that are installed here and this project itself
serve. Every second one was for development; on the others, with
phrases of their own, it is reported. Targets (issue 21): caught ≥ 85 %, false alarms
≤ 5 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.answer_phrases import DEVELOPMENT, HELD_OUT, Phrases
from tests.benchmarks.planted_faults import PLANTS, Repository, faulty_cases, found_out, true_cases

CAUGHT, ALARMS = 0.85, 0.05
PACKAGES = ("pygls", "click", "anthropic", "jsonschema", "pytest", "httpx2", "openai", "watchdog", "hypothesis", "rich")


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description="What verification finds in answers without a model.")
    parser.add_argument("--repos", nargs="*", type=Path, default=[])
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--show", action="store_true", help="print what was missed and what was a false alarm")
    given = parser.parse_args(arguments)
    roots = given.repos or here()
    missed = 0
    for part, those, phrases in (("development", roots[0::2], DEVELOPMENT), ("reported", roots[1::2], HELD_OUT)):
        caught, alarms = measured(part, those, phrases, given.cases, given.seed, show=given.show)
        if part == "reported":
            missed = int(caught < CAUGHT or alarms > ALARMS)
    return missed


def here() -> list[Path]:
    """This project, and the packages of `PACKAGES` that are installed."""
    found = [Path(__file__).parents[2]]
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None and Path(spec.origin).name == "__init__.py":
            found.append(Path(spec.origin).parent)
    return found


def measured(
    part: str, roots: Sequence[Path], phrases: Phrases, cases: int, seed: int, *, show: bool
) -> tuple[float, float]:
    """Print a table by repository and kind; the shares caught and alarmed, each repository counting alike."""
    print(f"{part}: {cases} true and {cases} faulty answers each")
    print(f"{'':28}{'caught':>8}" + "".join(f"{kind:>15}" for kind in PLANTS) + f"{'false alarms':>14}")
    shares: list[float] = []
    alarmed: list[float] = []
    sums: Counter[tuple[str, bool]] = Counter()
    for root in roots:
        repository = Repository(root)
        of: Counter[tuple[str, bool]] = Counter()
        for case in faulty_cases(repository, cases, seed, phrases):
            caught = found_out(case, repository.text)
            of[case.kind, caught] += 1
            if show and not caught:
                print(f"  missed ({case.kind}): {case.planted}")
        alarms = total = 0
        for case in true_cases(repository, cases, seed + 7, phrases):
            alarm = found_out(case, repository.text)
            alarms, total = alarms + alarm, total + 1
            if show and alarm:
                print(f"  false alarm: {case.question} | {case.answer}")
        if not total:
            print(f"{root.name[:27]:28}  (too little code)")
            continue
        sums += of
        every = sum(of.values())
        shares.append(sum(count for (_, hit), count in of.items() if hit) / max(1, every))
        alarmed.append(alarms / total)
        print(f"{root.name[:27]:28}{shares[-1]:8.1%}{_by_kind(of)}{alarmed[-1]:14.1%}")
    if not shares:
        return 0.0, 1.0
    mean, alarm = sum(shares) / len(shares), sum(alarmed) / len(alarmed)
    print(f"{'mean':28}{mean:8.1%}{_by_kind(sums)}{alarm:14.1%}")
    print(f"{'worst':28}{min(shares):8.1%}{'':{15 * len(PLANTS)}}{max(alarmed):14.1%}\n")
    return mean, alarm


def _by_kind(counted: Counter[tuple[str, bool]]) -> str:
    shown = ""
    for kind in PLANTS:
        hits, every = counted[kind, True], counted[kind, True] + counted[kind, False]
        shown += f"{f'{hits}/{every}':>15}"
    return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
