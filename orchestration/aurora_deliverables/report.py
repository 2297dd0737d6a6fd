"""Reports on a stretch of time (throughput by day, week and month): what began, ended and failed in it, what it cost,
and how that moved (AURORA §9.4).

Only what is known is said: a cost that no event told is None, and of an empty stretch there are no metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable, TokenUsage
from aurora_deliverables.events import Event, TokensUsed
from aurora_deliverables.metrics import Metrics, measure
from aurora_deliverables.secondary_metrics import accepted
from aurora_deliverables.token_usage import added, usage_of

DAY = 86400.0
WEEK = 7 * DAY
MOST = 1_000_000
MOST_PARTS = 120
"""Parts of a report's trend; what is older is in its sums only."""


class ReportPart(Struct, frozen=True):
    """A part of the stretch, for trends: what ended in it and what was spent in it."""

    start: float
    end: float
    completed: int
    failed: int
    tokens: TokenUsage | None


class DeliverableReport(Struct, frozen=True):
    """Report on a stretch of time. `ended` and `working`: the latest first; `metrics` is None where none ended."""

    start: float
    end: float
    began: int
    ended: tuple[Deliverable, ...]
    working: tuple[Deliverable, ...]
    metrics: Metrics | None
    failure_types: dict[str, int]
    tokens: TokenUsage | None
    parts: tuple[ReportPart, ...]

    @property
    def completed(self) -> int:
        """How many were accepted: completed and not below the threshold, as failure rates count too."""
        return sum(map(accepted, self.ended))

    @property
    def failed(self) -> int:
        """How many failed."""
        return sum(map(_failed, self.ended))


async def report(
    deliverables: Sequence[Deliverable],
    events_of: Callable[[Deliverable], Awaitable[Sequence[Event]]],
    start: float,
    end: float,
    now: float,
    parts: Sequence[tuple[float, float]] = (),
) -> DeliverableReport:
    """Report on what happened from `start` up to `end`, with a trend over `parts`. Rates are over the time up to `now`.

    Events are asked for only where a deliverable's tokens may have been spent partly elsewhere.
    """
    ended = [each for each in deliverables if each.completed_at is not None and start <= each.completed_at < end]
    ended.sort(key=lambda each: -(each.completed_at or 0.0))
    working = [each for each in deliverables if each.started_at < end and (each.completed_at or end) >= end]
    working.sort(key=lambda each: -each.updated_at)
    usages: list[tuple[float, TokenUsage]] = []
    for each in deliverables:
        if each.tokens is None or each.started_at >= end or each.updated_at < start:
            continue
        if start <= each.started_at and each.updated_at < end and not parts:
            usages.append((each.started_at, each.tokens))
        else:
            usages += _spent(await events_of(each), start, end)
    over = max(min(end, now), max((each.completed_at or 0.0 for each in ended), default=start))
    # A window leaves its very beginning out, a day begins with its midnight.
    days = (over - start) / DAY + 1e-9
    return DeliverableReport(
        start=start,
        end=end,
        began=sum(start <= each.started_at < end for each in deliverables),
        ended=tuple(ended),
        working=tuple(working),
        metrics=measure(ended, over, days, MOST) if ended else None,
        failure_types=dict(
            Counter(each.failure_type or "unclassified" for each in ended if _failed(each)).most_common()
        ),
        tokens=_total([usage for _, usage in usages]),
        parts=tuple(_part(ended, usages, first, last) for first, last in parts),
    )


def weeks(start: float, end: float) -> list[tuple[float, float]]:
    """The weeks of a stretch, counted from its beginning, the last may be shorter; the latest `MOST_PARTS`."""
    many = max(0, ceil((end - start) / WEEK))
    begins = [start + number * WEEK for number in range(max(0, many - MOST_PARTS), many)]
    return [(begin, min(begin + WEEK, end)) for begin in begins]


def months(start: float, end: float) -> list[tuple[float, float]]:
    """The months (UTC) that a stretch touches, its own beginning and end kept; the latest `MOST_PARTS`."""
    found: list[tuple[float, float]] = []
    while start < end:
        here = datetime.fromtimestamp(start, UTC)
        after = datetime(here.year + here.month // 12, here.month % 12 + 1, 1, tzinfo=UTC).timestamp()
        found.append((start, min(after, end)))
        start = after
    return found[-MOST_PARTS:]


def _part(
    ended: Sequence[Deliverable], usages: Sequence[tuple[float, TokenUsage]], start: float, end: float
) -> ReportPart:
    """Part of the stretch (bucket): what ended and was spent from `start` to before `end`."""
    within = [each for each in ended if start <= (each.completed_at or 0.0) < end]
    completed = sum(map(accepted, within))
    spent = _total([usage for at, usage in usages if start <= at < end])
    return ReportPart(start, end, completed, sum(map(_failed, within)), spent)


def _failed(deliverable: Deliverable) -> bool:
    return bool(deliverable.deliverable_failed)


def _spent(events: Sequence[Event], start: float, end: float) -> list[tuple[float, TokenUsage]]:
    told = ((event.at, event.what) for event in events if start <= event.at < end)
    return [(at, usage_of(what)) for at, what in told if isinstance(what, TokensUsed)]


def _total(usages: Sequence[TokenUsage]) -> TokenUsage | None:
    usage = added(usages)
    if usage is None or usage.cost_usd is None:
        return usage
    return replace(usage, cost_usd=round(usage.cost_usd, 6))
