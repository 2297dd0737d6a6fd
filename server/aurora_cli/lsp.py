"""`aurora lsp`: what editors start. It speaks LSP on standard input and output for the daemon."""

from __future__ import annotations

import os
import sys

import click

from aurora_cli.fast_exit import stay
from aurora_cli.session import reach_daemon
from aurora_cli.settings import Settings


@click.command()
@click.option("--standalone", is_flag=True, help="Serve in this process, without a daemon.")
@click.option("--stdio", is_flag=True, hidden=True, help="What some editors add; it is the only way there is.")
@click.pass_obj
def lsp(settings: Settings, standalone: bool, stdio: bool) -> int:
    """Speak LSP on standard input and output."""
    stay()
    if standalone:
        from aurora_server.daemon.standalone import run_stdio  # pygls and all the rooms: half a second

        return run_stdio({**os.environ, **settings.variables})

    from aurora_cli.bridge import bridge

    with reach_daemon(settings).detach() as stream:
        return bridge(stream, sys.stdin.fileno(), sys.stdout.fileno())
