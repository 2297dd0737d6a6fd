"""Overhead of the orchestrator: wall time less the time that calls to the provider took, whose latency is 0.

    python -m tests.benchmarks.orchestrator [rounds]

Targets (issue 6): SIMPLE 60 ms, COMPLEX with five parallel subgoals 250 ms. The first run of each is left out: it
imports the provider's SDK, once per daemon. The calibration loop says how fast this machine was meanwhile.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.types import ModelCall, VerificationOption
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.benches import Bench, bench
from tests.orchestration.soar.minds import Mind
from tests.orchestration.soar.test_run import COMPLEX, FIVE

TARGETS = {"SIMPLE": 60.0, "COMPLEX": 250.0}


def main(rounds: int = 15) -> int:
    """Measure and print; 1 where a target is missed."""
    before = calibration()
    measured = asyncio.run(_measured(rounds))
    missed = 0
    for name, (walls, owns, calls) in measured.items():
        own, wall = statistics.median(owns), statistics.median(walls)
        late = own > TARGETS[name]
        missed += late
        print(
            f"{name:8} own {own:6.1f} ms (target {TARGETS[name]:.0f}{', MISSED' if late else ''}; "
            f"{min(owns):.1f}-{max(owns):.1f}), wall {wall:6.1f} ms, {calls} calls, {len(owns)} runs"
        )
    print(f"calibration loop {before:.1f} ms before, {calibration():.1f} ms after")
    return int(missed > 0)


def calibration() -> float:
    """Milliseconds of a fixed piece of work in pure Python, the best of five."""

    def once() -> float:
        begun = time.perf_counter()
        sum(n * n % 7 for n in range(500_000))
        return (time.perf_counter() - begun) * 1000

    return min(once() for _ in range(5))


def waiting_ms(calls: tuple[ModelCall, ...]) -> float:
    """How long at least one call was under way."""
    total = end = 0.0
    for call in sorted(calls, key=lambda each: each.started_at):
        begin, until = call.started_at * 1000, call.started_at * 1000 + call.took_ms
        total += max(0.0, until - max(begin, end))
        end = max(end, until)
    return total


async def _measured(rounds: int) -> dict[str, tuple[list[float], list[float], int]]:
    found: dict[str, tuple[list[float], list[float], int]] = {}
    with LoopbackProvider() as provider, tempfile.TemporaryDirectory() as folder:
        mind = Mind(FIVE)
        mind.instead["assess"] = lambda _: {"complexity": "complex", "confidence": 0.9}
        provider.otherwise = mind
        # A verification that was asked for keeps the second run of a question from being answered from memory.
        asked: tuple[tuple[str, str, VerificationOption | None], ...] = (
            ("SIMPLE", "what is expand?", None),
            ("COMPLEX", COMPLEX, "option_b"),
        )
        for name, query, option in asked:
            async with bench(Path(folder) / name, provider.llm_settings(), provider.environ) as it:
                walls, owns = [], []
                for n in range(rounds + 1):
                    run, wall = await _once(it, query, option)
                    assert run.state == "complete", run.error
                    if n:
                        walls.append(wall)
                        owns.append(wall - waiting_ms(run.calls))
                found[name] = walls, owns, len(run.calls)
    return found


async def _once(it: Bench, query: str, option: VerificationOption | None) -> tuple[RunRecord, float]:
    begun = time.perf_counter()
    run = await it.ask(query, verification=option)
    return run, (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
