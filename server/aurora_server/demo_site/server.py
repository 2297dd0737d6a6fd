"""Run the demo site on this machine until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from aurora_server.demo_site.site import make_site

HOST = "127.0.0.1"
_HEADERS = 16 * 1024


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes a free one. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def serve_site(listener: socket.socket, per_minute: int, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, which uvicorn raises again once it has ended well."""
    origin = f"http://{HOST}:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        make_site(origin, per_minute),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        http="h11",
        ws="none",
        lifespan="off",
        limit_concurrency=100,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=_HEADERS,
    )
    on_ready(origin)
    uvicorn.Server(config).run(sockets=[listener])
