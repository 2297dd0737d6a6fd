"""`aurora dashboard`: a local page about memory, the index and deliverables."""

from __future__ import annotations

import os
import signal
import threading
import time
import webbrowser

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import CLIENT_NAME, reach_daemon
from aurora_protocol.client import Client

_LOOK_SECONDS = 1.0
"""Between two looks at the program that started it."""


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of 127.0.0.1. [default: any that is free]")
@click.option("--no-open", is_flag=True, help="Only print the address; open no browser.")
@click.option(
    "--team",
    is_flag=True,
    help="Metrics of all repositories that this machine has a record of, colleagues' deliverables too.",
)
@click.pass_obj
def dashboard(settings: GlobalOptions, port: int, no_open: bool, team: bool) -> None:
    """Show memory, index, deliverables and cost in the browser, live, until Ctrl-C. Nothing leaves this machine.

    With --json it ends with the program that started it as well.
    """
    from aurora_server.dashboard.picture_builder import PictureReader
    from aurora_server.dashboard.server import bind, leading_page, serve

    if settings.json:  # a program reads this, not somebody who may want to leave it running
        threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()
    root = settings.workspace
    try:
        listening = bind(port)
    except OSError as error:
        raise click.UsageError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}; choose another") from error
    first: list[Client] = [reach_daemon(settings)]  # started now if need be; never again behind its user's back

    def connect() -> Client:
        client = first.pop() if first else Client.connect(settings.address)
        client.initialize(root, CLIENT_NAME, os.getpid())
        return client

    folder = settings.address.home / "run"
    page = folder / f"dashboard-{os.getpid()}.html"

    def started(address: str) -> None:
        if settings.json:
            print_json({"url": address, "port": listening.getsockname()[1], "pid": os.getpid()})
        else:
            print(f"{address}\nthe dashboard of {root}; end it with Ctrl-C", flush=True)
        if not no_open:
            webbrowser.open(leading_page(folder, address).as_uri())

    try:
        serve(PictureReader(str(root), connect, team=team), listening, started)
    finally:
        listening.close()
        page.unlink(missing_ok=True)


def _end_after(parent: int) -> None:
    """End as Ctrl-C does when the process that started this one is gone. On Windows that cannot be seen."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGINT)
