"""Where a budget warns and where it blocks: rows of what was spent, what is reserved, what is about to be, and what
follows. Budget of 20 dollars, warned of from 80 % of a soft limit of 10."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.guardrails.budget_periods import period_at
from aurora_orchestration.guardrails.budget_status import BudgetStatus, money, status_of, too_much, warning
from aurora_orchestration.guardrails.ledger import EventKind, LedgerEvent, Tracker, apply, begin
from aurora_orchestration.settings import BudgetSettings

SETTINGS = BudgetSettings(soft_limit_usd=10.0, hard_limit_usd=20.0)


def tracker(*, spent: float = 0.0, reserved: float = 0.0, uncertain: float = 0.0, questions: int = 0) -> Tracker:
    kept = begin(period_at(1_766_241_000.0, "monthly"), "monthly")
    happened: list[tuple[EventKind, float]] = [("spent", spent), ("reserved", reserved), ("uncertain", uncertain)]
    happened += [("query", 0.0)] * questions
    for kind, usd in happened:
        if usd or kind == "query":
            kept = apply(kept, LedgerEvent(at="2025-12-20T14:30:00Z", kind=kind, key=kind, run="r", usd=usd))
    return kept


def status(settings: BudgetSettings = SETTINGS, **more: Any) -> BudgetStatus:
    return status_of(tracker(**more), settings, Path("budget_tracker.json"))


@pytest.mark.parametrize(
    ("spent", "reserved", "state"),
    [
        (0.0, 0.0, "fine"),
        (7.99, 0.0, "fine"),
        (8.0, 0.0, "warned"),  # the border is warned of
        (7.0, 1.0, "warned"),  # what is reserved counts like what is spent
        (19.99, 0.0, "warned"),
        (20.0, 0.0, "blocked"),
        (0.0, 20.0, "blocked"),
    ],
)
def test_the_state_follows_what_is_spent_and_reserved(spent: float, reserved: float, state: str) -> None:
    assert status(spent=spent, reserved=reserved).state == state


@pytest.mark.parametrize(
    ("block_at_percent", "warn_at_percent", "limit", "warn"),
    [(100.0, 80.0, 20.0, 8.0), (50.0, 80.0, 10.0, 8.0), (100.0, 25.0, 20.0, 2.5)],
)
def test_limits_are_shares_of_the_hard_and_the_soft_limit(
    block_at_percent: float, warn_at_percent: float, limit: float, warn: float
) -> None:
    settings = BudgetSettings(
        soft_limit_usd=10.0, hard_limit_usd=20.0, block_at_percent=block_at_percent, warn_at_percent=warn_at_percent
    )
    assert (status(settings).limit_usd, status(settings).warn_usd) == (limit, warn)


def test_the_figures_of_a_budget() -> None:
    told = status(spent=4.0, reserved=1.0, uncertain=2.0, questions=3)
    assert (told.consumed_usd, told.reserved_usd, told.uncertain_usd) == (6.0, 1.0, 2.0)
    assert told.remaining_usd == 13.0, "neither spent nor reserved"
    assert told.percent == 35.0, "spent and reserved of the limit"
    assert told.questions_left == 6, "at two dollars a question; half a question is none"
    assert (told.query_count, told.period) == (3, "monthly")


def test_what_cannot_be_told_yet() -> None:
    assert status().questions_left is None and status(spent=3.0).questions_left is None
    assert status(BudgetSettings(hard_limit_usd=0.0, soft_limit_usd=0.0)).percent == 100.0, "nothing is all there is"
    weekly = BudgetSettings(period="weekly")
    assert status_of(Tracker(period_start="x", period_end="y"), weekly, Path()).period == "weekly"
    assert status_of(tracker(), weekly, Path()).period == "monthly", "the one that runs, until it is over"
    assert status(BudgetSettings(enabled=False, hard_limit_usd=0.0)).state == "off"


@pytest.mark.parametrize(
    ("spent", "reserved", "usd", "goes"),
    [
        (0.0, 0.0, 20.0, True),  # exactly the limit may be spent
        (0.0, 0.0, 20.01, False),
        (12.0, 7.0, 1.0, True),
        (12.0, 7.0, 1.01, False),
        (0.1, 0.2, 19.7, True),  # sums of floats do not pass it by a bit
        (25.0, 0.0, 0.0, True),  # what costs nothing is never blocked
        (25.0, 0.0, 0.0001, False),
    ],
)
def test_calls_are_made_up_to_the_limit_itself(spent: float, reserved: float, usd: float, goes: bool) -> None:
    assert (too_much(status(spent=spent, reserved=reserved), usd, SETTINGS) is None) == goes
    assert too_much(status(spent=spent, reserved=reserved), usd, BudgetSettings(enabled=False)) is None


@pytest.mark.parametrize(("hard", "next_"), [(0.0, 1), (0.2, 1), (20.0, 40)])
def test_who_is_blocked_is_told_of_a_limit_that_would_do(hard: float, next_: int) -> None:
    settings = BudgetSettings(hard_limit_usd=hard)
    said = too_much(status(settings, spent=hard), 1.0, settings) or ""
    assert said.endswith(f"aurora config set cost_budgets.hard_limit_usd {next_}")
    assert "wait until 2025-12-31 is over" in said
    by_hand = BudgetSettings(hard_limit_usd=hard, auto_reset=False)
    assert "; aurora budget reset, or:" in (too_much(status(by_hand, spent=hard), 1.0, by_hand) or "")


@pytest.mark.parametrize(
    ("spent", "reserved", "usd", "said"),
    [
        (0.0, 0.0, 7.99, None),
        (7.0, 0.0, 1.0, "with this $8.00 of the monthly soft limit of $10.00 are used (80%)"),
        (7.0, 1.0, 0.0, "with this $8.00"),
        (7.0, 1.0, 2.5, "with this $10.50 of the monthly soft limit of $10.00 are used (105%)"),
        (19.0, 0.0, 1.0, "with this $20.00"),  # the limit itself is not beyond it
        (19.0, 0.0, 1.01, "forced beyond the monthly budget: $20.01 with this, of $20.00"),
        (8.0, 0.0, -5.0, "with this $8.00"),  # nothing costs less than nothing
    ],
)
def test_questions_are_warned_of_from_the_soft_limits_share_on(
    spent: float, reserved: float, usd: float, said: str | None
) -> None:
    told = warning(status(spent=spent, reserved=reserved), usd, SETTINGS)
    assert (told is None) == (said is None)
    assert (told or "").startswith(said or "")


def test_a_warning_says_for_how_many_questions_the_rest_is_enough() -> None:
    assert (warning(status(spent=9.0, questions=3), 0.0, SETTINGS) or "").endswith(
        "$11.00 are left until 2025-12-31, enough for about 3 more questions"
    )
    assert (warning(status(spent=9.0), 0.0, SETTINGS) or "").endswith("$11.00 are left until 2025-12-31")
    assert warning(status(spent=9.0), 0.0, BudgetSettings(enabled=False)) is None
    no_soft = BudgetSettings(soft_limit_usd=0.0, hard_limit_usd=20.0)
    assert "of $0.00 are used, " in (warning(status(no_soft, spent=1.0), 0.0, no_soft) or "")


@pytest.mark.parametrize(
    ("usd", "said"),
    [(0.0, "$0.00"), (0.1, "$0.10"), (0.0999, "$0.0999"), (0.001, "$0.0010"), (1.0, "$1.00"), (1234.5, "$1,234.50")],
)
def test_money_below_a_dime_has_four_digits(usd: float, said: str) -> None:
    assert money(usd) == said
