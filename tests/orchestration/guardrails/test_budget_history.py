"""Choices of what a history of spending tells, a rule each: what counts once, its order, what ended a period."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_deliverables.timestamps import seconds_of
from aurora_orchestration.guardrails.budget_files import all_histories, rotate
from aurora_orchestration.guardrails.budget_history import history_of
from aurora_orchestration.guardrails.budget_periods import Period
from aurora_orchestration.guardrails.ledger import EventKind, LedgerEvent, Tracker, apply, begin, moment, since

JANUARY = Period(seconds_of("2026-01-01T00:00:00Z"), seconds_of("2026-02-01T00:00:00Z"))


def event(kind: EventKind, day: int, key: str = "k", usd: float = 1.0, month: int = 1) -> LedgerEvent:
    return LedgerEvent(at=f"2026-{month:02}-{day:02}T00:00:00Z", kind=kind, key=key, usd=usd, run=key)


@pytest.mark.parametrize(
    ("events", "spent"),
    [
        pytest.param([event("spent", 3, "b"), event("spent", 2, "a")], [("a", False), ("b", False)], id="oldest first"),
        pytest.param([event("uncertain", 2)], [("k", True)], id="what nobody knows counts, and is said to"),
        pytest.param([event("uncertain", 2), event("spent", 3)], [("k", False)], id="until it is known"),
        pytest.param([event("uncertain", 2), event("reserved", 3)], [], id="or the call is made once more"),
        pytest.param([event("spent", 2), event("reserved", 3)], [("k", False)], id="what was spent stays spent"),
        pytest.param([event("uncertain", 2), event("spent", 1, month=2)], [], id="and is of the month it was known in"),
        pytest.param([event("reserved", 2), event("released", 2)], [], id="nothing of what is only held"),
    ],
)
def test_which_calls_were_spent_on(events: list[LedgerEvent], spent: list[tuple[str, bool]]) -> None:
    told = history_of(events, "2026-01")
    assert [(each.key, each.uncertain) for each in told.entries] == spent
    assert told.total_usd == len(spent)


def test_a_period_that_was_ended_by_hand_is_one_too_and_is_told_apart() -> None:
    told = history_of([event("period", 2), event("reset", 3), event("query", 4), event("query", 4, month=2)], "2026-01")
    assert [each.by_hand for each in told.ended] == [False, True] and told.query_count == 1


@pytest.mark.parametrize(
    ("events", "held", "spent"),
    [
        pytest.param(
            [event("reserved", 31, month=12), event("released", 31, month=12)], 0, 0, id="what was freed before"
        ),
        pytest.param(
            [event("reserved", 31, month=12), event("uncertain", 31, month=12)], 0, 0, id="what was lost before"
        ),
        pytest.param([event("reserved", 31, month=12), event("spent", 2, month=1)], 0, 1, id="what was paid within"),
        pytest.param([event("spent", 1)], 0, 1, id="what was paid in its first moment"),
        pytest.param([LedgerEvent(at="sometime", kind="spent", key="k", usd=1.0)], 0, 0, id="not what nobody can date"),
        pytest.param([event("spent", 2), event("period", 2)], 0, 1, id="whatever period ended meanwhile"),
    ],
)
def test_what_a_period_that_is_counted_anew_begins_with(events: list[LedgerEvent], held: float, spent: float) -> None:
    earlier = [
        LedgerEvent(at=each.at.replace("2026-12", "2025-12"), kind=each.kind, key=each.key, usd=each.usd)
        for each in events
    ]
    tracker = since(earlier, begin(JANUARY, "monthly"))
    assert (tracker.held, tracker.consumed_usd) == (held, spent)
    assert moment(LedgerEvent(at="sometime", kind="spent")) == 0.0


def state(*events: LedgerEvent) -> Tracker:
    tracker = begin(JANUARY, "monthly")
    for each in events:
        tracker = apply(tracker, each)
    return tracker


@pytest.mark.parametrize(
    ("events", "held", "spent"),
    [
        pytest.param([event("uncertain", 1), event("spent", 2, usd=0.25)], 0, 0.25, id="what it did cost, instead"),
        pytest.param(
            [event("uncertain", 1), event("reserved", 2, usd=0.25)], 0.25, 0, id="it is made again: held, not spent"
        ),
        pytest.param([event("uncertain", 1), event("uncertain", 2, usd=0.25)], 0, 0.25, id="the last word on it"),
        pytest.param([event("reserved", 1), event("reset", 2)], 1, 0, id="what is being made goes on beyond a reset"),
        pytest.param(
            [event("uncertain", 1), event("reset", 2), event("spent", 3)], 0, 1, id="a reset forgets the doubt"
        ),
    ],
)
def test_a_call_counts_once_whatever_is_told_of_it(events: list[LedgerEvent], held: float, spent: float) -> None:
    assert (state(*events).held, state(*events).consumed_usd) == (held, spent)


def test_histories_put_aside_come_before_the_one_that_is_written_the_oldest_first(tmp_path: Path) -> None:
    path = tmp_path / "budget_tracker_history.jsonl"
    for label in ("2026-02-28", *["2026-01-31"] * 10):
        path.write_text("")
        rotate(path, label)
    names = [each.stem.removeprefix("budget_tracker_history.") for each in all_histories(path)]
    later = [f"2026-01-31-{number}" for number in range(2, 11)]
    assert names == ["2026-01-31", *later, "2026-02-28", "budget_tracker_history"]
