"""`aurora agents list|refresh`: agents, to whom work can be given, and where they were found. Needs no daemon."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_protocol.human_text import count, plain, shorten

if TYPE_CHECKING:
    from aurora_orchestration.agents.registry import Known, Registry
    from aurora_orchestration.types import Agent


@click.group(no_args_is_help=False)
def agents() -> None:
    """The agents that work on parts of a question."""


@agents.command("list")
@click.pass_obj
def list_agents(settings: GlobalOptions) -> None:
    """List the agents of this workspace, and what was ignored."""
    _show(settings, asyncio.run(_registry(settings).current()))


@agents.command()
@click.pass_obj
def refresh(settings: GlobalOptions) -> None:
    """Look for agents again, and ask MCP servers which tools they offer."""
    _show(settings, asyncio.run(_registry(settings).refresh()))


def _registry(settings: GlobalOptions) -> Registry:
    """Registry of this workspace's agents, by the settings in force."""
    from aurora_orchestration.agents.registry import Registry
    from aurora_server.configuration.config_file import users_document
    from aurora_server.configuration.layers import layered
    from aurora_server.configuration.trust import Trust

    environ = {**os.environ, **settings.variables}
    workspace, home = settings.workspace, settings.address.home
    trusted = Trust(home).is_trusted(workspace)
    chosen, _ = layered(users_document(environ, settings.config), workspace, trusted, environ)
    return Registry(
        home,
        workspace,
        chosen.agents,
        time.time,
        trusted=trusted,
        environ=environ,
    )


def _show(settings: GlobalOptions, known: Known) -> None:
    if settings.json:
        print_json(document_of(known))
    else:
        print("\n".join(agent_lines(known, style_of_output(settings))))


def document_of(known: Known) -> dict[str, Any]:
    """The agents as `--json` prints them: what is declared of keys and commands stays out."""
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(known.refreshed_at, UTC).isoformat(timespec="seconds") if known.refreshed_at else None
    return {
        "agents": [_entry(agent) for agent in known.agents],
        "ignored": [_entry(agent) for agent in known.ignored],
        "notices": list(known.notices),
        "refreshed_at": at,
        "last_discovered_path": known.last_discovered_path,
    }


def agent_lines(known: Known, style: TerminalStyle) -> list[str]:
    """The agents as a list for people: what each is good for, how well it did, where it is from."""
    lines = [style.bold(count(len(known.agents), "agent"))]
    for agent in known.agents:
        rate = f" · {agent.success_rate:.0%} done well" if agent.success_rate is not None else ""
        good_for = ", ".join((*agent.capabilities[:6], *agent.domains[:3]))
        lines.append(f"  {style.bold(plain(agent.id))} {style.dim(agent.type)}{rate}")
        if about := agent.description or good_for:
            lines.append(f"    {plain(about) if style.width is None else shorten(plain(about), style.width)}")
        lines.append(style.dim(f"    {plain(agent.origin)}"))
    if known.ignored:
        names = ", ".join(plain(agent.id) for agent in known.ignored[:10])
        lines.append(style.colored(f"ignored, because this workspace is not trusted: {names}", "yellow"))
    return [*lines, *(plain(notice) for notice in known.notices)]


def _entry(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "type": agent.type,
        "description": agent.description,
        "capabilities": list(agent.capabilities),
        "domains": list(agent.domains),
        "path": agent.path,
        "endpoint": agent.endpoint,
        "availability": agent.availability,
        "success_rate": agent.success_rate,
        "last_refresh": agent.last_refresh or None,
        "origin": agent.origin,
        "trusted": agent.trusted,
    }
