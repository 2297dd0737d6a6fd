"""What the command line says of metrics, reports and deliverables: what is told, in which order, what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
import pytest

from aurora_cli.deliverable_view import (
    criteria_lines,
    ended_lines,
    event_line,
    list_lines,
    recoveries,
    show_lines,
    state_line,
    token_words,
)
from aurora_cli.metrics import _limit, cost_words, metrics_lines, worse_than_limit
from aurora_cli.output import TerminalStyle
from aurora_cli.report import _day, markdown, runs_blocks

NOW = datetime(2026, 2, 8, tzinfo=UTC)
PLAIN = TerminalStyle()
WINDOW = {"from": "2026-02-01T00:00:00Z", "to": "2026-02-08T00:00:00Z", "deliverables": 3}
REPLY: dict[str, Any] = {"window": WINDOW, "metrics": {}, "groups": {}}


@pytest.mark.parametrize(
    ("name", "tier", "worse"),
    [
        pytest.param(None, "high", ["resolution_latency", "conformance_score"], id="of all those below it"),
        pytest.param(None, "medium", ["conformance_score"], id="the tier itself is no worse one"),
        pytest.param("resolution_latency", "elite", ["resolution_latency"], id="of one that one alone"),
        pytest.param("throughput", "elite", [], id="one without data is in none"),
    ],
)
def test_which_metrics_are_worse_than_was_asked_for(name: str | None, tier: str, worse: list[str]) -> None:
    tiers = {"resolution_latency": "medium", "conformance_score": "low", "throughput": None, "failure": "high"}
    assert worse_than_limit({each: {"tier": told} for each, told in tiers.items()}, name, tier) == worse


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ("high", (None, "high")),
        ("conformance=elite", ("spec_conformance", "elite")),
        ("failure-rate=medium", ("deliverable_failure_rate", "medium")),
        ("Latency=high", ("resolution_latency", "high")),
    ],
)
def test_a_limit_is_a_tier_of_all_or_of_one_by_any_of_its_names(given: str, limit: tuple[str | None, str]) -> None:
    assert _limit(given) == limit


@pytest.mark.parametrize("given", ["low", "=high", "nothing=high", "spec deliverable=high", "conformance=low", ""])
def test_what_is_no_limit_is_told_with_what_would_be_one(given: str) -> None:
    """Nothing is worse than low."""
    with pytest.raises(click.BadParameter, match="write elite, high, medium, or one of"):
        _limit(given)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "$2.00 · $1.00 per accepted deliverable"),
        ({"cost_per_accepted_usd": None}, "$2.00"),
        ({"costed": 1}, "$2.00 · $1.00 per accepted deliverable (known of 1 of 2)"),
        ({"cost_usd": 1234.5, "cost_per_accepted_usd": None}, "$1,234.50"),
    ],
)
def test_what_was_spent_is_told_with_how_much_of_it_is_known(changes: dict[str, Any], words: str) -> None:
    cost = {"cost_usd": 2.0, "cost_per_accepted_usd": 1.0, "costed": 2, "deliverables": 2}
    assert cost_words(cost | changes) == words


def told(*names: str, **changes: Any) -> list[str]:
    return metrics_lines(REPLY | changes, PLAIN, *names)


def test_a_window_without_deliverables_says_where_they_are_and_nothing_of_what_is_missing() -> None:
    missing = {"throughput": {"value": None, "unit": "per_day", "missing": "nothing ended"}}
    empty = told(window=WINDOW | {"deliverables": 0}, metrics=missing)
    assert empty[1] == "none has ended in this window; see: aurora deliverable list"
    assert not any("nothing ended" in line for line in empty)
    assert told(metrics=missing)[-1].endswith(": nothing ended")


def test_groups_are_told_where_they_are_asked_for_with_their_cost_where_it_is_known() -> None:
    cost = {"cost_usd": 2.0, "cost_per_accepted_usd": None, "costed": 1, "deliverables": 1}
    groups = {"agent": [{"name": "a", "metrics": {}, "cost": cost}, {"name": "b", "metrics": {}, "cost": None}]}
    assert told(groups=groups) == told()
    assert list(filter(None, told("agent", groups=groups)[1:])) == ["a", "cost $2.00", "b"]


def test_the_six_tools_used_most_are_told() -> None:
    tools = {name: n for n, name in enumerate("abcdefg", 1)}
    line = told(supporting={"tool_calls": tools, "failure_types": {"late": 0.5}})[-2:]
    assert [" ".join(each.split()) for each in line] == ["tools g 7, f 6, e 5, d 4, c 3, b 2", "failures late 50%"]


@pytest.mark.parametrize(("change", "arrow"), [(None, " "), (0, "→"), (0.5, "↑"), (-0.5, "↓")])
def test_how_a_metric_moved(change: float | None, arrow: str) -> None:
    metric = {"value": 4.0, "unit": "percent", "tier": None, "change": change, "history": []}
    (line,) = told(metrics={"deliverable_failure_rate": metric})[1:]
    assert line.split("–")[1].strip() == arrow.strip()


STATE: dict[str, Any] = {"change_id": "a", "status": "in_progress", "started_at": "2026-02-07T00:00:00Z"}


@pytest.mark.parametrize(
    ("changes", "name", "line"),
    [
        ({}, None, "a · in_progress"),
        ({"current_phase": "apply"}, None, "a · apply"),
        ({"current_phase": "apply", "status": "failed"}, None, "a · failed"),
        ({"current_phase": "apply", "status": "completed"}, "b", "b (a) · completed"),
        ({"tasks_total": 8}, "a", "a · in_progress · 0/8 tasks"),
        ({"tasks_total": 0, "tasks_completed": 0}, None, "a · in_progress"),
    ],
)
def test_where_a_deliverable_is(changes: dict[str, Any], name: str | None, line: str) -> None:
    assert state_line(STATE | changes, PLAIN, name) == line


def test_a_list_of_none_says_how_to_begin_one_or_to_see_all() -> None:
    assert list_lines([], PLAIN, NOW, filtered=False) == [
        "no deliverables; begin one with: aurora deliverable start CHANGE"
    ]
    assert list_lines([], PLAIN, NOW, filtered=True) == ["no deliverable is like that; see: aurora deliverable list"]


def test_a_list_tells_when_each_was_heard_of_last_and_sixty_letters_of_what_it_is() -> None:
    told = STATE | {"updated_at": "2026-02-07T00:00:00Z", "description": "x" * 70}
    assert list_lines([told], PLAIN, NOW, filtered=False, names={"a": "b"}) == [
        f"b (a) · in_progress  1 d ago  {'x' * 59}…"
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"spec_source": {"framework": "os", "spec_id": "s", "requirements_count": 1}}, "os · s · 1 requirement"),
        ({"spec_source": {"spec_id": "s", "requirements_count": 0}}, "s · 0 requirements"),
        ({"apply_iterations": 1, "recovery_attempts": 2, "human_interventions": 1},
         "1 iteration · 2 recoveries · 1 intervention"),
        ({"token_usage": {"estimated_cost_usd": 0.5}}, "$0.50"),
        ({"sessions": ["s1", "s2"]}, "s1, s2"),
    ],
)  # fmt: skip
def test_what_a_state_says(changes: dict[str, Any], line: str) -> None:
    assert line in [" ".join(each.split()[1:]) for each in show_lines(STATE | changes, PLAIN, NOW)]


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({"total_tokens": 20_500, "input_tokens": 12_000, "output_tokens": 8_500}, "20,500 (12,000 in, 8,500 out)"),
        ({"total_tokens": 5, "output_tokens": 0}, "5 (0 out)"),
        ({"total_tokens": 0, "estimated_cost_usd": 0.0}, "0 · $0.00"),
        ({"input_tokens": 5}, ""),
        ({}, ""),
    ],
)
def test_what_nobody_told_of_tokens_is_left_out(usage: dict[str, Any], words: str) -> None:
    assert token_words(usage) == words


def test_of_a_deliverable_that_ended_the_slowest_phase_and_why_it_failed_are_told() -> None:
    metrics = {
        "resolution_latency_seconds": 3600,
        "phase_durations": {"tasks": 60, "apply": 1800, "verify": 120},
        "recovery_attempts": 0,
        "conformance": {"overall": 0.5, "functional": 0.25, "correctness": None, "iteration_penalty": 1.0},
        "deliverable_failed": True,
        "failure_type": "wrong_result",
        "tool_calls": {"total": 5, "Edit": 2},
    }
    assert ended_lines({"metrics": metrics}, PLAIN) == [
        "  latency      1 h, longest in apply (30 min)",
        "  rework       0 recoveries",
        "  conformance  0.50  functional 0.25, iterations 1.00",
        "  failed       wrong result",
        "  tools        5: Edit 2",
    ]
    assert ended_lines({"metrics": {"deliverable_failed": True, "conformance": {}}}, PLAIN) == ["  failed       yes"]


def test_what_a_spec_asks_for_is_told_with_what_shows_that_it_is_met() -> None:
    reply = {
        "change_id": "a",
        "name": "b",
        "conformance": {"overall": 0.5, "functional": None},
        "criteria": [
            {"met": True, "kind": "requirement", "name": "Login", "evidence": "test_login"},
            {"met": False, "kind": "constraint", "name": "No cookies", "evidence": ""},
            {"met": None, "kind": "requirement", "name": "Logout"},
        ],
        "gaps": [{"what": "token_usage", "fix": "tell tokens"}],
    }
    assert criteria_lines(reply, PLAIN) == [
        "b (a) · conformance overall 0.50",
        "  ✓ Login",
        "      test_login",
        "  ✗ constraint: No cookies",
        "  ? Logout",
        "  unmeasured   token usage: tell tokens",
    ]
    assert criteria_lines({"change_id": "a", "criteria": None}, PLAIN) == [
        "a · conformance unknown",
        "  no spec was looked at: it is when tests are told, and at the end",
    ]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            {"event_type": "tests_run", "timestamp": "2026-02-07T10:00:00.5Z", "phase": "verify", "source": "ci",
             "data": {"passed": 4, "failed": 0, "names": ["x"]}},
            "2026-02-07 10:00:00Z  tests_run          verify passed=4 failed=0  ci",
        ),
        (
            {"at": "2026-02-07T10:00:00Z", "what": {"event": "started", "author": "Ann", "evidence": "hook"}},
            "2026-02-07 10:00:00Z  started            author=Ann  hook",
        ),
    ],
)  # fmt: skip
def test_an_event_is_when_what_and_by_whom(event: dict[str, Any], line: str) -> None:
    assert event_line(event, PLAIN) == line


SUMS = {"began": 1, "completed": 2, "failed": 3, "open": 4}
REPORT: dict[str, Any] = {"deliverables": SUMS, "ended": [], "open": []}


def report(**changes: Any) -> list[str]:
    return markdown(REPORT | changes, "today", "a|b").split("\n\n")


def test_a_report_of_nothing_is_its_title_and_four_numbers() -> None:
    assert report() == ["# Deliverables of a\\|b: today", "1 began · 2 completed · 3 failed · 4 open"]


def test_a_report_tells_metrics_cost_what_ended_what_goes_on_failures_and_the_trend_in_this_order() -> None:
    ended = {"change_id": "x", "status": "completed"}
    part = {"from": "2026-02-01", "completed": 1, "failed": 0}
    told = report(
        metrics={"throughput": {"value": 1.0, "unit": "per_day", "tier": None}},
        tokens={"total_tokens": 5, "cached_tokens": 0, "input_tokens": 0, "cost_usd": 0.5},
        ended=[ended],
        open=[{"change_id": "y", "status": "proposed"}],
        failure_types={"wrong_result": 1},
        trend=[part, part],
        groups={
            "agent": [{"name": "z", "deliverables": 1, "accepted": 1, "cost_usd": None, "cost_per_accepted_usd": 2}]
        },
    )
    assert [each for each in told if each.startswith("#")][1:] == [
        "## Metrics", "## Cost", "## Ended", "## Under way", "## Failures", "## Trend", "## By agent",
    ]  # fmt: skip
    assert told[told.index("## Cost") + 1] == "5 tokens (0 in), $0.50", "what was not cached is not told of"
    assert "| y " in told[told.index("## Under way") + 1] and "proposed" in told[told.index("## Under way") + 1]
    assert told[told.index("## By agent") + 1].split("\n")[-1].split() == "| z | 1 | 1 | – | $2.00 |".split()


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({}, ["completed", "–", "–", "–", "–"]),
        (
            {"latency_seconds": 60, "conformance": 0.5, "recovery_attempts": 0, "tokens": 0},
            ["completed", "1 min", "0.50", "0", "0"],
        ),
        ({"deliverable_failed": True, "failure_type": "no_use"}, ["completed, failed: no use", "–", "–", "–", "–"]),
        ({"status": "failed", "deliverable_failed": True}, ["failed", "–", "–", "–", "–"]),
    ],
)  # fmt: skip
def test_what_is_reported_of_one_that_ended(changes: dict[str, Any], row: list[str]) -> None:
    told = report(ended=[{"change_id": "x", "status": "completed"} | changes])[-1].split("\n")[-1]
    assert [each.strip() for each in told.strip("|").split("|")] == ["x", *row]


def test_a_hundred_that_ended_are_listed_and_the_others_counted() -> None:
    rows = report(ended=[{"change_id": f"c{n}", "status": "completed"} for n in range(102)])[-1].split("\n")[2:]
    assert len(rows) == 101 and "… and 2 more" in rows[-1] and "c99" in rows[-2]


def test_one_part_is_no_trend() -> None:
    assert "## Trend" not in report(trend=[{"from": "2026-02-01", "completed": 1, "failed": 0}])


RUNS: dict[str, Any] = {
    "queries": 2, "states": {"no_provider": 2}, "scored": 0, "accuracy": None, "cache_hits": 1, "cache_hit_rate": 0.5,
    "errors": 0, "cost_usd": None, "tokens": 0, "llm_calls": 1, "duration_ms": {"median": None},
    "patterns": {"stored": 2, "marked": 1}, "learning": {"improvement": None}, "workspaces": [], "trend": [],
}  # fmt: skip


def test_of_questions_what_is_not_known_is_a_dash_and_of_none_nothing_is_told() -> None:
    assert runs_blocks(RUNS | {"queries": 0}) == []
    title, table = runs_blocks(RUNS)
    told = dict([part.strip() for part in row.strip("|").split("|")] for row in table.split("\n")[2:])
    assert title == "## Questions, in all workspaces"
    assert told == {
        "queries": "2 (2 no provider)", "accuracy": "–", "cache hits": "1 (50%)", "errors": "0", "cost": "–",
        "tokens": "0 in 1 call", "took": "–", "patterns": "2 kept, 1 of them for reuse",
    }  # fmt: skip
    each = {"workspace": "w", "queries": 1, "cost_usd": 0.0}
    assert "### By workspace" not in runs_blocks(RUNS | {"workspaces": [each]}), "one is all of it"
    many = runs_blocks(RUNS | {"workspaces": [each] * 12})
    assert many[2] == "### By workspace" and len(many[3].split("\n")) == 2 + 10


@pytest.mark.parametrize("given", ["2026-2-1", "20260201", "2026-02-30", "0001-01-01", "9999-01-01", "today"])
def test_a_day_is_written_in_one_way_and_has_an_end(given: str) -> None:
    with pytest.raises(click.BadParameter, match="is no date; write it as YYYY-MM-DD"):
        _day(given)
    with pytest.raises(click.BadParameter, match=r"'2026-13' is no month; write it as YYYY-MM"):
        _day("2026-13-01", "month")


@pytest.mark.parametrize(("number", "words"), [(0, "0 recoveries"), (1, "1 recovery"), (2, "2 recoveries")])
def test_recoveries_are_counted_in_words(number: int, words: str) -> None:
    assert recoveries(number) == words
