"""Deliverable actions: from an action of `aurora/deliverable` to the event that it records. Pure: time and ids are
arguments.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from aurora_deliverables.detection.evidence import redact
from aurora_deliverables.events import (
    Agent,
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    Iterated,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_protocol.deliverable_methods import DeliverableParams
from aurora_server.session.errors import INVALID_PARAMS, RequestError

TEXTS = ("description", "reason", "note", "evidence", "command")
"""What people and agents write: kept for good, so without what looks like a password, key or token."""


def event_of(params: DeliverableParams, change_id: str, *, new_id: str, now: float, source: str) -> Event:
    """The event that an action from `start` to `fail` records. Raises RequestError that names what is missing."""
    params = _without_secrets(params)
    return Event(
        id=params.event_id or new_id,
        change_id=change_id,
        at=now if params.at is None else moment(params.at, "at"),
        what=_happening(params),
        session=params.session if params.action != "session" else None,
        agent=_agent(params),
        source=source,
        evidence=params.evidence,
    )


def _without_secrets(params: DeliverableParams) -> DeliverableParams:
    said = {name: text for name in TEXTS if (text := getattr(params, name)) is not None}
    return replace(params, **{name: redact(text) for name, text in said.items()})


def moment(given: str, field: str) -> float:
    """An ISO 8601 time as Unix seconds; UTC where it names no zone. Raises RequestError that names the field."""
    try:
        parsed = datetime.fromisoformat(given)
        return (parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise invalid(f"`{field}` is {given[:100]!r}; write a time as 2026-02-26T10:00:00Z") from error


def invalid(message: str) -> RequestError:
    """The error for params that have the right shape and do not make sense."""
    return RequestError(INVALID_PARAMS, f"invalid params: {message}")


def _happening(params: DeliverableParams) -> EventBody:
    match params.action:
        case "start":
            return Started(
                description=params.description,
                type=params.type,
                complexity=params.complexity,
                spec_source=_spec_source(params),
                agent=_agent(params),
            )
        case "phase":
            if params.phase is None:
                raise invalid(
                    "`phase` is missing; the phases are propose, specs, design, tasks, apply, verify, archive"
                )
            return PhaseEnded(params.phase) if params.end else PhaseStarted(params.phase)
        case "task":
            if params.total is None and params.completed is None:
                raise invalid("give `completed`, `total` or both: how many tasks are done, and how many there are")
            if params.total is not None and params.completed is not None and params.completed > params.total:
                raise invalid(f"{params.completed} of {params.total} tasks cannot be completed")
            return TasksCounted(total=params.total, completed=params.completed)
        case "tool-call":
            if params.tool is None:
                raise invalid("`tool` is missing; name the tool that was called")
            return ToolCalled(params.tool, params.count, params.succeeded, params.duration_seconds)
        case "tokens":
            return _tokens(params)
        case "recovery":
            return RecoveryBegan(reason=params.reason, failure_type=params.failure_type)
        case "iterate":
            return Iterated()
        case "session":
            if params.session is None:
                raise invalid("`session` is missing; name the session that works on it")
            return SessionJoined(params.session)
        case "intervention":
            return HumanIntervened(waited_seconds=params.waited_seconds, note=params.note, count=params.count)
        case "conform":
            return _conformed(params)
        case "tests":
            if params.passed is None and params.failed is None and params.succeeded is None:
                raise invalid("give `passed` and `failed`, or `succeeded`: how the test run ended")
            return TestsRan(params.passed, params.failed, params.succeeded, params.command)
        case "complete":
            return Ended("completed", reason=params.reason)
        case "fail":
            return Ended("failed", params.failure_type, params.reason)
        case _:
            raise invalid(f"`action` {params.action} records nothing")


def _tokens(params: DeliverableParams) -> TokensUsed:
    used = params.input_tokens + params.output_tokens + params.cached_tokens
    if not used and params.cost_usd is None:
        raise invalid("give `input_tokens`, `output_tokens`, `cached_tokens` or `cost_usd`")
    return TokensUsed(
        # Who tells a cost alone has not said that there were no tokens.
        input_tokens=params.input_tokens if used else None,
        output_tokens=params.output_tokens if used else None,
        cached_tokens=params.cached_tokens,
        cost_usd=params.cost_usd,
        model=params.model,
        provider=params.provider,
        duration_seconds=params.duration_seconds,
    )


def _conformed(params: DeliverableParams) -> Conformed:
    told = Conformed(
        completed_requirements=params.completed,
        total_requirements=params.total,
        functional=params.functional,
        correctness=params.correctness,
        constraint_violations=params.constraint_violations,
        constraints=params.constraints,
    )
    if told == Conformed():
        raise invalid(
            "give `completed` and `total` requirements or `functional`, `correctness`, "
            "`constraint_violations` or `constraints`"
        )
    if params.completed is not None and params.total is not None and params.completed > params.total:
        raise invalid(f"{params.completed} of {params.total} requirements cannot be completed")
    return told


def _agent(params: DeliverableParams) -> Agent | None:
    agent = Agent(params.agent, params.model, params.agent_framework)
    return agent if agent != Agent() else None


def _spec_source(params: DeliverableParams) -> SpecSource | None:
    source = SpecSource(params.framework, params.spec_id, params.requirements_count)
    return source if source != SpecSource() else None
