"""What moved at a remote on this machine: pushed from here, or by somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.git import commands, local_remotes
from tests.indexer.repository import commit, new_repository, run

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


async def test_remotes_on_this_machine_are_those_of_either_address_but_for_itself(tmp_path: Path) -> None:
    here = new_repository(tmp_path / "here")
    commit(here, "first", {"a.py": "1"})
    run(tmp_path, "clone", "-q", "--bare", str(here), "bare one.git")
    run(tmp_path, "clone", "-q", str(here), "tree")
    (tmp_path / "empty").mkdir()
    remotes = {
        "a": f"file://{tmp_path}/bare%20one.git",
        "b": "../bare one.git",
        "me": str(here),
        "far": "https://a.example/x.git",
        "ssh": "git@a.example:x.git",
        "gone": "../gone",
        "empty": "../empty",
    }
    for name, address in remotes.items():
        run(here, "config", f"remote.{name}.url", address)
    run(here, "config", "remote.far.pushurl", "../tree")
    assert set(await local_remotes.remote_addresses(here)) == {*remotes.values(), "../tree"}
    found = await local_remotes.published(here)
    assert set(found) == {str(tmp_path / "bare one.git"), str(tmp_path / "tree/.git")}
    head = commands.head(here)
    assert {commit for refs in found.values() for ref, commit in refs.items() if ref.startswith("refs/heads/")} == {
        head
    }


async def test_of_what_moved_ten_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refs(*_: Any) -> dict[str, str]:
        return {}

    monkeypatch.setattr(local_remotes, "_refs", refs)
    old = {"/r": {f"refs/tags/v{n:02}": OURS for n in range(11)}}
    pushed, others = await local_remotes.published_since(Path("/w"), old, "")
    assert (pushed, len(others), others[0]) == ([], 10, "refs/tags/v00 of /r was deleted")
