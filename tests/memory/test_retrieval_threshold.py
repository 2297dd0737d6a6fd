"""What is below `memory.activation.retrieval_threshold` is not recalled (AURORA §6.3)."""

from __future__ import annotations

import time
from pathlib import Path

from aurora_memory.activation import Weighing
from aurora_memory.recall import parse_question
from aurora_memory.recall.patterns import recall_reasoning
from aurora_memory.recall.recall import recall
from tests.memory.chunks import chunk, file
from tests.memory.runs import DAY, NOON, run
from tests.memory.stores import new_store

PATH, TEXT = "src/template.py", "def expand(template):\n    return template\n"


async def found(place: Path, weighing: Weighing) -> list[str]:
    store = await new_store(place, weighing)
    try:
        await store.write([file(PATH, chunk(PATH, "expand", TEXT))])
        return [hit.chunk.name for hit in await store.read(recall, parse_question("expand"), 5, time.time())]
    finally:
        await store.close()


async def test_of_solutions_too_only_those_that_reach_it_are_recalled(tmp_path: Path) -> None:
    for name, threshold, recalled in (("a.db", -1000.0, 1), ("b.db", 1000.0, 0)):
        store = await new_store(tmp_path / name, Weighing(retrieval_threshold=threshold))
        try:
            await store.learn(run())
            hits = await store.read(recall_reasoning, parse_question("oauth2 authentication"), 5, NOON + DAY)
            assert len(hits) == recalled
        finally:
            await store.close()


async def test_only_what_reaches_the_threshold_is_recalled(tmp_path: Path) -> None:
    assert await found(tmp_path / "a.db", Weighing()) == ["expand"]
    assert await found(tmp_path / "b.db", Weighing(retrieval_threshold=-1000.0)) == ["expand"]
    assert await found(tmp_path / "c.db", Weighing(retrieval_threshold=1000.0)) == []
