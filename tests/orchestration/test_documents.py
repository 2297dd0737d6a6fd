"""Deliverables as documents: valid under our schemas whatever happened, and read again as what they tell."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

import aurora_schemas
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.document_import import UnreadableDocument, read_document, read_published
from aurora_deliverables.documents import metrics_document, published_event, state_document
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    Revived,
    SpecSource,
    Started,
    TasksCounted,
    ToolCalled,
)
from aurora_deliverables.metrics import measure
from aurora_deliverables.reducer import Reducer, fold
from aurora_deliverables.timestamps import seconds_of, timestamp
from tests.documents import documents
from tests.orchestration.logs import NINE, begin, end, log, logs

STATE = Draft202012Validator(
    aurora_schemas.load("deliverable-state"), format_checker=Draft202012Validator.FORMAT_CHECKER
)
FINAL = Draft202012Validator(aurora_schemas.load("metrics-output"), format_checker=Draft202012Validator.FORMAT_CHECKER)


def folded(events: list[Event]) -> Deliverable:
    deliverable = fold(events)
    assert deliverable is not None
    return deliverable


@settings(deadline=None)
@given(logs())
def test_documents_of_any_log_are_valid_and_plain_json(events: list[Event]) -> None:
    deliverable = fold(events)
    if deliverable is None:
        return
    STATE.validate(json.loads(json.dumps(state_document(deliverable), allow_nan=False)))
    if deliverable.completed_at is not None:
        FINAL.validate(json.loads(json.dumps(metrics_document(deliverable), allow_nan=False)))
    else:
        with pytest.raises(ValueError, match="once it has ended"):
            metrics_document(deliverable)


@settings(deadline=None)
@given(logs())
def test_documents_of_any_log_can_be_read_and_tell_their_status_again(events: list[Event]) -> None:
    deliverable = fold(events)
    if deliverable is None:
        return
    state = state_document(deliverable)
    folding = Reducer()
    folding.take(read_document(state))
    again = folding.deliverable()
    assert again is not None and folding.refused == {}
    assert (again.status, again.started_at) == (deliverable.status, deliverable.started_at)
    assert again.tool_calls == deliverable.tool_calls
    assert sorted(again.sessions) == sorted(deliverable.sessions)
    if deliverable.completed_at is not None:
        final = metrics_document(deliverable)
        refolded = Reducer()
        refolded.take(read_document(final))
        told = refolded.deliverable()
        assert told is not None and refolded.refused == {}
        out = metrics_document(told)
        assert {**out, "metrics": None} == {**final, "metrics": None}
        for name in ("conformance", "deliverable_failed", "failure_type"):
            assert out["metrics"].get(name) == final["metrics"].get(name), name


@pytest.mark.parametrize(
    "told",
    [
        (Started(), PhaseStarted("propose"), PhaseStarted("apply"), 1, PhaseEnded("propose"), PhaseStarted("propose")),
        (Started(), PhaseStarted("apply"), PhaseStarted("archive"), 7, PhaseStarted("apply"), 8, PhaseStarted("specs")),
        (Started(), PhaseStarted("archive"), Ended("completed"), 1, Revived()),
    ],
    ids=["two phases at one instant", "an archive that was left", "nothing but archived, and taken up again"],
)
def test_the_state_of_what_began_at_one_instant_is_read_as_it_was(told: tuple[Any, ...]) -> None:
    at, events = 1_772_096_400.0, []
    for n, what in enumerate(told):
        if isinstance(what, int):
            at = 1_772_096_400.0 + what
        else:
            events.append(Event(id=f"e{n}", change_id="add-search", at=at, what=what, source="cli"))
    before, folding = folded(events), Reducer()
    folding.take(read_document(state_document(before)))
    after = folding.deliverable()
    assert after is not None and folding.refused == {}
    assert (after.status, after.current_phase) == (before.status, before.current_phase)


def test_a_phase_that_took_no_time_lies_within_the_one_that_went_on() -> None:
    begun = 1_772_096_400.0
    told = [(0, PhaseStarted("propose")), (0, PhaseStarted("verify")), (0, PhaseEnded("verify"))]
    told += [(1, PhaseStarted("propose")), (1, Ended("completed"))]
    events = [Event(f"e{n}", "x", begun + after, what, source="cli") for n, (after, what) in enumerate(told)]
    state, reducer = state_document(folded(events)), Reducer()
    reducer.take(read_document(state))
    again = reducer.deliverable()
    assert again is not None and reducer.refused == {}
    assert state_document(again)["phases"] == state["phases"]


def test_a_verify_that_took_no_time_lies_between_two_rounds_of_work() -> None:
    told = final(
        {
            "phase_durations": {"propose": 0, "apply": 8, "verify": 0},
            "apply_iterations": 2,
            "recovery_attempts": 1,
        }
    )
    reducer = Reducer()
    reducer.take(read_document(told))
    deliverable = reducer.deliverable()
    assert deliverable is not None and reducer.refused == {}
    assert [span.phase for span in deliverable.spans] == ["propose", "apply", "verify", "apply", "verify"]
    assert deliverable.recovery_seconds == pytest.approx(4, abs=1e-3)
    assert metrics_document(deliverable)["metrics"]["phase_durations"] == {"propose": 0, "apply": 8, "verify": 0}


@settings(deadline=None)
@given(logs())
def test_published_events_come_back_as_they_were(events: list[Event]) -> None:
    for event in events:
        document = published_event(event)
        if document is not None:
            assert read_published(json.loads(json.dumps(document))) == event


@pytest.mark.parametrize("document", documents("deliverable-state"), ids=lambda each: each["change_id"])
def test_the_state_that_another_tool_told_is_reproduced(document: dict[str, Any]) -> None:
    made = state_document(folded(read_document(document)))
    assert made == document
    assert list(made) == list(document), "in the schema's order"


@pytest.mark.parametrize("document", documents("metrics-output"), ids=lambda each: each["change_id"])
def test_the_end_that_another_tool_told_is_reproduced(document: dict[str, Any]) -> None:
    events = read_document(document)
    made = metrics_document(folded(events))
    assert made == document, "its overall score too, which is rounded there"
    assert fold([*events, *read_document(document)]) == fold(events), "read twice is once"


def final(metrics: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    """A final record of an hour with these metrics."""
    return {
        "schema_version": "0.1.0",
        "change_id": "x",
        "started_at": "2026-02-26T09:00:00Z",
        "completed_at": "2026-02-26T10:00:00Z",
        "status": status,
        "metrics": metrics,
    }


_FOUR = {"functional": 0.5, "correctness": 0.8, "constraints": 0.8, "iteration_penalty": 0.5}


@pytest.mark.parametrize(
    ("status", "metrics", "failed", "why"),
    [
        ("completed", {"deliverable_failed": True, "failure_type": "regression"}, True, "regression"),
        ("completed", {"deliverable_failed": True}, True, None),
        ("completed", {"failure_type": "regression"}, True, "regression"),
        ("completed", {"conformance": {**_FOUR, "overall": 0.65}, "deliverable_failed": True}, True, None),
        ("completed", {"conformance": {"overall": 0.5}}, True, None),
        ("completed", {"conformance": {"overall": 0.7}}, False, None),
        ("completed", {"conformance": {"overall": 0.5}, "deliverable_failed": False}, False, None),
        ("completed", {"conformance": {"iteration_penalty": 0.4}}, False, None),
        ("completed", {}, False, None),
        ("failed", {"deliverable_failed": False, "failure_type": "incomplete"}, True, "incomplete"),
    ],
)
def test_what_a_final_record_says_of_failing_and_scores_is_kept(
    status: str, metrics: dict[str, Any], failed: bool, why: str | None
) -> None:
    made = metrics_document(folded(read_document(final(metrics, status))))["metrics"]
    assert (made["deliverable_failed"], made["failure_type"]) == (failed, why)
    assert made.get("conformance") == metrics.get("conformance")


@pytest.mark.parametrize("durations", [None, {"apply": 1800}, {"propose": 60}])
def test_rework_that_is_only_counted_has_no_share_of_the_time(durations: dict[str, int] | None) -> None:
    metrics: dict[str, Any] = {"recovery_attempts": 1, "apply_iterations": 2, "tool_calls": {"bash": 4, "total": 4}}
    if durations is not None:
        metrics["phase_durations"] = durations
    told = folded(read_document(final(metrics)))
    assert (told.recovery_attempts, told.recovery_seconds, told.recovery_tool_calls) == (1, None, None)
    assert metrics_document(told)["metrics"]["recovery_attempts"] == 1
    found = measure([told], told.updated_at)
    assert found.metrics.recovery_efficiency.value is None and found.metrics.recovery_efficiency.tier is None
    assert found.supporting.recovery_attempts == 1
    rounds = folded(read_document(final({**metrics, "phase_durations": {"apply": 1800, "verify": 600}})))
    assert rounds.recovery_seconds == 900, "where rounds of apply and verify tell it, it is known"


@pytest.mark.parametrize(
    "metrics",
    [
        {"tool_calls": {"file_edit": 24, "total": 45}},
        {"tool_calls": {"total": 7}},
        {"token_usage": {"total_tokens": 500, "estimated_cost_usd": 0.3}},
        {"token_usage": {"estimated_cost_usd": 0.3}},
        {"token_usage": {"input_tokens": 100, "total_tokens": 130}},
        {"token_usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}},
    ],
)
def test_totals_of_a_record_are_kept_and_their_parts_not_made_up(metrics: dict[str, Any]) -> None:
    told = folded(read_document(final(metrics)))
    made = metrics_document(told)["metrics"]
    assert {name: made[name] for name in metrics} == metrics
    assert measure([told], told.updated_at).supporting.tool_calls_total == metrics.get("tool_calls", {}).get("total", 0)
    state = {"change_id": "x", "status": "executing", "started_at": "2026-02-26T09:00:00Z"}
    state |= {"tool_calls": {"bash": 3}, "tool_calls_total": 9, "current_phase": "apply"}
    out = state_document(folded(read_document(state)))
    assert (out["tool_calls"], out["tool_calls_total"]) == ({"bash": 3}, 9)


def test_a_dimension_told_after_an_overall_score_counts() -> None:
    told = log((0, Conformed(functional=1.0, overall=0.9)), (1, Conformed(functional=0.2)), (2, Ended("completed")))
    scored = folded(told).conformance
    assert scored is not None
    assert (scored.functional, scored.overall) == (0.2, None), "no longer the score of these dimensions"


@pytest.mark.parametrize(
    ("data", "ended"),
    [
        ({"deliverable_failed": True}, Ended("failed", deliverable_failed=True)),
        ({"deliverable_failed": False}, Ended("completed", deliverable_failed=False)),
        ({"status": "completed", "deliverable_failed": True}, Ended("completed", deliverable_failed=True)),
        ({"status": "accepted", "deliverable_failed": False}, Ended("completed", deliverable_failed=False)),
    ],
)
def test_the_event_of_an_end_says_whether_it_failed(data: dict[str, Any], ended: Ended) -> None:
    document = {"event_type": "deliverable_end", "timestamp": "2026-02-26T10:00:00Z", "change_id": "x", "data": data}
    event = read_published(document)
    assert event.what == ended
    deliverable = fold([*log((0, Started()), change_id="x"), event])
    assert deliverable is not None and deliverable.deliverable_failed is data["deliverable_failed"]


def test_documents_are_accepted_with_less_than_they_may_tell() -> None:
    for document in [*documents("deliverable-state"), *documents("metrics-output")]:
        for key in [key for key in document if key not in ("change_id", "status", "started_at")]:
            if key in ("schema_version", "completed_at", "metrics") and "metrics" in document:
                continue
            less = {name: value for name, value in document.items() if name != key}
            assert folded(read_document(less)).status == document["status"], key


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"change_id": "x", "status": "done", "started_at": "2026-02-26T09:00:00Z"}, "status"),
        ({"change_id": "x", "status": "planning", "started_at": "yesterday"}, "yesterday"),
        ({"change_id": "", "status": "planning", "started_at": "2026-02-26T09:00:00Z"}, "length"),
        ({"change_id": "x\n", "status": "planning", "started_at": "2026-02-26T09:00:00Z"}, "change_id"),
        ({"status": "planning"}, "required"),
        (
            {
                "change_id": "x",
                "status": "planning",
                "started_at": "2026-02-26T09:00:00Z",
                "recovery_attempts": 10**9,
            },
            "repeats",
        ),
        (
            {
                "schema_version": "0.1.0",
                "change_id": "x",
                "status": "failed",
                "started_at": "2026-02-26T09:00:00Z",
                "completed_at": "2026-02-25T09:00:00Z",
                "metrics": {},
            },
            "before it began",
        ),
        ({"event_type": "coffee", "timestamp": "2026-02-26T09:00:00Z", "change_id": "x"}, "coffee"),
        ({"event_type": "recovery", "change_id": "x"}, "timestamp is missing"),
        ({"event_type": "phase_start", "timestamp": "2026-02-26T09:00:00Z", "change_id": "x", "phase": "eat"}, "eat"),
        ({"event_type": "phase_start", "timestamp": "2026-02-26T09:00:00Z", "change_id": "x"}, "phase"),
        ({"event_type": "tool_call", "timestamp": "2026-02-26T09:00:00Z", "change_id": "x", "data": 1}, "object"),
    ],
)
def test_what_is_no_document_is_told(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnreadableDocument, match=problem):
        read_document(document)


def test_events_of_other_tools_are_read() -> None:
    at = {"timestamp": "2026-02-26T11:05:00+02:00", "change_id": "add-search"}
    bare = [
        {
            "event_type": "deliverable_start",
            **at,
            "data": {"description": "Search", "spec_source": {"framework": "jira"}},
        },
        {"event_type": "phase_start", **at, "phase": "apply", "data": {"task_index": 3}},
        {"event_type": "tool_call", **at, "data": {"tool_name": "bash", "count": 2}},
        {"event_type": "recovery", **at, "data": {"failure_type": "tool_failure", "reason": "network"}},
        {"event_type": "deliverable_end", **at, "data": {"failure_type": "incomplete"}},
    ]
    events = [read_published(document) for document in bare]
    assert [event.what for event in events] == [
        Started("Search", spec_source=SpecSource("jira")),
        begin("apply"),
        ToolCalled("bash", 2),
        RecoveryBegan("network", "tool_failure"),
        Ended("failed", "incomplete"),
    ]
    assert {event.at for event in events} == {NINE + 300}
    assert [read_published(document).id for document in bare] == [event.id for event in events]
    assert len({event.id for event in events}) == 5


def test_a_published_event_carries_in_data_what_it_has_no_place_for() -> None:
    event = Event(
        "e1",
        "add-search",
        NINE + 0.25,
        ToolCalled("bash", 2, True, 1.5),
        "s-1",
        AgentIdentity("claude-code"),
        "jsonl",
        "why",
    )
    assert published_event(event) == {
        "event_type": "tool_call",
        "timestamp": "2026-02-26T09:00:00.250000Z",
        "change_id": "add-search",
        "data": {
            "tool": "bash",
            "count": 2,
            "succeeded": True,
            "duration_seconds": 1.5,
            "id": "e1",
            "session": "s-1",
            "agent": {"name": "claude-code"},
            "source": "jsonl",
            "evidence": "why",
        },
    }
    assert published_event(Event("e2", "add-search", NINE, TasksCounted(1))) is None


def test_what_is_unknown_is_left_out_and_never_zero() -> None:
    bare = folded(log((0, Started()), (1, Ended("completed"))))
    assert metrics_document(bare)["metrics"] == {
        "resolution_latency_seconds": 60,
        "deliverable_failed": False,
        "failure_type": None,
    }
    assert set(state_document(bare)) == {"change_id", "status", "started_at", "updated_at"}
    partly = folded(log((0, begin("apply")), (1, Conformed(functional=0.5)), (2, Ended("completed"))))
    assert metrics_document(partly)["metrics"]["conformance"] == {"functional": 0.5, "iteration_penalty": 1.0}


def test_a_phase_that_repeats_lasts_from_its_first_beginning() -> None:
    repeated = folded(log((0, begin("apply")), (2, begin("verify")), (3, begin("apply")), (5.5, end("apply"))))
    assert state_document(repeated)["phases"] == {
        "apply": {"started_at": "2026-02-26T09:00:00Z", "completed_at": "2026-02-26T09:05:30Z"},
        "verify": {"started_at": "2026-02-26T09:02:00Z", "completed_at": "2026-02-26T09:03:00Z"},
    }


def test_a_tool_called_total_is_told_beside_the_sum() -> None:
    told = folded(log((0, ToolCalled("total", 3)), (0, ToolCalled("bash")), (1, Ended("completed"))))
    assert metrics_document(told)["metrics"]["tool_calls"] == {"total (tool)": 3, "bash": 1, "total": 4}


def test_times_keep_their_microseconds() -> None:
    assert timestamp(NINE) == "2026-02-26T09:00:00Z"
    assert seconds_of(timestamp(NINE + 0.123456)) == pytest.approx(NINE + 0.123456, abs=1e-6)
    assert seconds_of("2026-02-26T10:30:00+01:30") == NINE
    assert seconds_of("2026-02-26T09:00:00") == NINE
