"""MCP server of one client on standard input and output: tools, resources and prompts, fed from the daemon until the
client leaves (AURORA §9.6).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least
from msgspec import Struct, to_builtins

from aurora_protocol import ProtocolError, RequestFailed, query_methods
from aurora_protocol.address import Address
from aurora_protocol.version import __version__
from aurora_server.configuration.model_selection import choice_of
from aurora_server.mcp.arguments import BadArguments, brief_schema, given_as, unknown_name
from aurora_server.mcp.client_requests import AskedClient, client_root, roots_wanted
from aurora_server.mcp.completions import argument_of, completed
from aurora_server.mcp.daemon_link import DaemonLink
from aurora_server.mcp.input_rounds import Rounds, ToolCall, asks_by_rounds
from aurora_server.mcp.progress import Verbosity
from aurora_server.mcp.prompts import PROMPTS, prompt_arguments, prompt_result
from aurora_server.mcp.replies import MoreLink, ToolReply, chunk_of
from aurora_server.mcp.resources import TEMPLATES, TOOL, chunk_resource, not_found, tool_resource
from aurora_server.mcp.stdio_lines import mended
from aurora_server.mcp.tool import Arguments, Tool
from aurora_server.mcp.tools import Which, offered

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any]

LINKS_SINCE = "2025-06-18"
"""The first revision whose tools may answer with resource links."""

_LOOK_PERIOD = 1.0
"""Seconds between two looks at the parent."""
_LAST_WORDS = 15.0
"""Seconds for a client that has closed standard input to read what is left for it."""

INSTRUCTIONS = (
    "AURORA is this workspace's memory: every function and document, ranked by what is most useful now. Ask "
    "aurora_recall (milliseconds, free, local) before you search files; aurora_retrieve_context gives the text as "
    "well, aurora_explain what is connected to a function you are about to change. Tell aurora_deliverable how a "
    "change goes, and aurora_learn how something was solved, once it is. aurora_query is for hard questions: it costs "
    "money and minutes. Every answer of more than a line takes `max_tokens` (4,000 unless told); aurora://tool/NAME "
    "tells a tool in full."
)


class Serving(Struct, frozen=True, kw_only=True):
    """Circumstances of one client's server. `settled`: the workspace was named, or its folder is marked as one.

    `parent` is the process that started it. Without `asks` no client is asked anything: one daemon's session stands
    for many clients then.
    """

    address: Address
    root: Path
    settled: bool
    environ: Mapping[str, str]
    verbosity: Verbosity
    parent: int
    tools: Which = "all"
    asks: bool = True


async def serve(serving: Serving) -> None:
    """Serve until standard input ends or the client's process is gone."""
    front = McpFront(serving)
    watching = asyncio.create_task(_watch(serving.parent), name="watch the client")
    loop = asyncio.get_running_loop()
    leaving: list[asyncio.TimerHandle] = []

    def said_all() -> None:
        leaving.append(loop.call_later(_LAST_WORDS, os._exit, 0))  # a write that nobody reads cannot be interrupted

    try:
        async with stdio_server() as (reading, writing), mended(reading, writing, said_all) as messages:
            try:
                await front.server.run(messages, writing, front.server.create_initialization_options())
            except asyncio.CancelledError:
                os._exit(0)  # nobody reads standard output any more; the read of standard input would go on for ever
    finally:
        watching.cancel()
        for timer in leaving:
            timer.cancel()
        await front.close()


async def _watch(parent: int) -> None:
    """End with the process that started this one, even where somebody else still holds standard input open.

    Whoever outlives its parent gets another; on Windows nobody does, and standard input has to tell.
    """
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells us when it dies
        await asyncio.sleep(_LOOK_PERIOD)
    os._exit(0)  # a read of standard input cannot be interrupted, and nobody is left to hear of it


class McpFront:
    """MCP server of one client: the tools and resources, and the one session with the daemon behind them."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._link: DaemonLink | None = None
        self._linking = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._client = AskedClient()
        self._rounds = Rounds()
        self.server: Server[Any] = Server(
            "aurora",
            version=__version__,
            title="AURORA",
            description="The memory beside every code editor",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )

    async def close(self) -> None:
        """Let go of the daemon."""
        if self._warming is not None:
            self._warming.cancel()
        self._rounds.close()
        if self._link is not None:
            await self._link.close()

    async def _list_tools(self, ctx: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Handler of `tools/list`."""
        if self._warming is None and self._serving.settled:
            self._warming = asyncio.create_task(self._warm(ctx), name="warm")
        known = await self._offered()
        return types.ListToolsResult(tools=[described(tool) for tool in known.values()])

    async def _offered(self) -> dict[str, Tool]:
        return await asyncio.to_thread(offered, self._serving.tools)  # plug-ins are imported with the first list

    async def _warm(self, ctx: Context) -> None:
        """Have the daemon look at the workspace while the agent thinks; what is wrong is told by the first call."""
        try:
            await (await self._reach(ctx)).open()
        except (ProtocolError, OSError) as error:
            logger.info("the daemon is not there yet: %s", error)

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Handler of `tools/call`: arguments validated, in rounds where the client is asked."""
        known = await self._offered()
        tool = known.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"{unknown_name(params.name, list(known))}; see tools/list")
        try:
            given = given_as(tool.takes, params.arguments or {})
        except BadArguments as error:
            return _result(ToolReply(f"invalid arguments of {tool.name}: {error}", failed=True), ctx)
        wanted = roots_wanted(ctx, params.input_responses) if self._link is None and not self._serving.settled else {}
        if wanted:
            return types.InputRequiredResult(input_requests=wanted)

        async def work(call: ToolCall) -> types.CallToolResult:
            return await self._work(call, tool, given, params.input_responses)

        call = ToolCall(ctx, self._serving.verbosity)
        if tool.asks and asks_by_rounds(ctx):
            return await self._rounds.serve(call, params, work)
        return await work(call)

    async def _work(
        self, call: ToolCall, tool: Tool, given: Arguments, answers: types.InputResponses | None
    ) -> types.CallToolResult:
        """Work of a tool call: its handler run, errors as tool results."""
        try:
            link = await self._reach(call.ctx, answers)
            if tool.asks:
                with self._client.during(call):
                    reply = await tool.handler(link, given, call.progress.heard)
            else:
                reply = await tool.handler(link, given, call.progress.heard)
            if not isinstance(reply, ToolReply):
                raise TypeError(f"a tool answers with a ToolReply, not with {type(reply).__name__}")
        except (RequestFailed, ProtocolError, OSError) as error:
            reply = ToolReply(f"{tool.name}: {error}", failed=True)
        except (Exception, SystemExit) as error:  # the latter of a plug-in, which must not end the server
            logger.exception("%s failed", tool.name)
            what = f"{tool.name} failed: {type(error).__name__}; this is a fault of {tool.owner}'s"
            reply = ToolReply(what, failed=True)
        await call.progress.told()
        return _result(reply, call.ctx)

    async def _list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Handler of `resources/templates/list`."""
        return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Handler of `resources/read`."""
        uri = str(params.uri)
        if uri.startswith(TOOL):
            found = tool_resource(uri, await self._offered())
        elif chunk_of(uri):
            found = await chunk_resource(uri, await self._reach(ctx))
        else:
            raise not_found(uri[:2_000], f"there is no resource {uri[:200]}; recall links to those there are")
        return types.ReadResourceResult(contents=[found])

    async def _list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(PROMPTS.values()))

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Handler of `prompts/get`."""
        given = prompt_arguments(params.name, params.arguments or {})
        try:
            return await prompt_result(params.name, given, await self._reach(ctx))
        except RequestFailed as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        except (ProtocolError, OSError) as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Handler of `completion/complete`."""
        what, known = argument_of(params), await self._offered()
        try:
            return await completed(what, params.argument.value, await self._reach(ctx), known)
        except (ProtocolError, OSError) as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error

    async def _reach(self, ctx: Context, answers: types.InputResponses | None = None) -> DaemonLink:
        """The session with the daemon; what this client can be asked decides what the daemon may ask."""
        async with self._linking:
            if self._link is None:
                here = self._serving.root
                root = here if self._serving.settled else await client_root(ctx, here, answers)
                options: dict[str, Any] = {
                    "askUser": self._serving.asks and self._client.elicits(ctx),
                    "languageModel": self._serving.asks and self._client.samples(ctx),
                }
                choice = choice_of(self._serving.environ)
                if choice is not None:
                    options["llm"] = {name: each for name, each in to_builtins(choice).items() if each is not None}
                answerers = {
                    query_methods.ASK_USER: self._client.ask_user,
                    query_methods.LANGUAGE_MODEL: self._client.ask_model,
                }
                self._link = DaemonLink(self._serving.address, root, self._serving.environ, options, answerers)
            return self._link


def described(tool: Tool) -> types.Tool:
    """Tool as `tools/list` tells it: title, description, input schema, hints."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=brief_schema(tool.takes),
        # What its fields are is paid for by who asks (aurora://tool/NAME), not by every session.
        output_schema={"type": "object"} if tool.gives is not None else None,
        annotations=_hints(tool),
    )


def _hints(tool: Tool) -> types.ToolAnnotations:
    """Hints, without those that say what clients suppose: a tool that only reads destroys nothing, and repeats."""
    return types.ToolAnnotations(
        read_only_hint=tool.reads or None,
        destructive_hint=None if tool.reads else False,
        idempotent_hint=None if tool.reads or not tool.repeatable else True,
        open_world_hint=None if tool.outside else False,
    )


def _result(reply: ToolReply, ctx: Context) -> types.CallToolResult:
    """Tool result with its text, resource links and structured content."""
    content: list[Any] = [types.TextContent(type="text", text=reply.text)]
    if is_version_at_least(ctx.session.protocol_version, LINKS_SINCE):
        content += [_linked(link) for link in reply.links]
    elif reply.links:
        more = "\n".join(f"{link.uri} {link.name} {link.description}".rstrip() for link in reply.links)
        content.append(types.TextContent(type="text", text=f"Resources:\n{more}"))
    return types.CallToolResult(content=content, structured_content=reply.data, is_error=reply.failed)


def _linked(link: MoreLink) -> types.ResourceLink:
    return types.ResourceLink(
        type="resource_link", uri=link.uri, name=link.name, description=link.description or None, mime_type="text/plain"
    )
