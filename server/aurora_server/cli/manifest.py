"""`aurora manifest`: manifests (`aura.json`) from the command line. Each command is a module of its own."""

from __future__ import annotations

import click

from aurora_server.cli.commands import LazyGroup

COMMANDS = {
    "call": ("aurora_server.cli.manifest_call", "call"),
    "do": ("aurora_server.cli.manifest_do", "do"),
    "crawl": ("aurora_server.cli.manifest_crawl", "crawl"),
    "fetch": ("aurora_server.cli.manifest_fetch", "fetch"),
    "serve": ("aurora_server.cli.manifest_serve", "serve"),
    "state": ("aurora_server.cli.manifest_state", "state"),
    "validate": ("aurora_server.cli.manifest_validate", "validate"),
}
"""Each command's module and its name there."""


@click.group(cls=LazyGroup, places=COMMANDS, no_args_is_help=False)
def manifest() -> None:
    """Check manifests (aura.json), and use the sites that publish them."""
