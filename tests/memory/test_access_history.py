"""A chunk's history: when it last changed, as far as that was seen, and whose uses are of it."""

from __future__ import annotations

import pytest

from aurora_memory.recall.access_history import histories_of, levels_of, modified_at, modified_before
from aurora_memory.views import ChunkHead, Commits


def head(changed_at: float | None) -> ChunkHead:
    return ChunkHead(1, "a.py", "f", "function", None, 1, 2, changed_at)


@pytest.mark.parametrize(
    ("edited", "commits", "changed", "before"),
    [
        (None, None, None, None),
        (None, Commits([500], "abc", "fix"), 500.0, None),
        (None, Commits([500], "", "", changed=False), None, 500.0),
        (900.0, Commits([500], "", "", changed=False), 900.0, None),
        (900.0, Commits([500, 100], "abc", "fix"), 900.0, None),
        (300.0, Commits([500, 100], "abc", "fix"), 500.0, None),
    ],
)
def test_a_date_is_one_that_was_seen(
    edited: float | None, commits: Commits | None, changed: float | None, before: float | None
) -> None:
    known = {1: commits} if commits else {}
    assert modified_at(head(edited), known) == changed
    assert modified_before(head(edited), known) == before


def test_colleagues_uses_come_on_top_of_commits_and_take_nothing_away() -> None:
    commits = {1: Commits([500, 100], "abc", "fix")}
    alone = histories_of([head(None)], {}, commits, {})
    joined = histories_of([head(None)], {}, commits, {}, {1: [-2000.0]})
    assert (alone, joined) == ([(100.0, 500.0)], [(-2000.0, 100.0, 500.0)])
    assert levels_of(joined, 1000.0) > levels_of(alone, 1000.0)
    own = histories_of([head(None)], {1: [700.0]}, commits, {}, {1: [-2000.0], 2: [5.0]})
    assert own == [(-2000.0, 700.0)], "one's own stand in for commits, as without a team"
