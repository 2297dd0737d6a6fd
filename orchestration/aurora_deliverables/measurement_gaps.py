"""Gaps of measurement (missing data): what of the five metrics nothing tells of a deliverable, and what would tell it
(AURA-M §2).

Nothing is guessed to close a gap. Who reads a metric is told what it lacks, in a sentence with the next step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from aurora_deliverables.deliverable import Conformance, Deliverable
from aurora_deliverables.secondary_metrics import accepted, effort, rework_is_known

GapName = Literal["recovery", "functional", "correctness", "constraints", "iteration_penalty"]

FIXES: dict[GapName, str] = {
    "recovery": "aurora deliverable phase apply, when work begins",
    "functional": "aurora deliverable conform --completed N --total N, or tests and tasks that name the requirements",
    "correctness": "aurora deliverable tests --passed N --failed N, or aurora deliverable ingest --junit FILE",
    "constraints": "aurora deliverable conform --violations N, or tests that name what must not be",
    "iteration_penalty": "aurora deliverable phase apply, when work begins",
}


class Gap(Struct, frozen=True):
    """Gap, what nothing tells: `metric` is the metric it belongs to, `what` the part of it, `fix` what would
    tell it.
    """

    metric: Literal["recovery_efficiency", "spec_conformance"]
    what: GapName
    fix: str


def gaps_of(deliverable: Deliverable) -> list[Gap]:
    """Missing data of a deliverable, what is not measured; nothing of one that nobody wanted any more."""
    if deliverable.withdrawn:
        return []
    found: list[Gap] = []
    if not rework_is_known(deliverable) or not (effort(deliverable) or deliverable.tool_calls):
        found.append(Gap("recovery_efficiency", "recovery", FIXES["recovery"]))
    scores = deliverable.conformance or Conformance()
    if scores.overall is None:
        parts: tuple[GapName, ...] = ("functional", "correctness", "constraints", "iteration_penalty")
        found += [Gap("spec_conformance", part, FIXES[part]) for part in parts if getattr(scores, part) is None]
    return found


class MetricCoverage(Struct, frozen=True):
    """Coverage of a metric, of how many of a window's deliverables it is; `missing` is a sentence on the others, None
    of none.
    """

    measured: int
    of: int
    missing: str | None = None


def measured_by_metric(members: Sequence[Deliverable], every: Sequence[Deliverable]) -> dict[str, MetricCoverage]:
    """How much of a window each metric is measured on. `members` and `every` are those of `metrics.measure`."""
    none = None if members else "no deliverable ended in this window"
    delivered = sum(map(accepted, members))
    completed = [each for each in members if each.status == "completed"]
    incomplete = none or (None if completed else f"of {_count(len(members))} none was completed")
    refused = none or (None if delivered else f"of {_count(len(members))} none was accepted")
    return {
        "feature_throughput": MetricCoverage(len(every), len(every), None if every else none),
        "resolution_latency": MetricCoverage(delivered, delivered, refused),
        "deliverable_failure_rate": MetricCoverage(len(members), len(members), none),
        "recovery_efficiency": _measured(members, "recovery_efficiency", none),
        "spec_conformance": _measured(completed, "spec_conformance", incomplete),
    }


def _measured(members: Sequence[Deliverable], metric: str, none: str | None) -> MetricCoverage:
    """Coverage of one metric, and a sentence on what lacks."""
    lacking: Counter[GapName] = Counter()
    whole = 0
    for each in members:
        gaps = [gap.what for gap in gaps_of(each) if gap.metric == metric]
        lacking.update(gaps)
        whole += not gaps
    if none is not None or not lacking:
        return MetricCoverage(whole, len(members), none)
    parts = [f"{part.replace('_', ' ')} of {number} (tell it by {FIXES[part]})" for part, number in lacking.items()]
    return MetricCoverage(whole, len(members), f"of {_count(len(members))} nothing tells the {'; the '.join(parts)}")


def _count(number: int) -> str:
    return f"{number:,} deliverable{'' if number == 1 else 's'}"
