"""Choices of what a trace of a deliverable says, a rule each: whose model, which phase, what is left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.deliverable import Conformance, Deliverable, PhaseSpan
from aurora_deliverables.events import (
    Conformed,
    Event,
    EventBody,
    RecoveryBegan,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.telemetry import span_tree
from aurora_deliverables.telemetry.instruments import measurements
from aurora_deliverables.telemetry.providers import _attempt
from aurora_deliverables.telemetry.span_tree import chat_attributes, tree_of
from aurora_deliverables.telemetry.spans import Span
from tests.orchestration.logs import log

NINE = log((0, TokensUsed()))[0].at


@pytest.mark.parametrize(
    ("told", "model", "attributes"),
    [
        pytest.param({"model": "a"}, "b", {"gen_ai.request.model": "a"}, id="the model that a call names"),
        pytest.param({}, "b", {"gen_ai.request.model": "b"}, id="else its agent's"),
        pytest.param({"cached_tokens": 0}, None, {}, id="what was not in the cache is not told as nothing"),
        pytest.param({"cached_tokens": 3}, None, {"gen_ai.usage.cache_read.input_tokens": 3}, id="what was is"),
        pytest.param({"input_tokens": 0}, None, {"gen_ai.usage.input_tokens": 0}, id="none that were asked are none"),
        pytest.param({"provider": "Claude"}, None, {"gen_ai.provider.name": "anthropic"}, id="a provider in any case"),
        pytest.param({"provider": "Gemini"}, None, {"gen_ai.provider.name": "gcp.gemini"}, id="by its product"),
        pytest.param({"provider": "Groq"}, None, {"gen_ai.provider.name": "groq"}, id="and another by its name"),
    ],
)
def test_what_a_call_of_a_model_is_told_with(
    told: dict[str, Any], model: str | None, attributes: dict[str, Any]
) -> None:
    assert chat_attributes(TokensUsed(**told), None, model) == {"gen_ai.operation.name": "chat", **attributes}


def made(*spans: tuple[Any, float, float], status: Any = "completed", **more: Any) -> Deliverable:
    """A deliverable of an hour with phases between these minutes."""
    phases = tuple(PhaseSpan(phase, NINE + 60 * begun, NINE + 60 * over, 1) for phase, begun, over in spans)
    over = NINE + 3600
    return Deliverable("add-search", status, NINE, over, over, spans=phases, **more)


def told(deliverable: Deliverable, *events: tuple[float, EventBody]) -> Span:
    return tree_of(deliverable, log(*events))


def stages(root: Span) -> list[str]:
    return [each.name.rpartition(".")[2] for each in root.children]


def test_what_failed_was_accepted_in_no_phase() -> None:
    phases: Any = [("apply", 0, 30), ("archive", 30, 60)]
    assert stages(told(made(*phases))) == ["execute", "accept"]
    assert stages(told(made(*phases, status="failed"))) == ["execute"]
    assert stages(told(made(("apply", 0, 60), status="executing"))) == ["execute"], "nor what is not over"


def test_a_failure_that_nobody_named_is_still_one() -> None:
    assert told(made(status="failed")).failed == "failed"
    assert told(made(deliverable_failed=True, failure_type="regression")).failed == "regression"


def test_what_nobody_wants_any_more_and_a_question_add_nothing_to_the_counts() -> None:
    assert measurements(made(status="failed"))
    assert measurements(made(status="failed", withdrawn=True)) == measurements(made(kind="run")) == []


def test_what_failed_is_sent_again_when_the_last_of_its_collectors_lets_it() -> None:
    answers: Any = [SimpleNamespace(why=why, not_before=at) for why, at in ((None, 5.0), ("full", 9.0), ("away", 7.0))]
    attempt = _attempt(answers, True, ())
    assert (attempt.not_before, attempt.why) == (9.0, "full"), "for the first reason that is told"
    assert _attempt(answers, False, ()).not_before == 0.0


def test_planning_is_one_stage_until_work_begins() -> None:
    root = told(made(("propose", 0, 5), ("specs", 5, 9), ("apply", 10, 20), ("tasks", 20, 30)))
    assert stages(root) == ["plan", "execute", "plan", "accept"]
    plan = root.children[0]
    assert ((plan.ended_at - NINE) / 60, plan.attributes["aura.phase.name"], len(plan.marks)) == (9, "specs", 2)


def test_work_that_no_report_followed_is_a_task_only_where_something_was_done() -> None:
    counted = (10.0, TasksCounted(2, 1))
    assert len(told(made(("apply", 0, 20)), counted).children[0].children) == 1
    root = told(made(("apply", 0, 20)), counted, (15, TokensUsed(1)))
    assert [(each.ended_at - NINE) / 60 for each in root.children[0].children] == [10, 20]


def test_a_call_after_the_last_report_belongs_to_what_is_left() -> None:
    """However clocks differ: the work was under way."""
    root = told(made(("apply", 0, 20)), (5, TasksCounted(2, 1)), (10, TasksCounted(2, 2)), (10.5, TokensUsed(1)))
    assert [len(task.children) for task in root.children[0].children] == [0, 0, 1]


def test_a_call_at_the_moment_of_a_report_belongs_to_what_is_reported() -> None:
    root = told(made(("apply", 0, 20)), (0, TasksCounted(3, 1)), (10, TasksCounted(3, 2)), (10, TokensUsed(1)))
    assert [((task.ended_at - NINE) / 60, len(task.children)) for task in root.children[0].children] == [
        (0, 0),
        (10, 1),
    ]


def test_a_call_failed_where_that_is_told_and_not_where_nobody_knows() -> None:
    calls = [(n, ToolCalled("Bash", succeeded=went)) for n, went in enumerate((True, None, False), 1)]
    found = [each.failed for each in told(made(("apply", 0, 20)), *calls).walk() if each.name == "aura.tool.call"]
    assert found == [None, None, "tool_failure"]


def test_scores_without_a_validation_are_of_the_moment_they_were_told_last_else_of_the_end() -> None:
    scored = made(("apply", 0, 20), conformance=Conformance(functional=1.0))
    for events, minute in ([[(30.0, Conformed(functional=1.0))], 30], [[], 60]):
        (validation,) = [each for each in told(scored, *events).children if each.name.endswith("validate")]
        assert (validation.started_at - NINE) / 60 == minute


def test_what_is_told_after_the_end_makes_it_no_longer() -> None:
    late = replace(made(("apply", 0, 20)), updated_at=NINE + 9000)
    assert (told(late).ended_at - NINE) / 60 == 60


def test_what_happens_as_one_stage_ends_and_the_next_begins_is_of_the_next() -> None:
    root = told(made(("apply", 0, 20), ("verify", 20, 30)), (20, TestsRan(3, 0)), (20, TokensUsed(1)))
    assert [(stage, len(each.children)) for stage, each in zip(stages(root), root.children, strict=True)] == [
        ("execute", 0),
        ("validate", 1),
        ("accept", 0),
    ]
    assert [len(each.marks) for each in root.children] == [0, 1, 0]


def test_scores_are_of_the_last_validation_and_those_told_before_of_theirs() -> None:
    deliverable = made(
        ("apply", 0, 10), ("verify", 10, 20), ("apply", 20, 30), ("verify", 30, 40),
        conformance=Conformance(functional=1.0),
    )  # fmt: skip
    root = told(deliverable, (15, Conformed(functional=0.5)))
    scores = [[child.attributes["aura.conformance.functional"] for child in each.children] for each in root.children]
    assert scores == [[], [0.5], [], [1.0], []]


@pytest.mark.parametrize(
    ("began", "recovery", "lasted"),
    [
        pytest.param(5, RecoveryBegan(), 15, id="until the work that it is within ends"),
        pytest.param(5, RecoveryBegan(duration_seconds=120), 2, id="or as long as it told"),
        pytest.param(5, RecoveryBegan(duration_seconds=7200), 15, id="but not longer than that work"),
        pytest.param(5, RecoveryBegan(duration_seconds=120, untimed=True), 0, id="no time, where it is only counted"),
        pytest.param(20, RecoveryBegan(), 0, id="at the end of work it is of that work"),
        pytest.param(30, RecoveryBegan(), 30, id="after all work until the end"),
    ],
)
def test_how_long_a_recovery_lasts(began: float, recovery: RecoveryBegan, lasted: float) -> None:
    root = told(made(("apply", 0, 20)), (began, recovery))
    (found,) = [each for each in root.walk() if each.name == "aura.recovery.attempt"]
    assert (found.ended_at - found.started_at) / 60 == lasted


def test_as_many_calls_as_there_may_be_are_all_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_tree, "MAX_CALLS", 2)
    events: list[Event] = log((1, TokensUsed(1)), (2, TokensUsed(1)), (3, TokensUsed(1)))
    for count, left_out in ((2, None), (3, 1)):
        root = tree_of(replace(made(), status="failed"), events[:count])
        assert (len(root.children), root.attributes.get("aura.deliverable.spans_left_out")) == (2, left_out)
