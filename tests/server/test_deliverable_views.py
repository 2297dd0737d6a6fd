"""How deliverables and their metrics look, and what is counted of a task file: from plain data."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from aurora_cli.deliverable_ingest import KEPT, shortened
from aurora_cli.deliverable_view import event_line, phase_words, show_lines, tool_words
from aurora_cli.metrics import metrics_lines, sparkline
from aurora_cli.output import TerminalStyle
from aurora_protocol.human_text import lasting
from aurora_server.lsp.spec_files import checklist


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (9000, "2 h 30 min"),
        (11400, "3 h 10 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d"),
        (136800, "1 d 14 h"),
        (187200, "2 d 4 h"),
    ],
)
def test_durations_are_said_in_two_units_at_most(seconds: float, words: str) -> None:
    assert lasting(seconds) == words


def test_sparklines_leave_gaps_where_nothing_is_known() -> None:
    assert sparkline([0, None, 1]) == "▁ █"
    assert sparkline([5, 5]) == "▁▁"
    assert sparkline([None, 3]) == "" and sparkline([]) == ""


def test_tiers_and_trends_are_coloured_by_what_is_better() -> None:
    def metric(value: float, tier: str, change: float, better: bool) -> dict[str, object]:
        return {"value": value, "unit": "percent", "tier": tier, "change": change, "better": better, "history": [1, 2]}

    reply = {
        "window": {"from": "2026-02-01T00:00:00Z", "to": "2026-02-08T00:00:00Z", "deliverables": 3},
        "metrics": {
            "deliverable_failure_rate": metric(4.0, "elite", -2, True),
            "recovery_efficiency": metric(30.0, "low", 5, False),
        },
        "groups": {},
    }
    first, failures, recovery = metrics_lines(reply, TerminalStyle(rich=True))
    assert "3 deliverables" in first
    assert "\x1b[32melite" in failures and "\x1b[32m↓" in failures and "4.0 %" in failures
    assert "\x1b[31mlow" in recovery and "\x1b[31m↑" in recovery and "▁█" in recovery


@pytest.mark.parametrize(("agents", "lines"), [(("a",), 1), (("a", "b"), 3)])
def test_the_cost_is_told_by_agent_where_that_is_more_than_one(agents: tuple[str, ...], lines: int) -> None:
    def cost(**who: str) -> dict[str, object]:
        return {"cost_usd": 2.0, "cost_per_accepted_usd": None, "costed": 1, "deliverables": 1, **who}

    reply = {
        "window": {"from": "2026-02-01T00:00:00Z", "to": "2026-02-08T00:00:00Z", "deliverables": 3},
        "metrics": {},
        "cost": cost(),
        "costs": [cost(agent=each, model="m") for each in agents],
        "groups": {},
    }
    assert sum("$2.00" in line for line in metrics_lines(reply, TerminalStyle(rich=False))) == lines


def test_boxes_are_counted_by_section_and_not_in_code() -> None:
    text = "- [x] before\n# A\n* [X] a\n1. [ ] b\n~~~\n- [ ] code\n```\n~~~\n## B\n  - [ ] c\n- [y] none\n-[ ] none\n"
    found = checklist(text.split("\n"))
    assert (found.done, found.total, found.first_open) == (2, 4, 3)
    assert [(each.line, each.done, each.total) for each in found.sections] == [(1, 1, 2), (8, 0, 1)]


def test_what_a_hook_wrote_is_cut_in_the_middle() -> None:
    cut = shortened({"content": "a" * KEPT + "b" * 100_000 + "c" * KEPT, "deep": [[1]], "number": 3})
    assert len(cut["content"]) < 2 * KEPT + 10 and cut["content"].startswith("a") and cut["content"].endswith("c")
    assert cut["deep"] == [[1]] and cut["number"] == 3
    nested: object = "x"
    for _ in range(100):
        nested = [nested]
    assert str(shortened(nested)).count("[") == 12


def test_a_phase_that_was_taken_up_again_while_another_went_on_takes_no_time_unless_it_is_known() -> None:
    spans = {"tasks": (0, 3), "apply": (3, 13), "verify": (11, None), "archive": (None, None)}
    phases = {
        name: {
            "started_at": None if begun is None else f"2026-11-27T13:37:{begun:02}Z",
            "completed_at": None if over is None else f"2026-11-27T13:37:{over:02}Z",
        }
        for name, (begun, over) in spans.items()
    }
    now = datetime(2026, 11, 27, 13, 37, 16, tzinfo=UTC)
    assert phase_words(phases, now) == "tasks 3 s → apply → verify …"
    assert phase_words(phases, now, {"apply": 8.5, "verify": 2}) == "tasks 3 s → apply 8 s → verify 2 s …"
    alone = {name: phases[name] for name in ("tasks", "verify")}
    assert phase_words(alone, now) == "tasks 3 s → verify 5 s …"
    state = {"change_id": "a", "status": "completed", "started_at": "2026-11-27T13:37:00Z", "phases": phases}
    final = {"metrics": {"phase_durations": {"tasks": 3.0, "apply": 9.0}}}
    assert "  phases     tasks 3 s → apply 9 s → verify …" in show_lines(state, TerminalStyle(), now, None, final)


def test_what_a_state_tells_its_final_record_does_not_tell_again() -> None:
    state = {
        "change_id": "a",
        "status": "completed",
        "started_at": "2026-11-27T13:37:00Z",
        "apply_iterations": 2,
        "recovery_attempts": 1,
        "token_usage": {"total_tokens": 20_500},
    }
    numbers = {"resolution_latency_seconds": 15, "apply_iterations": 2, "recovery_attempts": 1}
    final = {"metrics": {**numbers, "token_usage": {"total_tokens": 20_500}}}
    lines = show_lines(state, TerminalStyle(), datetime(2026, 11, 27, 13, 38, tzinfo=UTC), None, final)
    labels = [line.split()[0] for line in lines]
    assert sorted(labels[1:]) == ["begun", "latency", "rework", "tokens"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        pytest.param(
            {"event_type": "phase_start", "event": "other", "timestamp": "2026-01-02T03:04:05.678Z", "phase": "apply"},
            "2026-01-02 03:04:05Z  phase_start        apply",
            id="its published kind before its own, and when, to a second",
        ),
        pytest.param(
            {"at": "2026-01-02T03:04:05Z", "session": "s1", "what": {"event": "tests", "failed": 0, "names": ["a"]}},
            "2026-01-02 03:04:05Z  tests              failed=0",
            id="what is said of it in a word; by which session and in lists is not",
        ),
        pytest.param(
            {"at": "2026-01-02T03:04:05Z", "event_type": "end", "data": {"status": "failed"}, "what": {"status": "x"}},
            "2026-01-02 03:04:05Z  end                status=failed",
            id="its published details before its own",
        ),
        pytest.param(
            {"at": "2026-01-02T03:04:05Z", "event_type": "end", "evidence": "gone", "source": "openspec"},
            "2026-01-02 03:04:05Z  end                  openspec · gone",
            id="who told of it, then what shows it",
        ),
    ],
)
def test_an_event_is_one_line(event: dict[str, object], line: str) -> None:
    assert event_line(event, TerminalStyle()) == line


def test_five_tools_are_all_there_are() -> None:
    assert tool_words(dict.fromkeys("abcde", 1)) == "5: a 1, b 1, c 1, d 1, e 1"
