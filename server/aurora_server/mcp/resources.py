"""MCP resources and their templates: the text of chunks (`aurora://chunk/ID`), and tools told in full
(`aurora://tool/NAME`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from aurora_protocol import DaemonUnreachable, ProtocolError, RequestFailed, methods
from aurora_server.mcp.arguments import schema_of
from aurora_server.mcp.daemon_link import DaemonLink
from aurora_server.mcp.replies import MAX_TOKENS, chunk_of, within
from aurora_server.mcp.tool import Tool

TOOL = "aurora://tool/"

TEMPLATES = (
    types.ResourceTemplate(
        uri_template="aurora://chunk/{id}",
        name="chunk",
        title="A chunk's text",
        description="The text of one function, document section or earlier solution, by the id that aurora_recall "
        "gives, percent-encoded.",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        uri_template="aurora://tool/{name}",
        name="tool",
        title="A tool in full",
        description="What a tool does, all of its arguments with their bounds, and what it answers, as JSON Schema.",
        mime_type="application/json",
    ),
)


def not_found(uri: str, why: str) -> MCPError:
    """Error for a resource that is not there; its `data.uri` says which."""
    return MCPError(types.INVALID_PARAMS, why, {"uri": uri})


def tool_resource(uri: str, known: Mapping[str, Tool]) -> types.TextResourceContents:
    """A tool in full, as JSON: the list of tools is short for its tokens' sake. Raises MCPError."""
    name = unquote(uri.removeprefix(TOOL))
    tool = known.get(name)
    if tool is None:
        raise not_found(uri, f"there is no tool {name[:80]}; see tools/list")
    told: dict[str, Any] = {
        "name": name,
        "description": " ".join(filter(None, [tool.description, tool.more])),
        "inputSchema": schema_of(tool.takes),
    }
    if tool.gives is not None:
        told["outputSchema"] = schema_of(tool.gives)
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(told, ensure_ascii=False))


async def chunk_resource(uri: str, link: DaemonLink) -> types.TextResourceContents:
    """A chunk's text, also where its lines have moved since or it is named without them. Raises MCPError."""
    known = (chunk_of(uri) or "")[:2_000]
    asked = {"limit": 1, "include_content": True}
    try:
        found = (await link.request(methods.RECALL, {**asked, "query": known}, again=True))["results"]
        if not found or found[0]["id"] != known:
            known = (await link.request(methods.EXPLAIN, {"id": known}, again=True))["chunk"]["id"]
            found = (await link.request(methods.RECALL, {**asked, "query": known}, again=True))["results"]
    except RequestFailed as error:
        raise not_found(uri, str(error)) from error
    except (DaemonUnreachable, ProtocolError, OSError) as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from error
    if not found or found[0]["id"] != known:
        raise not_found(uri, f"memory has no {known} any more; recall it anew")
    text = within(found[0].get("content") or "", MAX_TOKENS, "read the file for the rest")
    return types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
