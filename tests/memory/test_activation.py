"""Every formula is pyactr's, or the specification's, to 1e-9."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.activation import (
    MINUTE,
    Activation,
    ages_in_days,
    base_level,
    base_levels,
    context_boost,
    decay_penalty,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # escapes that are none, told where it was not compiled before
    from pyactr.utilities import baselevel_learning

NOW = 1_800_000_000.0
histories = st.lists(st.floats(0, 20 * 365 * 86_400), min_size=1, max_size=40)


def authority(times: list[float], decay: float) -> float:
    ages = np.array([max((NOW - time) / 86_400, MINUTE) for time in times])
    return float(baselevel_learning(0.0, -ages, True, decay))


@given(histories, st.floats(0.05, 1.5))
def test_base_level_is_pyactrs(seconds_ago: list[float], decay: float) -> None:
    times = [NOW - ago for ago in seconds_ago]
    assert base_level(times, NOW, decay) == pytest.approx(authority(times, decay), abs=1e-9)


@given(st.lists(histories, min_size=1, max_size=8), st.floats(0.05, 1.5))
def test_many_base_levels_at_once_are_pyactrs(many: list[list[float]], decay: float) -> None:
    times = [[NOW - ago for ago in ages] for ages in many]
    owners = np.repeat(np.arange(len(many)), [len(ages) for ages in many])
    levels = base_levels(ages_in_days([t for some in times for t in some], NOW), owners, len(many), decay)
    assert levels == pytest.approx([authority(some, decay) for some in times], abs=1e-9)


def test_now_and_the_future_count_as_a_minute_ago() -> None:
    minute_ago = 0.5 * math.log(1440)
    assert base_level([NOW], NOW) == pytest.approx(minute_ago, abs=1e-9)
    assert base_level([NOW + 3600], NOW) == pytest.approx(minute_ago, abs=1e-9)


def test_a_chunk_without_history_has_no_base_level() -> None:
    assert base_levels(ages_in_days([], NOW), np.array([], dtype=np.intp), 1).tolist() == [-math.inf]


@pytest.mark.parametrize(("days", "penalty"), [(0, 0), (1, 0), (10, 0.5), (100, 1.0), (1000, 1.5)])
def test_decay_is_half_a_decade_of_days(days: float, penalty: float) -> None:
    assert decay_penalty(days) == pytest.approx(penalty, abs=1e-12)


@pytest.mark.parametrize(("overlap", "boost"), [(-1, 0), (0, 0), (0.5, 0.25), (1, 0.5), (7, 0.5)])
def test_context_boost_stays_in_its_range(overlap: float, boost: float) -> None:
    assert context_boost(overlap) == boost


def test_total_is_the_sum_of_its_terms() -> None:
    assert Activation(0.4, 0.2, 0.31, 0.2).total == pytest.approx(0.71)
