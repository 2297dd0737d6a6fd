"""State of a deliverable (aggregate of an event-sourced model): what its events amount to, as the reducer gives it.

Times are Unix seconds. What is not known is None, never 0.
"""

from __future__ import annotations

from msgspec import Struct

from aurora_deliverables.choices import Complexity, FailureType, Kind, Phase, Status
from aurora_deliverables.events import AgentIdentity, Criterion, SpecSource


class PhaseSpan(Struct, frozen=True):
    """Time span (interval) in a phase; `iteration` counts from 1 per phase. `completed_at` is None while it lasts."""

    phase: Phase
    started_at: float
    completed_at: float | None
    iteration: int
    recovery: bool = False


class TokenUsage(Struct, frozen=True):
    """Tokens added up, each None where no event told it; `unsplit_tokens` are those told only as part of a total."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    cost_usd: float | None = None
    unsplit_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        """All together; None where nothing but a cost was told."""
        return together(self.input_tokens, self.output_tokens, self.unsplit_tokens)


def together(*amounts: int | None) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [each for each in amounts if each is not None]
    return sum(known) if known else None


class Conformance(Struct, frozen=True):
    """The four dimensions and their weighted sum, each in [0, 1], None where unknown (AURA-M §2.5)."""

    functional: float | None = None
    correctness: float | None = None
    constraints: float | None = None
    iteration_penalty: float | None = None
    overall: float | None = None


class Deliverable(Struct, frozen=True):
    """State of one deliverable: what its events amount to."""

    change_id: str
    status: Status
    started_at: float
    updated_at: float
    completed_at: float | None = None
    description: str | None = None
    type: str | None = None
    complexity: Complexity | None = None
    spec_source: SpecSource | None = None
    agent: AgentIdentity | None = None
    spans: tuple[PhaseSpan, ...] = ()
    current_phase: Phase | None = None
    tasks_total: int | None = None
    tasks_completed: int | None = None
    tool_calls: dict[str, int] = {}
    recovery_tool_calls: int | None = 0
    recovery_attempts: int = 0
    apply_iterations: int = 0
    tokens: TokenUsage | None = None
    human_interventions: int | None = None
    human_wait_seconds: float | None = None
    sessions: tuple[str, ...] = ()
    conformance: Conformance | None = None
    deliverable_failed: bool | None = None
    failure_type: FailureType | None = None
    recovery_seconds: float | None = 0.0
    """None, as `recovery_tool_calls`, where there was rework and nothing tells how long it took."""
    withdrawn: bool = False
    """Over, and neither delivered nor failed: a duplicate, or not planned."""
    author: str | None = None
    kind: Kind = "change"
    names: tuple[str, ...] = ()
    """What else it was called since, the latest last."""
    settled: bool = False
    """Whether it was said how it ended; a deliverable is completed as well once its archive phase is over."""
    criteria: tuple[Criterion, ...] | None = None
    """The spec's requirements and constraints as they were found last; None where nobody looked."""
    model_costs: dict[str, float] = {}
    """US dollars by the model they were spent on; what was told without one is under the agent's, else `unknown`."""

    @property
    def name(self) -> str:
        """Name that it has now; `change_id` is the one that it began with."""
        return self.names[-1] if self.names else self.change_id
