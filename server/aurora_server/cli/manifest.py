"""`aurora manifest`: manifests (`aura.json`) from the command line. Each command is a module of its own."""

from __future__ import annotations

import click

from aurora_server.cli.commands import LazyGroup

COMMANDS = {
    "validate": ("aurora_server.cli.manifest_validate", "validate"),
    "call": ("aurora_server.cli.manifest_call", "call"),
    "crawl": ("aurora_server.cli.manifest_crawl", "crawl"),
    "fetch": ("aurora_server.cli.manifest_fetch", "fetch"),
    "serve": ("aurora_server.cli.manifest_serve", "serve"),
    "state": ("aurora_server.cli.manifest_state", "state"),
}
"""Each command's module and its name there."""


@click.group(cls=LazyGroup, places=COMMANDS, no_args_is_help=False)
def manifest() -> None:
    """Check the manifests that sites publish for agents (aura.json), and use those sites."""
