"""`aurora deliverable`: tell what happens to a change, and look at what is known of it (AURA-M §3–5)."""

from __future__ import annotations

import click

from aurora_cli.command_types import LazyGroup, with_global_options

PLACES = {
    "show": ("aurora_cli.deliverable_show", "show"),
    "list": ("aurora_cli.deliverable_show", "list_"),
    "events": ("aurora_cli.deliverable_show", "events"),
    "criteria": ("aurora_cli.deliverable_show", "criteria"),
    "export": ("aurora_cli.deliverable_show", "export"),
    "ingest": ("aurora_cli.deliverable_ingest", "ingest"),
}
"""Commands that ask, and `ingest`: those that record an event are made of the events when they are called."""


class DeliverableCommands(LazyGroup):
    """The commands in `PLACES`, and one for each event that a person can tell."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from aurora_cli import deliverable_record

        return sorted([*deliverable_record.names(), *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        from aurora_cli import deliverable_record

        action = deliverable_record.names().get(cmd_name)
        return None if action is None else with_global_options(deliverable_record.command(action))


@click.group(cls=DeliverableCommands, places=PLACES, no_args_is_help=False)
def deliverable() -> None:
    """Track changes from proposal to archive.

    CHANGE may be left out where only one deliverable is open. Exits 1 when what is said cannot follow what was.
    """
