"""Listener that takes in (accepts) connections: whose are they (peer credentials), are there too many; and a session
for each.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import importlib
import itertools
import logging
import os
import socket
import sys
import time
from typing import TYPE_CHECKING, Any, cast

from aurora_protocol.connection import peer_user
from aurora_protocol.frames import encode
from aurora_server.daemon.endpoint import BACKLOG, Endpoint
from aurora_server.session.core import Core
from aurora_server.session.refusals import NO_THREAD

if TYPE_CHECKING:
    from aurora_server.daemon.connection import ClientConnection

logger = logging.getLogger(__name__)

MAX_SESSIONS = 256
TELL_EVERY = 60.0
"""Seconds between two complaints that there are no descriptors for who connects."""
TOKEN_WITHIN = 5.0
"""Seconds within which a Windows client says the secret."""

_FULL = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32803,'
    b'"message":"the daemon has %d sessions open; close an editor or two"}}' % MAX_SESSIONS
)


class Listener:
    """Listener at an endpoint, which serves its connections.

    The session code, half a second of imports, is loaded beside the accepting.
    """

    def __init__(self, endpoint: Endpoint, core: Core) -> None:
        self._endpoint = endpoint
        self._core = core
        self._numbers = itertools.count(1)
        self._connections: dict[asyncio.Task[None], ClientConnection] = {}
        self._server: asyncio.Server | None = None
        self._connection_class: asyncio.Task[type[ClientConnection]] | None = None
        self._ranking: asyncio.Task[None] | None = None
        self._last_left = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nobody has been connected; 0 while somebody is."""
        return 0.0 if self._core.connections else time.monotonic() - self._last_left

    async def start(self) -> None:
        """Begin to accept."""
        listener = self._endpoint.listener
        asyncio.get_running_loop().set_exception_handler(_Complaints())
        # As often as `backlog` says asyncio tries, tells and makes a timer each second that there are no descriptors.
        if sys.platform == "win32":
            self._server = await asyncio.start_server(self._connected, sock=listener, backlog=1)
        else:
            self._server = await asyncio.start_unix_server(self._connected, sock=listener, backlog=1)
        listener.listen(BACKLOG)
        self._connection_class = asyncio.create_task(_sessions_loaded(), name="load sessions")
        self._ranking = asyncio.create_task(self._load_ranking(), name="load ranking")

    async def _load_ranking(self) -> None:
        """Load what ranking needs while descriptors are plenty; end where that broke off.

        Of a library whose import broke off a half stays, and no second try gets the rest: only a new process does.
        """
        if self._connection_class is not None:
            await asyncio.wait({self._connection_class})
        try:
            await asyncio.to_thread(importlib.import_module, "numpy")
        except ModuleNotFoundError:
            logger.error("numpy is missing; install aurora-context anew")  # all else goes on, and recall says it
        except Exception as error:
            if str(error) == NO_THREAD:
                return  # the first recall loads it, on a thread that is there
            logger.exception("numpy could not be loaded")
            self._core.stop("numpy could not be loaded")

    async def stop(self, reason: str, within: float) -> None:
        """Drain: accept nobody any more, and end the sessions; those longer than `within` seconds are cut off."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections.values():
            connection.end(reason)
        tasks = list(self._connections)
        if tasks:
            _, stuck = await asyncio.wait(tasks, timeout=within)
            for task in stuck:
                task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve an accepted connection until it ends; what goes wrong in one ends no other."""
        number = next(self._numbers)
        self._core.connections += 1
        try:
            if not await self._welcome(reader, writer, number):
                writer.close()
                return
            assert self._connection_class is not None, "start() loads it before the first connection"
            connection_class = await asyncio.shield(self._connection_class)
            connection = connection_class(reader, writer, self._core, number)
            task = asyncio.current_task()
            assert task is not None, "asyncio runs connection handlers as tasks"
            self._connections[task] = connection
            try:
                await connection.run()
            finally:
                del self._connections[task]
        except Exception:
            logger.warning("a session ended with an error", extra={"session": number}, exc_info=True)
            writer.close()  # or who asks would wait for an answer
        finally:
            self._core.connections -= 1
            self._last_left = time.monotonic()

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        """Admission (connection limit, peer credentials): whether this connection may have a session."""
        if self._core.connections > MAX_SESSIONS:
            logger.warning("session refused", extra={"session": number, "reason": "too many"})
            writer.write(encode(_FULL))
            return False
        if self._endpoint.token is not None:
            return await _knows_token(reader, self._endpoint.token)
        # asyncio wraps the socket in something that has the one method asked for here.
        user = peer_user(cast("socket.socket", writer.get_extra_info("socket")))
        if user is not None and user != os.geteuid():
            logger.warning("session refused", extra={"session": number, "reason": f"belongs to user {user}"})
            return False
        return True


class _Complaints:
    """Log of what goes wrong beside any request; of connections that cannot be accepted, once a minute."""

    def __init__(self) -> None:
        self._told = -TELL_EVERY

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Exception handler of the event loop; lack of file descriptors is logged once a minute."""
        if "out of system resource" not in context.get("message", ""):
            loop.default_exception_handler(context)
        elif loop.time() - self._told >= TELL_EVERY:
            self._told = loop.time()
            logger.error("nobody can connect", extra={"error": str(context.get("exception"))})


async def _knows_token(reader: asyncio.StreamReader, token: str) -> bool:
    """Windows: the client's first line is the secret. Untested there."""
    try:
        async with asyncio.timeout(TOKEN_WITHIN):
            line = await reader.readline()
    except (TimeoutError, ValueError, OSError):
        return False
    return hmac.compare_digest(line.strip(), token.encode("ascii"))


async def _sessions_loaded() -> type[ClientConnection]:
    """What sessions are; imported here, with everybody waiting, where no thread is to be had for it."""
    try:
        return await asyncio.to_thread(_load_sessions)
    except RuntimeError:
        return _load_sessions()


def _load_sessions() -> type[ClientConnection]:
    """Import what sessions need. Runs in a thread."""
    gc.disable()  # imports make next to nothing that is to be collected
    try:
        from aurora_server.session import lean_lsprotocol

        lean_lsprotocol.load()
        from aurora_server.daemon.connection import ClientConnection
        from aurora_server.session import converter

        converter.warm_up()
        # What is loaded now stays; full collections need not walk it again and again.
        gc.freeze()
    finally:
        gc.enable()
    gc.set_threshold(20_000, 20, 6)  # bulk indexing makes much that lives for a moment and refers to nothing
    sys.setswitchinterval(0.001)  # the loop gets its turn soon while a thread checks a large manifest
    return ClientConnection
