"""One MCP client on standard input and output, served from the daemon until it leaves (AURORA §9.6)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from aurora_protocol import ProtocolError, RequestFailed, methods, queries
from aurora_protocol.address import Address
from aurora_protocol.version import __version__
from aurora_server.mcp_server.asking import AskedClient
from aurora_server.mcp_server.daemon_link import DaemonLink
from aurora_server.mcp_server.replies import Link, ToolReply, chunk_of
from aurora_server.mcp_server.tools import BY_NAME, TOOLS, Tool
from aurora_server.parent import watch

Context = ServerRequestContext[Any]

INSTRUCTIONS = (
    "AURORA is this workspace's memory: every function and document, ranked by what is most useful now. Ask "
    "aurora_recall (fast, free, local) before you search files; read what it links to as resources. Tell "
    "aurora_deliverable how a change goes, and aurora_learn how something was solved."
)


async def serve(address: Address, root: Path, environ: Mapping[str, str]) -> None:
    """Serve until standard input ends or the client's process is gone."""
    server = McpFront(address, root, environ)
    watching = asyncio.create_task(watch(os.getppid(), _end), name="watch the client")
    try:
        async with stdio_server() as (reading, writing):
            await server.server.run(reading, writing, server.server.create_initialization_options())
    finally:
        watching.cancel()
        await server.close()


def _end() -> None:
    os._exit(0)  # a read of standard input cannot be interrupted, and nobody is left to hear of it


class McpFront:
    """The tools and resources, and the one session with the daemon behind them."""

    def __init__(self, address: Address, root: Path, environ: Mapping[str, str]) -> None:
        self._address = address
        self._root = root
        self._environ = environ
        self._link: DaemonLink | None = None
        self._client = AskedClient()
        self.server: Server[Any] = Server(
            "aurora",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def close(self) -> None:
        """Let go of the daemon."""
        if self._link is not None:
            await self._link.close()

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}; see tools/list")
        try:
            given = msgspec.convert(params.arguments or {}, tool.takes)
        except msgspec.ValidationError as error:
            return _result(ToolReply(f"invalid arguments of {tool.name}: {error}", failed=True))
        progress = _Progress(ctx)
        try:
            with self._client.during(ctx):
                reply = await tool.handler(self._reach(ctx), given, progress.heard)
        except (RequestFailed, ProtocolError) as error:
            reply = ToolReply(f"{tool.name}: {error}", failed=True)
        finally:
            await progress.told()
        return _result(reply)

    async def _list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template="aurora://chunk/{id}",
            name="chunk",
            description="The text of one function, document section or earlier solution, by the id recall gives.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        chunk_id = chunk_of(uri)
        if chunk_id is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri}; recall links to those there are")
        asked = {"query": chunk_id, "limit": 1, "includeContent": True}
        try:
            found = (await self._reach(ctx).request(methods.RECALL, asked))["results"]
        except (RequestFailed, ProtocolError) as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error
        if not found:
            raise MCPError(types.INVALID_PARAMS, f"memory has no {chunk_id} any more; recall it anew")
        text = types.TextResourceContents(uri=uri, mime_type="text/plain", text=found[0].get("content") or "")
        return types.ReadResourceResult(contents=[text])

    def _reach(self, ctx: Context) -> DaemonLink:
        """The session with the daemon; what this client can be asked decides what the daemon may ask."""
        if self._link is None:
            options = {"askUser": self._client.elicits(ctx), "languageModel": self._client.samples(ctx)}
            answerers = {queries.ASK_USER: self._client.ask_user, queries.LANGUAGE_MODEL: self._client.ask_model}
            self._link = DaemonLink(self._address, self._root, self._environ, options, answerers)
        return self._link


class _Progress:
    """Stages of a run as MCP progress, in order; a client that gave no token is told nothing."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._sending: asyncio.Task[None] | None = None
        self._waiting: list[tuple[float, str]] = []

    def heard(self, stage: dict[str, Any]) -> None:
        detail = stage.get("detail") or ""
        message = f"{stage.get('stage')}: {stage.get('status')}" + (f", {detail}" if detail else "")
        self._waiting.append((float(stage.get("progress") or 0.0), message))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send(), name="progress")

    async def told(self) -> None:
        if self._sending is not None:
            await asyncio.wait({self._sending}, timeout=1.0)

    async def _send(self) -> None:
        while self._waiting:
            progress, message = self._waiting.pop(0)
            await self._ctx.session.report_progress(progress, 1.0, message)


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.takes),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=tool.reads, destructive_hint=False, open_world_hint=False
        ),
    )


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, in one piece: some clients follow no references."""
    schema = msgspec.json.schema(kind)
    own = schema["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return {key: value for key, value in own.items() if key != "title"}


def _result(reply: ToolReply) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=reply.text)]
    content += [_linked(link) for link in reply.links]
    return types.CallToolResult(content=content, structured_content=reply.data, is_error=reply.failed)


def _linked(link: Link) -> types.ResourceLink:
    return types.ResourceLink(
        type="resource_link", uri=link.uri, name=link.name, description=link.description or None, mime_type="text/plain"
    )
