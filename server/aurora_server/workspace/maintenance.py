"""Maintenance in the background (housekeeping): the daily review of lifespans, retention of conversation logs (AURORA
§9.7), removal of secrets that older versions let into logs and into memory files that were set aside.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_indexer.index_runs import IndexProgress
from aurora_indexer.indexer import Indexer
from aurora_memory import StoreError
from aurora_memory.lifespans.policies import Policies
from aurora_memory.store import Store, conversation_log_index, file_reader
from aurora_memory.store.copies_aside import clean_aside
from aurora_protocol.passing_files import forget_passed

if TYPE_CHECKING:
    from aurora_orchestration.conversations.log_retention import Tidied
    from aurora_orchestration.conversations.log_secrets import CleanedLogs
    from aurora_orchestration.settings import ConversationSettings

logger = logging.getLogger(__name__)

LOGS_SECONDS = 21_600.0
"""How often conversation logs are looked through: more often than once a day, as daemons end and computers sleep."""

Forget = Callable[[Sequence[str]], Awaitable[None]]

REVIEW_SECONDS = 86_400.0
"""How often lifespans are reviewed: they are counted in days."""


class LifespanReview:
    """Review of lifespans (expiry), daily, of one workspace. `close` it before the store."""

    def __init__(self, root: Path, store: Store, indexer: Indexer, policies: Policies) -> None:
        self._root = root
        self._store = store
        self._indexer = indexer
        self._policies = policies
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None
        self._leave = indexer.on_progress(self._heard)

    async def close(self) -> None:
        """Stop listening; a review under way is given up."""
        self._leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _heard(self, progress: IndexProgress | None) -> None:
        """Trigger of the daily review, once indexing is done."""
        idle = self._task is None or self._task.done()
        if progress is None and idle and self._indexer.state == "ready" and time.time() >= self._due:
            self._task = asyncio.create_task(self._review(), name=f"upkeep {self._root}")

    async def _review(self) -> None:
        """Review lifespans if a day has gone since the last one, whoever did that."""
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


class LogRetention:
    """Retention of logs in one folder, and the home's files of killed commands. `settings` is asked each time: they may
    have changed.
    """

    def __init__(self, settings: Callable[[], ConversationSettings], forget: Forget, memory: Path) -> None:
        """`forget` is told which logs are gone, for the indexes of the workspaces that are open.

        `memory` is the folder of memory files, where some may have been set aside.
        """
        self._settings = settings
        self._forget = forget
        self._memory = memory

    async def once(self) -> Tidied:
        """Do what is due now."""
        done = await asyncio.to_thread(_tidied, self._settings())
        if done.deleted:
            await self._forget(done.deleted)
        if done.deleted or done.compressed:
            extra = {"deleted": len(done.deleted), "compressed": len(done.compressed)}
            logger.info("conversation logs tidied", extra=extra)
        for problem in done.problems:
            logger.warning("a conversation log was left alone", extra={"problem": problem})
        await asyncio.to_thread(forget_passed, self._memory.parent)
        return done

    async def clean(self) -> CleanedLogs:
        """Take out secrets of before today's rules, from logs and from memory files that were set aside."""
        done = await asyncio.to_thread(_cleaned, self._settings())
        if done.cleaned:
            logger.info("secrets removed from conversation logs", extra={"logs": list(done.cleaned)[:20]})
        for problem in done.problems:
            logger.warning("a conversation log was not looked through for secrets", extra={"problem": problem})
        try:
            aside = await asyncio.to_thread(clean_aside, self._memory)
        except OSError as error:
            logger.warning("files set aside were not looked through for secrets", extra={"error": str(error)})
            return done
        if aside:
            logger.info("secrets removed from memory files set aside", extra={"files": [each.name for each in aside]})
        return done

    async def go_on(self) -> None:
        """Do it again and again, until cancelled; what a thread is at then is finished by it."""
        while True:
            try:
                await self.once()
                await self.clean()
            except Exception:  # a task that ended would go unnoticed
                logger.warning("conversation logs not tidied", exc_info=True)
            await asyncio.sleep(LOGS_SECONDS)


def _tidied(settings: ConversationSettings) -> Tidied:
    from aurora_orchestration.conversations.log_names import logs_folder  # in the thread: opening a workspace
    from aurora_orchestration.conversations.log_retention import tidy  # and its first answers do without

    return tidy(logs_folder(settings), settings, time.time())


def _cleaned(settings: ConversationSettings) -> CleanedLogs:
    from aurora_orchestration.conversations.log_names import logs_folder
    from aurora_orchestration.conversations.log_secrets import clean_logs

    return clean_logs(logs_folder(settings), time.time())


async def deleted_logs(store: Store, folder: Callable[[], Path]) -> Sequence[str]:
    """The conversation logs that memory knows and that are not in their folder any more."""
    known = await store.read(conversation_log_index.logs)
    if not known:
        return ()
    log_reader = await asyncio.to_thread(importlib.import_module, "aurora_orchestration.conversations.log_reader")
    gone: Sequence[str] = await asyncio.to_thread(log_reader.gone, folder(), known)
    return gone
