"""Names and values of the five metrics, formatted as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aurora_protocol.human_text import lasting

METRIC_NAMES = {
    "feature_throughput": "feature throughput",
    "resolution_latency": "resolution latency",
    "deliverable_failure_rate": "failure rate",
    "recovery_efficiency": "recovery share",
    "spec_conformance": "spec conformance",
}


def value_words(name: str, metric: Mapping[str, Any]) -> str:
    """`0.86 /day`, `45 min`, `4.8 %`, `0.97`; a dash where nothing is known."""
    value = metric.get("value")
    if value is None:
        return "–"
    if name == "resolution_latency":
        return lasting(value)
    if metric.get("unit") in ("percentage", "%", "percent"):
        return f"{value:.1f} %"
    return f"{value:.2f}" + (" /day" if name == "feature_throughput" else "")
