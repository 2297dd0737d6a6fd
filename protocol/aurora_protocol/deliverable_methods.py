"""`aurora/deliverable`, `aurora/metrics`, `aurora/report`: what is said of deliverables (AURA-M §3–5).

Params of the first are made of the events they record (`aurora_deliverables.event_request`). Results are documents: a
deliverable's state as AURA-M §5.1 has it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from aurora_protocol.methods import Wire

DELIVERABLE = "aurora/deliverable"
"""One `action`, and what it takes; without `change_id` the only open deliverable is meant. What happens (`start` to
`fail`) answers with the deliverable's state, as `show` does.
"""
METRICS = "aurora/metrics"
REPORT = "aurora/report"
CHANGED = "aurora/deliverableChanged"

COMMANDS = {"aurora.deliverable": DELIVERABLE, "aurora.metrics": METRICS, "aurora.report": REPORT}
"""`workspace/executeCommand` names and the request each stands for."""

REFUSED = "Refused"
"""`data.kind` of the error that says that an event was not taken, and why."""

Period = Literal["daily", "cumulative", "monthly"]
GroupBy = Literal["agent", "model", "author", "type", "complexity", "workspace", "repository"]


class MetricsParams(Wire, frozen=True, kw_only=True):
    """`aurora/metrics`: the five metrics over the latest `window_days` or `window_count`, whichever comes first.

    The daemon's configuration tells the window where these do not (`deliverables.window_*`).
    With `by` they are told per agent, model, type, complexity or workspace as well, in `groups`.
    They are told as of now, or of `as_of` (ISO 8601). `team` tells them of every repository that this machine has a
    record of, colleagues' deliverables too, by `repository` instead of workspace; `author` are people.
    """

    window_days: Annotated[float, Meta(gt=0, le=36500)] | None = None
    window_count: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    by: GroupBy | None = None
    as_of: str | None = None
    team: bool = False


class ReportParams(Wire, frozen=True, kw_only=True):
    """`aurora/report`: what happened from `start` up to `end` (ISO 8601), which `cumulative` needs neither of.

    `team`: in every repository that this machine has a record of, colleagues' deliverables too.
    """

    period: Period
    start: str | None = None
    end: str | None = None
    team: bool = False
