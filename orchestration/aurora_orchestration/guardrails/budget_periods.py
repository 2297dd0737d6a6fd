"""Budget periods: days, weeks from Monday, and months, in UTC (AURORA §9.4.2)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from msgspec import Struct

from aurora_deliverables.timestamps import seconds_of, timestamp

PeriodName = Literal["daily", "weekly", "monthly"]


class Period(Struct, frozen=True):
    """Period of a budget, from `start` to before `after`, Unix seconds."""

    start: float
    after: float

    @property
    def first(self) -> str:
        """Its first second, as the tracking file has it."""
        return timestamp(self.start)

    @property
    def last(self) -> str:
        """Its last second, as the tracking file has it: 23:59:59."""
        return timestamp(self.after - 1)


def period_at(now: float, name: PeriodName) -> Period:
    """The period that `now` (Unix seconds) is in."""
    today = datetime.fromtimestamp(now, UTC).date()
    if name == "daily":
        return _between(today, today + timedelta(days=1))
    if name == "weekly":
        monday = today - timedelta(days=today.weekday())
        return _between(monday, monday + timedelta(days=7))
    first = today.replace(day=1)
    return _between(first, (first + timedelta(days=32)).replace(day=1))


def period_of(first: str, last: str) -> Period:
    """The period of a tracking file. Raises ValueError."""
    period = Period(seconds_of(first), seconds_of(last) + 1)
    if period.after <= period.start:
        raise ValueError(f"{last} is before {first}")
    return period


def _between(first: date, after: date) -> Period:
    return Period(*(datetime.combine(day, time(), UTC).timestamp() for day in (first, after)))
