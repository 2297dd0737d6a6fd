"""MCP tools: what MCP servers offer: each is started once, asked for its tools, and ended. Bounded in time and
number.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from aurora_orchestration.agents.cache import ToolOffer
from aurora_orchestration.agents.executors.environment import environment_for
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.types import Agent

SECONDS = 10.0
AT_ONCE = 4
MAX_SERVERS = 40
MAX_DESCRIPTION = 4_000


async def ask_servers(
    agents: Iterable[Agent],
    known: Mapping[str, ToolOffer],
    folder: Path,
    environ: Mapping[str, str],
    barred: Path | None,
) -> dict[str, ToolOffer]:
    """The offers of all trusted `mcp` agents, by agent. Those `known` of a server started just so are kept as they are.

    A server that cannot be asked has `trouble` instead. Servers run in `folder`, never in a workspace.
    """
    servers = [agent for agent in agents if agent.type == "mcp" and agent.trusted][:MAX_SERVERS]
    turns = asyncio.Semaphore(AT_ONCE)

    async def offer_of(agent: Agent) -> ToolOffer:
        key = _key(agent)
        before = known.get(agent.id)
        if before is not None and before.key == key and not before.trouble:
            return before
        async with turns:
            return await _asked(agent, key, folder, environ, barred)

    offers = await asyncio.gather(*(offer_of(agent) for agent in servers))
    return {agent.id: offer for agent, offer in zip(servers, offers, strict=True)}


async def _asked(agent: Agent, key: str, folder: Path, environ: Mapping[str, str], barred: Path | None) -> ToolOffer:
    from aurora_orchestration.agents.executors.mcp_session import in_session, launch_of, tools_of

    try:
        launch = await asyncio.to_thread(launch_of, agent)
        environment = environment_for(launch.environment, environ, barred)
        async with asyncio.timeout(SECONDS):
            tools = await in_session(
                agent, launch, None, tools_of, environment=environment, folder=folder, seconds=SECONDS
            )
    except TimeoutError:
        return ToolOffer(key, trouble=f"agent {agent.id}: its MCP server did not list its tools within {SECONDS:g} s")
    except AgentError as error:
        return ToolOffer(key, trouble=str(error))
    told = ". ".join(f"{tool.name}: {' '.join((tool.description or '').split())[:300]}" for tool in tools)
    return ToolOffer(key, tuple(tool.name[:200] for tool in tools), told[:MAX_DESCRIPTION])


def _key(agent: Agent) -> str:
    """What a server's offer depends on. Of its environment only the names: values may be keys."""
    parts = (agent.command, agent.path, agent.arguments, sorted(agent.environment), agent.origin)
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]
