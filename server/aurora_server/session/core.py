"""Core: state that all sessions (clients) of a daemon share: settings, open workspaces, and the way to ask the daemon
to stop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol.methods import DoctorFinding, StatusResult
from aurora_protocol.version import __version__
from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.registry import Workspaces

if TYPE_CHECKING:
    from aurora_server.configuration.trust import Trust
    from aurora_server.workspace.closed_memories import ClosedMemories


@dataclass(eq=False)
class Core:
    """Shared by every session. `where` is the socket's path, or how else we are reached; `log` is for error texts."""

    source: SettingsSource
    workspaces: Workspaces
    where: str
    log: Path
    stop: Callable[[str], None]
    """Asks the daemon to end, cleanly and soon; the argument says why, for the log."""
    send_rest: Callable[[], Awaitable[None]]
    close_pool: Callable[[], Awaitable[None]]
    repair: Callable[[Path], Awaitable[list[DoctorFinding]]]
    """Mends the memory of a workspace that cannot be opened because its file is damaged; says what was done."""
    started: float = field(default_factory=time.monotonic)
    connections: int = 0

    @property
    def settings(self) -> Settings:
        """Settings in force."""
        return self.source.current()

    @cached_property
    def closed_memories(self) -> ClosedMemories:
        """Memories that this machine knows and nobody has open."""
        from aurora_server.workspace.closed_memories import ClosedMemories

        return ClosedMemories(self.source.current)

    @property
    def trust(self) -> Trust:
        """Trusted workspaces of the user."""
        from aurora_server.configuration.trust import Trust

        return Trust(self.source.started.home)

    def status(self) -> StatusResult:
        """Status of the daemon and its workspaces, now."""
        import psutil  # 20 ms that starting up need not pay

        return StatusResult(
            version=__version__,
            pid=os.getpid(),
            uptime_s=round(time.monotonic() - self.started, 3),
            rss_bytes=psutil.Process().memory_info().rss,
            socket=self.where,
            connections=self.connections,
            workspaces=self.workspaces.status(),
        )

    def last_steps(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """Shutdown steps: send what is to be exported, close the workspaces, then the workers."""
        return self.send_rest, self.workspaces.close, self.close_pool
