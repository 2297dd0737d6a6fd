"""When a change of two things together is more than chance."""

from __future__ import annotations

import pytest

from aurora_memory.co_change import ELSEWHERE, LIFT, is_beyond_chance, nearness


def test_what_never_changes_elsewhere_is_no_chance() -> None:
    assert is_beyond_chance(4, 5, 4, 1000)


def test_what_changes_in_every_commit_is_chance() -> None:
    assert not is_beyond_chance(5, 5, 1000, 1000)


def test_the_share_has_to_be_some_times_that_of_other_commits() -> None:
    elsewhere = 0.5 / LIFT * 100  # of a hundred other commits, where it is in half of one's own
    assert is_beyond_chance(5, 10, 5 + elsewhere, 110)
    assert not is_beyond_chance(5, 10, 5 + elsewhere + 1, 110)


def test_a_few_commits_elsewhere_prove_nothing() -> None:
    assert is_beyond_chance(2, 4, 2 + ELSEWHERE - 1, 4 + ELSEWHERE - 1)
    assert not is_beyond_chance(2, 4, 2 + ELSEWHERE, 4 + ELSEWHERE)


def test_without_other_commits_nothing_speaks_against_it() -> None:
    assert is_beyond_chance(3, 3, 3, 3)


@pytest.mark.parametrize(
    ("path", "other", "near"),
    [("x/a.py", "x/a.py", 2), ("x/a.py", "x/b.py", 1), ("a.py", "b.py", 1), ("x/a.py", "x/y/a.py", 0)],
)
def test_how_near_two_files_lie(path: str, other: str, near: int) -> None:
    assert nearness(path, other) == near
