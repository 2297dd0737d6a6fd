"""`aurora budget`, in processes of its own, without a daemon."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.settings import BudgetSettings
from tests.server.deliverables import aurora, told


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def spend(home: Path, key: str, usd: float, at: float | None = None) -> None:
    now = time.time if at is None else (lambda: at)
    budget = Budget(home / "budget_tracker.json", BudgetSettings(), now)
    budget.reserve(key, f"run-{key}", usd)
    budget.settle(key, usd, phase="decompose", model="m-1")
    budget.end_run(f"run-{key}")


def test_before_anything_was_spent_there_is_a_status_and_no_file(home: Path, tmp_path: Path) -> None:
    status = told(home, tmp_path, "budget", "status")
    month = datetime.now(UTC).strftime("%Y-%m")
    assert status["period_start"] == f"{month}-01T00:00:00Z" and status["period_end"].endswith("T23:59:59Z")
    assert (status["consumed_usd"], status["remaining_usd"], status["limit_usd"]) == (0.0, 500.0, 500.0)
    assert (status["query_count"], status["state"]) == (0, "fine")
    assert status["tracking_file"] == str(home / "budget_tracker.json")
    assert not (home / "budget_tracker.json").exists() and not (home / "run").exists()
    assert "nothing was spent" in aurora(home, tmp_path, "budget", "history").stdout


def test_what_was_spent_is_told_against_the_configured_limits(home: Path, tmp_path: Path) -> None:
    spend(home, "a", 9.0)
    (home / "config.json").write_text('{"cost_budgets": {"soft_limit_usd": 10, "hard_limit_usd": 20}}')
    status = told(home, tmp_path, "budget", "status")
    assert (status["consumed_usd"], status["remaining_usd"], status["state"]) == (9.0, 11.0, "warned")
    assert (status["query_count"], status["questions_left"]) == (1, 1)
    said = aurora(home, tmp_path, "budget", "status").stdout
    assert "45 %" in said and "$9.00 of $20.00" in said and "$11.00, about 1 question" in said
    spend(home, "b", 11.0)
    said = aurora(home, tmp_path, "budget", "status").stdout
    assert "aurora config set cost_budgets.hard_limit_usd 40" in said and "aurora budget reset" in said
    assert "\x1b" not in said


def test_a_reset_counts_anew_and_the_history_stays(home: Path, tmp_path: Path) -> None:
    spend(home, "a", 9.0)
    status = told(home, tmp_path, "budget", "reset")
    assert (status["consumed_usd"], status["query_count"]) == (0.0, 0)
    history = told(home, tmp_path, "budget", "history")
    assert history["total_usd"] == 9.0
    assert [(each["consumed_usd"], each["by_hand"]) for each in history["ended"]] == [(9.0, True)]
    assert json.loads((home / "budget_tracker.json").read_text())["consumed_usd"] == 0.0


def test_the_history_of_a_month_by_day_and_by_call(home: Path, tmp_path: Path) -> None:
    december = datetime(2025, 12, 20, 14, 30, tzinfo=UTC).timestamp()
    spend(home, "a", 1.5, december)
    spend(home, "b", 0.0123, december + 86_400)
    spend(home, "c", 2.0)
    history = told(home, tmp_path, "budget", "history", "--month", "2025-12")
    assert (history["total_usd"], history["query_count"]) == (1.5123, 2)
    assert [day["date"] for day in history["days"]] == ["2025-12-20", "2025-12-21"]
    assert history["entries"][0]["model"] == "m-1"
    said = aurora(home, tmp_path, "budget", "history", "--month", "2025-12").stdout
    assert "2025-12-20" in said and "$1.50" in said and "$0.0123" in said and "$2.00" not in said
    assert "decompose  m-1" in aurora(home, tmp_path, "budget", "history", "--calls").stdout


def test_wrong_months_and_broken_files_are_told_in_one_line(home: Path, tmp_path: Path) -> None:
    done = aurora(home, tmp_path, "budget", "history", "--month", "december")
    assert done.returncode == 2 and "YYYY-MM" in done.stderr and done.stderr.count("\n") == 1
    spend(home, "a", 1.0)
    (home / "budget_tracker.json").write_text("{")
    done = aurora(home, tmp_path, "budget", "status", "--json")
    assert done.returncode == 0 and "could not be read" in done.stderr
    assert json.loads(done.stdout)["consumed_usd"] == 1.0
    (home / "budget_tracker.json").unlink()
    (home / "budget_tracker.json").mkdir()
    done = aurora(home, tmp_path, "budget", "reset")
    assert done.returncode == 4 and str(home / "budget_tracker.json") in done.stderr and done.stderr.count("\n") == 1


def test_a_workspace_cannot_raise_the_limit(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".aurora").mkdir()
    (tmp_path / ".aurora" / "config.json").write_text('{"cost_budgets": {"hard_limit_usd": 100000}}')
    assert told(home, tmp_path, "budget", "status")["limit_usd"] == 500.0
