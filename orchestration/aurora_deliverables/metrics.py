"""The five metrics over a rolling window and their tiers, per group, against the window before (AURA-M §2, §8, §9)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Literal

from msgspec import Struct, field

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.secondary_metrics import Supporting, accepted, latency, supporting

Tier = Literal["elite", "high", "medium", "low"]
MetricName = Literal[
    "feature_throughput", "resolution_latency", "deliverable_failure_rate", "recovery_efficiency", "spec_conformance"
]

UNITS: dict[MetricName, str] = {
    "feature_throughput": "deliverables/day",
    "resolution_latency": "seconds",
    "deliverable_failure_rate": "percent",
    "recovery_efficiency": "percent",
    "spec_conformance": "score",
}

MORE_IS_BETTER: frozenset[MetricName] = frozenset({"feature_throughput", "spec_conformance"})

_BORDERS: dict[MetricName, tuple[float, float, float]] = {
    "feature_throughput": (3.0, 1.0, 1 / 7),
    "resolution_latency": (3600.0, 14_400.0, 86_400.0),
    "deliverable_failure_rate": (5.0, 10.0, 15.0),
    "recovery_efficiency": (5.0, 10.0, 20.0),
    "spec_conformance": (0.95, 0.85, 0.70),
}
"""Where more is better a border belongs to the better tier (≥), else to the worse one (<)."""

_TIERS: tuple[Tier, ...] = ("elite", "high", "medium")


def tier(metric: MetricName, value: float | None) -> Tier | None:
    """The tier of a metric's value, in its unit; None without one."""
    if value is None:
        return None
    for name, border in zip(_TIERS, _BORDERS[metric], strict=True):
        if value >= border if metric in MORE_IS_BETTER else value < border:
            return name
    return "low"


DAY = 86_400.0
WINDOW_DAYS = 7.0
WINDOW_COUNT = 20
_DIGITS = 9
"""What is exact on paper must not miss a tier's border by a bit."""


class Window(Struct, frozen=True):
    """The deliverables that ended after `start` and up to `end` (Unix seconds), and how many they are.

    `limited_by` says which came first: so many days, or so many deliverables.
    """

    start: float = field(name="from")
    end: float = field(name="to")
    deliverables: int
    limited_by: str


class Measure(Struct, frozen=True):
    """One metric: None, and in no tier, where nothing tells it."""

    value: float | None
    unit: str
    tier: Tier | None


class Five(Struct, frozen=True):
    """The five metrics of some deliverables."""

    feature_throughput: Measure
    resolution_latency: Measure
    deliverable_failure_rate: Measure
    recovery_efficiency: Measure
    spec_conformance: Measure


class Trend(Struct, frozen=True):
    """A metric against the window before: `change` in its unit; `better` None where it stayed or nobody knows."""

    previous: float | None
    previous_tier: Tier | None
    change: float | None
    better: bool | None


class Metrics(Struct, frozen=True):
    """What a workspace's deliverables amount to now.

    `groups` has the five again by `agent`, `model`, `type` and `complexity`, over the same window; what is not known of
    a deliverable puts it under `unknown`. `trends` is by metric, against `previous`, the window just before.
    """

    window: Window
    metrics: Five
    previous: Window
    trends: dict[str, Trend]
    supporting: Supporting
    groups: dict[str, dict[str, Five]]
    in_progress: int


def measure(
    deliverables: Iterable[Deliverable], now: float, days: float = WINDOW_DAYS, count: int = WINDOW_COUNT
) -> Metrics:
    """The metrics over the last `days` days or the last `count` ended deliverables, whichever is fewer.

    Where days limit the window it is `days` long. Where the count does, it begins when the latest deliverable ended
    that is left out. Throughput is counted over at least one day: no day was so short. `now` is Unix seconds.
    """
    known = list(deliverables)
    ended = _ended(known)
    last = bisect_right(ended, now, key=_ended_at)
    members, window = _window(ended, last, now, days, count)
    before, previous = _window(ended, last - len(members), window.start, days, count)
    five = _five(members, window)
    earlier = _five(before, previous)
    return Metrics(
        window=window,
        metrics=five,
        previous=previous,
        trends={name: _trend(name, getattr(five, name), getattr(earlier, name)) for name in UNITS},
        supporting=supporting(members),
        groups={
            group: {name: _five(some, window) for name, some in _grouped(members, of).items()}
            for group, of in _GROUPS.items()
        },
        in_progress=len(known) - len(ended),
    )


def history(
    deliverables: Iterable[Deliverable], now: float, windows: int, days: float = WINDOW_DAYS, count: int = WINDOW_COUNT
) -> list[tuple[Window, Five]]:
    """The five metrics of the last so many windows, each just before the next, the latest last."""
    ended = _ended(deliverables)
    last = bisect_right(ended, now, key=_ended_at)
    found: list[tuple[Window, Five]] = []
    end = now
    for _ in range(windows):
        members, window = _window(ended, last, end, days, count)
        found.append((window, _five(members, window)))
        last, end = last - len(members), window.start
    return found[::-1]


def _ended(deliverables: Iterable[Deliverable]) -> list[Deliverable]:
    ended = [each for each in deliverables if each.completed_at is not None]
    return sorted(ended, key=lambda each: (_ended_at(each), each.change_id))


def _ended_at(deliverable: Deliverable) -> float:
    return deliverable.completed_at or 0.0


def _window(
    ended: Sequence[Deliverable], last: int, end: float, days: float, count: int
) -> tuple[Sequence[Deliverable], Window]:
    """Of `ended[:last]`, in the order in which they ended, those in the window up to `end`."""
    start = max(0.0, end - days * DAY)
    first = min(last, bisect_right(ended, start, key=_ended_at))
    limited_by = "days"
    if last - first > count:
        first = last - count
        start = _ended_at(ended[first - 1])
        limited_by = "deliverables"
    return ended[first:last], Window(start, end, last - first, limited_by)


def _five(members: Sequence[Deliverable], window: Window) -> Five:
    delivered = [each for each in members if accepted(each)]
    latencies = [latency(each) for each in delivered]
    scores = [
        each.conformance.overall
        for each in members
        # Those accepted below the threshold too: without them no score could be low.
        if each.status == "completed" and each.conformance is not None and each.conformance.overall is not None
    ]
    failed = sum(bool(each.deliverable_failed) for each in members)
    rework = supporting(members)
    return Five(
        _measure(
            "feature_throughput", len(delivered) / max(1.0, (window.end - window.start) / DAY) if members else None
        ),
        _measure("resolution_latency", median(latencies) if latencies else None),
        _measure("deliverable_failure_rate", 100 * failed / len(members) if members else None),
        _measure(
            "recovery_efficiency",
            rework.recovery_by_tool_calls if rework.recovery_by_time is None else rework.recovery_by_time,
        ),
        _measure("spec_conformance", fmean(scores) if scores else None),
    )


def _measure(name: MetricName, value: float | None) -> Measure:
    rounded = None if value is None else round(value, _DIGITS)
    return Measure(
        rounded, UNITS[name], tier(name, value if rounded is None or name == "feature_throughput" else rounded)
    )


def _trend(name: MetricName, this: Measure, previous: Measure) -> Trend:
    if this.value is None or previous.value is None:
        return Trend(previous.value, previous.tier, None, None)
    change = round(this.value - previous.value, _DIGITS)
    better = None if change == 0 else (change > 0) == (name in MORE_IS_BETTER)
    return Trend(previous.value, previous.tier, change, better)


_GROUPS: dict[str, Callable[[Deliverable], str | None]] = {
    "agent": lambda each: each.agent.name if each.agent is not None else None,
    "model": lambda each: each.agent.model if each.agent is not None else None,
    "type": lambda each: each.type,
    "complexity": lambda each: each.complexity,
}


def _grouped(members: Sequence[Deliverable], of: Callable[[Deliverable], str | None]) -> dict[str, list[Deliverable]]:
    groups: dict[str, list[Deliverable]] = {}
    for each in members:
        groups.setdefault(of(each) or "unknown", []).append(each)
    return dict(sorted(groups.items()))
