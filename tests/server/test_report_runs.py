"""`aurora report` with the questions of a stretch of time, through a real daemon."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from aurora_cli.report import keep_report
from aurora_memory.learning import Learned
from aurora_orchestration.settings import ConversationSettings, ReportSettings
from tests.orchestration.runs import BEGAN, run
from tests.orchestration.written_log import write_log
from tests.server.daemons import Daemon
from tests.server.deliverables import aurora, told


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("aurora") / "home"
    logs, settings = folder / "logs" / "conversations", ConversationSettings()
    write_log(run(), logs, settings)
    write_log(run(id="aurora-2", started_at=BEGAN + 86_400, score=0.5, state="failed"), logs, settings)
    other = Learned(outcome="success", reasoning_id="reas:oauth2-logout", is_pattern=True)
    write_log(run(id="aurora-3", started_at=time.time() - 1, ended_at=time.time(), learned=other), logs, settings)
    with Daemon(folder):
        yield folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def test_a_days_questions_are_told_beside_its_deliverables(home: Path, root: Path) -> None:
    day = datetime.fromtimestamp(BEGAN).strftime("%Y-%m-%d")
    reply = told(home, root, "report", "daily", "--date", day)
    assert reply["deliverables"] == {"began": 0, "completed": 0, "failed": 0, "open": 0}
    runs = reply["runs"]
    assert {key: runs[key] for key in ("queries", "accuracy", "cache_hits", "errors", "cost_usd")} == {
        "queries": 1,
        "accuracy": 0.93,
        "cache_hits": 0,
        "errors": 0,
        "cost_usd": 0.01,
    }
    assert told(home, root, "report", "daily")["runs"]["queries"] == 1
    kept = home / "reports" / "daily" / f"shop-{day}.md"
    assert "| queries    | 1 (1 complete)" in kept.read_text() and kept.stat().st_mode & 0o777 == 0o600


def test_a_month_and_all_time_have_trends(home: Path, root: Path) -> None:
    month = told(home, root, "report", "monthly", "--month", "2025-12")["runs"]
    assert (month["queries"], month["errors"], len(month["trend"])) == (2, 1, 5)
    ever = told(home, root, "report", "cumulative")["runs"]
    assert ever["queries"] == 3 and ever["trend"][0]["patterns"] == 1 and ever["trend"][-1]["patterns"] == 2
    said = aurora(home, root, "report", "cumulative").stdout
    assert "## Questions, in all workspaces" in said and "### How they went" in said
    assert (home / "reports" / "cumulative" / "shop-cumulative.md").read_text() == said
    assert (home / "reports" / "monthly" / "shop-2025-12.md").exists()


def test_a_stretch_without_questions_says_nothing_of_them(home: Path, root: Path) -> None:
    assert "## Questions" not in aurora(home, root, "report", "daily", "--date", "2024-01-01").stdout


def test_reports_are_kept_only_where_and_if_configured(home: Path, root: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    blocked = tmp_path / "file"
    blocked.write_text("mine")
    config.write_text(json.dumps({"reporting": {"daily": {"enabled": True, "output_path": str(blocked)}}}))
    done = aurora(home, root, "report", "daily", "--config", str(config))
    assert done.returncode == 0 and "the report is not kept in" in done.stderr
    config.write_text(json.dumps({"reporting": {"daily": {"enabled": False}}}))
    day = datetime.now().strftime("%Y-%m-%d")
    (home / "reports" / "daily" / f"shop-{day}.md").unlink(missing_ok=True)
    assert "not kept" not in aurora(home, root, "report", "daily", "--config", str(config)).stderr
    assert not (home / "reports" / "daily" / f"shop-{day}.md").exists()


def test_a_report_is_written_through_no_link_that_somebody_made_for_it(tmp_path: Path) -> None:
    """A team's folder of reports may be written by many: another user may have made whatever name can be guessed."""
    folder, mine = tmp_path / "reports", tmp_path / "mine"
    folder.mkdir()
    mine.write_text("precious")
    for name in (f".shop.md.{os.getpid()}.tmp", ".shop.tmp", ".shop.md.tmp", "shop.md"):
        (folder / name).symlink_to(mine)
    keep_report(ReportSettings(enabled=True, output_path=str(folder)), "shop", "# told")
    assert mine.read_text() == "precious"
    assert (folder / "shop.md").read_text() == "# told\n" and not (folder / "shop.md").is_symlink()
    assert (folder / "shop.md").stat().st_mode & 0o777 == 0o600
