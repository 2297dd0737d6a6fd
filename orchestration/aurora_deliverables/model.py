"""What is said of a deliverable: the events that happen to it, and what they amount to (AURA-M §3–5).

Times are Unix seconds. What is not known is None, never 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Phase = Literal["propose", "specs", "design", "tasks", "apply", "verify", "archive"]
Status = Literal["planning", "executing", "verifying", "completed", "failed"]
Complexity = Literal["trivial", "simple", "moderate", "complex", "unknown"]
FailureType = Literal[
    "spec_misunderstanding",
    "hallucination",
    "infinite_loop",
    "tool_failure",
    "constraint_violation",
    "incomplete",
    "regression",
]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+\Z")]
"""One line that something is called by."""

Text = Annotated[str, Meta(max_length=4000)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Share = Annotated[float, Meta(ge=0, le=1)]
Moment = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
"""Unix seconds, up to the year 9999."""

PHASES: tuple[Phase, ...] = ("propose", "specs", "design", "tasks", "apply", "verify", "archive")
"""In their canonical order; not all are required, and some repeat (AURA-M §3)."""


class SpecSource(Struct, frozen=True, omit_defaults=True):
    """Where the spec came from: `openspec`, `speckit`, `markdown`, `github-issue`, `jira`, `prompt`, …"""

    framework: Name | None = None
    spec_id: Text | None = None
    requirements_count: Count | None = None


class Agent(Struct, frozen=True, omit_defaults=True):
    """Who does the work."""

    name: Name | None = None
    model: Name | None = None
    framework: Name | None = None


class Started(Struct, frozen=True, omit_defaults=True, tag="deliverable_start", tag_field="event"):
    """A deliverable begins, or more becomes known of one that has begun: what is not None replaces what was said."""

    description: Text | None = None
    type: Name | None = None
    """`feature`, `bugfix`, `refactoring`, `docs`, `chore`, or what the team calls it."""
    complexity: Complexity | None = None
    spec_source: SpecSource | None = None
    agent: Agent | None = None


class PhaseStarted(Struct, frozen=True, omit_defaults=True, tag="phase_start", tag_field="event"):
    """A phase begins; the one before ends with it."""

    phase: Phase


class PhaseEnded(Struct, frozen=True, omit_defaults=True, tag="phase_end", tag_field="event"):
    """A phase ends, and none begins yet."""

    phase: Phase


class TasksCounted(Struct, frozen=True, omit_defaults=True, tag="tasks", tag_field="event"):
    """How many tasks are planned and done now: absolute numbers, so that a count can be repeated."""

    total: Count | None = None
    completed: Count | None = None


UNNAMED_TOOL = "unknown"
"""What calls are counted under of which nobody told the tool."""


class ToolCalled(Struct, frozen=True, omit_defaults=True, tag="tool_call", tag_field="event"):
    """A tool was called `count` times; `succeeded` is None where nobody knows."""

    tool: Name
    count: Count = 1
    succeeded: bool | None = None
    duration_seconds: Amount | None = None


class TokensUsed(Struct, frozen=True, omit_defaults=True, tag="tokens", tag_field="event"):
    """Tokens of one or more model calls, to be added up; `cost_usd` where prices are known.

    `total_tokens` is told where it is more than is known to have gone in and come out.
    """

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count = 0
    cost_usd: Amount | None = None
    model: Name | None = None
    provider: Name | None = None
    duration_seconds: Amount | None = None
    total_tokens: Count | None = None


class RecoveryBegan(Struct, frozen=True, omit_defaults=True, tag="recovery", tag_field="event"):
    """Rework after a failure: from here to the end of the apply phase under way (or next) is recovery time.

    `untimed` where only that there was one is told, not when: it is counted, and the recovery time is not known.
    `duration_seconds` where it is over and other work goes on: so much, and `tool_calls` of those told, were rework.
    """

    reason: Text | None = None
    failure_type: FailureType | None = None
    untimed: bool = False
    duration_seconds: Amount | None = None
    tool_calls: Count = 0


class Iterated(Struct, frozen=True, omit_defaults=True, tag="iteration", tag_field="event"):
    """One more apply cycle, where phases do not tell."""


class SessionJoined(Struct, frozen=True, omit_defaults=True, tag="session", tag_field="event"):
    """A session works on it."""

    session: Name


class HumanIntervened(Struct, frozen=True, omit_defaults=True, tag="intervention", tag_field="event"):
    """A person had to step in, `count` times; `waited_seconds` is how long the work stood still for it.

    A count of 0 says that nobody had to so far, which is more than saying nothing.
    """

    waited_seconds: Amount | None = None
    note: Text | None = None
    count: Count = 1


class Conformed(Struct, frozen=True, omit_defaults=True, tag="conformance", tag_field="event"):
    """What was measured against the spec; what is None here keeps what was said before (AURA-M §2.5.1).

    `iteration_penalty` and `overall` are told only by who scored the work elsewhere: otherwise they are computed.
    """

    completed_requirements: Count | None = None
    total_requirements: Count | None = None
    functional: Share | None = None
    correctness: Share | None = None
    constraint_violations: Count | None = None
    constraints: Share | None = None
    iteration_penalty: Share | None = None
    overall: Share | None = None


class TestsRan(Struct, frozen=True, omit_defaults=True, tag="tests", tag_field="event"):
    """A test run, as hooks or CI saw it."""

    passed: Count | None = None
    failed: Count | None = None
    succeeded: bool | None = None
    command: Text | None = None


class Ended(Struct, frozen=True, omit_defaults=True, tag="deliverable_end", tag_field="event"):
    """A deliverable is completed (archived, accepted) or failed (abandoned, below the threshold).

    `deliverable_failed` is told of one that was judged elsewhere: completed and yet failed is what was accepted below
    its threshold (AURA-M §2.3). None leaves it to the status, the failure type and the conformance.
    """

    status: Literal["completed", "failed"]
    failure_type: FailureType | None = None
    reason: Text | None = None
    deliverable_failed: bool | None = None


Happening = (
    Started
    | PhaseStarted
    | PhaseEnded
    | TasksCounted
    | ToolCalled
    | TokensUsed
    | RecoveryBegan
    | Iterated
    | SessionJoined
    | HumanIntervened
    | Conformed
    | TestsRan
    | Ended
)
"""What an event says happened; one line of JSON says which by its `event`."""


class Event(Struct, frozen=True, omit_defaults=True):
    """One thing that happened to one deliverable. The same `id` twice is one event.

    `source` says who noticed: `cli`, `lsp`, `openspec`, `speckit`, `git`, `claude-code-hook`, `jsonl`, …;
    `evidence` is what it saw, in a few words, for people: `openspec/changes/add-search/tasks.md: 4 of 8 checked`.
    """

    id: Name
    change_id: Name
    at: Moment
    what: Happening
    session: Name | None = None
    agent: Agent | None = None
    source: Name = "cli"
    evidence: Text | None = None


class PhaseSpan(Struct, frozen=True):
    """One stretch of time in a phase; `iteration` counts from 1 per phase. `completed_at` is None while it lasts."""

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
    """What the events of one deliverable amount to."""

    change_id: str
    status: Status
    started_at: float
    updated_at: float
    completed_at: float | None = None
    description: str | None = None
    type: str | None = None
    complexity: Complexity | None = None
    spec_source: SpecSource | None = None
    agent: Agent | None = None
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
    settled: bool = False
    """Whether it was said how it ended; a deliverable is completed as well once its archive phase is over."""
