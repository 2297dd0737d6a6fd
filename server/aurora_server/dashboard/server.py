"""HTTP server of the dashboard: a port of this machine, a page that leads there (opened in the browser), an end with
Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from aurora_protocol.strict_modes import OWN_FILE, make_private_folder
from aurora_server.dashboard.app import application
from aurora_server.dashboard.page import Page
from aurora_server.dashboard.picture_cache import PictureCache, PictureSource
from aurora_server.unauthenticated_connections import UnauthenticatedConnections

END_WITHIN = 1
"""Seconds that pages which are still open may keep it from ending."""


def bind(port: int) -> socket.socket:
    """Claim a port of 127.0.0.1; 0 means any. Raises OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let two listen at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise
    return listening


def serve(source: PictureSource, listening: socket.socket, started: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `started` is given the address to open, which holds the token."""
    token, place = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
    port = listening.getsockname()[1]

    async def run() -> None:
        pictures = PictureCache(source)
        unauthenticated = UnauthenticatedConnections()
        config = uvicorn.Config(
            application(pictures, Page(), token, port, place, unauthenticated),
            http=unauthenticated.protocol(),
            log_config=None,
            access_log=False,  # the token is in the first request's address
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=END_WITHIN,
        )
        listening.listen(64)
        started(f"http://127.0.0.1:{port}/{place}/?token={token}")
        try:
            await _Server(config, pictures).serve(sockets=[listening])
        finally:
            await pictures.close()

    asyncio.run(run())


class _Server(uvicorn.Server):
    """Lets the live streams end first: the server waits for every answer to be over."""

    def __init__(self, config: uvicorn.Config, pictures: PictureCache) -> None:
        super().__init__(config)
        self._pictures = pictures
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self._pictures.ending.set)


def leading_page(folder: Path, address: str) -> Path:
    """A file of the user's own that redirects a browser to the address: command lines are seen by everybody."""
    make_private_folder(folder)
    path = folder / f"dashboard-{os.getpid()}.html"
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN_FILE, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>AURORA</title>\n')
    return path
