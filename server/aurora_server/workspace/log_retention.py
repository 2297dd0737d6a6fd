"""Log retention: what the daemon does for conversation logs by itself, at its start and four times a day: retention,
compression.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from aurora_orchestration.conversations.log_names import logs_folder
from aurora_orchestration.conversations.log_retention import Tidied, tidy
from aurora_orchestration.settings import ConversationSettings

logger = logging.getLogger(__name__)

EVERY_SECONDS = 21_600.0
"""More often than once a day, as daemons end and computers sleep."""

Forget = Callable[[Sequence[str]], Awaitable[None]]


class LogRetention:
    """Looks after one folder of logs. `settings` is asked each time: they may have changed."""

    def __init__(self, settings: Callable[[], ConversationSettings], forget: Forget) -> None:
        """`forget` is told which logs are gone, for the indexes of the workspaces that are open."""
        self._settings = settings
        self._forget = forget

    async def once(self) -> Tidied:
        """Do what is due now."""
        settings = self._settings()
        done = await asyncio.to_thread(tidy, logs_folder(settings), settings, time.time())
        if done.deleted:
            await self._forget(done.deleted)
        if done.deleted or done.compressed:
            extra = {"deleted": len(done.deleted), "compressed": len(done.compressed)}
            logger.info("conversation logs tidied", extra=extra)
        for problem in done.problems:
            logger.warning("a conversation log was left alone", extra={"problem": problem})
        return done

    async def go_on(self) -> None:
        """Do it again and again, until cancelled; what a thread is at then is finished by it."""
        while True:
            try:
                await self.once()
            except Exception:  # a task that ended would go unnoticed
                logger.warning("conversation logs not tidied", exc_info=True)
            await asyncio.sleep(EVERY_SECONDS)
