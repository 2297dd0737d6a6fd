"""What the daemon asks in the middle of a run, passed on to the MCP client: elicitation for its user, sampling for its
model. Revisions without a way back for such requests (2026-07-28) are not asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning

from aurora_protocol import DaemonUnreachable

Context = ServerRequestContext[Any]

_ANSWER = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "minLength": 1}},
    "required": ["answer"],
}


class AskedClient:
    """The client as the daemon may ask it: while a tool call is under way that may lead to questions."""

    def __init__(self) -> None:
        self._under_way: list[Context] = []

    @contextmanager
    def during(self, ctx: Context) -> Iterator[None]:
        """While this tool call is served, the client can be asked."""
        self._under_way.append(ctx)
        try:
            yield
        finally:
            self._under_way.remove(ctx)

    def elicits(self, ctx: Context) -> bool:
        """Whether the client puts questions to its user."""
        capabilities = ctx.session.client_capabilities
        offered = capabilities.elicitation if capabilities is not None else None
        if offered is None or not ctx.session.can_send_request:
            return False
        return offered.form is not None or offered.url is None  # before 2025-11-25 there were forms only

    def samples(self, ctx: Context) -> bool:
        """Whether the client offers its own model."""
        capabilities = ctx.session.client_capabilities
        return ctx.session.can_send_request and capabilities is not None and capabilities.sampling is not None

    async def ask_user(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer `aurora/askUser`."""
        ctx = self._current()
        result = await ctx.session.elicit_form(str(params.get("question", "")), _ANSWER)
        content = result.content if result.action == "accept" else None
        return {"answer": content.get("answer") if isinstance(content, dict) else None}

    async def ask_model(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answer `aurora/languageModel`."""
        ctx = self._current()
        message = types.SamplingMessage(
            role="user", content=types.TextContent(type="text", text=str(params.get("prompt", "")))
        )
        with warnings.catch_warnings():  # deprecated by a revision that has no other way; older clients speak it
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            reply = await ctx.session.create_message(
                [message],
                max_tokens=int(params.get("maxTokens") or 4096),
                system_prompt=str(params.get("system", "")),
            )
        if not isinstance(reply.content, types.TextContent):
            raise DaemonUnreachable("the client's model answered without text")
        return {"text": reply.content.text, "model": reply.model}

    def _current(self) -> Context:
        if not self._under_way:
            raise DaemonUnreachable("no tool call is under way")
        return self._under_way[-1]
