"""`aurora mcp`: what agents start. It speaks MCP on standard input and output, in front of the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TYPE_CHECKING

import click

from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions

if TYPE_CHECKING:
    from aurora_server.mcp.progress import Verbosity
    from aurora_server.mcp.server import Serving
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
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65_535),
    is_flag=False,
    flag_value=0,
    metavar="[PORT]",
    help="Serve streamable HTTP on this port of 127.0.0.1 (without: any free one) instead, to whoever sends the token "
    "of the file that it names.",
)
@click.pass_obj
def mcp(
    settings: GlobalOptions, project: str | None, verbosity: Verbosity | None, tools: Which, port: int | None
) -> None:
    """Serve this workspace's memory to agents, as an MCP server on standard input and output, or over HTTP."""
    stay()
    parent = os.getppid()  # before the imports: it may die meanwhile
    chosen: Verbosity = verbosity or ("verbose" if settings.verbosity else "normal")
    _log(verbose=chosen == "verbose")
    if project is not None:
        settings.set_workspace(project)

    from aurora_server.mcp.server import Serving, serve  # the SDK: a second of imports

    root = settings.workspace
    marked = (root / ".git").exists() or (root / ".aurora").is_dir()
    serving = Serving(
        address=settings.address,
        root=root,
        settled=port is not None or settings.named_workspace is not None or marked,
        environ={**os.environ, **settings.variables},
        verbosity=chosen,
        parent=parent,
        tools=tools,
        asks=port is None,
    )
    if port is None:
        asyncio.run(serve(serving))
    else:
        _over_http(serving, port)


def _over_http(serving: Serving, port: int) -> None:
    """HTTP transport served on a port, with the token for it. Raises UsageError for a port in use."""
    from aurora_server.mcp.http_server import bind, serve_http, token_file, token_in

    try:
        path = token_file(serving.address.home)
        token = token_in(path)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    try:
        listening = bind(port)
    except OSError as error:
        raise click.UsageError(
            f"port {port} cannot be used: {error.strerror}; choose another. If another user has it, clients told that "
            f"one the token: remove {path}, and give them the new one"
        ) from error
    with contextlib.ExitStack() as stack, contextlib.suppress(KeyboardInterrupt):
        for each in listening:
            stack.enter_context(each)

        def started(url: str) -> None:
            click.echo(f"MCP at {url}; clients send Authorization: Bearer with the token in {path}", err=True)

        asyncio.run(serve_http(serving, listening, token, started))


def _log(*, verbose: bool) -> None:
    """Standard error is the client's log: nothing of the SDK's, unless it is wished for."""
    if verbose:
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO)
    else:
        logging.getLogger().addHandler(logging.NullHandler())
