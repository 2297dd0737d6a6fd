"""Executors of a run: who starts its agents, held to its branch where nobody watches (AURORA §7.2, §9.8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.executors.git_guard import guard_of
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.agent_cache import AgentCache
from aurora_orchestration.soar.services import Services


@asynccontextmanager
async def executors_of(
    services: Services, settings: SoarSettings, run: str, answers: Path, *, guarded: bool
) -> AsyncIterator[AgentCache]:
    """The executors of run `run`, whose agents' answers are kept in `answers`; `guarded` for as long as this lasts."""
    guard = None
    if guarded:
        folder = Path(services.home, "headless", run)
        guard = await guard_of(services.workspace, folder, settings.headless, trusted=services.trusted)
    try:
        executors = Executors(
            services.workspace,
            services.home,
            settings.agents,
            services.environ,
            services.now,
            trusted=services.trusted,
            guard=guard,
        )
        yield AgentCache(executors, answers)
    finally:
        if guard is not None:
            await asyncio.shield(asyncio.to_thread(guard.remove))
