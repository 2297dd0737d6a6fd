"""Delivery metrics (the five, in performance tiers like DORA's) over a rolling window, by group, as a time series, and
their trend against the window before (AURA-M §2, §8, §9).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Literal

from msgspec import Struct, field

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.delivery_costs import Cost, ModelCost, cost_of, costs_by_model, model_costs, uncosted
from aurora_deliverables.measurement_gaps import MetricCoverage, measured_by_metric
from aurora_deliverables.secondary_metrics import Supporting, accepted, latency, p90, supporting

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


def borders(metric: MetricName) -> tuple[tuple[Tier, float], ...]:
    """Where each tier but the last ends, the best first, in the metric's unit."""
    return tuple(zip(_TIERS, _BORDERS[metric], strict=True))


def tier(metric: MetricName, value: float | None) -> Tier | None:
    """Performance tier (elite, high, medium, low) of a metric's value, in its unit; None without one."""
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
_DAYS_DIGITS = 6
"""A window that begins a hair earlier, to have its first moment in it, is of as many days."""


class Window(Struct, frozen=True):
    """Rolling window: the deliverables that ended after `start` and up to `end` (Unix seconds), and how many they are.

    `limited_by` says which came first: so many days, or so many deliverables.
    """

    start: float = field(name="from")
    end: float = field(name="to")
    deliverables: int
    limited_by: str


class Measure(Struct, frozen=True):
    """Value of a metric: None, and in no tier, where nothing tells it."""

    value: float | None
    unit: str
    tier: Tier | None


class Five(Struct, frozen=True):
    """Five metrics: throughput (deployment frequency), latency (lead time), failure rate, recovery, conformance."""

    feature_throughput: Measure
    resolution_latency: Measure
    deliverable_failure_rate: Measure
    recovery_efficiency: Measure
    spec_conformance: Measure


class Group(Struct, frozen=True):
    """Group (segment) of deliverables of one agent, model, …: how many ended in the days, and their five."""

    deliverables: int
    metrics: Five


class Trend(Struct, frozen=True):
    """Trend: a metric against the window before: `change` in its unit; `better` None where it stayed or nobody knows.

    `n` and `previous_n` are how many deliverables each value is of; `hint` says where they are too few to say much.
    """

    previous: float | None
    previous_tier: Tier | None
    change: float | None
    better: bool | None
    n: int = 0
    previous_n: int = 0
    hint: str | None = None


class Runs(Struct, frozen=True):
    """Runs: the questions that ended in the days of a window: no deliverables, and in none of the metrics."""

    count: int
    answered: int
    failed: int
    cost_usd: float | None


class Series(Struct, frozen=True):
    """Point of a time series: the five of what ended in it, and how its latencies lie."""

    window: Window
    metrics: Five
    latency_median: float | None
    latency_p90: float | None


class Metrics(Struct, frozen=True):
    """Metrics of a workspace's deliverables as of now.

    `groups` has the five again by `agent`, `model`, `author`, `type` and `complexity`, over the same window; what is
    not known of a deliverable puts it under `unknown`. `trends` is by metric,
    against `previous`, as many days just before.
    """

    window: Window
    metrics: Five
    previous: Window
    trends: dict[str, Trend]
    supporting: Supporting
    groups: dict[str, dict[str, Group]]
    in_progress: int
    runs: Runs
    measured: dict[str, MetricCoverage]
    """By metric: of how many deliverables it is, and what is missing of the others."""
    cost: Cost
    group_costs: dict[str, dict[str, Cost]]
    """By group, as `groups`; of a model it is what was spent on that model."""
    costs: list[ModelCost]
    """By agent and model."""


def measure(
    deliverables: Iterable[Deliverable], now: float, days: float = WINDOW_DAYS, count: int = WINDOW_COUNT
) -> Metrics:
    """The metrics over the last `days` days, of the last `count` deliverables that ended in them where those are fewer.

    Throughput alone is over all that ended in the days, at least one day: no day was so short. Where the count limits
    the window it begins when the latest deliverable ended that is left out. `now` is Unix seconds.
    """
    everything = list(deliverables)
    known = [each for each in everything if each.kind == "change"]
    ended = _ended(known)
    this, before = _stretch(ended, now, days, count), _stretch(ended, now - days * DAY, days, count)
    members, window = this.members, this.window
    five, earlier = this.five(), before.five()
    return Metrics(
        window=window,
        metrics=five,
        previous=before.window,
        trends={name: _trend(name, (five, this.measured()), (earlier, before.measured())) for name in UNITS},
        supporting=supporting([*members, *(each for each in this.withdrawn)]),
        groups={
            group: {
                name: Group(len(some), _Stretch(some, among.get(name, ()), (), window, days).five())
                for name, some in _grouped(this.all, of).items()
            }
            for group, of, among in ((group, of, _grouped(members, of)) for group, of in _GROUPS.items())
        },
        in_progress=sum(each.completed_at is None for each in known),
        runs=_runs([each for each in everything if each.kind == "run"], now - days * DAY, now),
        measured=this.measured(),
        cost=cost_of(members),
        group_costs=_group_costs(members),
        costs=model_costs(members),
    )


def history(
    deliverables: Iterable[Deliverable], now: float, windows: int, days: float = WINDOW_DAYS, count: int = WINDOW_COUNT
) -> list[tuple[Window, Five]]:
    """Time series of the five metrics: so many windows of as many days, just before the next, the latest last."""
    return [(each.window, each.metrics) for each in series(deliverables, now, windows, days, count)]


def series(
    deliverables: Iterable[Deliverable], now: float, windows: int, days: float = WINDOW_DAYS, count: int = 1_000_000
) -> list[Series]:
    """The same with what latencies were, of all that ended in each stretch: by weeks, where nothing else is asked."""
    ended = _ended(each for each in deliverables if each.kind == "change")
    found: list[Series] = []
    for number in range(windows):
        stretch = _stretch(ended, now - number * days * DAY, days, count)
        latencies = [latency(each) for each in stretch.members if accepted(each)]
        middle = median(latencies) if latencies else None
        found.append(Series(stretch.window, stretch.five(), middle, p90(latencies)))
    return found[::-1]


def _ended(deliverables: Iterable[Deliverable]) -> list[Deliverable]:
    ended = [each for each in deliverables if each.completed_at is not None]
    return sorted(ended, key=lambda each: (_ended_at(each), each.change_id))


def _ended_at(deliverable: Deliverable) -> float:
    return deliverable.completed_at or 0.0


class _Stretch(Struct, frozen=True):
    """Time bucket, some days: `all` deliverables that ended in it, and the latest that a window's count takes."""

    all: Sequence[Deliverable]
    members: Sequence[Deliverable]
    withdrawn: Sequence[Deliverable]
    window: Window
    days: float

    def five(self) -> Five:
        """The five metrics: throughput of all, the others of the members."""
        return _five(self.members, self.all, self.days)

    def measured(self) -> dict[str, MetricCoverage]:
        """Of how many deliverables each of the five is."""
        return measured_by_metric(self.members, self.all)


def _stretch(ended: Sequence[Deliverable], end: float, days: float, count: int) -> _Stretch:
    """Window slice: of what ended, in the order in which it did, what lies in the `days` up to `end`."""
    start = max(0.0, end - days * DAY)
    first, last = (bisect_right(ended, at, key=_ended_at) for at in (start, end))
    within = ended[first:last]
    every = [each for each in within if not each.withdrawn]
    members, limited_by = every, "days"
    if len(every) > count:
        members, limited_by = every[-count:], "deliverables"
        start = _ended_at(every[-count - 1])
    withdrawn = [each for each in within if each.withdrawn]
    return _Stretch(every, members, withdrawn, Window(start, end, len(members), limited_by), days)


def _runs(runs: Iterable[Deliverable], start: float, end: float) -> Runs:
    """Runs that ended in the days: how many were answered, what they cost."""
    over = [each for each in runs if each.completed_at is not None and start < each.completed_at <= end]
    costs = [each.tokens.cost_usd for each in over if each.tokens is not None and each.tokens.cost_usd is not None]
    answered = sum(each.status == "completed" for each in over)
    return Runs(len(over), answered, len(over) - answered, round(sum(costs), 6) if costs else None)


def _five(members: Sequence[Deliverable], every: Sequence[Deliverable], days: float) -> Five:
    """The five of some ended deliverables: throughput, median latency (lead time), failure rate, rework, mean score."""
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
            "feature_throughput", sum(map(accepted, every)) / max(1.0, round(days, _DAYS_DIGITS)) if every else None
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
    return Measure(rounded, UNITS[name], tier(name, rounded))


FEW = 5
"""Deliverables below which a difference between two windows is likely chance."""


_Counted = tuple[Five, dict[str, MetricCoverage]]
"""The five of a stretch, and of how many deliverables each is."""


def _trend(name: MetricName, this: _Counted, before: _Counted) -> Trend:
    """Trend of a metric (delta), better or worse than in the window before."""
    now: Measure = getattr(this[0], name)
    previous: Measure = getattr(before[0], name)
    n, previous_n = (coverage[name].measured for _, coverage in (this, before))
    if now.value is None or previous.value is None:
        return Trend(previous.value, previous.tier, None, None, n, previous_n)
    change = round(now.value - previous.value, _DIGITS)
    better = None if change == 0 else (change > 0) == (name in MORE_IS_BETTER)
    few = min(n, previous_n) < FEW
    hint = f"of {n} and {previous_n} deliverables: too few to tell a trend from chance" if few else None
    return Trend(previous.value, previous.tier, change, better, n, previous_n, hint)


_GROUPS: dict[str, Callable[[Deliverable], str | None]] = {
    "agent": lambda each: each.agent.name if each.agent is not None else None,
    "model": lambda each: each.agent.model if each.agent is not None else None,
    "author": lambda each: each.author,
    "type": lambda each: each.type,
    "complexity": lambda each: each.complexity,
}


def _group_costs(members: Sequence[Deliverable]) -> dict[str, dict[str, Cost]]:
    found = {
        group: {name: cost_of(some) for name, some in _grouped(members, of).items()} for group, of in _GROUPS.items()
    }
    of_models = costs_by_model(members)
    found["model"] = {
        name: of_models.get(name) or uncosted(some) for name, some in _grouped(members, _GROUPS["model"]).items()
    }
    return found


def _grouped(members: Sequence[Deliverable], of: Callable[[Deliverable], str | None]) -> dict[str, list[Deliverable]]:
    """Group-by: deliverables by agent, model or another key, `unknown` where there is none."""
    groups: dict[str, list[Deliverable]] = {}
    for each in members:
        groups.setdefault(of(each) or "unknown", []).append(each)
    return dict(sorted(groups.items()))
