"""Client roots: which workspace a client is about that was started somewhere else: editors tell it as their roots."""

from __future__ import annotations

import asyncio
import logging
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from aurora_server.mcp.input_rounds import asks_by_rounds

logger = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds for a client to tell its roots."""

ROOTS = "roots"
"""The key of that question in a round."""


def roots_wanted(ctx: ServerRequestContext[Any], answers: types.InputResponses | None) -> types.InputRequests:
    """What to ask a client by rounds before its first call can be served; empty where there is nothing to ask."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not asks_by_rounds(ctx) or ROOTS in (answers or {}):
        return {}
    return {ROOTS: types.ListRootsRequest()}


async def client_root(
    ctx: ServerRequestContext[Any], otherwise: Path, answers: types.InputResponses | None = None
) -> Path:
    """The first of the client's roots that is a folder here; `otherwise` where it tells none.

    Who is asked by rounds has told them in `answers`.
    """
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return otherwise
    if asks_by_rounds(ctx):
        given = (answers or {}).get(ROOTS)
        return await root_of(given) or otherwise if isinstance(given, types.ListRootsResult) else otherwise
    try:
        with warnings.catch_warnings():  # deprecated by a revision that has no other way; older clients speak it
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            async with asyncio.timeout(_PATIENCE):
                told = await ctx.session.list_roots()
    except (TimeoutError, MCPError) as error:
        logger.info("the client did not tell its roots: %s", error)
        return otherwise
    return await root_of(told) or otherwise


async def root_of(told: types.ListRootsResult) -> Path | None:
    """The first of these roots that is a folder here."""
    return await asyncio.to_thread(_first_folder, [str(root.uri) for root in told.roots])


def _first_folder(uris: list[str]) -> Path | None:
    for uri in uris:
        parts = urlsplit(uri)
        folder = Path(unquote(parts.path))
        if parts.scheme == "file" and folder.is_absolute() and folder.is_dir():
            return folder.resolve()
    return None
