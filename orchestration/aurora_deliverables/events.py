"""Events of a deliverable: the tagged union of what can happen to it, one struct each (AURA-M §3–5).

A field stands here and nowhere else: the request (`event_request.py`), the command line, the tool of `aurora mcp`, the
JSON Schema and the editor's types (`docs/generate/events.py`) are made of these structs; what it means is the
reducer's. Times are Unix seconds. What is not known is None, never 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from aurora_deliverables.choices import Complexity, FailureType, Kind, Outcome, Phase

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+\Z")]
"""One line that something is called by."""

Text = Annotated[str, Meta(max_length=4000, extra={"redact": True})]
"""What people and agents write: kept for good, so a request loses what looks like a password, key or token in it."""

Reference = Annotated[str, Meta(max_length=4000)]
"""A name elsewhere, kept as it is: a path, a ticket."""

Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Share = Annotated[float, Meta(ge=0, le=1)]
Moment = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
"""Unix seconds, up to the year 9999."""


class SpecSource(Struct, frozen=True, omit_defaults=True):
    """Source that the spec came from: `openspec`, `speckit`, `markdown`, `github-issue`, `jira`, `prompt`, …"""

    framework: Annotated[
        Name | None, Meta(description="Where the spec is from: openspec, jira, markdown, prompt, …")
    ] = None
    spec_id: Annotated[Reference | None, Meta(description="The spec within that: a folder, a ticket, a file.")] = None
    requirements_count: Annotated[Count | None, Meta(description="How many requirements the spec has.")] = None


class AgentIdentity(Struct, frozen=True, omit_defaults=True):
    """Agent that does the work."""

    name: Annotated[Name | None, Meta(description="Who did it.")] = None
    model: Annotated[Name | None, Meta(description="The agent's model.")] = None
    framework: Annotated[Name | None, Meta(description="What the agent runs in.")] = None


class Started(Struct, frozen=True, omit_defaults=True, tag="deliverable_start", tag_field="event"):
    """A deliverable begins, or more becomes known of one that has begun: what is not None replaces what was said."""

    description: Annotated[Text | None, Meta(description="What it is, in a sentence.")] = None
    type: Annotated[
        Name | None, Meta(description="feature, bugfix, refactoring, docs, chore, or what the team calls it.")
    ] = None
    complexity: Annotated[Complexity | None, Meta(description="How hard it looks.")] = None
    spec_source: Annotated[SpecSource | None, Meta(description="Where the spec came from.")] = None
    agent: Annotated[AgentIdentity | None, Meta(description="Who will do the work.")] = None
    author: Annotated[Name | None, Meta(description="The person who proposed it.")] = None
    kind: Annotated[
        Kind | None, Meta(description="A change to software, or a run: a question, which no delivery metric counts.")
    ] = None


class PhaseStarted(Struct, frozen=True, omit_defaults=True, tag="phase_start", tag_field="event"):
    """A phase begins; the one before ends with it."""

    phase: Annotated[Phase, Meta(description="The phase.")]


class PhaseEnded(Struct, frozen=True, omit_defaults=True, tag="phase_end", tag_field="event"):
    """A phase ends, and none begins yet."""

    phase: Annotated[Phase, Meta(description="The phase.")]


class TasksCounted(Struct, frozen=True, omit_defaults=True, tag="tasks", tag_field="event"):
    """Counts of tasks that are planned and done now: absolute numbers, so that a count can be repeated."""

    total: Annotated[Count | None, Meta(description="How many there are.")] = None
    completed: Annotated[Count | None, Meta(description="How many are done now.")] = None


UNNAMED_TOOL = "unknown"
"""What calls are counted under of which nobody told the tool."""


class ToolCalled(Struct, frozen=True, omit_defaults=True, tag="tool_call", tag_field="event"):
    """A tool was called `count` times; `succeeded` is None where nobody knows."""

    tool: Annotated[Name, Meta(description="The tool that was called.")]
    count: Annotated[Count, Meta(description="How many times.")] = 1
    succeeded: Annotated[bool | None, Meta(description="Whether it went well.")] = None
    duration_seconds: Annotated[Amount | None, Meta(description="How long it took.")] = None


class TokensUsed(Struct, frozen=True, omit_defaults=True, tag="tokens", tag_field="event"):
    """Tokens of one or more model calls, to be added up; `cost_usd` where prices are known.

    `total_tokens` is told where it is more than is known to have gone in and come out.
    """

    input_tokens: Annotated[Count | None, Meta(description="Input tokens.")] = None
    output_tokens: Annotated[Count | None, Meta(description="Output tokens.")] = None
    cached_tokens: Annotated[Count, Meta(description="Input tokens that came from a cache.")] = 0
    cost_usd: Annotated[Amount | None, Meta(description="What they cost, in US dollars.")] = None
    model: Annotated[Name | None, Meta(description="The model that was called.")] = None
    provider: Annotated[Name | None, Meta(description="Who ran the model.")] = None
    duration_seconds: Annotated[Amount | None, Meta(description="How long it took.")] = None
    total_tokens: Annotated[
        Count | None, Meta(description="All of them, where that is more than is known to have gone in and come out.")
    ] = None


class RecoveryBegan(Struct, frozen=True, omit_defaults=True, tag="recovery", tag_field="event"):
    """Rework after a failure: from here to the end of the apply phase under way (or next), time in phases is recovery.

    `untimed` where only that there was one is told, not when: it is counted, and the recovery time is not known.
    `duration_seconds` where it is over and other work goes on: so much, and `tool_calls` of those told, were rework.
    """

    reason: Annotated[Text | None, Meta(description="What went wrong.")] = None
    failure_type: Annotated[FailureType | None, Meta(description="Of what kind that was.")] = None
    untimed: Annotated[bool, Meta(description="It is over, and nobody knows how long it took.")] = False
    duration_seconds: Annotated[Amount | None, Meta(description="It is over, and took so long.")] = None
    tool_calls: Annotated[Count, Meta(description="How many of the calls told so far it took, once it is over.")] = 0


class Iterated(Struct, frozen=True, omit_defaults=True, tag="iteration", tag_field="event"):
    """Iteration, one more apply cycle, where phases do not tell."""


class SessionJoined(Struct, frozen=True, omit_defaults=True, tag="session", tag_field="event"):
    """A session works on it."""

    session: Annotated[Name, Meta(description="The session that works on it.")]


class HumanIntervened(Struct, frozen=True, omit_defaults=True, tag="intervention", tag_field="event"):
    """A person had to step in, `count` times; `waited_seconds` is how long the work stood still for it.

    A count of 0 says that nobody had to so far, which is more than saying nothing.
    """

    waited_seconds: Annotated[Amount | None, Meta(description="How long the work stood still for it.")] = None
    note: Annotated[Text | None, Meta(description="What was decided.")] = None
    count: Annotated[Count, Meta(description="How many times.")] = 1


class Conformed(Struct, frozen=True, omit_defaults=True, tag="conformance", tag_field="event"):
    """Conformance as it was measured against the spec; what is None here keeps what was said before (AURA-M §2.5.1).

    `iteration_penalty` and `overall` are told only by who scored the work elsewhere: otherwise they are computed.
    """

    completed_requirements: Annotated[Count | None, Meta(description="Requirements that are met.")] = None
    total_requirements: Annotated[Count | None, Meta(description="Requirements there are.")] = None
    functional: Annotated[Share | None, Meta(description="The share that is met, where it is not counted.")] = None
    correctness: Annotated[Share | None, Meta(description="How correct it is, 0 to 1.")] = None
    constraint_violations: Annotated[Count | None, Meta(description="Constraints that were violated.")] = None
    constraints: Annotated[
        Share | None, Meta(description="Adherence to constraints, where violations are not counted.")
    ] = None
    iteration_penalty: Annotated[
        Share | None, Meta(description="The score of its iterations, where it was scored elsewhere.")
    ] = None
    overall: Annotated[Share | None, Meta(description="The overall score, where it was scored elsewhere.")] = None


class TestsRan(Struct, frozen=True, omit_defaults=True, tag="tests", tag_field="event"):
    """A test run, as hooks or CI saw it."""

    passed: Annotated[Count | None, Meta(description="Tests that passed.")] = None
    failed: Annotated[Count | None, Meta(description="Tests that failed.")] = None
    succeeded: Annotated[bool | None, Meta(description="How the run ended.")] = None
    command: Annotated[Text | None, Meta(description="What was run.")] = None


MAX_CRITERIA = 2000
"""Requirements and constraints of one spec that are looked at."""


class Criterion(Struct, frozen=True, omit_defaults=True):
    """Requirement or constraint of a spec, and whether it is met: None where nothing tells.

    `by` says what tells, `evidence` where that is: `specs/search/spec.md:3; tests/test_search.py:12 passed`.
    """

    kind: Annotated[Literal["requirement", "constraint"], Meta(description="What is wanted, or what must not be.")]
    name: Annotated[Name, Meta(description="What the spec calls it.")]
    met: Annotated[bool | None, Meta(description="Whether it is met.")] = None
    by: Annotated[Literal["test", "task"] | None, Meta(description="What tells.")] = None
    evidence: Annotated[Text | None, Meta(description="Where it stands, and what shows whether it is met.")] = None


class SpecChecked(Struct, frozen=True, omit_defaults=True, tag="spec_check", tag_field="event"):
    """The spec's requirements and constraints were looked at, all of them: what was found before no longer counts.

    Nobody need tell it: it is noticed. What people tell with `conformance` counts above it.
    """

    criteria: Annotated[
        Annotated[tuple[Criterion, ...], Meta(max_length=MAX_CRITERIA)],
        Meta(description="Every requirement and constraint of the spec."),
    ]


class Ended(Struct, frozen=True, omit_defaults=True, tag="deliverable_end", tag_field="event"):
    """A deliverable is completed (archived, accepted) or failed (abandoned, below the threshold).

    `deliverable_failed` is told of one that was judged elsewhere: completed and yet failed is what was accepted below
    its threshold (AURA-M §2.3). None leaves it to the status, the failure type and the conformance.
    """

    status: Annotated[Outcome, Meta(description="How it ended.")]
    failure_type: Annotated[FailureType | None, Meta(description="Why it failed, in AURA's words.")] = None
    reason: Annotated[Text | None, Meta(description="Why, in yours.")] = None
    deliverable_failed: Annotated[
        bool | None, Meta(description="Whether it counts as failed, where it was judged elsewhere.")
    ] = None
    withdrawn: Annotated[
        bool, Meta(description="Nobody wants it any more: a duplicate, not planned. Neither delivered nor failed.")
    ] = False


class Revived(Struct, frozen=True, omit_defaults=True, tag="revival", tag_field="event"):
    """A deliverable that was over goes on: its end no longer counts, and it is in the phase again that it was in."""


class Renamed(Struct, frozen=True, omit_defaults=True, tag="rename", tag_field="event"):
    """A deliverable has another name from here on; it is known by both, and stays the same one."""

    name: Annotated[Name, Meta(description="What it is called now.")]


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
    | SpecChecked
    | Ended
    | Revived
    | Renamed
)
"""Body of an event; one line of JSON says which by its `event`."""


class Event(Struct, frozen=True, omit_defaults=True):
    """Event of one deliverable, idempotent: the same `id` twice is one event.

    `source` says who noticed: `cli`, `lsp`, `openspec`, `speckit`, `git`, `claude-code-hook`, `jsonl`, …;
    `evidence` is what it saw, in a few words, for people: `openspec/changes/add-search/tasks.md: 4 of 8 checked`.
    """

    id: Annotated[Name, Meta(description="The same id twice is one event.")]
    change_id: Annotated[Name, Meta(description="The deliverable's name.")]
    at: Annotated[Moment, Meta(description="When it happened.")]
    what: Annotated[EventBody, Meta(description="What happened.")]
    session: Annotated[Name | None, Meta(description="The session it happened in.")] = None
    agent: Annotated[AgentIdentity | None, Meta(description="Who did it.")] = None
    source: Annotated[Name, Meta(description="Who noticed: cli, lsp, openspec, git, claude-code-hook, jsonl, …")] = (
        "cli"
    )
    evidence: Annotated[Text | None, Meta(description="What shows it, in a few words.")] = None
