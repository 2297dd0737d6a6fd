"""`aurora shout QUERY`: a command of a plug-in, with one more as it must not be."""

from __future__ import annotations

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import open_session
from aurora_protocol import methods


@click.command()
@click.argument("query")
@click.pass_obj
def shout(settings: GlobalOptions, query: str) -> int:
    """Say the name of what memory finds first, loudly. Exits 1 where it finds nothing."""
    with open_session(settings, settings.workspace) as client:
        found = client.request(methods.RECALL, {"query": query, "limit": 1})["results"]
    names = [each["name"].upper() for each in found]
    if settings.json:
        print_json({"names": names})
    else:
        click.echo("\n".join(names))
    return 0 if names else 1


NO_COMMAND = "shout"
