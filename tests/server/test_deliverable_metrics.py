"""`aurora metrics` and `aurora report` over made event logs, through a real daemon."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.programs import COMMAND, run
from tests.server.daemons import Daemon
from tests.server.deliverables import aurora, lifetime, line, told
from tests.wait_limits import HANG


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("aurora") / "home"
    with Daemon(folder):
        yield folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%d")


def test_without_deliverables_values_and_tiers_are_null(home: Path, root: Path) -> None:
    reply = told(home, root, "metrics")
    assert reply["window"]["deliverables"] == 0
    assert list(reply["metrics"]) == [
        "feature_throughput",
        "resolution_latency",
        "deliverable_failure_rate",
        "recovery_efficiency",
        "spec_conformance",
    ]
    assert {(each["value"], each["tier"]) for each in reply["metrics"].values()} == {(None, None)}
    assert "none has ended" in aurora(home, root, "metrics").stdout


def test_the_five_metrics_with_tiers_trends_and_groups(home: Path, root: Path) -> None:
    lines = [lifetime(f"new-{n}", days_ago(2), name="bot", model="m-1") for n in range(3)]
    lines += [lifetime("bad", days_ago(3), status="failed", name="other")]
    lines += [lifetime("old", days_ago(9), name="bot")]
    told(home, root, "deliverable", "ingest", given="\n".join(lines))
    reply = told(home, root, "metrics", "--window-days", "7", "--window-count", "20")
    assert reply["window"]["deliverables"] == 4
    assert datetime.fromisoformat(reply["window"]["to"]) - datetime.fromisoformat(reply["window"]["from"]) == timedelta(
        days=7
    )
    five = reply["metrics"]
    assert five["resolution_latency"]["value"] == 3600 and five["resolution_latency"]["tier"] == "high"
    assert five["deliverable_failure_rate"]["value"] == 25 and five["deliverable_failure_rate"]["tier"] == "low"
    assert five["feature_throughput"]["value"] == pytest.approx(3 / 7)
    assert five["feature_throughput"]["previous"] == pytest.approx(1 / 7)
    assert five["feature_throughput"]["better"] is True
    assert five["feature_throughput"]["history"][-2:] == pytest.approx([1 / 7, 3 / 7])
    assert five["recovery_efficiency"]["tier"] == "elite"
    assert reply["supporting"]["tool_calls"] == {"file_edit": 12}
    groups = {each["name"]: each["metrics"] for each in reply["groups"]["agent"]}
    assert groups["bot"]["deliverable_failure_rate"]["value"] == 0
    assert groups["other"]["deliverable_failure_rate"]["value"] == 100
    assert [each["name"] for each in reply["groups"]["workspace"]] == [str(root)]
    assert list(told(home, root, "metrics", "--by", "model")["groups"]) == ["model"]
    assert told(home, root, "metrics", "--window-count", "2")["window"]["deliverables"] == 2

    said = aurora(home, root, "metrics", "--by", "agent").stdout
    assert "4 deliverables ended" in said
    (throughput,) = (each for each in said.splitlines()[:8] if "feature throughput" in each)
    assert "0.43 /day" in throughput and "medium" in throughput and "↑" in throughput and "▁" in throughput
    assert "\nbot\n" in said and "file_edit 12" in said
    assert "\x1b" not in said, "no colours where nobody sees them"


@pytest.mark.parametrize(
    "arguments", [["--window-days", "0"], ["--window-count", "0"], ["--by", "mood"], ["--window-days", "nan"]]
)
def test_windows_that_make_no_sense_are_refused(home: Path, root: Path, arguments: list[str]) -> None:
    done = aurora(home, root, "metrics", *arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_daily_report_has_that_day_only(home: Path, root: Path) -> None:
    lines = [lifetime("one", "2026-02-26", tokens=1000), lifetime("two", "2026-02-27", status="failed", tokens=10)]
    lines += [line("deliverable_start", "2026-02-26T23:30:00Z", "late"), line("tokens", "2026-02-26T23:59:59Z", "late",
              input_tokens=5), line("tokens", "2026-02-27T00:00:01Z", "late", input_tokens=7)]  # fmt: skip
    told(home, root, "deliverable", "ingest", given="\n".join(lines))
    report = told(home, root, "report", "daily", "--date", "2026-02-26")
    assert (report["from"], report["to"]) == ("2026-02-26T00:00:00Z", "2026-02-27T00:00:00Z")
    assert report["deliverables"] == {"began": 2, "completed": 1, "failed": 0, "open": 1}
    assert report["tokens"]["total_tokens"] == 1005 and report["tokens"]["cost_usd"] == 0.5
    assert [each["change_id"] for each in report["ended"]] == ["one"]
    next_day = told(home, root, "report", "daily", "--date", "2026-02-27")
    assert next_day["tokens"]["total_tokens"] == 17
    assert next_day["deliverables"]["failed"] == 1

    empty = aurora(home, root, "report", "daily", "--date", "2020-01-01").stdout
    assert empty == "# Deliverables of shop: Wednesday, 01 January 2020\n\n0 began · 0 completed · 0 failed · 0 open\n"


def test_days_are_those_of_the_users_time_zone(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "ingest", given=lifetime("one", "2026-02-26"))
    done = aurora(home, root, "report", "daily", "--date", "2026-02-26", "--json", TZ="America/New_York")
    report = json.loads(done.stdout)
    assert (report["from"], report["to"]) == ("2026-02-26T05:00:00Z", "2026-02-27T05:00:00Z")
    done = aurora(home, root, "report", "daily", "--date", "2026-02-27", "--json", TZ="Pacific/Auckland")
    report = json.loads(done.stdout)
    assert report["deliverables"]["completed"] == 1, "11:00 UTC is midnight there: the next day's first moment"
    assert report["metrics"]["deliverable_failure_rate"]["value"] == 0


def test_a_monthly_report_goes_by_weeks_and_a_cumulative_one_by_months(home: Path, root: Path) -> None:
    days = ["2026-02-26", "2026-03-02", "2026-03-20", "2026-03-21"]
    lines = [lifetime(f"change|{n}", day, tokens=100 * (n + 1)) for n, day in enumerate(days)]
    told(home, root, "deliverable", "ingest", given="\n".join(lines))
    march = told(home, root, "report", "monthly", "--month", "2026-03")
    assert march["deliverables"]["completed"] == 3
    assert [part["completed"] for part in march["trend"]] == [1, 0, 2, 0, 0]
    assert [part["tokens"] and part["tokens"]["total_tokens"] for part in march["trend"]] == [
        200,
        None,
        700,
        None,
        None,
    ]
    ever = told(home, root, "report", "cumulative")
    assert ever["deliverables"]["completed"] == 4
    assert [part["completed"] for part in ever["trend"]][:2] == [1, 3]
    assert ever["tokens"]["total_tokens"] == 1000 and ever["tokens"]["cost_usd"] == 2.0
    text = aurora(home, root, "report", "monthly", "--month", "2026-03").stdout
    assert text.startswith(
        "# Deliverables of shop: March 2026\n\n3 began · 3 completed · 0 failed · 0 open\n\n## Metrics"
    )
    assert "change\\|1" in text and "## Trend" in text
    tables = [row for row in text.splitlines() if row.startswith("| 2026-03")]
    assert len(tables) == 5 and tables[2].split("|")[5].strip() == "$1.00"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["daily", "--date", "yesterday"], "write it as YYYY-MM-DD"),
        (["monthly", "--month", "2026-13"], "write it as YYYY-MM"),
        (["daily", "--date", "20260226"], "write it as YYYY-MM-DD"),
    ],
)
def test_dates_that_are_none_are_said_so(home: Path, root: Path, arguments: list[str], said: str) -> None:
    done = aurora(home, root, "report", *arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_ci_is_told_by_the_exit_code_and_as_of_another_day(home: Path, root: Path) -> None:
    told(home, root, "deliverable", "ingest", "-", given=lifetime("add-search", "2026-02-26"))
    then = ("metrics", "--as-of", "2026-02-27T00:00:00z")
    reply = told(home, root, *then)
    assert reply["window"]["deliverables"] == 1 and reply["window"]["to"].startswith("2026-02-27T00:00:00")
    assert reply["metrics"]["resolution_latency"]["tier"] == "high"
    assert aurora(home, root, *then, "--worse-than", "high", "--json").returncode == 1, "one in a week is medium"
    assert aurora(home, root, *then, "--worse-than", "resolution_latency=high").returncode == 0
    worse = aurora(home, root, *then, "--worse-than", "resolution_latency=elite")
    assert (worse.returncode, worse.stderr.strip()) == (1, "worse than asked for: resolution latency")
    for tier in ("good", "low"):  # nothing is worse than low
        assert aurora(home, root, *then, "--worse-than", tier).returncode == 2
    for name in reply["metrics"]:
        assert aurora(home, root, *then, "--worse-than", f"{name}=medium").returncode == 0, name
    for name in ("conformance", "spec-conformance", "failure-rate", "throughput", "Recovery", "latency"):
        assert aurora(home, root, *then, "--worse-than", f"{name}=medium").returncode == 0, name
    for name in ("spec conformance rate", "speed", "", "_"):
        assert aurora(home, root, *then, "--worse-than", f"{name}=medium").returncode == 2, name


def test_as_of_a_time_is_what_had_happened_by_then(home: Path, root: Path) -> None:
    lines = [
        line("deliverable_start", "2026-02-20T10:00:00Z", "search", id="s"),
        line("deliverable_end", "2026-02-21T10:00:00Z", "search", id="e", status="failed"),
        json.dumps({"id": "r", "change_id": "search", "at": "2026-03-03T10:00:00Z", "what": {"event": "revival"}}),
        line("deliverable_end", "2026-03-04T10:00:00Z", "search", id="f", status="completed"),
        line("deliverable_start", "2026-03-02T10:00:00Z", "cart", id="c"),
    ]
    told(home, root, "deliverable", "ingest", "-", given="\n".join(lines))

    def then(at: str) -> tuple[object, ...]:
        reply = told(home, root, "metrics", "--as-of", at)
        return reply["window"]["deliverables"], reply["supporting"]["failed"], reply["in_progress"]

    assert then("2026-02-19T00:00:00Z") == (0, 0, 0)
    assert then("2026-02-20T12:00:00Z") == (0, 0, 1)
    assert then("2026-02-22T00:00:00Z") == (1, 1, 0), "it had failed, whatever came later"
    assert then("2026-03-03T12:00:00Z") == (0, 0, 2)
    assert then("2026-03-05T00:00:00Z") == (1, 0, 1)


def test_metrics_are_printed_as_csv_that_a_spreadsheet_neither_misreads_nor_calculates(home: Path, root: Path) -> None:
    names = ['=HYPERLINK("http://x","y")', 'a, "quoted" b', "@sum", "Zoë"]
    lines = [lifetime(f"c-{n}", days_ago(1), name=name, model="m-1") for n, name in enumerate(names)]
    told(home, root, "deliverable", "ingest", given="\n".join(lines))
    reply = told(home, root, "metrics")
    done = run(
        [*COMMAND, "--workspace", str(root), "metrics", "--csv"],
        env={**os.environ, "AURORA_HOME": str(home)}, capture_output=True, timeout=HANG, check=True,
    )  # fmt: skip
    text = done.stdout.decode()
    assert text.endswith("\r\n") and text.count("\n") == text.count("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    five = {row["metric"]: row for row in rows if row["scope"] == "all"}
    for name, metric in reply["metrics"].items():
        said = five[name]["value"]
        assert (float(said) if said else None) == metric["value"]
        assert five[name]["tier"] == (metric["tier"] or "") and five[name]["missing"] == (metric["missing"] or "")
    assert float(five["cost_per_accepted_usd"]["value"]) == reply["cost"]["cost_per_accepted_usd"] == 0.5
    agents = {row["name"] for row in rows if row["scope"] == "agent"}
    assert agents == {"'" + names[0], names[1], "'@sum", "Zoë"}
    assert not [value for row in rows for value in row.values() if value[:1] in ("=", "+", "@")]
    assert {row["name"] for row in rows if row["scope"] == "agent and model"} >= {"Zoë / m-1"}
    assert aurora(home, root, "metrics", "--csv", "--json").returncode == 2


def test_what_changes_cost_is_told_by_agent_and_model(home: Path, root: Path) -> None:
    lines = [lifetime(f"new-{n}", days_ago(2), name="bot", model="m-1") for n in range(3)]
    lines += [lifetime("bad", days_ago(3), status="failed", name="bot", model="m-2")]
    told(home, root, "deliverable", "ingest", given="\n".join(lines))
    reply = told(home, root, "metrics")
    assert reply["cost"] == {
        "deliverables": 4,
        "accepted": 3,
        "costed": 4,
        "cost_usd": 2.0,
        "cost_per_accepted_usd": pytest.approx(2 / 3),
    }
    assert [(each["agent"], each["model"], each["cost_per_accepted_usd"]) for each in reply["costs"]] == [
        ("bot", "m-1", 0.5),
        ("bot", "m-2", None),
    ]
    said = aurora(home, root, "metrics", "--by", "model").stdout
    assert "$2.00 · $0.67 per accepted deliverable" in said and "bot / m-1 $1.50 · $0.50" in said
    assert "spec conformance: of 3 deliverables nothing tells the functional of 3" in said
