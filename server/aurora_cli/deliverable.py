"""`aurora deliverable`: tell what happens to a change, and look at what is known of it (AURA-M §3–5)."""

from __future__ import annotations

import click

from aurora_cli.deliverable_ingest import ingest
from aurora_cli.deliverable_record import COMMANDS
from aurora_cli.deliverable_show import events, export, list_, show


@click.group(no_args_is_help=False)
def deliverable() -> None:
    """Track changes from proposal to archive.

    CHANGE may be left out where only one deliverable is open. Exits 1 when what is said cannot follow what was.
    """


for command in (*COMMANDS, show, list_, events, export, ingest):
    deliverable.add_command(command)
