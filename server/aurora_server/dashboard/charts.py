"""Charts: where lines and bars go: numbers in, coordinates out. The templates draw them as SVG, and say the same in
words.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_protocol.human_text import lasting

WIDE, HIGH = 160.0, 36.0
"""A sparkline's viewBox."""

SPAN = 1000.0
"""The width of a timeline's viewBox."""

LEAST = 3.0
"""Width that the shortest phase is still drawn with."""


class Sparkline(Struct, frozen=True):
    """Line segments (`x,y x,y …`), one for each stretch without a gap, and a dot for each value that is known."""

    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]


class Stretch(Struct, frozen=True):
    """One phase on the timeline: `x` and `width` of SPAN."""

    phase: str
    label: str
    x: float
    width: float
    begins: str
    lasts: str
    recovery: bool
    under_way: bool


class Tick(Struct, frozen=True):
    """A mark on the timeline's axis."""

    x: float
    label: str
    last: bool = False


class Bar(Struct, frozen=True):
    """One of some counts; `width` of SPAN, the largest fills it."""

    name: str
    count: int
    width: float


def sparkline(values: Sequence[float | None]) -> Sparkline | None:
    """A line through the known values, from the first one on, spread over the whole height.

    None where there is no second one.
    """
    while values and values[0] is None:
        values = values[1:]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    least, most = min(known), max(known)
    step = WIDE - 8
    places = [
        None
        if value is None
        else (
            round(4 + step * n / (len(values) - 1), 1),
            round(HIGH / 2 if most == least else 4 + (HIGH - 8) * (most - value) / (most - least), 1),
        )
        for n, value in enumerate(values)
    ]
    lines: list[str] = []
    stretch: list[str] = []
    for place in [*places, None]:
        if place is not None:
            stretch.append(f"{place[0]},{place[1]}")
        else:
            if len(stretch) > 1:
                lines.append(" ".join(stretch))
            stretch = []
    return Sparkline(tuple(lines), tuple(place for place in places if place is not None))


def timeline(deliverable: Deliverable, now: float) -> tuple[list[Stretch], list[Tick]]:
    """The phases of a deliverable one below the other, and the axis they share; a phase under way ends now."""
    if not deliverable.spans:
        return [], []
    start = min(deliverable.started_at, *(span.started_at for span in deliverable.spans))
    over = deliverable.completed_at
    end = max(over if over is not None else now, *(span.completed_at or 0.0 for span in deliverable.spans), start + 1)
    scale = SPAN / (end - start)
    stretches = []
    for span in deliverable.spans:
        until = span.completed_at if span.completed_at is not None else end
        width = min(SPAN, max(LEAST, (until - span.started_at) * scale))
        stretches.append(
            Stretch(
                phase=span.phase,
                label=span.phase if span.iteration == 1 else f"{span.phase} {span.iteration}",
                x=round(min((span.started_at - start) * scale, SPAN - width), 1),
                width=round(width, 1),
                begins=f"+{lasting(span.started_at - start)}",
                lasts=lasting(until - span.started_at),
                recovery=span.recovery,
                under_way=span.completed_at is None,
            )
        )
    return stretches, _ticks(end - start)


def _ticks(seconds: float) -> list[Tick]:
    """An axis in quarters; in halves, or from end to end, where quarters would be called the same."""
    for parts in (4, 2):
        ticks = [Tick(SPAN * part / parts, lasting(seconds * part / parts), part == parts) for part in range(parts + 1)]
        if len({tick.label for tick in ticks}) == len(ticks):
            return ticks
    return [Tick(0.0, lasting(0.0), False), Tick(SPAN, lasting(seconds), True)]


def bars(counts: Sequence[tuple[str, int]], most: int = 8) -> list[Bar]:
    """The largest counts, what is left of them together as `others`."""
    shown = list(counts[:most])
    if rest := sum(count for _, count in counts[most:]):
        shown.append(("others", rest))
    largest = max((count for _, count in shown), default=0)
    return [Bar(name, count, round(SPAN * count / largest, 1) if largest else 0.0) for name, count in shown]
