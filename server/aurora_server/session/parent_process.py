"""Parent process watch: has the editor died? A session ends with the process that its `initialize` named (LSP 3.17,
`processId`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PERIOD = 5.0
"""Seconds between two looks."""


def born(pid: int) -> float | None:
    """When process `pid` started, in seconds since the epoch; None when there is none (or only its zombie)."""
    import psutil  # only sessions of editors need it

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return 0.0


async def watch(pid: int, gone: Callable[[], None], period: float = PERIOD) -> None:
    """Call `gone` once process `pid` is no more. A number that is reused by a later process counts as gone.

    Returns at once when there is no such process to begin with: an editor in another container or on another machine
    names one that means nothing here, and its connection tells us enough.
    """
    first = await asyncio.to_thread(born, pid)
    if first is None:
        return
    while await asyncio.to_thread(born, pid) == first:  # noqa: ASYNC110 - nothing tells us when a stranger dies
        await asyncio.sleep(period)
    gone()
