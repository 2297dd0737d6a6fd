"""How fresh an answer says it is: never fresher than what it was made from."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.indexer import Indexer
from aurora_indexer.workers.pool import WorkerPool
from aurora_protocol.methods import RecallParams, RecallResult
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.recall import MemoryRecall
from aurora_server.workspace.workspace import Workspace

QUESTION = RecallParams(query="feed the pigeons")


@pytest.fixture
async def unindexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    """A workspace that nobody has indexed yet, and nobody does until its indexer is started."""
    root, home, work = (tmp_path / name for name in ("loft", "home", "work"))
    for folder in (root, home, work):
        folder.mkdir()
    (root / "loft.py").write_text("def feed(pigeons):\n    return [pigeon.eat() for pigeon in pigeons]\n")
    pool = WorkerPool(1, folder=work, environment=os.environ)
    with monkeypatch.context() as held:
        held.setattr(Indexer, "start", lambda self: None)
        opened = await Workspace.open(root, Settings(home=home), pool)
    yield opened
    await opened.close()
    await pool.aclose()


async def test_an_index_that_is_done_while_memory_is_asked_comes_too_late_for_the_answer(
    unindexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = MemoryRecall.answer

    async def answer(self: MemoryRecall, *given: Any) -> RecallResult:
        found = await answered(self, *given)
        unindexed._indexer.start()
        await unindexed.index(None)
        return found

    with monkeypatch.context() as held:
        held.setattr(MemoryRecall, "answer", answer)
        early = await unindexed.recall(QUESTION)
    assert not early.results
    assert early.freshness.indexed_at is None  # so that `aur mem` waits and asks again
    late = await unindexed.recall(QUESTION)
    assert [each.name for each in late.results] == ["feed"]
    assert late.freshness.indexed_at is not None and late.freshness.state == "ready"
