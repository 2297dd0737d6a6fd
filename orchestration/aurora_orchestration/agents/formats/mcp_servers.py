"""Configurations of MCP servers: `{"mcpServers": {"name": {"command": …, "args": […], "env": {…}}}}`.

`.mcp.json` of a workspace, `~/.claude.json` (which keeps servers per project as well) and `mcp.json` in $AURORA_HOME.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from aurora_orchestration.agents.capability_words import capabilities_of, domains_of
from aurora_orchestration.agents.formats.registry_file import Line, Lines, Pairs, Word, located
from aurora_orchestration.agents.sources import MAX_SETTINGS_BYTES, AgentSource, FoundAgents, read_text
from aurora_orchestration.types import Agent
from aurora_protocol import typed

MAX_SERVERS = 100


class Server(Struct, frozen=True, kw_only=True):
    """MCP server as it is configured; one with a `url` speaks HTTP, which is not run here."""

    command: Annotated[str, Meta(min_length=1, max_length=4000)] | None = None
    args: Lines = ()
    env: Pairs = {}
    url: Line | None = None
    type: str = "stdio"
    description: Line = ""
    disabled: bool = False
    timeout_seconds: Annotated[float, Meta(gt=0, le=86_400)] | None = None


class _Project(Struct, frozen=True, rename="camel"):
    mcp_servers: dict[str, Any] = field(default_factory=dict)


class _ServersFile(Struct, frozen=True, rename="camel"):
    mcp_servers: dict[str, Any] = field(default_factory=dict)
    projects: dict[str, msgspec.Raw] = field(default_factory=dict)


def read_servers(source: AgentSource, workspace: Path) -> FoundAgents:
    """Each configured server as one agent; those of `workspace` itself before those of every project."""
    text, trouble = read_text(source, MAX_SETTINGS_BYTES)
    if trouble:
        return FoundAgents(notices=(trouble,))
    try:
        document = typed.decode(text or "{}", _ServersFile)
        own = document.projects.get(os.fspath(workspace))
        mine = typed.decode(own, _Project).mcp_servers if own is not None and not source.ours else {}
    except (msgspec.MsgspecError, RecursionError) as error:
        said = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return FoundAgents(notices=(f"{source.shown}: cannot be used: {said}",))
    agents: list[Agent] = []
    notices: list[str] = []
    for name, told in list({**document.mcp_servers, **mine}.items())[:MAX_SERVERS]:
        try:
            agent = _agent(typed.convert(name, Word), typed.convert(told, Server), source)
        except (msgspec.ValidationError, RecursionError, ValueError) as error:
            notices.append(f"{source.shown}: mcpServers.{name[:60]}: {error}; it was left out")
            continue
        agents += [agent] if agent else []
    return FoundAgents(tuple(agents), tuple(notices))


def server_named(path: Path, name: str) -> Server | None:
    """The server called `name` in a configuration, or its only one; None where it is not clear. Blocks."""
    text, trouble = read_text(AgentSource(path, str(path), path.parent, ours=False, trusted=True), MAX_SETTINGS_BYTES)
    if trouble:
        return None
    try:
        servers = typed.decode(text, _ServersFile).mcp_servers
        told = servers.get(name, next(iter(servers.values())) if len(servers) == 1 else None)
        return typed.convert(told, Server) if told is not None else None
    except (msgspec.MsgspecError, RecursionError):
        return None


def _agent(name: str, server: Server, source: AgentSource) -> Agent | None:
    """Agent of a configured server. Raises ValueError for one that speaks HTTP."""
    if server.disabled:
        return None
    if server.url is not None or server.type not in ("stdio", ""):
        raise ValueError("speaks HTTP, and only servers on stdio are run")
    if not server.command:
        raise ValueError("has no command")
    return Agent(
        id=name,
        type="mcp",
        capabilities=capabilities_of(name, server.description),
        domains=domains_of(name, server.description),
        description=server.description,
        command=located(server.command, source.base),
        arguments=server.args,
        environment=server.env,
        origin=os.fspath(source.path),
        trusted=source.trusted,
        timeout_seconds=server.timeout_seconds,
    )
