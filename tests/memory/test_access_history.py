"""A chunk's history: when it last changed, as far as that was seen, and whose uses are of it."""

from __future__ import annotations

import math

import pytest

from aurora_memory.recall.access_history import levels_of, modified_at, modified_before, with_others
from aurora_memory.views import ChunkHead, Commits, OthersUses


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
    histories: list[tuple[float, ...]] = [(100.0, 500.0), (700.0,), ()]
    alone = levels_of(histories, 1000.0)
    joined = with_others(alone, histories, [OthersUses(1, 0.5, -2000.0), None, OthersUses(1, 0.5, 5.0)])
    assert joined == pytest.approx([math.log(math.exp(alone[0]) + 0.5), alone[1], math.log(0.5)])
    assert joined[0] > alone[0]
