"""Daily maintenance: what a workspace does for its memory by itself after an index run: once a day, a review of
lifespans.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

from aurora_indexer.index_runs import IndexProgress
from aurora_indexer.indexer import Indexer
from aurora_memory import StoreError
from aurora_memory.lifespans.policies import Policies
from aurora_memory.store import Store, file_reader

logger = logging.getLogger(__name__)

REVIEW_SECONDS = 86_400.0
"""How often lifespans are reviewed: they are counted in days."""


class LifespanReview:
    """Listens to one workspace's indexer. `close` it before the store."""

    def __init__(self, root: Path, store: Store, indexer: Indexer, policies: Policies) -> None:
        self._root = root
        self._store = store
        self._indexer = indexer
        self._policies = policies
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None
        self._leave = indexer.listen(self._heard)

    async def close(self) -> None:
        """Stop listening; a review under way is given up."""
        self._leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _heard(self, progress: IndexProgress | None) -> None:
        idle = self._task is None or self._task.done()
        if progress is None and idle and self._indexer.state == "ready" and time.time() >= self._due:
            self._task = asyncio.create_task(self._review(), name=f"upkeep {self._root}")

    async def _review(self) -> None:
        try:
            now = time.time()
            last = await self._store.read(file_reader.fact, "reviewed_at")
            self._due = _time(last) + REVIEW_SECONDS
            if now < self._due <= now + REVIEW_SECONDS:  # a time to come would put the review off for ever
                return
            done = await self._store.review_lifespans(self._policies, now)
            self._due = now + REVIEW_SECONDS
        except StoreError as error:
            logger.warning("lifespans not reviewed", extra={"root": str(self._root), "error": str(error)})
            return
        if done.archived or done.flagged:
            extra = {"root": str(self._root), "archived": done.archived, "flagged": done.flagged}
            logger.info("lifespans reviewed", extra=extra)


def _time(fact: str | None) -> float:
    try:
        return float(fact) if fact is not None else 0.0
    except ValueError:
        return 0.0
