"""`aurora trust` (workspace trust, allow list): let a workspace's own configuration run things and say where questions
are sent.
"""

from __future__ import annotations

from pathlib import Path

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json


@click.command()
@click.option("--revoke", is_flag=True, help="Trust this workspace no more.")
@click.option("--status", is_flag=True, help="Only say whether it is trusted; exits 1 when it is not.")
@click.pass_obj
def trust(settings: GlobalOptions, revoke: bool, status: bool) -> int:
    """Trust this workspace: its .aurora/ may name models, addresses and agents to run. Holds for this folder alone."""
    from aurora_server.configuration.trust import Trust, folder_complaint
    from aurora_server.workspace.registry import canonical

    if revoke and status:
        raise click.UsageError("--revoke and --status are not for one call")
    kept = Trust(settings.address.home)
    root = settings.workspace.resolve() if revoke or status else canonical(settings.workspace, Path.home())
    changed = False if status else kept.revoke(root) if revoke else kept.trust(root)
    trusted = kept.is_trusted(root)
    problem = folder_complaint(root) if status else None
    if settings.json:
        print_json({"root": str(root), "trusted": trusted, "changed": changed})
    elif trusted:
        print(f"{root} is {'now ' if changed else ''}trusted; aurora trust --revoke takes that back")
    else:
        print(
            f"{root} is {'no longer' if changed else 'not'} trusted; what its .aurora/ would run or redirect is ignored"
        )
        if problem:
            print(f"it cannot be: {problem}")
    return NO if status and not trusted else FINE
