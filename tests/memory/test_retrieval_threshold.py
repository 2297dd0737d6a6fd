"""What is below `memory.activation.retrieval_threshold` is not recalled (AURORA §6.3)."""

from __future__ import annotations

import time
from pathlib import Path

from aurora_memory.activation import Weighing
from aurora_memory.recall import parse_question
from aurora_memory.recall.recall import recall
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file

PATH, TEXT = "src/template.py", "def expand(template):\n    return template\n"


async def found(place: Path, weighing: Weighing) -> list[str]:
    store = await Store.open(place, weighing)
    try:
        await store.write([file(PATH, chunk(PATH, "expand", TEXT))])
        return [hit.chunk.name for hit in await store.read(recall, parse_question("expand"), 5, time.time())]
    finally:
        await store.close()


async def test_only_what_reaches_the_threshold_is_recalled(tmp_path: Path) -> None:
    assert await found(tmp_path / "a.db", Weighing()) == ["expand"]
    assert await found(tmp_path / "b.db", Weighing(retrieval_threshold=-1000.0)) == ["expand"]
    assert await found(tmp_path / "c.db", Weighing(retrieval_threshold=1000.0)) == []
