"""What instruments have counted: sums, extremes and buckets, and what is given up where there are too many labels."""

from __future__ import annotations

import pytest

from aurora_deliverables.telemetry import export_record
from aurora_deliverables.telemetry.export_record import Totals
from aurora_deliverables.telemetry.instruments import COUNT, LATENCY, Measurement


def test_a_series_has_the_sum_the_least_and_the_most_of_its_values() -> None:
    totals = Totals(0.0)
    totals.add(Measurement(LATENCY, value, {}) for value in (5.0, 2.0, 9.0, 3.0))
    (series,) = totals.series[LATENCY.name]
    assert (series.value, series.count, series.least, series.most) == (19.0, 4, 2.0, 9.0)


def test_a_value_at_a_border_is_counted_below_it() -> None:
    totals = Totals(0.0)
    first, last = LATENCY.boundaries[0], LATENCY.boundaries[-1]
    totals.add(Measurement(LATENCY, value, {}) for value in (first, first + 0.1, last, last + 1))
    (series,) = totals.series[LATENCY.name]
    assert (series.buckets[0], series.buckets[1], series.buckets[-2], series.buckets[-1]) == (1, 1, 1, 1)
    assert sum(series.buckets) == 4


def test_further_labels_than_may_be_are_counted_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_record, "MAX_SERIES", 2)
    totals = Totals(0.0)
    totals.add(Measurement(COUNT, 1.0, {"agent": name}) for name in ("a", "b", "c", "d", "a"))
    told = [(each.labels, each.value) for each in totals.series[COUNT.name]]
    assert told == [({"agent": "a"}, 2.0), ({"agent": "b"}, 1.0), ({}, 2.0)]
