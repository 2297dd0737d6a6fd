"""`aurora/budget`: what questions cost in this period, and what they may still cost (AURORA §9.4.2)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from aurora_protocol.query_methods import BUDGET

if TYPE_CHECKING:
    from aurora_server.configuration.settings import Settings
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `aurora/budget`."""
    server.feature(BUDGET)(budget)


async def budget(ls: AuroraServer, _: object) -> Any:
    """What `aurora budget status --json` says, and `model`: which one is configured to be paid for, None for none.

    Raises Unrecorded where the budget's file cannot be read.
    """
    return await asyncio.to_thread(_told, ls.core.settings)


def _told(settings: Settings) -> dict[str, Any]:
    from aurora_server.configuration.budget import budget_of  # a start without questions does without

    status = budget_of(settings.soar.cost_budgets).status()
    model = settings.soar.llm.reasoning_llm
    named = f"{model.provider}/{model.model}" if model is not None else None
    return {**msgspec.to_builtins(status), "model": named}
