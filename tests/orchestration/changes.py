"""A made change, as events and as what they amount to: planned, applied, failed its tests, recovered, accepted."""

from __future__ import annotations

from aurora_deliverables.deliverable import Conformance, Deliverable, PhaseSpan, TokenUsage
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    PhaseStarted,
    RecoveryBegan,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)

START = 1_772_100_000.0
AGENT = AgentIdentity("claude-code", "claude-sonnet-4-20250514", "claude-code")
SPEC = SpecSource("openspec", "changes/add-dark-mode", 8)

_TOLD: list[tuple[float, EventBody]] = [
    (0, Started("Add dark mode", "feature", "moderate", SPEC, AGENT)),
    (0, PhaseStarted("propose")),
    (60, PhaseStarted("specs")),
    (90, ToolCalled("file_read", 3)),
    (180, PhaseStarted("design")),
    (360, PhaseStarted("tasks")),
    (470, TasksCounted(total=4, completed=0)),
    (480, PhaseStarted("apply")),
    (500, TokensUsed(1200, 300, 1000, 0.02, "claude-sonnet-4-20250514", "anthropic", 15.5)),
    (600, TasksCounted(completed=1)),
    (650, ToolCalled("file_edit", 2, True, 0.25)),
    (700, HumanIntervened(120.0)),
    (900, TasksCounted(completed=3)),
    (950, ToolCalled("bash", 1, False, 4.0)),
    (1000, PhaseStarted("verify")),
    (1050, TestsRan(40, 2, False, "pytest")),
    (1060, Conformed(functional=0.75)),
    (1100, RecoveryBegan("two tests fail", "regression")),
    (1110, PhaseStarted("apply")),
    (1200, ToolCalled("file_edit", 1, True, 0.5)),
    (1300, TasksCounted(completed=4)),
    (1310, PhaseStarted("verify")),
    (1350, TestsRan(42, 0, True, "pytest")),
    (1360, Conformed(8, 8, 1.0, 0.95, 0)),
    (1400, PhaseStarted("archive")),
    (1500, Ended("completed")),
]

EVENTS = [
    Event(f"e{n}", "add-dark-mode", START + at, what, session="session-1", agent=AGENT)
    for n, (at, what) in enumerate(_TOLD)
]


def _span(phase: str, start: float, end: float, iteration: int = 1, recovery: bool = False) -> PhaseSpan:
    return PhaseSpan(phase, START + start, START + end, iteration, recovery)  # type: ignore[arg-type]


ACCEPTED = Deliverable(
    change_id="add-dark-mode",
    status="completed",
    started_at=START,
    updated_at=START + 1500,
    completed_at=START + 1500,
    description="Add dark mode",
    type="feature",
    complexity="moderate",
    spec_source=SPEC,
    agent=AGENT,
    spans=(
        _span("propose", 0, 60),
        _span("specs", 60, 180),
        _span("design", 180, 360),
        _span("tasks", 360, 480),
        _span("apply", 480, 1000),
        _span("verify", 1000, 1110),
        _span("apply", 1110, 1310, 2, recovery=True),
        _span("verify", 1310, 1400, 2),
        _span("archive", 1400, 1500),
    ),
    tasks_total=4,
    tasks_completed=4,
    tool_calls={"file_read": 3, "file_edit": 3, "bash": 1},
    recovery_attempts=1,
    apply_iterations=2,
    tokens=TokenUsage(1200, 300, 1000, 0.02),
    human_interventions=1,
    human_wait_seconds=120.0,
    sessions=("session-1",),
    conformance=Conformance(1.0, 0.95, 1.0, 0.85, 0.97),
    deliverable_failed=False,
    recovery_seconds=210.0,
    recovery_tool_calls=1,
    settled=True,
    model_costs={"claude-sonnet-4-20250514": 0.02},
)

FAILED = Deliverable(
    change_id="migrate-etl",
    status="failed",
    started_at=START,
    updated_at=START + 9000,
    completed_at=START + 9000,
    type="refactoring",
    agent=AGENT,
    recovery_attempts=5,
    conformance=Conformance(0.27, 0.4, 0.5, 0.25, 0.35),
    deliverable_failed=True,
    failure_type="infinite_loop",
)
