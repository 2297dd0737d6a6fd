"""`aurora/status` and `aurora/stop`: the daemon as it is, and its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aurora_protocol import methods
from aurora_protocol.methods import StatusResult

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `aurora/status` and `aurora/stop`."""
    server.feature(methods.STATUS)(status)
    server.feature(methods.STOP)(stop)


def status(ls: AuroraServer, _: object) -> StatusResult:
    """Status of the daemon and of every workspace that it has open."""
    return ls.core.status()


def stop(ls: AuroraServer, _: object) -> None:
    """Shutdown of the daemon, after this answer has been sent."""
    # Not at once: the answer is written after this returns.
    asyncio.get_running_loop().call_soon(ls.core.stop, "aurora/stop")
