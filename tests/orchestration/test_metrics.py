"""The five metrics recomputed by hand from AURA-M §2 and §8, every border of a tier included."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.deliverable import Conformance, Deliverable, PhaseSpan, TokenUsage
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    HumanIntervened,
    RecoveryBegan,
    SpecSource,
    Started,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.measurement_gaps import gaps_of
from aurora_deliverables.metrics import DAY, MetricName, Metrics, history, measure, series, tier
from aurora_deliverables.reducer import fold
from aurora_deliverables.secondary_metrics import Supporting
from tests.orchestration.logs import NINE, begin, end, log

NOW = NINE + 100 * DAY


def done(ago: float, seconds: float = 60.0, name: str = "", **fields: Any) -> Deliverable:
    """A completed deliverable that ended `ago` days before now and took so long."""
    ended = NOW - ago * DAY
    told = {"status": "completed", "deliverable_failed": False} | fields
    return Deliverable(name or f"d{ago}", started_at=ended - seconds, updated_at=ended, completed_at=ended, **told)


def failed(ago: float, **fields: Any) -> Deliverable:
    return done(ago, **{"status": "failed", "deliverable_failed": True} | fields)


def five(metrics: Metrics) -> dict[str, tuple[float | None, str | None]]:
    names = metrics.metrics.__struct_fields__
    return {name: (getattr(metrics.metrics, name).value, getattr(metrics.metrics, name).tier) for name in names}


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        ("feature_throughput", 3.0, "elite"),
        ("feature_throughput", 2.999, "high"),
        ("feature_throughput", 1.0, "high"),
        ("feature_throughput", 0.999, "medium"),
        ("feature_throughput", 1 / 7, "medium"),
        ("feature_throughput", 0.142, "low"),
        ("feature_throughput", 0.0, "low"),
        ("resolution_latency", 0.0, "elite"),
        ("resolution_latency", 3599.999, "elite"),
        ("resolution_latency", 3600.0, "high"),
        ("resolution_latency", 14_399.999, "high"),
        ("resolution_latency", 14_400.0, "medium"),
        ("resolution_latency", 86_399.999, "medium"),
        ("resolution_latency", 86_400.0, "low"),
        ("deliverable_failure_rate", 4.999, "elite"),
        ("deliverable_failure_rate", 5.0, "high"),
        ("deliverable_failure_rate", 9.999, "high"),
        ("deliverable_failure_rate", 10.0, "medium"),
        ("deliverable_failure_rate", 14.999, "medium"),
        ("deliverable_failure_rate", 15.0, "low"),
        ("recovery_efficiency", 4.999, "elite"),
        ("recovery_efficiency", 5.0, "high"),
        ("recovery_efficiency", 9.999, "high"),
        ("recovery_efficiency", 10.0, "medium"),
        ("recovery_efficiency", 19.999, "medium"),
        ("recovery_efficiency", 20.0, "low"),
        ("spec_conformance", 0.95, "elite"),
        ("spec_conformance", 0.9499, "high"),
        ("spec_conformance", 0.85, "high"),
        ("spec_conformance", 0.8499, "medium"),
        ("spec_conformance", 0.70, "medium"),
        ("spec_conformance", 0.6999, "low"),
        ("spec_conformance", None, None),
    ],
)
def test_every_border_of_every_tier(metric: MetricName, value: float | None, expected: str | None) -> None:
    assert tier(metric, value) == expected


def test_without_deliverables_there_is_no_value_and_no_tier() -> None:
    running = fold(log((0, begin("apply"))))
    assert running is not None
    metrics = measure([running], NOW)
    assert set(five(metrics).values()) == {(None, None)}
    assert (metrics.window.deliverables, metrics.in_progress, metrics.groups["agent"]) == (0, 1, {})
    assert (metrics.window.start, metrics.window.end) == (NOW - 7 * DAY, NOW)
    assert metrics.supporting.cost_usd is None and metrics.supporting.recovery_by_time is None


@pytest.mark.parametrize(
    ("count", "days", "value", "expected"),
    [
        (1, 7, 1 / 7, "medium"),
        (7, 7, 1.0, "high"),
        (6, 7, 6 / 7, "medium"),
        (21, 7, 3.0, "elite"),
        (1, 14, 1 / 14, "low"),
    ],
)
def test_throughput_is_what_was_accepted_per_day(count: int, days: int, value: float, expected: str) -> None:
    window = [done(days * (n + 0.5) / count) for n in range(count)]
    assert five(measure(window, NOW, days, 100))["feature_throughput"] == (pytest.approx(value), expected)


def test_failed_deliverables_are_counted_and_not_delivered() -> None:
    window = [done(n / 10) for n in range(1, 15)] + [failed(3)]
    told = five(measure(window, NOW))
    assert told["feature_throughput"] == (2.0, "high")
    assert told["deliverable_failure_rate"] == (pytest.approx(100 / 15), "high")
    below = done(1, status="completed", deliverable_failed=True, conformance=Conformance(overall=0.4))
    told = five(measure([below], NOW))
    assert told["deliverable_failure_rate"] == (100.0, "low") and told["feature_throughput"] == (0.0, "low")
    assert told["spec_conformance"] == (0.4, "low") and told["resolution_latency"] == (None, None)


@pytest.mark.parametrize(("out_of", "expected"), [(21, "elite"), (20, "high"), (10, "medium"), (6, "low")])
def test_one_failure_out_of_so_many(out_of: int, expected: str) -> None:
    window = [failed(0.5), *(done(n / 100) for n in range(1, out_of))]
    assert five(measure(window, NOW, 7, 100))["deliverable_failure_rate"] == (pytest.approx(100 / out_of), expected)


def test_latency_is_the_median_of_accepted_ones_with_and_without_waiting() -> None:
    window = [
        done(1, 3000, human_wait_seconds=600.0, human_interventions=2),
        done(2, 3600, human_interventions=0),
        done(3, 90_000),
        failed(4),
    ]
    metrics = measure(window, NOW)
    assert five(metrics)["resolution_latency"] == (3600.0, "high")
    told = metrics.supporting
    assert told.latency_mean == pytest.approx((3000 + 3600 + 90_000) / 3)
    assert told.latency_without_wait == (2400 + 3600) / 2, "nobody told how long the third waited"
    assert (told.human_wait_seconds, told.human_interventions) == (600.0, 2)


def test_recovery_is_the_share_of_time_and_of_tool_calls() -> None:
    made = fold(
        log(
            (0, begin("apply")),
            (10, ToolCalled("bash", 6)),
            (40, begin("verify")),
            (40, TestsRan(failed=1)),
            (50, begin("apply")),
            (52, ToolCalled("bash", 2)),
            (60, begin("verify")),
            (99, Ended("completed")),
            (99, TokensUsed(10, 5, cost_usd=0.5)),
        )
    )
    assert made is not None
    now = made.updated_at
    metrics = measure([made], now)
    assert five(metrics)["recovery_efficiency"] == (pytest.approx(100 * 10 / 99), "medium")
    assert metrics.supporting.recovery_by_tool_calls == 25.0
    assert metrics.supporting.phase_seconds == {"apply": 50 * 60, "verify": 49 * 60}
    assert (metrics.supporting.tool_calls, metrics.supporting.total_tokens) == ({"bash": 8}, 15)
    unknown = measure([done(1)], NOW)
    assert five(unknown)["recovery_efficiency"] == (None, None), "no phase tells what was done over"
    at_once = fold(log((0, begin("apply")), (0, ToolCalled("bash", 3)), (0, RecoveryBegan()), (0, Ended("completed"))))
    assert at_once is not None
    assert five(measure([at_once], NINE + 1))["recovery_efficiency"] == (0.0, "elite"), "no time: by tool calls"


def test_conformance_is_the_mean_of_what_was_scored() -> None:
    window = [
        done(1, conformance=Conformance(overall=0.97)),
        done(2, conformance=Conformance(overall=0.93)),
        done(3, conformance=Conformance(functional=0.1)),
        failed(4, conformance=Conformance(overall=0.1)),
    ]
    assert five(measure(window, NOW))["spec_conformance"] == (0.95, "elite")


def test_a_published_example_gives_its_numbers() -> None:
    # AURA-M §5.2's example: 12 of 12 requirements, 0.95 correct, no violation, two iterations.
    told = fold(
        log(
            (0, Started()),
            (1, begin("apply")),
            (20, begin("verify")),
            (25, begin("apply")),
            (40, Conformed(12, 12, correctness=0.95, constraint_violations=0)),
            (45, Ended("completed")),
        )
    )
    assert told is not None and told.conformance == Conformance(1.0, 0.95, 1.0, 0.85, 0.97)
    assert five(measure([told], told.updated_at))["resolution_latency"] == (2700.0, "elite")


def test_the_window_is_seven_days_or_twenty_whichever_is_fewer() -> None:
    few = measure([done(n) for n in range(10)], NOW)
    assert (few.window.deliverables, few.window.limited_by, few.window.start) == (7, "days", NOW - 7 * DAY)
    many = measure([done(n / 10) for n in range(40)], NOW)
    assert (many.window.deliverables, many.window.limited_by) == (20, "deliverables")
    assert many.window.start == NOW - 2 * DAY, "when the latest ended that is left out"
    assert five(many)["feature_throughput"] == (pytest.approx(40 / 7), "elite"), "of all that ended in the days"
    exactly = measure([done(n / 10) for n in range(20)], NOW)
    assert (exactly.window.deliverables, exactly.window.limited_by) == (20, "days")
    at_once = measure([done(0.0, name=f"d{n}") for n in range(30)], NOW, days=0.5)
    assert five(at_once)["feature_throughput"] == (30.0, "elite"), "a day is the least that is divided by"
    other = measure([done(n) for n in range(10)], NOW, days=3.5, count=2)
    assert (other.window.deliverables, other.window.start) == (2, NOW - 2 * DAY)
    assert measure([done(-1), done(1)], NOW).window.deliverables == 1, "what ends tomorrow has not ended"


def test_as_many_as_a_window_counts_have_all_of_its_days() -> None:
    told = measure([*(done(n / 10) for n in range(20)), done(8)], NOW)
    assert (told.window.start, told.window.limited_by) == (NOW - 7 * DAY, "days"), "nobody is left out of it"


def test_a_trend_is_against_the_window_before() -> None:
    before = [done(8 + n / 10, 7200, conformance=Conformance(overall=0.8)) for n in range(7)]
    now = [done(n / 10, 1800, conformance=Conformance(overall=0.9)) for n in range(14)]
    metrics = measure([*before, *now], NOW)
    assert (metrics.previous.end, metrics.previous.start, metrics.previous.deliverables) == (
        NOW - 7 * DAY,
        NOW - 14 * DAY,
        7,
    )
    trends = {name: (each.previous, each.change, each.better) for name, each in metrics.trends.items()}
    assert trends == {
        "feature_throughput": (1.0, 1.0, True),
        "resolution_latency": (7200.0, -5400.0, True),
        "deliverable_failure_rate": (0.0, 0.0, None),
        "recovery_efficiency": (None, None, None),
        "spec_conformance": (0.8, 0.1, True),
    }
    worse = measure([*(done(n / 10) for n in range(80, 87)), failed(1)], NOW)
    assert worse.trends["deliverable_failure_rate"].better is False


def test_windows_before_are_told_each_just_before_the_next() -> None:
    told = history([done(n + 0.5) for n in range(21)], NOW, windows=4)
    assert [(window.deliverables, window.end) for window, _ in told] == [
        (0, NOW - 21 * DAY),
        (7, NOW - 14 * DAY),
        (7, NOW - 7 * DAY),
        (7, NOW),
    ]
    assert [each.feature_throughput.value for _, each in told] == [None, 1.0, 1.0, 1.0]
    crowded: Sequence[Deliverable] = [done(n / 10) for n in range(50)]
    assert [window.deliverables for window, _ in history(crowded, NOW, 3)] == [0, 0, 20]


def test_groups_are_measured_over_the_same_window() -> None:
    window = [
        done(1, agent=AgentIdentity("claude-code", "sonnet"), type="feature", complexity="complex"),
        done(2, agent=AgentIdentity("claude-code", "opus"), type="feature"),
        failed(3, agent=AgentIdentity("cursor"), type="bugfix", failure_type="infinite_loop"),
        failed(4),
    ]
    metrics = measure(window, NOW)
    assert {name: list(groups) for name, groups in metrics.groups.items()} == {
        "agent": ["claude-code", "cursor", "unknown"],
        "model": ["opus", "sonnet", "unknown"],
        "author": ["unknown"],
        "type": ["bugfix", "feature", "unknown"],
        "complexity": ["complex", "unknown"],
    }
    claude = metrics.groups["agent"]["claude-code"].metrics
    assert (claude.feature_throughput.value, claude.deliverable_failure_rate.value) == (pytest.approx(2 / 7), 0.0)
    assert metrics.groups["type"]["bugfix"].metrics.deliverable_failure_rate.tier == "low"
    assert metrics.supporting.failure_types == {"infinite_loop": 1, "unclassified": 1}


def test_what_supports_the_five_is_added_up() -> None:
    span = PhaseSpan("apply", 0, 30, 1)
    window = [
        done(
            1,
            100,
            tokens=TokenUsage(10, 5, 0, 0.25),
            tool_calls={"bash": 3, "grep": 1},
            spans=(span,),
            recovery_tool_calls=1,
            recovery_attempts=1,
            recovery_seconds=5.0,
            apply_iterations=2,
        ),
        done(2, 100, tokens=TokenUsage(1, 1), tool_calls={"bash": 4}, spans=(span,), apply_iterations=1),
        failed(3),
    ]
    assert measure(window, NOW).supporting == Supporting(
        accepted=2,
        failed=1,
        withdrawn=0,
        latency_mean=100.0,
        latency_p90=100.0,
        latency_without_wait=None,
        human_wait_seconds=None,
        human_interventions=None,
        recovery_by_time=pytest.approx(100 * 5 / 60),
        recovery_by_tool_calls=12.5,
        recovery_attempts=1,
        apply_iterations=1.5,
        input_tokens=11,
        output_tokens=6,
        total_tokens=17,
        cost_usd=0.25,
        tool_calls={"bash": 7, "grep": 1},
        tool_calls_total=8,
        phase_seconds={"apply": 30.0},
        failure_types={"unclassified": 1},
    )


def test_waiting_is_subtracted_and_never_below_nothing() -> None:
    told = fold(log((0, Started()), (1, HumanIntervened(900.0)), (10, Ended("completed"))))
    assert told is not None
    assert measure([told], told.updated_at).supporting.latency_without_wait == 0.0


def test_questions_and_what_nobody_wants_any_more_are_in_no_metric() -> None:
    runs = [done(n / 10, 5, name=f"run-{n}", kind="run") for n in range(20)]
    broken = [failed(0.1, name="run-x", kind="run")]
    unwanted = [failed(1, name="dup", deliverable_failed=False, withdrawn=True)]
    metrics = measure([done(1, 3600), *runs, *broken, *unwanted], NOW)
    told = five(metrics)
    assert told["feature_throughput"] == (pytest.approx(1 / 7), "medium")
    assert told["resolution_latency"] == (3600.0, "high") and told["deliverable_failure_rate"] == (0.0, "elite")
    assert (metrics.window.deliverables, metrics.supporting.withdrawn, metrics.in_progress) == (1, 1, 0)
    assert (metrics.runs.count, metrics.runs.answered, metrics.runs.failed) == (21, 20, 1)
    asked = Started("Where?", "question", spec_source=SpecSource("prompt", "r-1", 1))
    asked = replace(asked, agent=AgentIdentity("aurora", "m-1", "aurora-soar"))
    old = fold(log((0, asked), (1, Ended("completed"))))
    assert old is not None and old.kind == "run", "as runs were told before records had a kind"


def test_a_trend_of_few_says_so_and_compares_as_many_days() -> None:
    busy = [done(n / 10, 60) for n in range(30)]
    metrics = measure([*busy, done(8, 120), done(9, 120)], NOW)
    assert (metrics.previous.start, metrics.previous.end) == (NOW - 14 * DAY, NOW - 7 * DAY)
    latency, throughput = metrics.trends["resolution_latency"], metrics.trends["feature_throughput"]
    assert (latency.n, latency.previous_n, throughput.n) == (20, 2, 30)
    assert latency.hint == "of 20 and 2 deliverables: too few to tell a trend from chance"
    enough = measure([*busy, *(done(8 + n / 10) for n in range(5))], NOW)
    assert enough.trends["resolution_latency"].hint is None


def test_a_trend_is_of_as_many_as_its_two_values_are() -> None:
    scored = [done(n / 10, 60, conformance=Conformance(overall=0.9)) for n in range(2)]
    others = [failed(n / 10, name=f"f{n}") for n in range(9)]
    before = [done(8 + n / 10, 60, name=f"b{n}", conformance=Conformance(overall=0.8)) for n in range(9)]
    trends = measure([*scored, *others, *before], NOW).trends
    assert [(trends[name].n, trends[name].previous_n) for name in trends] == [
        (11, 9), (2, 9), (11, 9), (0, 0), (2, 9)
    ]  # fmt: skip
    assert trends["spec_conformance"].hint == "of 2 and 9 deliverables: too few to tell a trend from chance"
    assert trends["deliverable_failure_rate"].hint is None


def test_the_share_of_rework_is_over_time_in_phases() -> None:
    hour = 60
    made = fold(
        log(
            (0, begin("apply")),
            (1 * hour, begin("verify")),
            (1 * hour, TestsRan(failed=2)),
            (2 * hour, end("verify")),
            (18 * hour, begin("apply")),  # the next morning
            (19 * hour, begin("verify")),
            (20 * hour, Ended("completed")),
        )
    )
    assert made is not None
    assert five(measure([made], made.updated_at))["recovery_efficiency"] == (25.0, "low"), "one hour of four"


def test_rework_is_no_more_than_the_effort_of_its_own_deliverable() -> None:
    several_at_once = done(1, recovery_attempts=2, recovery_seconds=250.0, spans=(PhaseSpan("apply", 0.0, 100.0, 1),))
    another = done(2, spans=(PhaseSpan("apply", 0.0, 300.0, 1),))
    assert five(measure([several_at_once, another], NOW))["recovery_efficiency"] == (25.0, "low")


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"spans": (PhaseSpan("design", 0.0, 50.0, 1),)}, False),
        ({"spans": (PhaseSpan("design", 0.0, 50.0, 1), PhaseSpan("apply", 50.0, 100.0, 1))}, True),
        ({"spans": (PhaseSpan("design", 0.0, 50.0, 1),), "recovery_attempts": 1}, True),
        ({"spans": (PhaseSpan("apply", 0.0, 100.0, 1),), "recovery_seconds": None}, False),
        ({"spans": (PhaseSpan("apply", 0.0, 100.0, 1),), "recovery_tool_calls": None}, False),
    ],
)
def test_rework_is_known_where_work_was_told_or_that_it_was_done_over(told: dict[str, Any], known: bool) -> None:
    value, _ = five(measure([done(1, **told)], NOW))["recovery_efficiency"]
    assert (value is not None) is known


def test_what_is_withdrawn_or_has_failed_in_whatever_words_is_not_accepted_and_withdrawn_work_is_no_effort() -> None:
    failed_unsaid = done(1, status="failed", deliverable_failed=None)
    withdrawn = done(2, withdrawn=True, spans=(PhaseSpan("apply", 0.0, 900.0, 1),), tool_calls={"bash": 9})
    found = measure([failed_unsaid, withdrawn, done(3)], NOW).supporting
    assert (found.accepted, found.withdrawn) == (1, 1)
    assert (found.phase_seconds, found.tool_calls_total) == ({}, 0)


def test_what_waited_longer_than_it_took_took_no_time_and_a_wait_nobody_told_is_unknown() -> None:
    def without_wait(**told: Any) -> float | None:
        return measure([done(1, 100, **told)], NOW).supporting.latency_without_wait

    assert without_wait(human_wait_seconds=40.0) == 60.0
    assert without_wait(human_wait_seconds=140.0) == 0.0, "people were asked side by side"
    assert without_wait(human_interventions=0) == 100.0, "it is told that nobody was waited for"
    assert without_wait(human_interventions=2) is None and without_wait() is None


def test_the_commonest_failures_and_tools_are_told_first() -> None:
    kinds = ("regression", "infinite_loop", "infinite_loop")
    calls = {"grep": 1, "bash": 5}
    told = measure([failed(n + 1, failure_type=kind, tool_calls=calls) for n, kind in enumerate(kinds)], NOW).supporting
    assert list(told.failure_types.items()) == [("infinite_loop", 2), ("regression", 1)]
    assert list(told.tool_calls) == ["bash", "grep"]


def test_weeks_are_told_with_median_and_p90() -> None:
    weeks = series([*(done(1, 60 * n, name=f"d{n}") for n in range(1, 12)), done(8, 7)], NOW, 2)
    assert [(each.window.deliverables, each.latency_median, each.latency_p90) for each in weeks] == [
        (1, 7.0, 7.0),
        (11, 360.0, 600.0),
    ]


def test_a_cost_per_accepted_deliverable_counts_what_failures_cost_and_leaves_out_what_is_unknown() -> None:
    members = [
        done(1, 100, tokens=TokenUsage(cost_usd=3.0), agent=AgentIdentity("bot", "m-1"), model_costs={"m-1": 3.0}),
        done(2, 100, tokens=TokenUsage(cost_usd=1.0), agent=AgentIdentity("bot", "m-1"), status="failed",
             deliverable_failed=True, model_costs={"m-1": 0.75, "m-2": 0.25}),
        done(3, 100, agent=AgentIdentity("bot", "m-1")),
    ]  # fmt: skip
    found = measure(members, NOW)
    assert (found.cost.cost_usd, found.cost.cost_per_accepted_usd) == (4.0, 4.0), "two were accepted, one with a cost"
    assert (found.cost.deliverables, found.cost.accepted, found.cost.costed) == (3, 2, 2)
    by_pair = {(each.agent, each.model): each.cost for each in found.costs}
    assert by_pair["bot", "m-1"].cost_per_accepted_usd == 3.75
    assert (by_pair["bot", "m-2"].cost_usd, by_pair["bot", "m-2"].cost_per_accepted_usd) == (0.25, None)
    assert found.group_costs["agent"]["bot"].cost_usd == 4.0
    assert found.group_costs["model"]["m-1"].cost_usd == 3.75, "what the other model cost is not its own"


def test_a_model_that_nothing_was_spent_on_has_none_of_the_others_cost() -> None:
    made = done(1, 100, tokens=TokenUsage(cost_usd=3.0), agent=AgentIdentity("bot", "m-1"), model_costs={"m-2": 3.0})
    cost = measure([made], NOW).group_costs["model"]["m-1"]
    assert (cost.deliverables, cost.costed, cost.cost_usd, cost.cost_per_accepted_usd) == (1, 0, None, None)


def test_costs_of_a_deliverable_are_known_by_model() -> None:
    told = fold(
        [
            Event("a", "x", 1.0, Started(agent=AgentIdentity("bot", "m-1"))),
            Event("b", "x", 2.0, TokensUsed(cost_usd=1.0, model="m-2")),
            Event("c", "x", 3.0, TokensUsed(cost_usd=0.5)),
            Event("d", "x", 4.0, TokensUsed(input_tokens=7, model="m-3")),
        ]
    )
    assert told is not None and told.model_costs == {"m-2": 1.0, "m-1": 0.5}


def test_what_is_not_measured_is_said_with_what_would_tell_it() -> None:
    found = measure([done(1, 100), done(2, 100)], NOW).measured
    scored = found["spec_conformance"]
    assert (scored.measured, scored.of) == (0, 2)
    assert scored.missing is not None
    for said in ("functional of 2", "correctness of 2", "constraints of 2", "aurora deliverable conform", "--junit"):
        assert said in scored.missing
    assert found["feature_throughput"].missing is None and found["resolution_latency"].missing is None
    assert all(each.missing == "no deliverable ended in this window" for each in measure([], NOW).measured.values())


def test_of_what_nobody_wanted_any_more_nothing_is_missing() -> None:
    """It is in none of the five metrics: nobody need tell more of it."""
    assert [gap.metric for gap in gaps_of(failed(1))] and gaps_of(failed(1, withdrawn=True)) == []


def test_of_what_ended_at_one_moment_the_same_ones_count_whoever_told_first() -> None:
    one, other = done(1, 60, "a"), done(1, 7200, "b")
    assert measure([one, other], NOW, count=1).metrics == measure([other, one], NOW, count=1).metrics
