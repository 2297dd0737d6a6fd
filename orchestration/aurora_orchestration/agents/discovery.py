"""Agent discovery: where agents are found: the configured paths in order, then the MCP servers of the tools that are
there (§7.2).

Of agents with one id the first found holds: the workspace's before the user's. A workspace that is not trusted gives
none: its programs could run, its endpoints redirect, and its prompts steer the model; they are named as ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_orchestration.agents.formats.markdown import read_agent, read_folder
from aurora_orchestration.agents.formats.mcp_servers import read_servers
from aurora_orchestration.agents.formats.registry_file import read_registry
from aurora_orchestration.agents.sources import MAX_AGENTS, MAX_NOTICES, AgentSource, FoundAgents, PathState, look
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent

HOME_PREFIX = "~/.aurora/"


class Places(Struct, frozen=True):
    """Places where things are: the workspace, $AURORA_HOME, and the user's own folder (`~`)."""

    workspace: Path
    home: Path
    user: Path


class Discovered(Struct, frozen=True):
    """Result of a discovery. `ignored` are agents of a workspace that is not trusted; `first` is where the first agent
    was.
    """

    agents: tuple[Agent, ...] = ()
    ignored: tuple[Agent, ...] = ()
    notices: tuple[str, ...] = ()
    seen: tuple[PathState, ...] = ()
    first: str | None = None


def discover(places: Places, settings: AgentSettings, *, trusted: bool, more: Iterable[str] = ()) -> Discovered:
    """Look everywhere, once. `more` are paths beyond the configured ones, looked at after them. Blocks; never raises.

    Without `auto_discover` only registry files are read, no folders and no other tool's servers.
    """
    agents: dict[str, Agent] = {}
    ignored: dict[str, Agent] = {}
    notices: list[str] = []
    seen: list[PathState] = []
    first: str | None = None
    for source, found in _everywhere(places, settings, trusted, more):
        seen += found.seen
        if not source.trusted:
            ignored.update((agent.id, agent) for agent in found.agents if agent.id not in ignored)
            notices += _ignored(source, found)
            continue
        notices += found.notices
        for agent in found.agents:
            if agent.id in agents:
                notices.append(f"{source.shown}: agent {agent.id!r} is already there from {agents[agent.id].origin}")
            elif len(agents) < MAX_AGENTS:
                agents[agent.id] = agent
                first = first or source.shown
    return Discovered(
        tuple(agents.values()), tuple(ignored.values()), tuple(notices[:MAX_NOTICES]), tuple(dict.fromkeys(seen)), first
    )


def source_of(path: str, places: Places, *, trusted: bool) -> AgentSource:
    """Source that a configured path means. Relative ones, and all that lie in the workspace, are the workspace's."""
    if path.startswith(HOME_PREFIX):
        location, shown, ours = places.home / path[len(HOME_PREFIX) :], path, False
    elif path == "~" or path.startswith("~/"):
        location, shown, ours = places.user / path[2:], path, False
    else:
        location = Path(os.path.normpath(places.workspace / path))
        shown, ours = path, location.is_relative_to(places.workspace) or not Path(path).is_absolute()
    base = places.workspace if ours else (location if location.is_dir() else location.parent)
    return AgentSource(location, shown, base, ours, trusted or not ours)


def _everywhere(
    places: Places, settings: AgentSettings, trusted: bool, more: Iterable[str]
) -> Iterable[tuple[AgentSource, FoundAgents]]:
    """Search path of agents: configured paths in order, then MCP configurations."""
    for path in dict.fromkeys((*settings.discovery_paths, *more)):
        source = source_of(path, places, trusted=trusted)
        yield source, _read(source, settings)
    if settings.auto_discover:
        for path in ("./.mcp.json", "~/.aurora/mcp.json", "~/.claude.json"):
            source = source_of(path, places, trusted=trusted)
            seen = (look(source.path),)
            found = read_servers(source, places.workspace) if source.path.is_file() else FoundAgents()
            yield source, msgspec.structs.replace(found, seen=seen)


def _read(source: AgentSource, settings: AgentSettings) -> FoundAgents:
    """What a configured path holds: a registry, one agent in Markdown, or a folder of such."""
    seen = (look(source.path),)
    if not settings.auto_discover and source.path.suffix != ".json":
        return FoundAgents(seen=seen)
    if source.path.is_dir():
        found = read_folder(source)
        return msgspec.structs.replace(found, seen=(*seen, *found.seen))
    if seen[0].mtime_ns == 0 or not source.path.exists():
        return FoundAgents(seen=seen)
    if source.path.suffix == ".md":
        agent, notice = read_agent(source)
        return FoundAgents((agent,) if agent else (), (notice,) if notice else (), seen)
    return msgspec.structs.replace(read_registry(source), seen=seen)


def _ignored(source: AgentSource, found: FoundAgents) -> list[str]:
    """Notice of agents that are ignored, as the workspace is not trusted."""
    if not found.agents:
        return []
    names = ", ".join(repr(agent.id[:60]) for agent in found.agents[:5])
    more = f" and {len(found.agents) - 5} more" if len(found.agents) > 5 else ""
    return [f"{source.shown}: ignored {names}{more}, because this workspace is not trusted; run: aurora trust"]
