"""When a chunk last changed: by what was seen of it, and null where nobody knows."""

from __future__ import annotations

import pytest

from aurora_memory.recall.access_history import modified_at, modified_before
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
