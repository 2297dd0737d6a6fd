"""Chart of a metric by weeks (line chart, logarithmic scale): where its line, its axes and the borders of its tiers go.
Numbers in, coordinates out.

The template draws them as SVG, and says the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from aurora_deliverables.metric_text import value_words
from aurora_deliverables.metrics import MORE_IS_BETTER, UNITS, MetricName, borders
from aurora_server.dashboard.picture import MetricView, WeekView

WIDE, HIGH = 330.0, 130.0
"""The viewBox."""

LEFT, RIGHT, TOP, BOTTOM = 66.0, 214.0, 18.0, 110.0
"""The plot within it; beside it are the axes' labels and the tiers' names."""

LINE = 11.0
"""The least height between two labels."""

AXES: dict[str, str] = {
    "feature_throughput": "deliverables per day",
    "resolution_latency": "time, each step of the scale so many times longer",
    "deliverable_failure_rate": "% that failed",
    "recovery_efficiency": "% of the effort that was rework",
    "spec_conformance": "score",
}


class Dot(Struct, frozen=True):
    """A week whose value is known."""

    x: float
    y: float
    words: str


class Border(Struct, frozen=True):
    """Border of a tier, where it ends; without a label where another one stands there already."""

    y: float
    label: str | None
    at: float


class AxisLabel(Struct, frozen=True):
    """A word at an axis."""

    at: float
    words: str


class TierChart(Struct, frozen=True):
    """Line segments (`x,y x,y …`), one for each stretch without a gap, the dots, the axes and the borders."""

    axis: str
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]
    borders: tuple[Border, ...]
    heights: tuple[AxisLabel, ...]
    dates: tuple[AxisLabel, ...]
    words: str


def tier_chart(metric: MetricView) -> TierChart | None:
    """The weeks of a metric from the first that is known; None where none is."""
    weeks = list(metric.weeks)
    while weeks and weeks[0].value is None:
        weeks.pop(0)
    known = [week.value for week in weeks if week.value is not None]
    if not known or metric.key not in UNITS:
        return None
    name: MetricName = next(each for each in UNITS if each == metric.key)
    least, most, height = _scale(name, known)
    across = (RIGHT - LEFT) / max(1, len(weeks) - 1)

    def x(number: int) -> float:
        return round(LEFT + across * number if len(weeks) > 1 else (LEFT + RIGHT) / 2, 1)

    dots = [
        Dot(x(number), height(week.value), _words(week)) if week.value is not None else None
        for number, week in enumerate(weeks)
    ]
    shown = sorted({0, (len(weeks) - 1) // 2, len(weeks) - 1})
    return TierChart(
        axis=AXES[name],
        lines=_segments(dots),
        dots=tuple(dot for dot in dots if dot is not None),
        borders=_borders(name, least, most, height),
        heights=tuple(AxisLabel(height(value), value_words(name, _unit(name, value))) for value in (most, least)),
        dates=tuple(AxisLabel(x(number), short_day(weeks[number].end)) for number in shown),
        words="; ".join(_words(week) for week in weeks),
    )


def short_day(moment: float) -> str:
    """`23 Nov`, of this machine's clock."""
    day = datetime.fromtimestamp(moment).astimezone()
    return f"{day.day} {day:%b}"


def _scale(name: MetricName, known: Sequence[float]) -> tuple[float, float, Callable[[float], float]]:
    """The least and the most that are drawn, with the next borders around the values, and the height of a value."""
    at = sorted(border for _, border in borders(name))
    low, high = min(known), max(known)
    above = next((border for border in at if border > high), high)
    below = next((border for border in reversed(at) if border < low), low)
    if name == "resolution_latency":  # from seconds to weeks: nothing but a logarithm shows both
        least, most = max(1.0, below), max(1.0, above) * (1.0001 if above == below else 1.0)
        scaled: Callable[[float], float] = _logarithm
    else:
        least, most = (below if name == "spec_conformance" else 0.0), above
        scaled = float
    if name == "spec_conformance":
        most = max(most, 1.0)
    span = scaled(most) - scaled(least)

    def height(value: float) -> float:
        share = (scaled(value) - scaled(least)) / span if span > 0 else 0.5
        return round(BOTTOM - (BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)

    return least, most, height


def _logarithm(value: float) -> float:
    return math.log(max(1.0, value))


def _borders(name: MetricName, least: float, most: float, height: Callable[[float], float]) -> tuple[Border, ...]:
    """Border lines of the tiers, with a label where there is room."""
    sign = "≥" if name in MORE_IS_BETTER else "<"
    found: list[Border] = []
    taken: list[float] = []
    for tier, at in borders(name):
        if not least <= at <= most:
            continue
        y = height(at)
        free = all(abs(y - other) >= LINE for other in taken)
        if free:
            taken.append(y)
        found.append(Border(y, f"{tier} {sign} {_short(name, at)}" if free else None, at))
    return tuple(found)


def _segments(dots: Sequence[Dot | None]) -> tuple[str, ...]:
    """Polylines of the line chart, one between two gaps (missing data)."""
    lines: list[str] = []
    stretch: list[str] = []
    for dot in [*dots, None]:
        if dot is not None:
            stretch.append(f"{dot.x},{dot.y}")
            continue
        if len(stretch) > 1:
            lines.append(" ".join(stretch))
        stretch = []
    return tuple(lines)


def _short(name: MetricName, border: float) -> str:
    """A border as people say it: `3 /day`, `5 %`, not `3.00 /day`."""
    words = value_words(name, _unit(name, border))
    number, _, unit = words.partition(" ")
    return f"{float(number):g} {unit}".strip() if name != "resolution_latency" else words


def _unit(name: MetricName, value: float) -> dict[str, object]:
    return {"value": value, "unit": UNITS[name]}


def _words(week: WeekView) -> str:
    told = "nothing known" if week.value is None else f"{week.words}{f', {week.tier}' if week.tier else ''}"
    return f"week to {short_day(week.end)}: {told}"
