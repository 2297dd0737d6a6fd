"""How deliverables and their metrics look, and what is counted of a task file: from plain data."""

from __future__ import annotations

import pytest

from aurora_cli.deliverable_ingest import KEPT, shortened
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
