"""Events of a deliverable: the tagged union of what can happen to it, one struct each (AURA-M §3–5).

Times are Unix seconds. What is not known is None, never 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from aurora_deliverables.choices import Complexity, FailureType, Phase

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+\Z")]
"""One line that something is called by."""

Text = Annotated[str, Meta(max_length=4000)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Share = Annotated[float, Meta(ge=0, le=1)]
Moment = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
"""Unix seconds, up to the year 9999."""


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


EventBody = (
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
"""Body of an event; one line of JSON says which by its `event`."""


class Event(Struct, frozen=True, omit_defaults=True):
    """One thing that happened to one deliverable. The same `id` twice is one event.

    `source` says who noticed: `cli`, `lsp`, `openspec`, `speckit`, `git`, `claude-code-hook`, `jsonl`, …;
    `evidence` is what it saw, in a few words, for people: `openspec/changes/add-search/tasks.md: 4 of 8 checked`.
    """

    id: Name
    change_id: Name
    at: Moment
    what: EventBody
    session: Name | None = None
    agent: Agent | None = None
    source: Name = "cli"
    evidence: Text | None = None
