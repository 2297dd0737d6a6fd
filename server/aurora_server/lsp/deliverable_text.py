"""Deliverable text: how a deliverable is put into words: the status bar's line, a code lens, a hover."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aurora_server.lsp.memory_text import ago, counted, escaped

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable

TOOLS = 4
"""Tools named in a hover, the most used ones."""


def summary(deliverable: Deliverable, done: int | None = None, total: int | None = None) -> str:
    """`add-search · apply · 4/8 tasks`; counts of a buffer, where there are any, are newer than those recorded."""
    words = [deliverable.name, stage(deliverable)]
    if not total:
        done, total = deliverable.tasks_completed, deliverable.tasks_total
    if total:
        words.append(f"{done or 0}/{total} tasks")
    return " · ".join(words)


def stage(deliverable: Deliverable) -> str:
    """The phase it is in; how it ended, once it has."""
    if deliverable.status in ("completed", "failed"):
        return deliverable.status
    return deliverable.current_phase or deliverable.status


def lens_title(deliverable: Deliverable, done: int, total: int) -> str:
    """The summary, and what is out of the ordinary: recoveries, repeats, interventions."""
    words = [summary(deliverable, done, total)]
    if deliverable.recovery_attempts:
        words.append(_many(deliverable.recovery_attempts, "recovery", "recoveries"))
    if deliverable.apply_iterations > 1:
        words.append(counted(deliverable.apply_iterations, "iteration"))
    return " · ".join(words)


def hover_lines(deliverable: Deliverable, now: datetime, *, markdown: bool) -> list[str]:
    """Text of a deliverable, a line each: where it stands, its phases, what it took, how it conforms."""
    name = f"**{escaped(deliverable.name)}**" if markdown else deliverable.name
    begun = ago(datetime.fromtimestamp(deliverable.started_at, UTC), now)
    heard = ago(datetime.fromtimestamp(deliverable.updated_at, UTC), now)
    first = [name, stage(deliverable)]
    if deliverable.tasks_total:
        first.append(f"{deliverable.tasks_completed or 0}/{deliverable.tasks_total} tasks")
    lines = [" · ".join(first)]
    if deliverable.description:
        lines.append(escaped(deliverable.description) if markdown else " ".join(deliverable.description.split()))
    lines.append(f"begun {begun} · last event {heard}")
    lines += [
        line for line in (_phases(deliverable, now), _effort(deliverable, markdown), _quality(deliverable)) if line
    ]
    return lines


def lasting(seconds: float) -> str:
    """`40 s`, `5 min`, `3 h 10 min`, `2 d 4 h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    large, small, units = (whole // 3600, whole % 3600 // 60, ("h", "min"))
    if whole >= 86400:
        large, small, units = (whole // 86400, whole % 86400 // 3600, ("d", "h"))
    return f"{large} {units[0]}" + (f" {small} {units[1]}" if small else "")


def _phases(deliverable: Deliverable, now: datetime) -> str:
    """`specs 3 min → apply 20 min (2×)`: time per phase, in the order in which they began."""
    spent: dict[str, float] = {}
    times: dict[str, int] = {}
    for span in deliverable.spans:
        end = span.completed_at
        if end is None:
            end = deliverable.completed_at if deliverable.completed_at is not None else now.timestamp()
        spent[span.phase] = spent.get(span.phase, 0.0) + max(0.0, end - span.started_at)
        times[span.phase] = max(times.get(span.phase, 0), span.iteration)
    return " → ".join(
        f"{phase} {lasting(seconds)}" + (f" ({times[phase]}×)" if times[phase] > 1 else "")
        for phase, seconds in spent.items()
    )


def _effort(deliverable: Deliverable, markdown: bool) -> str:
    words: list[str] = []
    total = sum(deliverable.tool_calls.values())
    if total:
        most: Sequence[tuple[str, int]] = sorted(deliverable.tool_calls.items(), key=lambda item: -item[1])[:TOOLS]
        named = ", ".join(f"{escaped(tool) if markdown else tool} {number}" for tool, number in most)
        words.append(f"{counted(total, 'tool call')} ({named})")
    if deliverable.recovery_attempts:
        words.append(_many(deliverable.recovery_attempts, "recovery", "recoveries"))
    if deliverable.human_interventions:
        words.append(counted(deliverable.human_interventions, "intervention"))
    if deliverable.tokens is not None:
        if deliverable.tokens.total_tokens is not None:
            words.append(f"{deliverable.tokens.total_tokens:,} tokens")
        if deliverable.tokens.cost_usd is not None:
            words.append(f"${deliverable.tokens.cost_usd:.2f}")
    return " · ".join(words)


def _quality(deliverable: Deliverable) -> str:
    words: list[str] = []
    if deliverable.conformance is not None and deliverable.conformance.overall is not None:
        words.append(f"conformance {deliverable.conformance.overall:.2f}")
    if deliverable.failure_type is not None:
        words.append(f"failed by {deliverable.failure_type.replace('_', ' ')}")
    return " · ".join(words)


def _many(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
