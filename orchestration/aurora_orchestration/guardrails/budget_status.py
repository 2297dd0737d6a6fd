"""Budget status at one moment: numbers for programs, sentences that a question is warned of or held back with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from aurora_orchestration.guardrails.ledger import Tracker, dollars
from aurora_orchestration.settings import BudgetSettings


class BudgetStatus(Struct, frozen=True, kw_only=True):
    """Status of the budget, in US dollars. `limit_usd` is where calls are blocked, `warn_usd` where questions are
    warned of.

    `percent` is what is spent and reserved of `limit_usd`. `uncertain_usd` of what is consumed was perhaps not spent: a
    process ended while its calls were being made. `questions_left` is an estimate from the period's average.
    """

    state: Literal["fine", "warned", "blocked", "off"]
    period: str
    period_start: str
    period_end: str
    limit_usd: float
    warn_usd: float
    soft_limit_usd: float
    hard_limit_usd: float
    consumed_usd: float
    reserved_usd: float
    uncertain_usd: float
    remaining_usd: float
    percent: float
    query_count: int
    questions_left: int | None
    last_updated: str
    tracking_file: str
    notices: tuple[str, ...] = ()


def status_of(tracker: Tracker, settings: BudgetSettings, path: Path, notices: tuple[str, ...] = ()) -> BudgetStatus:
    """`tracker` under `settings`."""
    limit = dollars(settings.hard_limit_usd * settings.block_at_percent / 100)
    warn = dollars(settings.soft_limit_usd * settings.warn_at_percent / 100)
    used = tracker.used
    remaining = dollars(limit - used)
    average = tracker.consumed_usd / tracker.query_count if tracker.query_count else 0.0
    state: Literal["fine", "warned", "blocked", "off"] = "fine"
    if not settings.enabled:
        state = "off"
    elif used >= limit:
        state = "blocked"
    elif used >= warn:
        state = "warned"
    return BudgetStatus(
        state=state,
        period=tracker.period or settings.period,
        period_start=tracker.period_start,
        period_end=tracker.period_end,
        limit_usd=limit,
        warn_usd=warn,
        soft_limit_usd=settings.soft_limit_usd,
        hard_limit_usd=settings.hard_limit_usd,
        consumed_usd=tracker.consumed_usd,
        reserved_usd=tracker.held,
        uncertain_usd=dollars(sum(each.usd for each in tracker.uncertain.values())),
        remaining_usd=remaining,
        percent=100 * used / limit if limit else 100.0,
        query_count=tracker.query_count,
        questions_left=int(remaining / average) if average else None,
        last_updated=tracker.last_updated,
        tracking_file=str(path),
        notices=notices,
    )


def too_much(status: BudgetStatus, usd: float, settings: BudgetSettings) -> str | None:
    """Sentence on why `usd` more cannot be spent, and what can be done about it; None where it can."""
    used = status.consumed_usd + status.reserved_usd
    if not settings.enabled or usd <= 0 or dollars(used + usd) <= status.limit_usd:
        return None
    more = max(1, round(2 * settings.hard_limit_usd))
    anew = f"wait until {status.period_end[:10]} is over" if settings.auto_reset else "aurora budget reset"
    return (
        f"the {status.period} budget is used up: {money(used)} of {money(status.limit_usd)} are spent or reserved and"
        f" this needs about {money(usd)}; {anew}, or:"
        f" aurora config set cost_budgets.hard_limit_usd {more}"
    )


def warning(status: BudgetStatus, usd: float, settings: BudgetSettings) -> str | None:
    """Sentence before `usd` more are spent; None below the soft limit's threshold."""
    used = dollars(status.consumed_usd + status.reserved_usd + max(0.0, usd))
    if not settings.enabled or used < status.warn_usd:
        return None
    if used > status.limit_usd:
        return f"forced beyond the {status.period} budget: {money(used)} with this, of {money(status.limit_usd)}"
    left = "" if status.questions_left is None else f", enough for about {status.questions_left} more questions"
    share = f" ({used / settings.soft_limit_usd:.0%})" if settings.soft_limit_usd else ""
    soft = f"the {status.period} soft limit of {money(settings.soft_limit_usd)}"
    return (
        f"with this {money(used)} of {soft} are used{share},"
        f" {money(status.remaining_usd)} are left until {status.period_end[:10]}{left}"
    )


def money(usd: float) -> str:
    """`$18.50`; four digits where it is less than a dime."""
    return f"${usd:,.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.4f}"
