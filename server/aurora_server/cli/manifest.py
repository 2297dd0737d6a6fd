"""`aurora manifest`: manifests (`aura.json`) from the command line. Each command is a module of its own."""

from __future__ import annotations

import click

from aurora_server.cli.commands import LazyGroup

COMMANDS = {
    "validate": ("aurora_server.cli.manifest_validate", "validate"),
}
"""Each command's module and its name there."""


@click.group(cls=LazyGroup, places=COMMANDS, no_args_is_help=False)
def manifest() -> None:
    """Check and use the manifests that sites publish for agents (aura.json)."""
