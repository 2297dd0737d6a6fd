"""Unauthenticated connections and their limits, in number and by a timeout: to a port of this machine's
loopback any user may connect, and each has a time to show the token.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

TOKEN_WITHIN = 10.0
"""Seconds that a connection may take to show the token: who has it sends it at once."""
MAX_UNAUTHENTICATED = 128
"""Connections that have not shown it yet; the oldest goes where more come."""


class UnauthenticatedConnections:
    """Unauthenticated connections, which have not shown the token: each has a time to do so, and they may not be
    many.
    """

    def __init__(self, within: float = TOKEN_WITHIN, most: int = MAX_UNAUTHENTICATED) -> None:
        self._within = within
        self._most = most
        self._waiting: dict[object, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def come(self, client: object, transport: asyncio.Transport) -> None:
        """Note a new one."""
        while len(self._waiting) >= self._most:
            self._turn_away(next(iter(self._waiting)))
        later = asyncio.get_running_loop().call_later(self._within, self._turn_away, client)
        self._waiting[client] = (transport, later)

    def know(self, client: object) -> None:
        """Note that one has shown the token, or has gone."""
        found = self._waiting.pop(client, None)
        if found is not None:
            found[1].cancel()

    def _turn_away(self, client: object) -> None:
        """Dropped unauthenticated connection: it did not show the token in time, or is the oldest of too many."""
        transport, later = self._waiting.pop(client)
        later.cancel()
        transport.abort()

    def protocol(self) -> type[asyncio.Protocol]:
        """What uvicorn is to make for each connection."""
        unauthenticated = self

        class KnownByToken(H11Protocol):
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                unauthenticated.come(self.client, transport)

            def connection_lost(self, exc: Exception | None) -> None:
                unauthenticated.know(self.client)
                super().connection_lost(exc)

        return KnownByToken
