"""`aurora manifest`: manifests (`aura.json`) from the command line. Each command is a module of its own."""

from __future__ import annotations

import click

from aurora_cli.commands import LazyGroup

COMMANDS = {
    "call": ("aurora_cli.manifest_call", "call"),
    "do": ("aurora_cli.manifest_do", "do"),
    "crawl": ("aurora_cli.manifest_crawl", "crawl"),
    "fetch": ("aurora_cli.manifest_fetch", "fetch"),
    "serve": ("aurora_cli.manifest_serve", "serve"),
    "state": ("aurora_cli.manifest_state", "state"),
    "validate": ("aurora_cli.manifest_validate", "validate"),
}
"""Each command's module and its name there."""


@click.group(cls=LazyGroup, places=COMMANDS, no_args_is_help=False)
def manifest() -> None:
    """Check manifests (aura.json), and use the sites that publish them."""
