"""Where a run's time went: percentages, parallel subgoals, models against AURORA itself."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_orchestration.conversations.time_breakdown import summary, timing
from tests.orchestration.runs import BEGAN, call, phase, run


def test_phases_with_their_percentages() -> None:
    told = timing(run())
    assert told.total_duration_ms == 12_800
    assert [(each.phase, each.duration_ms, each.percentage) for each in told.phases][3:8] == [
        ("DECOMPOSE", 2000, 15.6),
        ("VERIFY (Decomposition)", 1700, 13.3),
        ("ROUTE", 100, 0.8),
        ("COLLECT (Agents)", 6000, 46.9),
        ("SYNTHESIZE", 1500, 11.7),
    ]
    assert [(each.llm_ms, each.own_ms, each.calls) for each in told.phases][3] == (1900, 100, 1)
    assert sum(each.percentage for each in told.phases) <= 100.5
    assert sum(each.duration_ms for each in told.phases) + told.between_ms == pytest.approx(told.total_duration_ms)


def test_parallel_subgoals_count_once_and_waiting_is_no_work_of_ours() -> None:
    told = timing(run())
    assert [(each.subgoal_id, each.duration_ms, each.waited_ms) for each in told.subgoals] == [
        ("SG1", 2000, 0),
        ("SG2", 4000, 2000),
        ("SG3", 3000, 2000),
    ]
    assert told.llm_ms == 7200
    assert told.agents_ms == 4000, "two at once, and the built-in one is ours and its model's"
    assert told.llm_ms + told.agents_ms + told.own_ms == pytest.approx(told.total_duration_ms)


def test_attempts_of_a_phase_are_one_line_and_replayed_calls_took_no_time() -> None:
    phases = (phase("decompose", 0, 1000), phase("verify", 1, 500), phase("decompose", 1.5, 1000))
    calls = (call("decompose", 0.1, 800), call("decompose", 1.6, 700, replayed=True))
    told = timing(run(phases=phases, calls=calls, results=(), ended_at=BEGAN + 2.5))
    assert [(each.phase, each.attempts, each.duration_ms, each.llm_ms) for each in told.phases] == [
        ("DECOMPOSE", 2, 2000, 800),
        ("VERIFY (Decomposition)", 1, 500, 0),
    ]
    document = summary(told)
    assert document["phases"][0]["attempts"] == 2 and "attempts" not in document["phases"][1]
    assert document["total_duration_ms"] == 2500


def test_a_run_that_ended_at_once_has_no_percentages_to_give() -> None:
    told = timing(run(ended_at=BEGAN - 5, phases=(), calls=(), results=()))
    assert (told.total_duration_ms, told.own_ms, told.phases) == (0, 0, ())


spans = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 5000)), max_size=6)


@given(spans, spans, st.floats(0, 20))
def test_models_agents_and_the_rest_are_the_whole(
    phases: list[tuple[float, float]], calls: list[tuple[float, float]], lasted: float
) -> None:
    done = tuple(
        msgspec.structs.replace(each, started_at=BEGAN + begun, ended_at=BEGAN + begun + took / 1000)
        for each, (begun, took) in zip(run().results, phases, strict=False)
    )
    record = run(
        phases=tuple(phase("collect", begun, took) for begun, took in phases),
        calls=tuple(call("collect", begun, took) for begun, took in calls),
        results=done,
        ended_at=BEGAN + lasted,
    )
    told = timing(record)
    assert told.llm_ms + told.agents_ms + told.own_ms == pytest.approx(told.total_duration_ms, abs=0.01)
    assert min(told.llm_ms, told.agents_ms, told.between_ms) >= 0 and told.own_ms >= -0.01
