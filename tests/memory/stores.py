"""Memories for tests that are not about how one is made: copies of an empty one."""

from __future__ import annotations

from pathlib import Path

from aurora_memory.activation import USUAL, Weighing
from aurora_memory.learning import POLICY, LearningPolicy
from aurora_memory.store import Store

_EMPTY: list[bytes] = []


async def new_store(path: Path, weighing: Weighing = USUAL, policy: LearningPolicy = POLICY) -> Store:
    """Store at a path; where no file is there, a copy of the first that was made: its tables are half of opening it."""
    if not path.exists():
        if not _EMPTY:
            await (await Store.open(path)).close()
            _EMPTY.append(path.read_bytes())
        path.write_bytes(_EMPTY[0])
    return await Store.open(path, weighing, policy)
