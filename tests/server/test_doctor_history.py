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


@pytest.mark.parametrize(("path", "said"), [({}, 0), ({"PATH": ""}, 1)], ids=["git", "no git"])
async def test_that_there_is_no_git_is_told_and_nothing_of_missing_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Mapping[str, str], said: int
) -> None:
    new_repository(tmp_path / "work")
    store = await Store.open(tmp_path / "memory.db")
    for name, value in path.items():
        monkeypatch.setenv(name, value)
    try:
        found = await _history(tmp_path / "work", store, cast(Indexer, SimpleNamespace(history_percent=None)))
    finally:
        await store.close()
    assert [each.level for each in found] == ["warning"] * said
    assert all(each.what.startswith("there is no git on the daemon's PATH") and each.fix for each in found)
