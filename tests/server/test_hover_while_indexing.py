"""A folder that is opened again answers from the index as it was left, before its files have been looked through."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aurora_indexer.index_runs import IndexSummary
from aurora_indexer.indexer import Indexer
from aurora_indexer.workers.pool import WorkerPool
from aurora_server.configuration import settings
from aurora_server.lsp import hover
from aurora_server.workspace.workspace import Workspace
from tests.wait_limits import HANG

SHOP = '"""The shop."""\n\n\ndef add_tax(cents):\n    """With value added tax."""\n    return cents * 119 // 100\n'


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[WorkerPool]:
    made = WorkerPool(1, folder=tmp_path, environment=os.environ)
    yield made
    await made.aclose()


async def test_a_hover_does_not_wait_for_the_sweep_and_says_so(
    tmp_path: Path, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "shop.py").write_text(SHOP)
    configured = settings.load({"AURORA_HOME": str(tmp_path / "home")})
    workspace = await Workspace.open(root, configured, pool)
    await workspace.index(None, None)
    assert not workspace.behind
    await workspace.close()

    sweeping = asyncio.Event()

    async def for_ever(_self: Indexer, _edited: bool) -> IndexSummary:
        sweeping.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(Indexer, "_sweep", for_ever)
    workspace = await Workspace.open(root, configured, pool)
    try:
        await asyncio.wait_for(sweeping.wait(), HANG)
        found = await asyncio.wait_for(workspace.buffers.explain_at(root / "shop.py", 3, 6, None), HANG)
        assert found is not None and found.chunk.name == "add_tax"
        assert workspace.behind
        for text in (
            hover.markdown(found, root, datetime.now(UTC), behind=workspace.behind),
            hover.plain(found, datetime.now(UTC), behind=workspace.behind),
        ):
            assert "no change known" in text and hover.BEHIND in text
        assert hover.BEHIND not in hover.plain(found, datetime.now(UTC))
    finally:
        await workspace.close()
