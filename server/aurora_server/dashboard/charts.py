"""Charts (timelines, bar charts, SVG): where phases and bars go: numbers in, coordinates out. The templates draw them
as SVG, and say the same in words.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_protocol.human_text import lasting

SPAN = 1000.0
"""The width of a timeline's viewBox."""

LEAST = 3.0
"""Width that the shortest phase is still drawn with."""


class Stretch(Struct, frozen=True):
    """Phase on the timeline: `x` and `width` of SPAN."""

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
    """Bar of a chart, one of some counts; `width` of SPAN, the largest fills it."""

    name: str
    count: int
    width: float


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
