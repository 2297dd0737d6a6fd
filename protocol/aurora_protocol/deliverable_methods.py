"""`aurora/deliverable`, `aurora/metrics`, `aurora/report`: what is said of deliverables (AURA-M §3–5).

Results are documents: a deliverable's state as AURA-M §5.1 has it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from aurora_protocol.methods import Wire

DELIVERABLE = "aurora/deliverable"
METRICS = "aurora/metrics"
REPORT = "aurora/report"
CHANGED = "aurora/deliverableChanged"

COMMANDS = {"aurora.deliverable": DELIVERABLE, "aurora.metrics": METRICS, "aurora.report": REPORT}
"""`workspace/executeCommand` names and the request each stands for."""

REFUSED = "Refused"
"""`data.kind` of the error that says that an event was not taken, and why."""

MAX_INGEST_LINES = 5000
"""Of one request; whoever has more sends several, each of which is on disk when it is answered."""

Action = Literal[
    "start",
    "phase",
    "task",
    "tool-call",
    "tokens",
    "recovery",
    "iterate",
    "session",
    "intervention",
    "conform",
    "tests",
    "complete",
    "fail",
    "show",
    "list",
    "events",
    "export",
    "ingest",
]
IngestFormat = Literal["auto", "claude-code-hook"]
Period = Literal["daily", "cumulative", "monthly"]
GroupBy = Literal["agent", "model", "type", "complexity", "workspace"]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Sentence = Annotated[str, Meta(max_length=4000)]
Whole = Annotated[int, Meta(ge=0, le=1 << 53)]
Amount = Annotated[float, Meta(ge=0, le=1e15)]
Share = Annotated[float, Meta(ge=0, le=1)]


class DeliverableParams(Wire, frozen=True, kw_only=True):
    """`aurora/deliverable`: one `action`, and what it takes; without `change_id` the only open deliverable is meant.

    What happens (`start` to `fail`) answers with the deliverable's state, as `show` does. `list` answers with
    `{"deliverables": […]}`, `events` with `{"change_id", "events": […]}`, `export` with the final record of one that
    has ended (AURA-M §5.2), else with its state; `ingest` (of `lines` or a `document`) with `{"accepted", "duplicates",
    "refused": [{"event_id", "line" or "issue", "reason"}], "change_ids", "notes"}`: notes are sentences
    on what was left out without being wrong.

    `at` is when it happened (ISO 8601, UTC where it names no zone; now). The same `event_id` twice is one event.
    `workspace` is a folder of the session, where it has several. `end` ends the `phase` instead of beginning it.
    """

    action: Action
    change_id: Name | None = None
    workspace: str | None = None
    event_id: Name | None = None
    at: str | None = None
    session: Name | None = None
    agent: Name | None = None
    model: Name | None = None
    agent_framework: Name | None = None
    evidence: Sentence | None = None

    description: Sentence | None = None
    type: Name | None = None
    complexity: Literal["trivial", "simple", "moderate", "complex", "unknown"] | None = None
    framework: Name | None = None
    spec_id: Name | None = None
    requirements_count: Whole | None = None

    phase: Literal["propose", "specs", "design", "tasks", "apply", "verify", "archive"] | None = None
    end: bool = False
    completed: Whole | None = None
    total: Whole | None = None
    tool: Name | None = None
    count: Annotated[int, Meta(ge=0, le=1_000_000)] = 1
    succeeded: bool | None = None
    duration_seconds: Amount | None = None
    input_tokens: Whole = 0
    output_tokens: Whole = 0
    cached_tokens: Whole = 0
    cost_usd: Amount | None = None
    provider: Name | None = None
    reason: Sentence | None = None
    failure_type: (
        Literal[
            "spec_misunderstanding",
            "hallucination",
            "infinite_loop",
            "tool_failure",
            "constraint_violation",
            "incomplete",
            "regression",
        ]
        | None
    ) = None
    waited_seconds: Amount | None = None
    note: Sentence | None = None
    functional: Share | None = None
    correctness: Share | None = None
    constraints: Share | None = None
    constraint_violations: Whole | None = None
    passed: Whole | None = None
    failed: Whole | None = None
    command: Sentence | None = None

    status: Literal["planning", "executing", "verifying", "completed", "failed", "open"] | None = None
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    format: IngestFormat = "auto"
    lines: Annotated[list[str], Meta(max_length=MAX_INGEST_LINES)] | None = None
    document: Any = None


class MetricsParams(Wire, frozen=True, kw_only=True):
    """`aurora/metrics`: the five metrics over the latest `window_days` or `window_count`, whichever comes first.

    The daemon's configuration tells the window where these do not (`deliverables.window_*`).
    With `by` they are told per agent, model, type, complexity or workspace as well, in `groups`.
    """

    window_days: Annotated[float, Meta(gt=0, le=36500)] | None = None
    window_count: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    by: GroupBy | None = None


class ReportParams(Wire, frozen=True, kw_only=True):
    """`aurora/report`: what happened from `start` up to `end` (ISO 8601), which `cumulative` needs neither of."""

    period: Period
    start: str | None = None
    end: str | None = None
