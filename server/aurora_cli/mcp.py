"""`aurora mcp`: what agents start. It speaks MCP on standard input and output, in front of the daemon."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

import click

from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions

if TYPE_CHECKING:
    from aurora_server.mcp.progress import Verbosity
    from aurora_server.mcp.tools import Which


@click.command()
@click.option("--project", type=click.Path(exists=True, file_okay=False), help="The same as --workspace.")
@click.option(
    "--verbosity",
    type=click.Choice(["quiet", "normal", "verbose"]),
    help="How much progress tells: ended stages, every step in a sentence, or with scores and costs; verbose (also -v) "
    "logs to standard error as well.",
)
@click.option(
    "--tools",
    type=click.Choice(["all", "core"]),
    default="all",
    show_default=True,
    help="Offer every tool, or only those of memory: recall, retrieve_context, explain, learn.",
)
@click.pass_obj
def mcp(settings: GlobalOptions, project: str | None, verbosity: Verbosity | None, tools: Which) -> None:
    """Serve this workspace's memory to agents, as an MCP server on standard input and output."""
    stay()
    parent = os.getppid()  # before the imports: it may die meanwhile
    chosen: Verbosity = verbosity or ("verbose" if settings.verbosity else "normal")
    _log(verbose=chosen == "verbose")
    if project is not None:
        settings.set_workspace(project)

    from aurora_server.mcp.server import Serving, serve  # the SDK: a second of imports

    root = settings.workspace
    marked = (root / ".git").exists() or (root / ".aurora").is_dir()
    asyncio.run(
        serve(
            Serving(
                address=settings.address,
                root=root,
                settled=settings.named_workspace is not None or marked,
                environ={**os.environ, **settings.variables},
                verbosity=chosen,
                parent=parent,
                tools=tools,
            )
        )
    )


def _log(*, verbose: bool) -> None:
    """Standard error is the client's log: nothing of the SDK's, unless it is wished for."""
    if verbose:
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO)
    else:
        logging.getLogger().addHandler(logging.NullHandler())
