"""`aurora mcp`: what agents start. It speaks MCP on standard input and output, in front of the daemon."""

from __future__ import annotations

import asyncio
import os

import click

from aurora_server.cli.haste import stay
from aurora_server.cli.settings import Settings


@click.command()
@click.option("--project", type=click.Path(exists=True, file_okay=False), help="The same as --workspace.")
@click.pass_obj
def mcp(settings: Settings, project: str | None) -> None:
    """Serve this workspace's memory to agents, as an MCP server on standard input and output."""
    stay()
    from aurora_server.mcp_server.serving import serve  # the SDK: a second of imports

    if project is not None:
        settings.set_workspace(project)
    asyncio.run(serve(settings.address, settings.workspace, {**os.environ, **settings.variables}))
