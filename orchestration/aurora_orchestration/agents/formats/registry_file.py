"""`agents.json`: the registry of AURORA §7.2, `{"agent_registry": {"agents": […]}}`, or the bare list of agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from aurora_orchestration.agents.executors.plugin_executors import plugged, type_of
from aurora_orchestration.agents.sources import MAX_AGENTS, AgentSource, FoundAgents, read_text
from aurora_orchestration.types import Agent, Share
from aurora_protocol import typed

Word = Annotated[str, Meta(min_length=1, max_length=200)]
Line = Annotated[str, Meta(max_length=4000)]
Few = Annotated[tuple[Word, ...], Meta(max_length=100)]
Lines = Annotated[tuple[Line, ...], Meta(max_length=200)]
Pairs = Annotated[dict[Word, Line], Meta(max_length=100)]


class _Entry(Struct, frozen=True, kw_only=True):
    id: Word
    type: str
    path: Line | None = None
    endpoint: Line | None = None
    command: Line | None = None
    arguments: Lines | None = None
    args: Lines = ()
    environment: Pairs | None = None
    env: Pairs = {}
    headers: Pairs = {}
    tool: Word | None = None
    prompt: Annotated[str, Meta(max_length=100_000)] = ""
    description: Line = ""
    capabilities: Few = ()
    domains: Few = ()
    availability: Word = "always"
    success_rate: Share | None = None
    last_refresh: Word | None = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=86_400)] | None = None
    interactive: bool = False


class _Registry(Struct, frozen=True):
    agents: list[Any] = field(default_factory=list)


class _RegistryFile(Struct, frozen=True):
    agent_registry: _Registry | None = None
    agents: list[Any] | None = None


def read_registry(source: AgentSource) -> FoundAgents:
    """The agents of a registry file. What is wrong is a notice that names file and member; the rest holds."""
    text, trouble = read_text(source)
    if trouble:
        return FoundAgents(notices=(trouble,))
    try:
        entries = _entries(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        return FoundAgents(notices=(f"{source.shown}: {_said(error)}",))
    agents: list[Agent] = []
    notices: list[str] = []
    if len(entries) > MAX_AGENTS:
        notices.append(f"{source.shown}: has {len(entries):,} agents; only the first {MAX_AGENTS} are read")
    for place, entry in enumerate(entries[:MAX_AGENTS]):
        try:
            agents.append(_agent(typed.convert(entry, _Entry), source))
        except (msgspec.ValidationError, RecursionError, ValueError) as error:
            name = entry.get("id") if isinstance(entry, dict) else None
            called = f" ({name[:60]!r})" if isinstance(name, str) else ""
            notices.append(f"{source.shown}: agents[{place}]{called}: {_said(error)}; it was left out")
    return FoundAgents(tuple(agents), tuple(notices))


def _entries(text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        return typed.decode(text, list[Any])
    document = typed.decode(text or "{}", _RegistryFile)
    if document.agent_registry is not None:
        return document.agent_registry.agents
    if document.agents is not None:
        return document.agents
    raise msgspec.ValidationError('has neither "agent_registry" nor a list of agents')


def _agent(entry: _Entry, source: AgentSource) -> Agent:
    """Agent of an entry, validated by its type. Raises ValueError."""
    kind = type_of(entry.type)
    if kind is None:
        more = "".join(f", {each}" for each in sorted(plugged()))
        raise ValueError(f"type {entry.type[:40]!r} is none of mcp, executable, http, builtin{more}")
    if kind == "http" and not entry.endpoint:
        raise ValueError("an http agent needs an endpoint")
    if kind in ("mcp", "executable") and not (entry.path or entry.command):
        raise ValueError(f"an {kind} agent needs a path or a command")
    path = located(entry.path, source.base) if entry.path else None
    command = located(entry.command, source.base) if entry.command else None
    return Agent(
        id=entry.id,
        type=kind,
        capabilities=entry.capabilities,
        domains=entry.domains,
        description=entry.description,
        path=path,
        endpoint=entry.endpoint,
        command=command or (path if kind == "executable" else None),
        arguments=entry.arguments if entry.arguments is not None else entry.args,
        environment=entry.environment if entry.environment is not None else entry.env,
        headers=entry.headers,
        tool=entry.tool,
        prompt=entry.prompt,
        availability=entry.availability,
        success_rate=entry.success_rate,
        last_refresh=entry.last_refresh or "",
        origin=os.fspath(source.path),
        trusted=source.trusted,
        timeout_seconds=entry.timeout_seconds,
        interactive=entry.interactive,
    )


def located(path: str, base: Path) -> str:
    """A program as meant: `~` is the user's folder, a path with a slash is from `base`, a bare name is on PATH."""
    if path == "~" or path.startswith("~/"):
        return os.path.expanduser(path)  # noqa: PTH111 - stays a string; there may be nothing at it
    if "/" in path or os.sep in path:
        return os.path.normpath(base / path)
    return path


def _said(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError):
        return f"is not valid JSON: {error}"
    return str(error)
