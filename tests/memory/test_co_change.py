"""When a change of two things together is more than chance."""

from __future__ import annotations

import pytest

from aurora_memory.co_change import ELSEWHERE, LIFT, beyond_chance


def test_what_never_changes_elsewhere_counts_nearly_whole() -> None:
    assert beyond_chance(4, 5, 4, 1000) == pytest.approx(4, abs=0.01)


def test_what_changes_in_every_commit_is_chance() -> None:
    assert beyond_chance(5, 5, 1000, 1000) is None


def test_the_share_has_to_be_some_times_that_of_other_commits() -> None:
    elsewhere = 0.5 / LIFT * 100  # of a hundred other commits, where it is in half of one's own
    assert beyond_chance(5, 10, 5 + elsewhere, 110) is not None
    assert beyond_chance(5, 10, 5 + elsewhere + 1, 110) is None


def test_a_few_commits_elsewhere_prove_nothing() -> None:
    assert beyond_chance(2, 4, 2 + ELSEWHERE - 1, 4 + ELSEWHERE - 1) is not None
    assert beyond_chance(2, 4, 2 + ELSEWHERE, 4 + ELSEWHERE) is None


def test_the_more_often_elsewhere_the_less_is_left() -> None:
    told = [beyond_chance(5, 10, 5 + elsewhere, 210) for elsewhere in (0, 10, 40)]
    assert all(told)
    assert told == sorted(told, key=lambda each: -(each or 0))


def test_without_other_commits_all_of_it_may_count() -> None:
    assert (beyond_chance(3, 3, 3, 3) or 0) > (beyond_chance(3, 8, 3, 8) or 0) > 1
