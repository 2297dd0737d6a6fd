"""Preload: what is loaded beside a workspace's first questions and saves, so that none of them waits for it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aurora_indexer.workers.process_file import get_ready
from aurora_memory.store import conversation_log_index

if TYPE_CHECKING:
    from aurora_memory.store import Store
    from aurora_server.workspace.soar import Soar

SETTLED_AFTER = 2.0
"""Seconds in which nothing is loaded that the first questions do without: it would take the interpreter from them."""


async def load_for_questions() -> None:
    """Import what only questions need: 0.1 s that a start need not wait for."""
    await asyncio.to_thread(importlib.import_module, "numpy")


async def logs_gone(store: Store, soar: Soar) -> Sequence[str]:
    """The conversation logs that memory knows and that are deleted."""
    known = await store.read(conversation_log_index.logs)
    if not known:
        return ()
    reading = await asyncio.to_thread(importlib.import_module, "aurora_orchestration.conversations.log_reader")
    gone: Sequence[str] = await asyncio.to_thread(reading.gone, soar.logs_folder(), known)
    return gone


async def load_for_saves(languages: Mapping[str, int]) -> None:
    """Load a little later what parsing a saved file takes; `languages` counts the workspace's files."""
    await asyncio.sleep(SETTLED_AFTER)
    await asyncio.to_thread(get_ready, languages)
    await asyncio.to_thread(importlib.import_module, "aurora_protocol.secrets")  # looked for in what is recorded
