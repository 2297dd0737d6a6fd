"""Requests to the MCP client: elicitation for its user and sampling for its model, which the daemon asks for in the
middle of a run, and the roots that say which workspace it is about. How they travel depends on the revision (see
`input_rounds`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from aurora_protocol import DaemonUnreachable
from aurora_server.mcp.daemon_link import Heard
from aurora_server.mcp.input_rounds import ToolCall, asks_by_rounds

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any]

MAX_TOKENS = 4096
"""Of a reply of the client's model, where the daemon does not say."""

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "minLength": 1}},
    "required": ["answer"],
}

_ROOTS_WITHIN = 5.0
"""Seconds for a client to tell its roots."""

ROOTS = "roots"
"""The key of that question in a round."""


class AskedClient:
    """The client as the daemon may ask it: while a tool call is under way that may lead to questions."""

    def __init__(self) -> None:
        self._under_way: list[ToolCall] = []

    @contextmanager
    def during(self, call: ToolCall) -> Iterator[None]:
        """While this tool call is served, the client can be asked."""
        self._under_way.append(call)
        try:
            yield
        finally:
            self._under_way.remove(call)

    def elicits(self, ctx: Context) -> bool:
        """Whether the client puts questions to its user."""
        capabilities = ctx.session.client_capabilities
        offered = capabilities.elicitation if capabilities is not None else None
        if offered is None or not _reachable(ctx):
            return False
        return offered.form is not None or offered.url is None  # before 2025-11-25 there were forms only

    def samples(self, ctx: Context) -> bool:
        """Whether the client offers its own model."""
        capabilities = ctx.session.client_capabilities
        return _reachable(ctx) and capabilities is not None and capabilities.sampling is not None

    async def ask_user(self, params: dict[str, Any], heard: Heard | None) -> dict[str, Any]:
        """Answer `aurora/askUser`, asked by the request whose stages `heard` takes."""
        call = self._call_of(heard)
        question = str(params.get("question", ""))
        if asks_by_rounds(call.ctx):
            form = types.ElicitRequestFormParams(message=question, requested_schema=_ANSWER)
            result = await call.ask(types.ElicitRequest(params=form), types.ElicitResult)
        else:
            result = await call.ctx.session.elicit_form(question, _ANSWER)
        content = result.content if result.action == "accept" else None
        return {"answer": content.get("answer") if isinstance(content, dict) else None}

    async def ask_model(self, params: dict[str, Any], heard: Heard | None) -> dict[str, Any]:
        """Answer `aurora/languageModel`, asked by the request whose stages `heard` takes."""
        call = self._call_of(heard)
        prompt = types.TextContent(type="text", text=str(params.get("prompt", "")))
        messages = [types.SamplingMessage(role="user", content=prompt)]
        system, most = str(params.get("system", "")), int(params.get("max_tokens") or MAX_TOKENS)
        if asks_by_rounds(call.ctx):
            wanted = types.CreateMessageRequestParams(messages=messages, max_tokens=most, system_prompt=system)
            reply = await call.ask(types.CreateMessageRequest(params=wanted), types.CreateMessageResult)
        else:
            with warnings.catch_warnings():  # deprecated by a revision that older clients do not speak
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                reply = await call.ctx.session.create_message(messages, max_tokens=most, system_prompt=system)
        if not isinstance(reply.content, types.TextContent):
            raise DaemonUnreachable("the client's model answered without text")
        return {"text": reply.content.text, "model": reply.model}

    def _call_of(self, heard: Heard | None) -> ToolCall:
        if not self._under_way:
            raise DaemonUnreachable("no tool call is under way")
        return next((call for call in self._under_way if call.progress.heard == heard), self._under_way[-1])


def _reachable(ctx: Context) -> bool:
    return ctx.session.can_send_request or asks_by_rounds(ctx)


def roots_wanted(ctx: Context, answers: types.InputResponses | None) -> types.InputRequests:
    """Requests to a client by rounds before its first call can be served; empty where there is nothing to ask."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not asks_by_rounds(ctx) or ROOTS in (answers or {}):
        return {}
    return {ROOTS: types.ListRootsRequest()}


async def client_root(ctx: Context, otherwise: Path, answers: types.InputResponses | None = None) -> Path:
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
            async with asyncio.timeout(_ROOTS_WITHIN):
                told = await ctx.session.list_roots()
    except (TimeoutError, MCPError) as error:
        logger.info("the client did not tell its roots: %s", error)
        return otherwise
    return await root_of(told) or otherwise


async def root_of(told: types.ListRootsResult) -> Path | None:
    """The first of these roots that is a folder here."""
    return await asyncio.to_thread(_first_folder, [str(root.uri) for root in told.roots])


def _first_folder(uris: list[str]) -> Path | None:
    """First root URI that is a folder here."""
    for uri in uris:
        parts = urlsplit(uri)
        folder = Path(unquote(parts.path))
        if parts.scheme == "file" and folder.is_absolute() and os.path.isdir(folder):  # noqa: PTH112 - or too long
            return folder.resolve()
    return None
