"""`aurora manifest`: manifests (`aura.json`) from the command line. Its commands are imported when they are called."""

from __future__ import annotations

import click

from aurora_cli.command_types import LazyGroup

COMMANDS = {
    "call": ("aurora_cli.manifest_sites", "call"),
    "do": ("aurora_cli.manifest_do", "do"),
    "crawl": ("aurora_cli.manifest_sites", "crawl"),
    "fetch": ("aurora_cli.manifest_sites", "fetch"),
    "serve": ("aurora_cli.manifest_sites", "serve"),
    "state": ("aurora_cli.manifest_sites", "state"),
    "validate": ("aurora_cli.manifest_validate", "validate"),
}
"""Each command's module and its name there."""


@click.group(cls=LazyGroup, places=COMMANDS, no_args_is_help=False)
def manifest() -> None:
    """Check manifests (aura.json), and use the sites that publish them."""
