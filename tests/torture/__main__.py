"""Fault injection, seeded and reproducible: of memory files, of running daemons, and of what readers of foreign bytes
are given.

    python -m tests.torture [--seed N] [--seconds S] [--only NAME]

Each trial has a seed of its own. What fails is told with the line that repeats it alone, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.torture import daemons, exports, files, imports, kills, repairs, table, upgrades
from tests.torture.inputs import Input, inputs, keep, mutated

READING = 3.0
"""Seconds that one trial of `read` takes."""

_READERS: dict[str, Input] = {}


def read(chance: random.Random, folder: Path) -> None:
    """Bytes that a few things were changed in, for one reader of foreign bytes; what fails goes into the corpus."""
    if not _READERS:
        _READERS.update(inputs())
    name = chance.choice(sorted(_READERS))
    until = time.monotonic() + READING
    while time.monotonic() < until:
        raw = mutated(chance, chance.choice(_READERS[name].samples))
        try:
            _READERS[name].read(raw)
        except Exception as error:
            raise AssertionError(f"{name} failed; its input is kept as {keep(name, raw)}") from error


TRIALS: tuple[tuple[int, Callable[[random.Random, Path], None]], ...] = (
    (4, files.cut),
    (8, files.flip),
    (3, files.scribble),
    (1, files.clock),
    (2, kills.kill),
    (1, upgrades.upgrade),
    (1, imports.take_in),
    (1, exports.give_out),
    (1, repairs.mend),
    (3, table.cells),
    (1, daemons.stop),
    (3, daemons.pull),
    (1, daemons.fill),
    (2, daemons.refuse),
    (2, daemons.ask),
    (1, daemons.hostile),
    (1, daemons.stranger),
    (6, read),
)
"""How often each comes, and what it is."""


def main() -> int:
    """Run trials until the time is over, each kind once before any comes again; returns 1 where one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", choices=[trial.__name__ for _, trial in TRIALS])
    parser.add_argument("--trials", type=int, default=1 << 20)
    wanted = parser.parse_args()
    until = time.monotonic() + wanted.seconds
    seeds = random.Random(wanted.seed)
    weights, trials = zip(*TRIALS, strict=True)
    first = seeds.sample(trials, len(trials))
    done: Counter[str] = Counter()
    slowest: Counter[str] = Counter()
    failed: list[str] = []
    while time.monotonic() < until and done.total() < wanted.trials:
        seed = wanted.seed if wanted.only and wanted.trials == 1 else seeds.randrange(1 << 32)
        trial = first.pop() if first else seeds.choices(trials, weights)[0]
        if wanted.only:
            trial = next(each for each in trials if each.__name__ == wanted.only)
        began = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                trial(random.Random(seed), Path(folder))
        except Exception:  # noqa: BLE001 - whatever it is, the other trials go on and this one is told
            failed.append(f"python -m tests.torture --only {trial.__name__} --trials 1 --seed {seed}")
            print(f"failed: {failed[-1]}\n{traceback.format_exc()}", flush=True)
        done[trial.__name__] += 1
        slowest[trial.__name__] = max(slowest[trial.__name__], round(time.monotonic() - began))
    print(
        f"torture: seed {wanted.seed}, {dict(done)}, at most {dict(slowest)} s, {len(failed)} failed",
        *failed,
        sep="\n  ",
    )
    return 1 if failed else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # the threads of a memory that a failed trial left open would keep this process for ever
