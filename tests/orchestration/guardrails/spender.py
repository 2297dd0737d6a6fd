"""A process that spends: `python spender.py FILE RUN HOW [COUNT]`. Not a test; tests start many of these."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.settings import BudgetSettings


def main(file: str, run: str, how: str, count: int = 1) -> None:
    budget = Budget(Path(file), BudgetSettings(hard_limit_usd=1e6, soft_limit_usd=1e6), time.time)
    if how == "settle":
        for number in range(count):
            budget.reserve(f"{run}:{number}", run, 0.5)
            budget.settle(f"{run}:{number}", 0.001, phase="assess", model="m")
        budget.end_run(run)
    elif how == "hold":
        budget.reserve(f"{run}:0", run, 0.25)
        print("held", flush=True)
        time.sleep(600)
    elif how == "forever":
        for number in range(1_000_000):
            budget.reserve(f"{run}:{number}", run, 0.5)
            budget.settle(f"{run}:{number}", 0.001)
            print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
