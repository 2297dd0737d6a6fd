"""What `aurora query` may cost, from outside: a real daemon, a provider on loopback, a terminal or none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.programs import COMMAND, run
from tests.server.client_requests import MEDIUM, TWO, asked
from tests.server.terminals import at_terminal
from tests.wait_limits import HANG

SPENT = {"soft_limit_usd": 0.000001, "hard_limit_usd": 500}


def query(home: Path, provider: LoopbackProvider, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return aurora(home, provider, root, "query", *arguments)


def aurora(home: Path, provider: LoopbackProvider, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(
        [*COMMAND, "--workspace", str(root), *arguments],
        env={**os.environ, **provider.environ, "AURORA_HOME": str(home)},
        capture_output=True, text=True, timeout=HANG, check=False,
    )  # fmt: skip


def test_beyond_the_soft_limit_a_script_is_refused_in_one_line_unless_it_says_force(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(TWO), cost_budgets=SPENT) as (_, provider, root):
        refused = query(tmp_path / "home", provider, root, MEDIUM)
        assert (refused.returncode, provider.requests) == (4, [])
        said = [line for line in refused.stderr.splitlines() if "soft limit" in line]
        assert len(said) == 1 and "--force" in said[0]
        forced = query(tmp_path / "home", provider, root, "--force", MEDIUM)
        assert forced.returncode == 0 and provider.requests, forced.stderr


@pytest.mark.parametrize(("typed", "code"), [("y", 0), ("", 4), ("n", 4)])
def test_at_a_terminal_it_asks_before_anything_is_paid(tmp_path: Path, typed: str, code: int) -> None:
    with asked(tmp_path, Mind(()), cost_budgets=SPENT) as (_, provider, root):
        home = {**provider.environ, "AURORA_HOME": str(tmp_path / "home")}
        paid_before: list[Any] = []
        provider.otherwise = lambda request: paid_before.append(request) or Mind(())(request)
        ended, shown = at_terminal(
            ["--workspace", str(root), "query", "what is expand?"], root, asked="[y/N]", typed=typed, **home
        )
        assert ended == code, shown
        assert "soft limit" in shown and bool(paid_before) == (code == 0)


def test_a_dry_run_says_what_it_would_cost_and_learns_from_what_it_did(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(())) as (_, provider, root):
        home = tmp_path / "home"
        first = query(home, provider, root, "--dry-run", "what is expand?").stdout
        expected = float(first.partition("Estimated cost: $")[2].split()[0].rstrip("."))
        result = query(home, provider, root, "-vv", "what is expand?").stdout
        cost = float(result.partition("cost: $")[2].split(";")[0])
        assert expected > 0 and max(expected / cost, cost / expected) < 5, (expected, cost)
        assert "were expected" in result
        again = query(home, provider, root, "--dry-run", "what is login?").stdout
        assert "1 past runs of its kind known" in again
        told = json.loads(query(home, provider, root, "--json", "--dry-run", "what is login?").stdout.splitlines()[-1])
        assert told["cost_usd"] == 0 and f"${told['estimated_usd']:.4f}" in told["answer"] and told["estimated_usd"] > 0


def test_calls_of_unknown_price_are_told_as_such(tmp_path: Path) -> None:
    with asked(tmp_path, Mind(())) as (_, provider, root):
        done = query(tmp_path / "home", provider, root, "-v", "--llm-model", "brand-new-9", "what is expand?")
        assert done.returncode == 0, done.stderr
        assert "1 call of unknown price (limits count $0.0" in done.stdout
        assert "no price is known for brand-new-9" in done.stderr
