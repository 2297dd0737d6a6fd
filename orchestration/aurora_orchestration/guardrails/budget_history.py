"""Budget history: what was spent, call by call, and the periods that ended (AURORA §9.4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from aurora_orchestration.guardrails.ledger import LedgerEvent, dollars

_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


class Spent(Struct, frozen=True, kw_only=True):
    """Spending: one call that was paid for; `uncertain` where nobody could say what it cost, and its estimate
    counts.
    """

    at: str
    run: str
    key: str
    usd: float
    phase: str = ""
    model: str = ""
    uncertain: bool = False


class EndedPeriod(Struct, frozen=True, kw_only=True):
    """A period that ended, `by_hand` where it was reset."""

    at: str
    period_start: str
    period_end: str
    consumed_usd: float
    query_count: int
    by_hand: bool


class Day(Struct, frozen=True, kw_only=True):
    """A day's sums, in UTC."""

    date: str
    usd: float
    calls: int
    runs: int


class History(Struct, frozen=True, kw_only=True):
    """Spending of a month, or of all time: by day, and every call, oldest first."""

    month: str | None
    total_usd: float
    query_count: int
    days: tuple[Day, ...]
    entries: tuple[Spent, ...]
    ended: tuple[EndedPeriod, ...]


def history_of(events: Iterable[LedgerEvent], month: str | None) -> History:
    """The history of `month` (`2025-12`). Raises ValueError where that is none."""
    if month is not None and _MONTH.fullmatch(month) is None:
        raise ValueError(f"{month!r} is no month; write it as YYYY-MM")
    spent: dict[str, Spent] = {}
    ended: list[EndedPeriod] = []
    queries = 0
    for event in events:
        within = month is None or event.at.startswith(month)
        if event.kind in ("spent", "uncertain", "reserved"):
            if event.kind != "reserved" and within:
                spent[event.key] = Spent(
                    at=event.at,
                    run=event.run,
                    key=event.key,
                    usd=event.usd,
                    phase=event.phase,
                    model=event.model,
                    uncertain=event.kind == "uncertain",
                )
            elif event.key in spent and spent[event.key].uncertain:
                del spent[event.key]  # what it cost is known after all, or will be
        elif not within:
            continue
        elif event.kind == "query":
            queries += 1
        elif event.kind in ("period", "reset"):
            ended.append(
                EndedPeriod(
                    at=event.at,
                    period_start=event.first,
                    period_end=event.last,
                    consumed_usd=event.usd,
                    query_count=event.queries,
                    by_hand=event.kind == "reset",
                )
            )
    entries = tuple(sorted(spent.values(), key=lambda each: each.at))
    return History(
        month=month,
        total_usd=dollars(sum(each.usd for each in entries)),
        query_count=queries,
        days=_days(entries),
        entries=entries,
        ended=tuple(ended),
    )


def _days(entries: tuple[Spent, ...]) -> tuple[Day, ...]:
    """Spending grouped by day."""
    days: dict[str, list[Spent]] = {}
    for each in entries:
        days.setdefault(each.at[:10], []).append(each)
    return tuple(
        Day(
            date=date,
            usd=dollars(sum(each.usd for each in spent)),
            calls=len(spent),
            runs=len({each.run for each in spent}),
        )
        for date, spent in days.items()
    )
