"""What the events of one deliverable amount to, whatever the order they come in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_deliverables.deliverable import Conformance, Deliverable, PhaseSpan, TokenUsage
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    HumanIntervened,
    Iterated,
    RecoveryBegan,
    Revived,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.reducer import Reducer, fold, order
from aurora_deliverables.secondary_metrics import effort
from tests.orchestration.logs import NINE, begin, end, log, logs


def folded(events: list[Event]) -> Deliverable:
    deliverable = fold(events)
    assert deliverable is not None
    return deliverable


@settings(deadline=None)
@given(logs(), st.data())
def test_any_order_and_any_repetition_amount_to_the_same(events: list[Event], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(events))
    again = data.draw(st.lists(st.sampled_from(events), max_size=10)) if events else []
    assert fold([*shuffled, *again]) == fold(events)


@settings(deadline=None)
@given(logs(), st.integers(0, 12))
def test_taking_events_in_bit_by_bit_amounts_to_the_same(events: list[Event], seconds: int) -> None:
    folding = Reducer()
    folding.take(event for event in events if event.at <= NINE + seconds)
    folding.take(event for event in events if event.at > NINE + seconds)
    assert folding.deliverable() == fold(events)


@settings(deadline=None)
@given(logs())
def test_no_duration_is_negative_and_refused_events_change_nothing(events: list[Event]) -> None:
    folding = Reducer()
    folding.take(events)
    deliverable = folding.deliverable()
    assert fold([event for event in events if event.id not in folding.refused]) == deliverable
    if deliverable is None:
        return
    assert deliverable.started_at <= deliverable.updated_at
    recovering = deliverable.recovery_seconds
    assert recovering is None or 0 <= recovering <= deliverable.updated_at - deliverable.started_at
    latest = deliverable.started_at
    for span in deliverable.spans:
        assert latest <= span.started_at
        latest = span.completed_at if span.completed_at is not None else span.started_at
        assert latest >= span.started_at
    if deliverable.completed_at is not None:
        assert deliverable.completed_at >= latest


def test_a_whole_deliverable_with_a_recovery() -> None:
    done = folded(
        log(
            (0, Started("Add search", "feature", "moderate", SpecSource("openspec", "changes/add-search", 6))),
            (0, begin("propose")),
            (2, begin("specs")),
            (5, begin("design")),
            (10, begin("tasks")),
            (11, TasksCounted(total=8, completed=0)),
            (12, begin("apply")),
            (13, ToolCalled("file_edit", 3)),
            (20, TasksCounted(completed=8)),
            (30, begin("verify")),
            (31, TestsRan(passed=3, failed=1)),
            (33, begin("apply")),
            (34, ToolCalled("file_edit", 2)),
            (40, begin("verify")),
            (41, TestsRan(passed=4, failed=0)),
            (42, Conformed(completed_requirements=6, constraint_violations=1)),
            (43, begin("archive")),
            (44, end("archive")),
            (45, Ended("completed")),
        )
    )
    assert (done.status, done.deliverable_failed, done.completed_at) == ("completed", False, NINE + 45 * 60)
    assert [(span.phase, span.iteration, span.recovery) for span in done.spans] == [
        ("propose", 1, False),
        ("specs", 1, False),
        ("design", 1, False),
        ("tasks", 1, False),
        ("apply", 1, False),
        ("verify", 1, False),
        ("apply", 2, True),
        ("verify", 2, False),
        ("archive", 1, False),
    ]
    assert (done.apply_iterations, done.recovery_attempts, done.recovery_seconds) == (2, 1, 7 * 60)
    assert (done.tool_calls, done.recovery_tool_calls) == ({"file_edit": 5}, 2)
    assert (done.tasks_completed, done.tasks_total) == (8, 8)
    # 0.4 · 1 + 0.3 · 1 + 0.2 · 0.9 + 0.1 · 0.85
    assert done.conformance == Conformance(1.0, 1.0, 0.9, 0.85, 0.965)
    assert done.tokens is None and done.human_interventions is None and done.failure_type is None


def test_the_smallest_deliverable_is_start_apply_archive() -> None:
    done = folded(log((0, Started()), (1, begin("apply")), (5, begin("archive")), (6, end("archive"))))
    assert (done.status, done.completed_at, done.settled) == ("completed", NINE + 360, False)
    ended = folded(log((0, Started()), (9, Ended("failed", "incomplete"))))
    assert (ended.status, ended.deliverable_failed, ended.failure_type) == ("failed", True, "incomplete")
    assert ended.conformance is None and ended.apply_iterations == 0


def test_each_phase_has_its_state() -> None:
    states = {phase: folded(log((0, begin(phase)))).status for phase in ("propose", "specs", "design", "tasks")}
    assert set(states.values()) == {"planning"}
    assert folded(log((0, Started()))).status == "planning"
    assert folded(log((0, begin("apply")))).status == "executing"
    assert folded(log((0, begin("apply")), (1, end("apply")))).status == "executing"
    assert folded(log((0, begin("apply")), (1, begin("verify")))).status == "verifying"
    assert folded(log((0, begin("archive")))).status == "verifying"


def test_an_explicit_recovery_is_counted_once_with_the_one_phases_tell() -> None:
    told = folded(
        log(
            (0, begin("apply")),
            (10, begin("verify")),
            (12, begin("apply")),
            (13, RecoveryBegan("tests fail")),  # the same recovery, said aloud
            (20, RecoveryBegan("fail again")),  # another
            (25, begin("verify")),
        )
    )
    assert (told.recovery_attempts, told.apply_iterations, told.recovery_seconds) == (2, 2, 13 * 60)
    before = folded(
        log((0, begin("apply")), (10, begin("verify")), (11, RecoveryBegan()), (12, begin("apply")), (20, end("apply")))
    )
    assert (before.recovery_attempts, before.recovery_seconds) == (1, 9 * 60)
    within = folded(log((0, begin("apply")), (6, RecoveryBegan()), (7, ToolCalled("bash")), (10, end("apply"))))
    assert (within.recovery_attempts, within.apply_iterations, within.recovery_tool_calls) == (1, 1, 1)
    assert within.spans == (
        PhaseSpan("apply", NINE, NINE + 360, 1, False),
        PhaseSpan("apply", NINE + 360, NINE + 600, 1, True),
    )


def test_rework_that_is_over_counts_as_long_as_it_took_and_never_more_than_the_whole() -> None:
    one = RecoveryBegan(duration_seconds=1200.0, tool_calls=1)
    work = (0, begin("apply")), (10, ToolCalled("a")), (30, ToolCalled("a")), (60, ToolCalled("b"))
    found = folded(log(*work, (10, one)))
    assert (found.recovery_attempts, found.recovery_seconds, found.recovery_tool_calls) == (1, 1200.0, 1)
    assert [span.recovery for span in found.spans] == [False], "the rest of the phase is no rework"
    many = folded(log(*work, *((10, one) for _ in range(10))))
    assert (many.recovery_attempts, many.recovery_seconds) == (10, 3600.0)


def test_verify_that_leads_back_by_way_of_planning_is_a_recovery_too() -> None:
    broken = (1, TestsRan(failed=1))
    replanned = folded(
        log((0, begin("apply")), (1, begin("verify")), broken, (2, begin("design")), (3, begin("apply")))
    )
    assert (replanned.recovery_attempts, replanned.apply_iterations) == (1, 2)
    first = folded(log((0, begin("verify")), (1, begin("apply"))))
    assert first.recovery_attempts == 0, "nothing was applied yet that could have failed"
    twice = folded(log((0, begin("apply")), (1, end("apply")), (2, begin("apply"))))
    assert (twice.recovery_attempts, twice.apply_iterations) == (0, 1), "no verification lies between"


def test_a_recovery_follows_a_verification_that_failed() -> None:
    def after(*runs: TestsRan) -> tuple[int, int]:
        told = [(2 + n / 10, run) for n, run in enumerate(runs)]
        made = folded(log((0, begin("apply")), (2, begin("verify")), *told, (5, begin("apply")), (9, begin("verify"))))
        return made.recovery_attempts, made.apply_iterations

    assert after(TestsRan(passed=5, failed=0)) == (0, 2), "more work is no rework"
    assert after() == (0, 2), "nobody said that it failed"
    assert after(TestsRan(passed=5, failed=1)) == after(TestsRan(succeeded=False)) == (1, 2)
    assert after(TestsRan(failed=1), TestsRan(passed=6, failed=0)) == (0, 2), "the last run tells"


def test_a_phase_that_two_sources_notice_begins_once() -> None:
    noticed = folded(log((0, begin("apply")), (0.1, begin("apply")), (3, begin("verify")), (3, begin("verify"))))
    assert noticed.apply_iterations == 1 and len(noticed.spans) == 2


def test_a_phase_that_takes_no_time_has_begun_and_ended() -> None:
    flash = log((0, begin("propose")), (0, end("propose")), (0, begin("specs")), (0, end("specs")), (1, begin("apply")))
    folding = Reducer()
    folding.take(flash)
    assert folding.refused == {}
    assert [(span.phase, span.completed_at) for span in folded(flash).spans] == [
        ("propose", NINE),
        ("specs", NINE),
        ("apply", None),
    ]


def test_iterations_can_be_told_without_phases() -> None:
    told = folded(log((0, Started()), (1, Iterated()), (2, Iterated())))
    assert told.apply_iterations == 2 and told.conformance is not None
    assert told.conformance == Conformance(iteration_penalty=0.85)
    within = folded(log((0, begin("apply")), (5, Iterated()), (9, end("apply"))))
    assert [(span.iteration, span.recovery) for span in within.spans] == [(1, False), (2, False)]


@pytest.mark.parametrize(
    ("iterations", "penalty"), [(1, 1.0), (2, 0.85), (3, 0.7), (6, 0.25), (7, 0.1), (8, 0.0), (20, 0.0)]
)
def test_the_iteration_penalty_has_a_floor(iterations: int, penalty: float) -> None:
    told = folded(log(*((n, Iterated()) for n in range(iterations))))
    assert told.conformance is not None and told.conformance.iteration_penalty == penalty


@pytest.mark.parametrize(("violations", "score"), [(0, 1.0), (3, 0.7), (9, 0.1), (10, 0.0), (25, 0.0)])
def test_constraints_have_a_floor(violations: int, score: float) -> None:
    told = folded(log((0, Conformed(constraint_violations=violations))))
    assert told.conformance == Conformance(constraints=score)


def test_conformance_is_the_latest_word_and_none_where_nobody_knows() -> None:
    first = (0, Conformed(functional=0.5, correctness=0.4))
    assert folded(log(first)).conformance == Conformance(0.5, 0.4)
    counted = folded(log(first, (1, Conformed(completed_requirements=3, total_requirements=4))))
    assert counted.conformance == Conformance(0.75, 0.4)
    more = folded(log((0, Started(spec_source=SpecSource(requirements_count=10))), (1, Conformed(7))))
    assert more.conformance == Conformance(functional=0.7)
    assert folded(log((0, Conformed(completed_requirements=7)))).conformance is None, "7 of how many?"
    assert folded(log((0, Conformed(3, 0)))).conformance is None
    tests = folded(log((0, TestsRan(succeeded=False)), (1, TestsRan(passed=3, failed=1))))
    assert tests.conformance == Conformance(correctness=0.75)
    said = folded(log((0, Conformed(correctness=0.9)), (1, TestsRan(succeeded=True))))
    assert said.conformance == Conformance(correctness=0.9)


def test_accepted_below_the_threshold_is_failed_and_a_recovery_is_not() -> None:
    def ended(functional: float) -> list[Event]:
        conformed = Conformed(functional=functional, correctness=1.0, constraints=1.0)
        return log((0, begin("apply")), (1, conformed), (2, Ended("completed")))

    assert folded(ended(0.25)).deliverable_failed is False  # 0.1 + 0.3 + 0.2 + 0.1: just 0.70
    below = folded(ended(0.24))
    assert (below.deliverable_failed, below.status) == (True, "completed")
    lenient = fold(ended(0.24), threshold=0.5)
    assert lenient is not None and lenient.deliverable_failed is False
    assert folded(log((0, begin("apply")))).deliverable_failed is None
    assert folded(log((0, begin("apply")), (1, Ended("completed")))).deliverable_failed is False


def test_what_is_added_up_and_what_is_unknown() -> None:
    told = folded(
        log(
            (0, Started(agent=AgentIdentity(name="claude-code"))),
            (1, TokensUsed(100, 20, 5, model="sonnet")),
            (2, TokensUsed(10, 2, cost_usd=0.25)),
            (3, HumanIntervened(count=0)),
            (4, SessionJoined("b")),
            (5, SessionJoined("a")),
            (6, SessionJoined("b")),
        )
    )
    assert told.tokens == TokenUsage(110, 22, 5, 0.25) and told.tokens.total_tokens == 132
    assert (told.human_interventions, told.human_wait_seconds) == (0, None)
    assert told.sessions == ("b", "a")
    assert told.agent == AgentIdentity("claude-code", "sonnet")
    waited = folded(log((0, HumanIntervened(90.0)), (1, HumanIntervened()), (2, HumanIntervened(10.0))))
    assert (waited.human_interventions, waited.human_wait_seconds) == (3, 100.0)
    without_cost = folded(log((0, TokensUsed(1, 1))))
    assert without_cost.tokens is not None and without_cost.tokens.cost_usd is None


def test_more_that_becomes_known_replaces_only_what_it_says() -> None:
    told = folded(
        log(
            (0, Started("Add search", "feature", spec_source=SpecSource("openspec", "changes/add-search"))),
            (1, Started(complexity="complex", spec_source=SpecSource(requirements_count=6))),
        )
    )
    assert (told.description, told.type, told.complexity) == ("Add search", "feature", "complex")
    assert told.spec_source == SpecSource("openspec", "changes/add-search", 6)


def test_an_ended_deliverable_still_learns_its_tokens() -> None:
    told = folded(log((0, begin("apply")), (5, Ended("completed")), (6, TokensUsed(5, 5)), (7, begin("verify"))))
    assert told.tokens == TokenUsage(5, 5)
    assert (told.status, told.completed_at, told.updated_at) == ("completed", NINE + 300, NINE + 360)
    assert [span.phase for span in told.spans] == ["apply"]


def test_a_clock_put_back_costs_no_negative_second() -> None:
    jumped = log((10, Started()), (11, begin("apply")), (2, begin("verify")), (3, Ended("completed")))
    done = folded(jumped)
    assert (done.status, done.started_at, done.completed_at) == ("completed", NINE + 120, NINE + 180)


def test_events_have_one_order() -> None:
    told = log(
        (1, Ended("completed")), (1, ToolCalled("bash")), (1, begin("verify")), (1, end("apply")), (1, Started())
    )
    assert [type(event.what).__name__ for event in sorted(told, key=order)] == [
        "Started",
        "PhaseEnded",
        "PhaseStarted",
        "ToolCalled",
        "Ended",
    ]


@pytest.mark.parametrize("archived", [False, True])
def test_a_revival_takes_up_no_phase_that_was_over_before_the_end(archived: bool) -> None:
    events = log(
        (0, begin("apply")),
        (4, begin("verify")),
        (6, end("verify")),
        *([(10, begin("archive"))] if archived else []),
        (11, Ended("failed", "incomplete")),
        (20, Revived()),
        (30, Ended("completed")),
    )
    gone_on = folded(events[:-1])
    assert (gone_on.status, gone_on.current_phase) == ("verifying", None)
    assert effort(folded(events)) == 6 * 60 + 60 * archived


def test_a_revival_takes_the_end_back_and_goes_on_where_it_was() -> None:
    events = log(
        (0, begin("tasks")),
        (5, begin("apply")),
        (10, begin("archive")),
        (11, Ended("failed", "incomplete")),
        (20, Revived()),
        (30, begin("verify")),
    )
    gone_on = folded(events)
    assert (gone_on.status, gone_on.completed_at, gone_on.deliverable_failed) == ("verifying", None, None)
    assert gone_on.apply_iterations == 1 and gone_on.failure_type is None
    assert [(span.phase, span.started_at) for span in gone_on.spans][-2:] == [
        ("apply", NINE + 20 * 60),
        ("verify", NINE + 30 * 60),
    ]
    again = folded([*events, Event("over", "add-search", NINE + 40 * 60, Ended("completed"))])
    assert (again.status, again.deliverable_failed) == ("completed", False)
    nothing_over = Reducer()
    nothing_over.take(log((0, begin("apply")), (1, Revived())))
    assert list(nothing_over.refused.values()) == ["'add-search' is executing, not over: there is nothing to revive"]
