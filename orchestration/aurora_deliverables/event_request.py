"""Requests of `aurora/deliverable` (AURA-M §3–5), made of the events they record: an envelope, and the fields of one
event's body, flat.

`ACTIONS` says which event an action records; its fields come from the struct of that event, so one that is added there
can be told by every client. Refusals here are of requests alone: what the log has is read as it is. Pure: time and ids
are arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from aurora_deliverables import InvalidRequest
from aurora_deliverables.choices import EventAction, Kind, Status
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    Iterated,
    Name,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    Renamed,
    Revived,
    SessionJoined,
    Started,
    TasksCounted,
    TestsRan,
    Text,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.evidence import redact
from aurora_deliverables.timestamps import seconds_of
from aurora_protocol import typed

MAX_INGEST_LINES = 5000
"""Of one request; whoever has more sends several, each of which is on disk when it is answered."""

MAX_COUNT = 1_000_000
"""Calls or interventions that one request may tell."""

IngestFormat = Literal["auto", "claude-code-hook", "junit"]
Limit = Annotated[int, Meta(ge=1, le=100_000, description="At most so many, the latest.")]


class DeliverableRequest(Struct, frozen=True, kw_only=True, tag_field="action"):
    """Envelope of every request; without `change_id` the only open deliverable is meant."""

    change_id: Annotated[Name | None, Meta(description="The deliverable; without, the only open one.")] = None
    workspace: Annotated[
        str | None, Meta(description="A folder of the session, by path, URI or name, where it has several.")
    ] = None


class EventRequest(DeliverableRequest, frozen=True, kw_only=True):
    """Envelope of a request that records an event: the same `event_id` twice is one event."""

    action: ClassVar[EventAction]

    event_id: Annotated[Name | None, Meta(description="The same id twice is one event.")] = None
    at: Annotated[
        str | None, Meta(description="When it happened (ISO 8601, UTC where it names no zone); now where it is absent.")
    ] = None
    session: Annotated[Name | None, Meta(description="The session it happened in.")] = None
    agent: Annotated[Name | None, Meta(description="Who did it.")] = None
    model: Annotated[Name | None, Meta(description="The agent's model.")] = None
    agent_framework: Annotated[Name | None, Meta(description="What the agent runs in.")] = None
    evidence: Annotated[Text | None, Meta(description="What shows it, in a few words.")] = None


class ShowRequest(DeliverableRequest, frozen=True, kw_only=True, tag="show"):
    """A deliverable's state (AURA-M §5.1)."""


class ListRequest(DeliverableRequest, frozen=True, kw_only=True, tag="list"):
    """The states of all, the latest first: `{"deliverables": […], "total", "names", "agents": […], "models": […]}`.

    `total` counts what is asked for before `offset` and `limit`; `names` are those that renamed ones have now,
    by their `change_id`; agents and models are those of all that there are.
    """

    status: Annotated[Literal[Status, "open"] | None, Meta(description="Only these; `open` is what has not ended.")] = (
        None
    )
    kind: Annotated[Kind | None, Meta(description="`run` lists questions, which are no deliverables.")] = None
    search: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Meta(description="Words that its name, description, author, agent or model has, each."),
    ] = None
    agent: Annotated[Name | None, Meta(description="Only this agent's; `unknown` where nobody told.")] = None
    model: Annotated[Name | None, Meta(description="Only this model's; `unknown` where nobody told.")] = None
    since: Annotated[str | None, Meta(description="Only what was under way at this time or later (ISO 8601).")] = None
    until: Annotated[str | None, Meta(description="Only what was under way at this time or before (ISO 8601).")] = None
    offset: Annotated[int, Meta(ge=0, le=10_000_000, description="Leave out so many of the latest.")] = 0
    limit: Limit = 1000


class EventsRequest(DeliverableRequest, frozen=True, kw_only=True, tag="events"):
    """The events of one, oldest first: `{"change_id", "events": […], "total"}`."""

    limit: Limit = 1000


class ExportRequest(DeliverableRequest, frozen=True, kw_only=True, tag="export"):
    """The final record of one that has ended (AURA-M §5.2), else its state."""


class CriteriaRequest(DeliverableRequest, frozen=True, kw_only=True, tag="criteria"):
    """Criteria of its spec: what it asks for, whether that is met and what shows it.

    `{"change_id", "name", "status", "conformance", "criteria", "gaps"}`; `gaps` is what of the metrics
    nothing tells of it, each with what would.
    """


class IngestRequest(DeliverableRequest, frozen=True, kw_only=True, tag="ingest"):
    """Events, documents or issues from elsewhere, by `lines` or a `document`.

    `{"accepted", "duplicates", "refused": [{"event_id", "line" or "issue", "reason"}], "change_ids", "notes"}`: notes
    are sentences on what was left out without being wrong.
    """

    format: Annotated[IngestFormat, Meta(description="`auto` tells documents by their form.")] = "auto"
    lines: Annotated[
        Annotated[list[str], Meta(max_length=MAX_INGEST_LINES)] | None,
        Meta(description="JSON, an event each (AURA-M §5.3)."),
    ] = None
    document: Annotated[
        Any,
        Meta(description="A deliverable's document, an issue, several of either, a hook's payload, or JUnit's XML."),
    ] = None
    at: Annotated[
        str | None, Meta(description="When the tests of a JUnit report ended, where the report does not say.")
    ] = None


class ActionSpec(Struct, frozen=True):
    """Row of `ACTIONS`: the event that an action records, and what it is, in a sentence.

    `words` are the members that a person says without their names; `fixed` are fields that the action itself says;
    with `ending` true, `end` in a request records `ending` instead.
    """

    body: type[EventBody]
    said: str
    words: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = {}
    ending: type[PhaseEnded] | None = None


ACTIONS: Mapping[EventAction, ActionSpec] = {
    "start": ActionSpec(Started, "Begin a deliverable, or say more of one that has begun."),
    "phase": ActionSpec(
        PhaseStarted,
        "Begin a PHASE (propose, specs, design, tasks, apply, verify, archive); the one before ends with it.",
        words=("phase",),
        ending=PhaseEnded,
    ),
    "task": ActionSpec(TasksCounted, "Say how many tasks are planned and done."),
    "tool-call": ActionSpec(ToolCalled, "Count calls of a TOOL.", words=("tool",)),
    "tokens": ActionSpec(TokensUsed, "Add tokens and their cost."),
    "recovery": ActionSpec(RecoveryBegan, "Rework begins after a failure."),
    "iterate": ActionSpec(Iterated, "Count one more apply cycle, where phases do not tell."),
    "session": ActionSpec(SessionJoined, "A SESSION works on it.", words=("session",)),
    "intervention": ActionSpec(
        HumanIntervened, "A person had to step in; a count of 0 says that nobody had to so far."
    ),
    "conform": ActionSpec(Conformed, "Say how it conforms to its spec; what is left out keeps what was said before."),
    "tests": ActionSpec(TestsRan, "A test run ended."),
    "complete": ActionSpec(
        Ended, "It is accepted and archived; its five numbers are printed.", fixed={"status": "completed"}
    ),
    "fail": ActionSpec(Ended, "It is abandoned, or not good enough.", fixed={"status": "failed"}),
    "revive": ActionSpec(Revived, "It goes on after all: what was said of its end no longer counts."),
    "rename": ActionSpec(Renamed, "It is called NAME from here on, and stays the same deliverable.", words=("name",)),
}

SPELLED: Mapping[tuple[type[Struct], str], str] = {
    (AgentIdentity, "name"): "agent",
    (AgentIdentity, "framework"): "agent_framework",
    (Conformed, "completed_requirements"): "completed",
    (Conformed, "total_requirements"): "total",
}
"""Fields that requests call otherwise than the log does."""


class RequestMember(Struct, frozen=True):
    """A member of a request that belongs to its event: its name on the wire, its type, what it is where not given.

    `required` where the event needs it: absent, it is None here, and refused in a sentence.
    """

    name: str
    annotation: Any
    default: Any
    required: bool


@cache
def members(action: EventAction) -> tuple[RequestMember, ...]:
    """What an action takes beside the envelope: the fields of its event, those of structs within it among them."""
    spec = ACTIONS[action]
    found = [each for each in _flat(spec.body) if each.name not in spec.fixed]
    if spec.ending is not None:
        said = Meta(description="It ends, and none begins yet.")
        found.append(RequestMember("end", Annotated[bool, said], False, False))
    return tuple(found)


@cache
def request_of(action: EventAction) -> type[EventRequest]:
    """The struct of an action's requests."""
    envelope = {field.name for field in msgspec.structs.fields(EventRequest)}
    kind = msgspec.defstruct(
        f"{''.join(word.capitalize() for word in action.split('-'))}Request",
        [(each.name, each.annotation, each.default) for each in members(action) if each.name not in envelope],
        bases=(EventRequest,),
        namespace={"__doc__": ACTIONS[action].said, "action": action},
        frozen=True,
        kw_only=True,
        tag=action,
    )
    assert issubclass(kind, EventRequest), "it is made as one"
    return kind


LOOKS: tuple[type[DeliverableRequest], ...] = (
    ShowRequest,
    ListRequest,
    EventsRequest,
    ExportRequest,
    CriteriaRequest,
    IngestRequest,
)


@cache
def request_types() -> Mapping[str, type[DeliverableRequest]]:
    """Every request's struct by its action."""
    return {**{action: request_of(action) for action in ACTIONS}, **{str(_tag(each)): each for each in LOOKS}}


def read_request(params: object) -> DeliverableRequest:
    """The params of a request as what they ask. Raises msgspec.ValidationError."""
    union = reduce(or_, request_types().values())
    found: DeliverableRequest = typed.convert({} if params is None else params, union)
    return found


def event_of(request: EventRequest, change_id: str, *, new_id: str, now: float, source: str) -> Event:
    """The event that a request records. Raises InvalidRequest that names what is missing, or cannot be."""
    spec = ACTIONS[request.action]
    told = _told(request)
    missing = next((each for each in members(request.action) if each.required and told[each.name] is None), None)
    if missing is not None:
        raise InvalidRequest(_missing(missing))
    kind = spec.ending if spec.ending is not None and told["end"] else spec.body
    body = _settled(_built(kind, {**told, **spec.fixed}))
    refused = complaint(body)
    if refused is not None:
        raise InvalidRequest(refused)
    return Event(
        id=request.event_id or new_id,
        change_id=change_id,
        at=now if request.at is None else moment(request.at, "at"),
        what=body,
        session=None if isinstance(body, SessionJoined) else request.session,
        agent=_or_none(_built(AgentIdentity, told)),
        source=source,
        evidence=told["evidence"],
    )


def complaint(body: EventBody) -> str | None:
    """Why a request cannot mean this; None where it can."""
    match body:
        case TasksCounted(total=None, completed=None):
            return "give `completed`, `total` or both: how many tasks are done, and how many there are"
        case TasksCounted(total=int(total), completed=int(completed)) if completed > total:
            return f"{completed} of {total} tasks cannot be completed"
        case TokensUsed(input_tokens=None, output_tokens=None, cached_tokens=0, cost_usd=None, total_tokens=None):
            return "give `input_tokens`, `output_tokens`, `cached_tokens` or `cost_usd`"
        case TestsRan(passed=None, failed=None, succeeded=None):
            return "give `passed` and `failed`, or `succeeded`: how the test run ended"
        case Conformed() if body == Conformed():
            return (
                "give `completed` and `total` requirements or `functional`, `correctness`, "
                "`constraint_violations` or `constraints`"
            )
        case Conformed(completed_requirements=int(completed), total_requirements=int(total)) if completed > total:
            return f"{completed} of {total} requirements cannot be completed"
        case ToolCalled(count=count) | HumanIntervened(count=count) if count > MAX_COUNT:
            return f"`count` is {count:,}; tell at most {MAX_COUNT:,} at once"
    return None


def moment(given: str, field: str) -> float:
    """An ISO 8601 time as Unix seconds; UTC where it names no zone. Raises InvalidRequest that names the field."""
    try:
        return seconds_of(given)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(f"`{field}` is {given[:100]!r}; write a time as 2026-02-26T10:00:00Z") from error


def _settled(body: EventBody) -> EventBody:
    """Of tokens, whoever tells some has told all; who tells a cost alone has not said that there were none."""
    if not isinstance(body, TokensUsed):
        return body
    given, out = body.input_tokens or 0, body.output_tokens or 0
    told = bool(given or out or body.cached_tokens)
    return msgspec.structs.replace(body, input_tokens=given if told else None, output_tokens=out if told else None)


def description_of(annotation: Any) -> str:
    """A field's own words."""
    return str(next(meta.description for meta in reversed(_metas(annotation)) if meta.description))


def choices_of(annotation: Any) -> tuple[str, ...]:
    """What a field may be, in its own order; empty where it is no choice."""
    inner = get_args(annotation)
    if inner and all(isinstance(each, str) for each in inner):
        return inner
    return next((found for each in inner if not isinstance(each, Meta | str) and (found := choices_of(each))), ())


def _missing(member: RequestMember) -> str:
    """Error message for a required field that is missing, with its choices."""
    said, choices = description_of(member.annotation), choices_of(member.annotation)
    listed = f"; it is one of {', '.join(choices)}" if choices else ""
    return f"`{member.name}` is missing: {said[0].lower()}{said[1:].rstrip('.')}{listed}"


def _told(request: EventRequest) -> dict[str, Any]:
    """A request's members, their texts without what looks like a secret."""
    fields = {field.name: field.type for field in msgspec.structs.fields(type(request))}
    told = {name: getattr(request, name) for name in fields}
    return {name: redact(value) if value and _is_text(fields[name]) else value for name, value in told.items()}


def _flat(kind: type[Struct]) -> Iterator[RequestMember]:
    """Fields of an event's struct, nested structs flattened (reflection)."""
    for field in msgspec.structs.fields(kind):
        inner = _struct_in(field.type)
        if inner is not None:
            yield from _flat(inner)
            continue
        default: Any = None if field.required else field.default
        annotation: Any = field.type | None if field.required else field.type
        yield RequestMember(SPELLED.get((kind, field.name), field.name), annotation, default, field.required)


def _built(kind: Any, told: Mapping[str, Any]) -> Any:
    """A struct of the members that belong to it."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        inner = _struct_in(field.type)
        if inner is not None:
            fields[field.name] = _or_none(_built(inner, told))
            continue
        fields[field.name] = told[SPELLED.get((kind, field.name), field.name)]
    return kind(**fields)


def _or_none(struct: Any) -> Any:
    """None in place of a struct that says nothing."""
    return struct if struct != type(struct)() else None


def _struct_in(annotation: Any) -> type[Struct] | None:
    """The struct of a field that holds one, or none."""
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, Struct) else None
    return next((found for each in get_args(annotation) if (found := _struct_in(each))), None)


def _metas(annotation: Any) -> list[Meta]:
    found = [each for each in get_args(annotation) if isinstance(each, Meta)]
    inner = [meta for each in get_args(annotation) if not isinstance(each, Meta | str) for meta in _metas(each)]
    return inner + found


def _is_text(annotation: Any) -> bool:
    return any(meta.extra and meta.extra.get("redact") for meta in _metas(annotation))


def _tag(kind: type[Struct]) -> object:
    return kind.__struct_config__.tag
