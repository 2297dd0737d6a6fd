"""Memories for tests that are not about how one is made: copies of an empty one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from aurora_memory.activation import USUAL, Weighing
from aurora_memory.learning import POLICY, LearningPolicy
from aurora_memory.store import Store

_EMPTY: list[bytes] = []
_FILLED: dict[Callable[[Store], Awaitable[None]], bytes] = {}


async def new_store(path: Path, weighing: Weighing = USUAL, policy: LearningPolicy = POLICY) -> Store:
    """Store at a path; where no file is there, a copy of the first that was made: its tables are half of opening it."""
    if not path.exists():
        if not _EMPTY:
            await (await Store.open(path)).close()
            _EMPTY.append(path.read_bytes())
        path.write_bytes(_EMPTY[0])
    return await Store.open(path, weighing, policy)


async def filled_store(path: Path, fill: Callable[[Store], Awaitable[None]]) -> Store:
    """Store at a new path, filled so: the first is filled, the others are its copies."""
    if fill not in _FILLED:
        store = await new_store(path)
        await fill(store)
        await store.close()
        _FILLED[fill] = path.read_bytes()
    path.write_bytes(_FILLED[fill])
    return await Store.open(path)
