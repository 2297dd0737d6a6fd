"""The tiers of the five metrics, borders as in the tables of AURA-M §2 and §8."""

from __future__ import annotations

from typing import Literal

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
