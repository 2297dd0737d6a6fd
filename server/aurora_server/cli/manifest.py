"""`aurora manifest`: the commands about manifests, each imported when it is called."""

from __future__ import annotations

import importlib

import click

from aurora_server.cli.app import with_global_options

COMMANDS = {
    "call": ("aurora_server.cli.manifest_call", "call"),
    "crawl": ("aurora_server.cli.manifest_crawl", "crawl"),
    "fetch": ("aurora_server.cli.manifest_fetch", "fetch"),
    "serve": ("aurora_server.cli.manifest_serve", "serve"),
    "state": ("aurora_server.cli.manifest_state", "state"),
}
"""Each command's module and its name there."""


class ManifestGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        command: click.Command = getattr(importlib.import_module(place[0]), place[1])
        return with_global_options(command)


@click.group(cls=ManifestGroup, no_args_is_help=False)
def manifest() -> None:
    """Check manifests (aura.json), and use the sites that publish them."""
