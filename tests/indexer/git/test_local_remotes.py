"""What moved at a remote on this machine: pushed from here, or by somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.git import commands, local_remotes

OURS, THEIRS = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("before", "now", "is_here", "fetched", "in_head", "pushed", "others"),
    [
        pytest.param({}, {"x": OURS}, True, False, False, ["pushed to x of /r"], [], id="ours, and never fetched"),
        pytest.param({}, {"x": OURS}, True, True, False, [], ["x of /r was made"], id="fetched: somebody else's"),
        pytest.param(
            {}, {"x": OURS}, True, True, True, ["pushed to x of /r"], [], id="but not of the branch we are at"
        ),
        pytest.param({}, {"x": THEIRS}, False, False, False, [], ["x of /r was made"], id="one we do not have"),
        pytest.param({"x": THEIRS}, {"x": OURS}, True, False, False, ["pushed to x of /r"], [], id="moved by us"),
        pytest.param(
            {"x": THEIRS, "y": OURS},
            {"x": OURS, "y": OURS},
            True,
            False,
            True,
            [],
            ["x of /r was moved"],
            id="moved to what some ref was at there: that need not come from here",
        ),
        pytest.param({"x": OURS}, {}, True, False, False, [], ["x of /r was deleted"], id="deleted"),
        pytest.param({"x": OURS}, {"x": OURS}, True, False, False, [], [], id="what stayed is not told"),
        pytest.param({"x": OURS}, None, True, False, False, [], ["remote /r cannot be read any more"], id="unreadable"),
    ],
)
async def test_who_moved_a_branch(
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, str],
    now: dict[str, str] | None,
    is_here: bool,
    fetched: bool,
    in_head: bool,
    pushed: list[str],
    others: list[str],
) -> None:
    async def refs(*_: Any) -> dict[str, str] | None:
        return None if now is None else {f"refs/heads/{name}": commit for name, commit in now.items()}

    async def answer(*_: Any) -> bytes | None:
        return b"" if is_here else None

    async def text(_: Path, arguments: Sequence[str]) -> str:
        if arguments[0] == "merge-base":
            return OURS if in_head else THEIRS
        return "refs/remotes/origin/x" if fetched else ""

    monkeypatch.setattr(local_remotes, "_refs", refs)
    monkeypatch.setattr(commands, "answer", answer)
    monkeypatch.setattr(commands, "text", text)
    old = {"/r": {f"refs/heads/{name}": commit for name, commit in before.items()}}
    assert await local_remotes.published_since(Path("/w"), old, "c" * 40) == (pushed, others)
