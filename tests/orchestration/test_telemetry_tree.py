"""The span tree of AURA-M §6.2, before OpenTelemetry sees it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_deliverables.events import Ended, Event, RecoveryBegan, Started, ToolCalled
from aurora_deliverables.reducer import Reducer
from aurora_deliverables.telemetry import span_tree
from aurora_deliverables.telemetry.instruments import measurements
from aurora_deliverables.telemetry.span_tree import tree_of
from aurora_deliverables.telemetry.spans import Span
from tests.orchestration.changes import ACCEPTED, EVENTS, FAILED, START

DRAWN = """
aura.deliverable 0-1500
  aura.deliverable.plan 0-480
    aura.tool.call 90-90
  aura.deliverable.execute 480-1000
    aura.task 480-600
      gen_ai.chat 484.5-500
    aura.task 600-900
      aura.tool.call 649.75-650
    aura.task 900-1000
      aura.tool.call 946-950
  aura.deliverable.validate 1000-1110
    aura.conformance.functional 1000-1110
  aura.deliverable.execute 1110-1310
    aura.task 1110-1300
      aura.tool.call 1199.5-1200
    aura.recovery.attempt 1110-1310
  aura.deliverable.validate 1310-1400
    aura.conformance.functional 1310-1400
    aura.conformance.correctness 1310-1400
    aura.conformance.constraints 1310-1400
  aura.deliverable.accept 1400-1500
"""


def drawn(span: Span, depth: int = 0) -> str:
    line = f"{'  ' * depth}{span.name} {span.started_at - START:g}-{span.ended_at - START:g}\n"
    return line + "".join(drawn(child, depth + 1) for child in span.children)


def test_the_made_change_is_what_its_events_amount_to() -> None:
    folding = Reducer()
    folding.take(EVENTS)
    assert folding.deliverable(0.7) == ACCEPTED


def test_a_change_becomes_the_tree_of_the_specification() -> None:
    assert "\n" + drawn(tree_of(ACCEPTED, EVENTS)) == DRAWN


def test_a_minimal_deliverable_is_a_root_and_its_acceptance() -> None:
    minimal = Deliverable("x", "completed", START, START + 10, START + 10)
    events = [Event("1", "x", START, Started()), Event("2", "x", START + 10, Ended("completed"))]
    assert drawn(tree_of(minimal, events)).splitlines() == ["aura.deliverable 0-10", "  aura.deliverable.accept 10-10"]


def test_a_failed_one_is_not_accepted_and_says_why() -> None:
    root = tree_of(FAILED, [])
    assert root.failed == "infinite_loop"
    assert root.attributes["aura.failure.type"] == "infinite_loop"
    assert [child.name for child in root.children] == ["aura.deliverable.validate"], "it has scores, and no phase"


def test_no_span_is_of_negative_length_when_clocks_jump_back() -> None:
    jumped = [msgspec.structs.replace(event, at=event.at - 100_000 * (n % 2)) for n, event in enumerate(EVENTS)]
    shaken = replace(ACCEPTED, spans=tuple(replace(span, completed_at=START - 50) for span in ACCEPTED.spans))
    for each in tree_of(shaken, jumped).walk():
        assert START <= each.started_at <= each.ended_at <= START + 1500, each


def test_a_recovery_that_no_event_told_is_known_by_its_phase() -> None:
    silent = [event for event in EVENTS if not isinstance(event.what, RecoveryBegan)]
    attempts = [each for each in tree_of(ACCEPTED, silent).walk() if each.name == "aura.recovery.attempt"]
    assert [(each.started_at - START, each.attributes) for each in attempts] == [
        (1110, {"aura.recovery.attempt": 1, "aura.recovery.total": 1})
    ]


def test_a_recovery_that_is_only_counted_takes_no_time() -> None:
    counted = Event("r", "x", START, RecoveryBegan(untimed=True))
    bare = Deliverable("x", "completed", START, START + 900, START + 900, recovery_attempts=1)
    once = replace(bare, spans=(PhaseSpan("apply", START, START + 600, 1),))
    for deliverable in (bare, once):
        attempts = [each for each in tree_of(deliverable, [counted]).walk() if each.name == "aura.recovery.attempt"]
        assert [(each.started_at, each.ended_at) for each in attempts] == [(START, START)]


def test_the_phase_that_still_lasts_ends_with_the_deliverable() -> None:
    lasting = replace(ACCEPTED, spans=(PhaseSpan("apply", START, None, 1),))
    execute = tree_of(lasting, []).children[0]
    assert (execute.name, execute.ended_at) == ("aura.deliverable.execute", START + 1500)


def test_a_trace_has_so_many_calls_and_says_how_many_are_left_out() -> None:
    many = [Event(str(n), "x", START + n / 100, ToolCalled("bash")) for n in range(span_tree.MAX_CALLS + 7)]
    root = tree_of(Deliverable("x", "completed", START, START + 900, START + 900), many)
    assert sum(1 for each in root.walk() if each.name == "aura.tool.call") == span_tree.MAX_CALLS
    assert root.attributes["aura.deliverable.spans_left_out"] == 7


def test_long_texts_are_cut() -> None:
    spec = replace(ACCEPTED, change_id="x" * 5000)
    assert len(str(tree_of(spec, []).attributes["aura.deliverable.id"])) == 1024


def test_what_an_accepted_deliverable_measures() -> None:
    labels = {"aura.deliverable.type": "feature", "aura.agent.name": "claude-code"}
    assert [(each.instrument.name, each.value, each.labels) for each in measurements(ACCEPTED)] == [
        ("aura.deliverables.count", 1, labels),
        ("aura.deliverables.accepted", 1, labels),
        ("aura.resolution_latency", 1500.0, labels),
        ("aura.conformance.score", 0.97, labels),
        ("aura.recovery.attempts", 1, labels),
        ("aura.tool_calls.count", 7, labels),
    ]


def test_a_failed_one_has_no_resolution_latency() -> None:
    found = {each.instrument.name: each for each in measurements(FAILED)}
    assert "aura.resolution_latency" not in found
    assert found["aura.deliverables.failed"].labels["aura.failure.type"] == "infinite_loop"
    below = replace(ACCEPTED, deliverable_failed=True)
    assert "aura.deliverables.accepted" not in {each.instrument.name for each in measurements(below)}
