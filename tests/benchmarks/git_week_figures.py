"""Figures of a week of git work: what deliverables and metrics say of it, held against what is true (ground truth)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import fold
from tests.server.tracked import events_in

if TYPE_CHECKING:
    from tests.benchmarks.git_weeks import Week

DAYS = 7


@dataclass
class Truth:
    """What is true of one change; `end` is None while it is open, `when_missed` where git does not know the end."""

    name: str
    author: str
    begin: float
    names: list[str] = field(default_factory=list)
    end: float | None = None
    failed: bool = False
    when_missed: bool = False
    live: bool = False
    looked_at: bool = False
    vanished: bool = False


def deliverables(home: Path) -> dict[str, Deliverable]:
    by_change: dict[str, list[Event]] = {}
    for event in events_in(home):
        by_change.setdefault(event.change_id, []).append(event)
    return {name: found for name, events in by_change.items() if (found := fold(events)) is not None}


def named(home: Path, name: str) -> Deliverable | None:
    return next((each for each in deliverables(home).values() if name in (each.change_id, *each.names)), None)


def differences(week: Week) -> Iterator[str]:
    must_end = [each for each in week.truths if each.end is not None and not (each.vanished and not each.live)]
    deadline = time.monotonic() + 45

    def open_still() -> list[str]:
        found = [(each, named(week.home, each.name)) for each in must_end]
        return [each.name for each, got in found if got is None or got.completed_at is None]

    while open_still() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)
    week.settle()
    found = deliverables(week.home)
    by_name = {each.name: named(week.home, each.name) for each in week.truths}
    for truth in week.truths:
        got = by_name[truth.name]
        if truth.vanished and not truth.live:
            if got is not None and got.completed_at is not None and not got.deliverable_failed:
                yield f"{truth.name}: vanished, but accepted"
            continue
        if truth.end is None:
            if got is not None and got.completed_at is not None:
                yield f"{truth.name}: open, but ended {week.hours(got.completed_at)}"
            continue
        if got is None:
            yield f"{truth.name}: not known"
            continue
        near = 8.0 if truth.live else 0.5
        if abs(got.started_at - truth.begin) > near:
            yield f"{truth.name}: begin {week.hours(got.started_at)}, true {week.hours(truth.begin)}"
        if got.completed_at is None or abs(got.completed_at - truth.end) > (60 if truth.live else 0.5):
            at = "open" if got.completed_at is None else week.hours(got.completed_at)
            yield f"{truth.name}: end {at}, true {week.hours(truth.end)}"
        if bool(got.deliverable_failed) != truth.failed:
            yield f"{truth.name}: failed {got.deliverable_failed}, true {truth.failed}"
        if got.author != truth.author:
            yield f"{truth.name}: author {got.author}, true {truth.author}"
    names = {name for each in week.truths for name in (each.name, *each.names)}
    for name in found:
        if name not in names:
            yield f"{name}: made up"
        elif not any(each.name == name for each in week.truths):
            yield f"{name}: a later name told as a change of its own"
    yield from metric_differences(week, by_name)


def metric_differences(week: Week, by_name: dict[str, Deliverable | None]) -> Iterator[str]:
    assert week.daemon is not None
    with week.daemon.client(week.clones["Ann"]) as client:
        told: dict[str, Any] = client.request("aurora/metrics", {"window_days": DAYS})
    five = {name: each["value"] for name, each in told["metrics"].items()}
    over = [each for each in week.truths if each.end is not None and not (each.vanished and not each.live)]
    lost = [
        each for each in week.truths
        if each.vanished and not each.live and (got := by_name[each.name]) is not None and got.completed_at is not None
    ]  # fmt: skip
    accepted = [each.end - each.begin for each in over if not each.failed and each.end is not None]
    total = len(over) + len(lost)
    expected: dict[str, float | None] = {
        "feature_throughput": len(accepted) / DAYS,
        "resolution_latency": median(accepted) if accepted else None,
        "deliverable_failure_rate": 100 * (total - len(accepted)) / total if total else None,
    }
    for name, value in expected.items():
        got = five[name]
        tolerance = 10.0 if name == "resolution_latency" else 1e-6
        if (got is None) != (value is None) or (got is not None and value is not None and abs(got - value) > tolerance):
            if value in (0, None) and got in (0, None):
                continue
            yield f"{name}: {got}, true {value}"
