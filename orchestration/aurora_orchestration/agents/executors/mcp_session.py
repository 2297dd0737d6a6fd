"""MCP session with a server that is a process of ours (stdio transport): the official client, on pipes that are bounded
and end.

The SDK's own transport starts the process itself, reads lines of any length, and leaves it running when the daemon is
killed; so it gets its streams from here.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from aurora_orchestration import OrchestrationError
from aurora_orchestration.agents.executors.processes import AgentError, AgentProcess, Flood, start
from aurora_orchestration.agents.formats.mcp_servers import server_named
from aurora_orchestration.agents.formats.registry_file import located
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.types import Agent
from aurora_protocol.version import __version__

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import ClientRequestContext
    from mcp_types import ElicitRequestParams, ElicitResult, Tool

T = TypeVar("T")

MAX_SESSION_BYTES = 16 << 20
MAX_TOOLS = 200
MAX_PAGES = 10
MAX_GARBAGE = 200
"""Lines that are no messages; some servers print a banner."""


class Launch(Struct, frozen=True):
    """Launch command of an MCP server."""

    command: str
    arguments: tuple[str, ...]
    environment: dict[str, str]


def launch_of(agent: Agent) -> Launch:
    """What an agent's entry means: a command; or a path, to a program or to a configuration of servers. Blocks.

    Raises `AgentError`.
    """
    if agent.command:
        return Launch(agent.command, agent.arguments, agent.environment)
    path = Path(agent.path or "")
    if path.suffix != ".json":
        return Launch(str(path), agent.arguments, agent.environment)
    server = server_named(path, agent.id)
    if server is None or not server.command:
        raise AgentError(f"agent {agent.id}: {path} has no server of that name with a command; mend its path")
    return Launch(
        located(server.command, path.parent), (*server.args, *agent.arguments), {**server.env, **agent.environment}
    )


async def in_session(
    agent: Agent,
    launch: Launch,
    dialogue: Dialogue | None,
    work: Callable[[Client], Awaitable[T]],
    *,
    environment: Mapping[str, str],
    folder: Path,
    seconds: float,
) -> T:
    """Do `work` in an initialised session; the server is ended with it. Without a `dialogue` nobody can be asked.

    Raises `AgentError` where the server cannot be started, breaks off or floods, and what `work` raises of ours.
    """
    # 1 s: only those who run such an agent pay it.
    from mcp import Client, MCPError
    from mcp_types import Implementation

    # It logs every line that is no message with a traceback, and so would let a server fill our log.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    process = await start(
        agent.id,
        launch.command,
        launch.arguments,
        environment=environment,
        folder=folder,
        seconds=seconds,
        most=MAX_SESSION_BYTES,
    )
    trouble: list[OrchestrationError] = []
    try:
        async with Client(
            _streams(process, agent.id, trouble),
            mode="legacy",
            elicitation_callback=_eliciting(dialogue) if dialogue is not None else None,
            client_info=Implementation(name="aurora", version=__version__),
        ) as client:
            try:
                return await work(client)
            except OrchestrationError as error:  # the client would wrap it in groups on its way out
                trouble.append(error)
    except (MCPError, OSError, ValueError, RuntimeError, ExceptionGroup) as error:
        trouble.append(AgentError(f"agent {agent.id}: its MCP server broke off: {_said(error, process)}"))
    finally:
        await process.end()
    raise trouble[0]


async def tools_of(client: Client) -> list[Tool]:
    """The tools a server offers, at most `MAX_TOOLS`."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_TOOLS:
            break
    return found[:MAX_TOOLS]


def _said(error: BaseException, process: AgentProcess) -> str:
    """Error of the server in one line, with the end of its standard error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(getattr(error, "message", None) or error or type(error).__name__).split())[:300]
    complaint = process.complaint()
    return f"{text} ({complaint})" if complaint else text


@asynccontextmanager
async def _streams(
    process: AgentProcess, name: str, trouble: list[OrchestrationError]
) -> AsyncIterator[tuple[Any, Any]]:
    """The process's pipes as the streams of messages the SDK's client works on."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    heard, to_client = anyio.create_memory_object_stream[Any](0)
    from_client, outgoing = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        garbage = 0
        async with heard:
            try:
                while line := await process.line():
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        garbage += 1
                        if garbage > MAX_GARBAGE:
                            raise Flood(f"agent {name}: what it writes is not MCP; is it an MCP server?") from None
                        continue
                    await heard.send(SessionMessage(message))
            except AgentError as error:
                trouble.append(error)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                await process.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield to_client, from_client
        finally:
            to_client.close()
            from_client.close()
            tasks.cancel_scope.cancel()


def _eliciting(dialogue: Dialogue) -> Any:
    """The callback for a server's questions: each field of its form is one question to the user."""

    async def elicit(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        from mcp_types import ElicitResult

        schema = getattr(params, "requested_schema", None)
        if not isinstance(schema, dict):  # a page to open: where a server sends people is not for us to pass on
            return ElicitResult(action="decline")
        fields = schema.get("properties")
        fields = fields if isinstance(fields, dict) else {}
        if not fields:
            answer = await dialogue.ask(f"{params.message} (yes/no)")
            yes = answer is not None and answer.strip().lower() in ("y", "yes", "ok", "true")
            return ElicitResult(action="accept" if yes else "decline", content={} if yes else None)
        given: dict[str, Any] = {}
        required = schema.get("required")
        for name, shape in fields.items():
            shape = shape if isinstance(shape, dict) else {}
            answer = await dialogue.ask(_question(params.message, name, shape, single=len(fields) == 1))
            value = _as_asked(answer, shape)
            if value is not None:
                given[name] = value
            elif not isinstance(required, list) or name in required:
                return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=given)

    return elicit


def _question(message: str, name: str, shape: dict[str, Any], *, single: bool) -> str:
    """Question to the user of one field of an elicitation form."""
    choices = shape.get("enum")
    wanted = shape.get("description") or shape.get("title") or name
    told = message if single else f"{message} – {wanted}"
    if isinstance(choices, list):
        return f"{told} ({', '.join(map(str, choices[:20]))})"
    return f"{told} (yes/no)" if shape.get("type") == "boolean" else told


def _as_asked(answer: str | None, shape: dict[str, Any]) -> str | int | float | bool | None:
    """An answer as the form's field wants it; None where it cannot be that."""
    if answer is None:
        return None
    text = answer.strip()
    kind, choices = shape.get("type"), shape.get("enum")
    if isinstance(choices, list):
        return next((each for each in choices if isinstance(each, str) and each.lower() == text.lower()), None)
    if kind == "boolean":
        return {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}.get(text.lower())
    try:
        return int(text) if kind == "integer" else float(text) if kind == "number" else text
    except ValueError:
        return None
