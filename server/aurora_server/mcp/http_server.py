"""Streamable HTTP transport: the MCP server on a port of this machine's loopback, for whoever has the token.

Streams, session ids, bounds of bodies and the checks of `Host` and `Origin` are the SDK's.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from aurora_protocol.strict_modes import OWN_FILE, make_private_folder, read_own
from aurora_server.mcp.server import McpFront, Serving
from aurora_server.unauthenticated_connections import UnauthenticatedConnections

PATH = "/mcp"
MAX_BODY = 4 << 20
"""Bytes of one request."""
MAX_SESSIONS = 32
IDLE_SECONDS = 1_800.0
"""After which a session that its client has forgotten ends."""
END_WITHIN = 1
"""Seconds that open streams may keep it from ending."""

_TOKEN_FILE = "mcp-http-token"
_LONGEST_TOKEN = 200
_TRIES = 20


def bind(port: int) -> list[socket.socket]:
    """Claim a port of this machine's loopback, of both of its addresses; 0 means any. Raises OSError.

    `localhost` is ::1 for many clients: another user who had that would be sent the token.
    """
    for _ in range(_TRIES):
        claimed = [socket.create_server(("127.0.0.1", port))]
        try:
            claimed.append(socket.create_server(("::1", claimed[0].getsockname()[1]), family=socket.AF_INET6))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                claimed[0].close()
                if port == 0:
                    continue
                raise
        return claimed  # of one only, where the machine has no IPv6
    raise OSError(errno.EADDRINUSE, f"no port is free on both 127.0.0.1 and ::1, of {_TRIES} that were tried")


def token_file(home: Path) -> Path:
    """File of the home that holds the token, for nobody else to read; made where there is none. Raises OSError.

    It stays the same, since clients have it in their configuration; who removes the file gets another.
    """
    make_private_folder(home)
    path = home / _TOKEN_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OWN_FILE, 0o600)
    except FileExistsError:
        return path
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    return path


def token_in(path: Path) -> str:
    """The token. Raises OSError, also for a file that others may read or that holds none worth the name."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise PermissionError(f"{path} is open to other users; remove it, and another is made")
    token = read_own(path, _LONGEST_TOKEN).decode("ascii", "replace").strip()
    if len(token) < 32:
        raise ValueError(f"{path} holds no token; remove it, and another is made")
    return token


def application(front: McpFront, port: int) -> Starlette:
    """The server at 127.0.0.1:`port`, for whoever comes: who may come is `Admission`'s to say."""
    own = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    return front.server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=own,
            allowed_origins=[f"http://{each}" for each in own],
        ),
    )


async def serve_http(
    serving: Serving, listening: Sequence[socket.socket], token: str, started: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C; `started` is given the address."""
    port = listening[0].getsockname()[1]
    front = McpFront(serving)
    unauthenticated = UnauthenticatedConnections()
    config = uvicorn.Config(
        Admission(application(front, port), token, unauthenticated),
        http=unauthenticated.protocol(),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=END_WITHIN,
    )
    started(f"http://127.0.0.1:{port}{PATH}")
    try:
        await uvicorn.Server(config).serve(sockets=list(listening))
    finally:
        await front.close()


class Admission:
    """Authentication: lets in who sends the token as `Authorization: Bearer`; all others get 401 and no more."""

    def __init__(self, inner: ASGIApp, token: str, unauthenticated: UnauthenticatedConnections) -> None:
        self._inner = inner
        self._token = token.encode()
        self._unauthenticated = unauthenticated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check of the bearer token in constant time; 401 without it."""
        if scope["type"] == "http":
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            if scheme.casefold() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token):
                refused = PlainTextResponse("Unauthorized\n", 401, {"WWW-Authenticate": 'Bearer realm="aurora"'})
                await refused(scope, receive, send)
                return
            self._unauthenticated.know(tuple(scope["client"]))
        await self._inner(scope, receive, send)
