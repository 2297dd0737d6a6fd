"""Requests that record events: every field of every event can be told, and what cannot be meant is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

import aurora_schemas
from aurora_deliverables import InvalidRequest, choices
from aurora_deliverables.choices import EventAction, LookAction
from aurora_deliverables.event_request import (
    ACTIONS,
    LOOKS,
    EventRequest,
    event_of,
    members,
    moment,
    read_request,
    request_types,
)
from aurora_deliverables.events import (
    AgentIdentity,
    Ended,
    Event,
    EventBody,
    PhaseEnded,
    SessionJoined,
    SpecChecked,
    SpecSource,
    Started,
    TokensUsed,
)
from aurora_deliverables.timestamps import seconds, seconds_of
from tests.orchestration.deliverables.event_values import leaves, other, value_at

SECRET = "password=hunter2secretXYZ"


def told(**params: Any) -> Event:
    request = read_request({"action": "start", "change_id": "one", **params})
    assert isinstance(request, EventRequest)
    return event_of(request, "one", new_id="new", now=5.0, source="test")


def test_an_action_is_a_row_and_an_event_has_an_action() -> None:
    assert tuple(ACTIONS) == get_args(EventAction)
    assert {*request_types()} == {*get_args(EventAction), *get_args(LookAction), "ingest"}
    bodies = {spec.body for spec in ACTIONS.values()} | {spec.ending for spec in ACTIONS.values() if spec.ending}
    noticed = {SpecChecked}  # of a whole spec, by who has read it
    assert bodies | noticed == set(get_args(EventBody)) and not bodies & noticed, "an event that no action records"
    assert len(LOOKS) == len(get_args(LookAction)) + 1


def fields() -> Iterator[tuple[EventAction, tuple[str, ...], str]]:
    """Every field of every event: its action, its place in the body, and what a request calls it."""
    for action, spec in ACTIONS.items():
        named = [each.name for each in members(action) if each.name != "end"]
        places = [place for place, _ in leaves(spec.body) if place[-1] not in spec.fixed]
        yield from ((action, place, name) for place, name in zip(places, named, strict=True))


@pytest.mark.parametrize(("action", "place", "name"), [*fields()], ids=str)
def test_what_is_told_in_a_request_is_in_the_event(action: EventAction, place: tuple[str, ...], name: str) -> None:
    annotation = dict(leaves(ACTIONS[action].body))[place]
    given = other(annotation, None)
    more = {each.name: other(each.annotation, None) for each in members(action) if each.required}
    beside = {"tests": {"passed": 1}, "tokens": {"cost_usd": 1.0}, "conform": {"correctness": 0.1}}.get(action, {})
    if action == "task" and name == "completed":
        beside = {"total": given + 1}
    event = told(action=action, **{**beside, **more, name: given})
    assert value_at(event.what, place) == given


def test_the_envelope_is_told_of_any_event() -> None:
    event = told(
        action="iterate", event_id="e-1", at="2026-02-26T10:00:00Z", session="s-1", agent="bot", model="m-1",
        agent_framework="cli", evidence="seen",
    )  # fmt: skip
    assert (event.id, event.at, event.session) == ("e-1", 1_772_100_000.0, "s-1")
    assert (event.agent, event.evidence, event.source) == (AgentIdentity("bot", "m-1", "cli"), "seen", "test")
    bare = told(action="iterate")
    assert (bare.id, bare.at, bare.session, bare.agent, bare.evidence) == ("new", 5.0, None, None, None)


def test_who_begins_a_deliverable_will_do_it_and_a_session_is_told_once() -> None:
    begun = told(agent="bot", framework="jira")
    assert begun.what == Started(
        spec_source=SpecSource("jira"), agent=AgentIdentity("bot")
    ) and begun.agent == AgentIdentity("bot")
    assert told().what == Started(), "nothing told is nothing, not an agent without a name"
    joined = told(action="session", session="s-1")
    assert (joined.what, joined.session) == (SessionJoined("s-1"), None)


def test_a_phase_begins_or_ends_and_the_end_says_how() -> None:
    assert told(action="phase", phase="apply", end=True).what == PhaseEnded("apply")
    assert told(action="complete").what == Ended("completed")
    assert told(action="fail", failure_type="regression").what == Ended("failed", "regression")


def test_who_tells_some_tokens_has_told_all_and_who_tells_a_cost_none() -> None:
    assert told(action="tokens", input_tokens=5).what == TokensUsed(5, 0)
    assert told(action="tokens", cached_tokens=5).what == TokensUsed(0, 0, 5)
    assert told(action="tokens", cost_usd=0.5).what == TokensUsed(cost_usd=0.5)
    assert told(action="tokens", input_tokens=0, output_tokens=0, cost_usd=0.5).what == TokensUsed(cost_usd=0.5)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"action": "phase"}, "`phase` is missing: the phase; it is one of propose, specs"),
        ({"action": "tool-call"}, "`tool` is missing: the tool that was called"),
        ({"action": "session"}, "`session` is missing: the session that works on it"),
        ({"action": "task"}, "give `completed`, `total` or both"),
        ({"action": "task", "completed": 9, "total": 3}, "9 of 3 tasks"),
        ({"action": "tokens"}, "give `input_tokens`"),
        ({"action": "tokens", "input_tokens": 0}, "give `input_tokens`"),
        ({"action": "tests", "command": "pytest"}, "give `passed` and `failed`, or `succeeded`"),
        ({"action": "conform"}, "give `completed` and `total` requirements"),
        ({"action": "conform", "completed": 3, "total": 2}, "3 of 2 requirements"),
        ({"action": "tool-call", "tool": "bash", "count": 1_000_001}, "`count` is 1,000,001"),
        ({"action": "intervention", "count": 1_000_001}, "`count` is 1,000,001"),
        ({"at": "tomorrow"}, "`at` is 'tomorrow'; write a time as"),
    ],
)
def test_what_cannot_be_meant_is_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        told(**params)


@pytest.mark.parametrize(
    "params",
    [
        {"action": "task", "completed": 3, "total": 3},
        {"action": "conform", "completed": 2, "total": 2},
        {"action": "tool-call", "tool": "bash", "count": 1_000_000},
        {"action": "intervention", "count": 0},
        {"action": "tests", "succeeded": False},
    ],
)
def test_what_can_just_be_meant_is_taken(params: dict[str, Any]) -> None:
    told(**params)


def test_what_people_write_loses_its_secrets_and_names_stay() -> None:
    kept = told(description=SECRET, spec_id=SECRET, evidence=SECRET)
    assert isinstance(kept.what, Started) and kept.what.spec_source is not None
    assert "hunter2" not in f"{kept.what.description} {kept.evidence}"
    assert kept.what.spec_source.spec_id == SECRET, "a reference that was changed would refer to nothing"
    for action, name in (("recovery", "reason"), ("intervention", "note"), ("tests", "command"), ("fail", "reason")):
        more = {"passed": 1} if action == "tests" else {}
        assert "hunter2" not in repr(told(action=action, **{name: SECRET}, **more))


def test_the_schema_takes_what_the_daemon_takes() -> None:
    schema = aurora_schemas.load("deliverable-event")
    request = Draft202012Validator({"$ref": "#/$defs/Request", "$defs": schema["$defs"]})
    for action in ACTIONS:
        given = {each.name: other(each.annotation, None) for each in members(action)}
        assert request.is_valid({"action": action, "change_id": "one", **given}), action
        for name in given:
            wrong: dict[str, Any] = {"action": action, **given, name: {}}
            assert not request.is_valid(wrong), (action, name)
            with pytest.raises(msgspec.ValidationError):
                read_request(wrong)
    assert not request.is_valid({"action": "explode"})
    assert not request.is_valid({"action": "phase"}) and not request.is_valid({"action": "phase", "phase": None})


def test_choices_of_the_published_schemas_are_ours() -> None:
    state = aurora_schemas.load("deliverable-state")["properties"]
    assert state["status"]["enum"] == list(choices.STATUSES)
    assert state["complexity"]["enum"] == list(choices.COMPLEXITIES)
    assert list(state["phases"]["properties"]) == list(choices.PHASES)
    final = aurora_schemas.load("metrics-output")["properties"]
    failures = final["metrics"]["properties"]["failure_type"]["enum"]
    assert [each for each in failures if each is not None] == list(choices.FAILURE_TYPES)


def test_times_are_read_as_rfc_3339_has_them() -> None:
    noon = moment("2026-02-26T12:00:00Z", "at")
    assert moment("2026-02-26t12:00:00z", "at") == moment("2026-02-26T12:00:00", "at") == noon
    assert seconds("2026-02-26T12:00:00z") == seconds_of("2026-02-26t13:00:00+01:00") == noon
    assert seconds_of("2016-12-31T23:59:60Z") == seconds("2016-12-31T23:59:60z") == seconds_of("2017-01-01T00:00:00Z")
    assert seconds_of("2016-12-31T23:59:60.5Z") == seconds_of("2017-01-01T00:00:00.5Z")
    assert seconds("2026-02-26T12:60:00Z") is None
