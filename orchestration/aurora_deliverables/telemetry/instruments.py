"""Metric instruments of AURA-M §6.4 (OpenTelemetry): counters and histograms with their buckets, and what one ended
deliverable adds to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.telemetry import names


class Instrument(Struct, frozen=True):
    """Instrument: a counter or histogram. `boundaries` are a histogram's buckets; tier borders (AURA-M §8) are among
    them.
    """

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    boundaries: tuple[float, ...] = ()


class Measurement(Struct, frozen=True):
    """Measurement: one value for one instrument."""

    instrument: Instrument
    value: float
    labels: Mapping[str, str]


COUNT = Instrument("aura.deliverables.count", "counter", "{deliverable}", "Total deliverables processed")
ACCEPTED = Instrument("aura.deliverables.accepted", "counter", "{deliverable}", "Deliverables accepted")
FAILED = Instrument("aura.deliverables.failed", "counter", "{deliverable}", "Deliverables failed")
LATENCY = Instrument(
    "aura.resolution_latency",
    "histogram",
    "s",
    "Resolution latency distribution",
    (60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400, 259200, 604800),
)
CONFORMANCE = Instrument(
    "aura.conformance.score",
    "histogram",
    "1",
    "Conformance score distribution",
    (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0),
)
ATTEMPTS = Instrument(
    "aura.recovery.attempts", "histogram", "{attempt}", "Recovery attempts per deliverable", (0, 1, 2, 3, 5, 8, 13)
)
TOOL_CALLS = Instrument("aura.tool_calls.count", "counter", "{call}", "Total tool calls")

INSTRUMENTS = (COUNT, ACCEPTED, FAILED, LATENCY, CONFORMANCE, ATTEMPTS, TOOL_CALLS)


def measurements(ended: Deliverable) -> list[Measurement]:
    """What an ended deliverable adds; what is unknown adds nothing. Latency is that of accepted ones (AURA-M §2.2)."""
    if ended.kind == "run" or ended.withdrawn:
        return []  # a question is no deliverable, and what nobody wants any more was neither accepted nor failed
    labels = labels_of(ended)
    failed = ended.status == "failed" or ended.deliverable_failed is True
    found: list[tuple[Instrument, float]] = [(COUNT, 1), (FAILED if failed else ACCEPTED, 1)]
    if not failed and ended.completed_at is not None:
        found.append((LATENCY, max(0.0, ended.completed_at - ended.started_at)))
    if ended.conformance is not None and ended.conformance.overall is not None:
        found.append((CONFORMANCE, ended.conformance.overall))
    found.append((ATTEMPTS, ended.recovery_attempts))
    if calls := sum(ended.tool_calls.values()):
        found.append((TOOL_CALLS, calls))
    return [Measurement(instrument, value, labels) for instrument, value in found]


def labels_of(deliverable: Deliverable) -> Mapping[str, str]:
    """Labels (attributes, dimensions) of §6.4, without those that are not known."""
    known = {
        names.DELIVERABLE_TYPE: deliverable.type,
        names.AGENT_NAME: deliverable.agent.name if deliverable.agent else None,
        names.FAILURE_TYPE: deliverable.failure_type,
    }
    return {name: value for name, value in known.items() if value is not None}
