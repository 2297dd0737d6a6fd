"""MCP tool, its hints for clients (read-only), and the arguments that several of them take. Plug-ins make theirs of the
same (`aurora.mcp_tools`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.replies import MAX_TOKENS, ToolReply

Query = Annotated[str, Meta(min_length=1, max_length=10_000, description="Question")]
Tokens = Annotated[int, Meta(ge=100, le=MAX_TOKENS, description="Longest answer")]

DocumentTokens = Annotated[int, Meta(ge=500, le=MAX_TOKENS, description="Longest answer")]
"""Of an answer that is a JSON document."""


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of a tool, by name; none that it does not know."""


class StructuredContent(Struct, frozen=True, kw_only=True):
    """Structured content of a tool's answer; its schema is the tool's `outputSchema`."""


Handler = Callable[[DaemonLink, Any, Heard], Awaitable[ToolReply]]
"""Asks the daemon over the link, given the arguments; what it hears of stages, it passes on."""


class Tool(Struct, frozen=True, kw_only=True):
    """Tool that agents call. `reads`: it changes nothing and costs nothing, so that nobody need be asked;
    `repeatable`: twice is as once; `outside`: it may ask a provider's model.

    `asks`: the client may be asked for its user's or its model's answer meanwhile. `core`: it is among the few of
    `--tools core`. `owner` is the distribution that brings it; AURORA fills that in.

    Every list of tools costs each agent its tokens: descriptions are short, and `more` is for whoever reads the tool's
    resource (`aurora://tool/NAME`).
    """

    name: str
    title: str
    description: str
    takes: type[Arguments]
    handler: Handler
    gives: type[StructuredContent] | None = None
    reads: bool = True
    repeatable: bool = True
    outside: bool = False
    asks: bool = False
    core: bool = False
    more: str = ""
    owner: str = "AURORA"
