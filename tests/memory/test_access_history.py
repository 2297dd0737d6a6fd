"""A chunk's history: when it last changed, as far as that was seen, and whose uses are of it."""

from __future__ import annotations

import math

import pytest

from aurora_memory.recall.access_history import (
    histories_of,
    levels_of,
    modified_at,
    modified_before,
    with_others,
)
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
        (None, Commits([500, 100], "abc", "fix", latest=800), 800.0, None),
        (900.0, Commits([500, 100], "abc", "fix", latest=800), 900.0, None),
        (None, Commits([500, 100], "abc", "fix", latest=1601), None, None),
        (None, Commits([1600], "abc", "by a clock that is a little ahead"), 1600.0, None),
        (None, Commits([1601, 100], "abc", "by one that is wrong"), None, None),
        (None, Commits([1600], "", "", changed=False), None, 1600.0),
        (None, Commits([1601], "", "", changed=False), None, None),
        (900.0, Commits([1601, 100], "abc", "fix"), 900.0, None),
        (1600.0, Commits([500], "abc", "fix"), 1600.0, None),
        (1601.0, Commits([500], "abc", "fix"), None, None),
    ],
)
def test_a_date_is_one_that_was_seen(
    edited: float | None, commits: Commits | None, changed: float | None, before: float | None
) -> None:
    known = {1: commits} if commits else {}
    assert modified_at(head(edited), known, 1000.0) == changed
    assert modified_before(head(edited), known, 1000.0) == before


def test_colleagues_uses_count_by_their_weight_beside_ones_own_and_as_ones_own_without() -> None:
    histories: list[tuple[float, ...]] = [(100.0, 500.0), (700.0,), (), (100.0,)]
    alone = levels_of(histories, 1000.0)
    others = [OthersUses(1, 1.0, -2000.0), None, OthersUses(1, 0.5, 5.0), OthersUses(9, 1e6, 5.0)]
    joined = with_others(alone, histories, others, 0.5)
    assert joined[:3] == pytest.approx([math.log(math.exp(alone[0]) + 0.5), alone[1], math.log(0.5)])
    assert joined[3] == pytest.approx(math.log(1e6)), "a use of one's own makes nothing less present"


@pytest.mark.parametrize(
    ("edited", "committed", "history"),
    [
        pytest.param(900.0, True, (100.0, 500.0, 900.0), id="commits and the edit that was seen since"),
        pytest.param(None, True, (100.0, 500.0), id="commits, and not its file's time beside them"),
        pytest.param(None, False, (300.0,), id="its file's time where nothing else is known"),
        pytest.param(900.0, False, (900.0,), id="and not beside an edit"),
    ],
)
def test_what_stands_in_for_uses_of_ones_own(edited: float | None, committed: bool, history: tuple[float, ...]) -> None:
    commits = {1: Commits([500, 100], "abc", "fix")} if committed else {}
    assert histories_of([head(edited)], {}, {}, commits, {"a.py": 300.0}, 1000.0) == [history]


@pytest.mark.parametrize(
    ("edited", "committed", "written", "history"),
    [
        pytest.param(None, [1601, 1600, 100], 300.0, (100.0, 1600.0), id="commits"),
        pytest.param(None, [1601], 300.0, (), id="which may be all that is known"),
        pytest.param(1601.0, [100], 300.0, (100.0,), id="an edit"),
        pytest.param(None, [], 1601.0, (), id="a file"),
        pytest.param(None, [], 1600.0, (1600.0,), id="a clock that is a little ahead is none that is wrong"),
    ],
)
def test_what_is_dated_after_today_is_no_history(
    edited: float | None, committed: list[int], written: float, history: tuple[float, ...]
) -> None:
    commits = {1: Commits(committed, "abc", "fix")} if committed else {}
    assert histories_of([head(edited)], {}, {}, commits, {"a.py": written}, 1000.0) == [history]


def test_what_only_colleagues_have_used_has_no_commits_for_its_history_as_what_one_has_used_oneself() -> None:
    commits = {each: Commits([500, 100], "abc", "fix") for each in (1, 2, 3)}
    chunks = [ChunkHead(each, "a.py", f"f{each}", "function", None, 1, 2, None) for each in (1, 2, 3)]
    found = histories_of(chunks, {1: [700.0]}, {2: OthersUses(1, 1.0, 700.0)}, commits, {}, 1000.0)
    assert found == [(700.0,), (), (100.0, 500.0)]
