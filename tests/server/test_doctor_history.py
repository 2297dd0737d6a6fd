"""What doctor says of a repository's history that cannot be known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from aurora_indexer.indexer import Indexer
from aurora_memory.store import Store
from aurora_server.workspace.doctor import _history
from tests.indexer.repository import new_repository


def indexer(problem: str | None = None, percent: int | None = None) -> Indexer:
    return cast(Indexer, SimpleNamespace(history_problem=problem, history_percent=percent))


@pytest.mark.parametrize(("path", "said"), [({}, 0), ({"PATH": ""}, 1)], ids=["git", "no git"])
async def test_that_there_is_no_git_is_told_and_nothing_of_missing_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Mapping[str, str], said: int
) -> None:
    new_repository(tmp_path / "work")
    store = await Store.open(tmp_path / "memory.db")
    for name, value in path.items():
        monkeypatch.setenv(name, value)
    try:
        found = await _history(tmp_path / "work", store, indexer())
    finally:
        await store.close()
    assert [each.level for each in found] == ["warning"] * said
    assert all(each.what.startswith("there is no git on the daemon's PATH") and each.fix for each in found)


async def test_a_history_that_could_not_be_read_is_told_and_that_it_is_read_again(tmp_path: Path) -> None:
    new_repository(tmp_path / "work")
    store = await Store.open(tmp_path / "memory.db")
    found = await _history(tmp_path / "work", store, indexer("git log took longer than 20 s; try again", 7))
    await store.close()
    assert [(each.level, each.what) for each in found] == [
        ("warning", "history could not be read, dates are missing: git log took longer than 20 s; try again"),
        ("ok", "reading history, 7 % done"),
    ]
    assert "aurora index" in (found[0].fix or "")
