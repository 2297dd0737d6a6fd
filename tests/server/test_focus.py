"""Where attention is, as shares."""

from __future__ import annotations

import pytest

from aurora_memory.views import ChunkView
from aurora_server.workspace.focus import MAX_IN_FILE, focus_of


def view(number: int, line: int = 1) -> ChunkView:
    return ChunkView(
        number, "a.py", f"f{number}", "function", None, line, line + 3, None, "python", "", "", "low", 0, 0, "", 10
    )


def test_cursor_file_and_edits_share_attention() -> None:
    focus = focus_of(view(1), [view(1), view(2), view(3)], [view(3), view(4)])
    assert focus is not None
    assert focus.shares == pytest.approx({1: 0.5, 2: 0.1, 3: 0.1 + 0.15, 4: 0.15})
    assert sum(focus.shares.values()) == pytest.approx(1.0)


def test_nothing_to_attend_to() -> None:
    assert focus_of(None, [], []) is None


def test_of_a_large_file_what_is_near_the_cursor() -> None:
    own = [view(number, 10 * number) for number in range(1, 301)]
    focus = focus_of(own[150], own, [])
    assert focus is not None and len(focus.shares) == MAX_IN_FILE + 1
    assert min(focus.shares) > 100 and max(focus.shares) < 200
