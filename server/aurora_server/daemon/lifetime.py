"""Lifetime (lifecycle) of serving, with a socket or without: the shared core, signals (SIGTERM), and a graceful
shutdown that ends for certain.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.session.core import Core
from aurora_server.workspace.composition import WorkspaceOpener
from aurora_server.workspace.registry import Workspaces

logger = logging.getLogger(__name__)

EXIT_FAILED = 1
CLOSE_WITHIN = 1.2
"""Seconds that closing workspaces and workers may take."""
GIVE_UP_AFTER = 8.0
"""Seconds after which a process that should have ended is ended the hard way."""

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def core_of(
    source: SettingsSource, opener: WorkspaceOpener, where: str, log: Path, stop: Callable[[str], None]
) -> Core:
    """Core of this process, which its sessions share."""
    linger = source.started.daemon.linger_minutes * 60
    workspaces = Workspaces(opener.open, linger=linger, user_home=Path.home())
    return Core(source, workspaces, where, log, stop, opener.send_rest, opener.close, opener.repair)


async def close_core(core: Core) -> None:
    """Graceful shutdown: close workspaces and workers, for CLOSE_WITHIN seconds at most. What fails of it is logged."""
    try:
        async with asyncio.timeout(CLOSE_WITHIN):
            for step in core.last_steps():
                try:
                    await step()
                except Exception:
                    logger.warning("something could not be closed", exc_info=True)
    except TimeoutError:
        logger.error("workspaces or workers did not close in time")


def stop_on_signals(stop: Callable[[str], None]) -> None:
    """Signal handlers (SIGTERM, SIGINT): `stop` is called in the running event loop."""
    loop = asyncio.get_running_loop()
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is None:
            continue
        if sys.platform == "win32":

            def received(_: int, __: FrameType | None, name: str = name) -> None:
                loop.call_soon_threadsafe(stop, name)

            signal.signal(number, received)
        else:
            loop.add_signal_handler(number, stop, name)


def end_for_certain(last_act: Callable[[], None]) -> None:
    """Watchdog: this process has GIVE_UP_AFTER seconds to end by itself; then `last_act` is done and it is ended.

    A thread that is stuck in a system call, or a database connection that was not closed, would keep it for ever. Where
    no thread is to be had to wait for that, the system ends it, without a last act.
    """

    def end() -> None:
        logger.error("ended the hard way: something did not stop in time")
        last_act()
        os._exit(EXIT_FAILED)

    timer = threading.Timer(GIVE_UP_AFTER, end)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        logger.warning("no thread can be started; the system will end this process if it does not end itself")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # what it does then needs nothing of us
        signal.setitimer(signal.ITIMER_REAL, GIVE_UP_AFTER)
