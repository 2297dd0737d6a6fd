"""Law of event fields: whoever changes one changes what the events amount to, or it is listed here, with its reason."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import aurora_schemas
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_lines import event_document, events_of
from aurora_deliverables.event_request import SPELLED
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Criterion,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    Iterated,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    Renamed,
    Revived,
    SessionJoined,
    SpecChecked,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.reducer import fold
from tests.orchestration.deliverables.event_values import changed, leaves, other, value_at
from tests.orchestration.logs import NINE, begin, log, logs
from tests.shares import examples

SAMPLES: list[EventBody] = [
    Started(
        "Add search",
        "feature",
        "simple",
        SpecSource("jira", "A-1", 8),
        AgentIdentity("bot", "m-1", "cli"),
        "Ann",
        "run",
    ),
    PhaseStarted("design"),
    PhaseEnded("apply"),
    TasksCounted(8, 4),
    ToolCalled("bash", 3, True, 2.0),
    TokensUsed(100, 20, 5, 0.5, "m-2", "here", 3.0, 200),
    RecoveryBegan("tests fail", "regression", False, 60.0, 1),
    Iterated(),
    SessionJoined("s-1"),
    HumanIntervened(60.0, "asked", 2),
    Conformed(3, 4, None, 0.5, 1, None, 0.75, 0.5),
    Conformed(functional=0.75, constraints=0.75),
    TestsRan(3, 1, None, "pytest"),
    TestsRan(succeeded=True),
    SpecChecked((Criterion("requirement", "Full-text search", True, "test", "specs/a.md:3"),)),
    Ended("failed", "incomplete", "given up"),
    Ended("completed", deliverable_failed=False),
    Revived(),
    Renamed("find-products"),
]

SILENT = {
    (ToolCalled, "succeeded"): "told to spans; a call that failed was a call",
    (ToolCalled, "duration_seconds"): "told to spans; time is counted by phases, not by calls",
    (TokensUsed, "provider"): "told to spans; a deliverable has a model, not a provider",
    (TokensUsed, "duration_seconds"): "told to spans; time is counted by phases, not by calls",
    (RecoveryBegan, "reason"): "for people: it is shown with the event",
    (RecoveryBegan, "failure_type"): "of this rework; a deliverable's own is that of its end",
    (HumanIntervened, "note"): "for people: it is shown with the event",
    (TestsRan, "command"): "for people: it is shown with the event",
    (Ended, "reason"): "for people: it is shown with the event",
    (Event, "source"): "who noticed; what happened is the same",
    (Event, "evidence"): "for people: it is shown with the event",
}
"""Fields that nothing is computed from, and why they are kept."""


def amount(what: EventBody, **envelope: object) -> Deliverable | None:
    """What a deliverable amounts to that begins, is applied, and of which then `what` is told."""
    around = log((0, begin("apply")), (10, ToolCalled("edit", 5)), (30, Ended("completed")))
    event = Event("what", "add-search", NINE + 20 * 60, what)
    if isinstance(what, Ended):
        around.pop()
    if isinstance(what, PhaseEnded):
        around.insert(1, replace(around[0], id="planned", at=around[0].at - 60, what=begin("propose")))
    return fold([*around, replace(event, **envelope)])


def cases() -> list[tuple[type, str]]:
    """Every field of every event, and those of the envelope that are the same for each."""
    bodies = [(kind, ".".join(place)) for kind in get_args(EventBody) for place, _ in leaves(kind)]
    return [*bodies, *((Event, name) for name in ("at", "session", "agent", "source", "evidence"))]


@pytest.mark.parametrize(("kind", "field"), cases(), ids=str)
def test_a_field_that_changes_changes_the_state_or_says_why_not(kind: type, field: str) -> None:
    counts = any(_told(kind, field))
    assert counts != ((kind, field) in SILENT), (
        f"{kind.__name__}.{field} changes nothing: let the reducer count it, or list it with its reason"
        if not counts
        else f"{kind.__name__}.{field} counts by now: it is listed as what does not"
    )


def _told(kind: type, field: str) -> list[bool]:
    """Whether another value of the field changes what each sample amounts to."""
    if kind is Event:
        values = {
            "at": NINE + 15 * 60,
            "session": "s-1",
            "agent": AgentIdentity("bot"),
            "source": "git",
            "evidence": "seen",
        }
        return [amount(Iterated()) != amount(Iterated(), **{field: values[field]})]
    place = tuple(field.split("."))
    annotation = dict(leaves(kind))[place]
    samples = [each for each in SAMPLES if type(each) is kind]
    assert samples, f"give a sample of {kind.__name__}"
    return [amount(each) != amount(changed(each, place, other(annotation, value_at(each, place)))) for each in samples]


@settings(deadline=None, max_examples=examples(30))
@given(logs())
def test_lines_of_any_log_are_valid_under_the_schema(events: list[Event]) -> None:
    schema = Draft202012Validator(aurora_schemas.load("deliverable-event"))
    for event in events:
        line = event_document(event)
        assert schema.is_valid(line), line
        assert events_of([json.dumps(line)]) == ([event], [])
        wrong = line.get("what", line)
        wrong["event" if "what" in line else "event_type"] = "explode"
        assert not schema.is_valid(line)


def test_what_is_listed_exists() -> None:
    assert set(SILENT) <= set(cases()) and all(SILENT.values())
    assert set(get_args(EventBody)) == {type(each) for each in SAMPLES}
    for kind, name in SPELLED:
        assert name in kind.__struct_fields__
