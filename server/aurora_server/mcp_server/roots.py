"""Which workspace a client is about that was started somewhere else: editors tell it as their roots."""

from __future__ import annotations

import asyncio
import logging
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

logger = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds for a client to tell its roots."""


async def client_root(ctx: ServerRequestContext[Any], otherwise: Path) -> Path:
    """The first of the client's roots that is a folder here; `otherwise` where it tells none."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not ctx.session.can_send_request:
        return otherwise
    try:
        with warnings.catch_warnings():  # deprecated by a revision that has no other way; older clients speak it
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            async with asyncio.timeout(_PATIENCE):
                told = await ctx.session.list_roots()
    except (TimeoutError, MCPError) as error:
        logger.info("the client did not tell its roots: %s", error)
        return otherwise
    return await asyncio.to_thread(_first_folder, [str(root.uri) for root in told.roots]) or otherwise


def _first_folder(uris: list[str]) -> Path | None:
    for uri in uris:
        parts = urlsplit(uri)
        folder = Path(unquote(parts.path))
        if parts.scheme == "file" and folder.is_absolute() and folder.is_dir():
            return folder.resolve()
    return None
