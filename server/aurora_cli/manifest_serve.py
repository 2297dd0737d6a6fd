"""`aurora manifest serve`: a small site to try clients on."""

from __future__ import annotations

import logging
import sys

import click

from aurora_cli.errors import FINE
from aurora_cli.fast_exit import stay
from aurora_cli.settings import Settings
from aurora_cli.site_view import print_document


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Listen here; 0 takes a free port."
)
@click.option(
    "--rate-limit",
    metavar="N",
    type=click.IntRange(min=1, max=1_000_000),
    default=120,
    show_default=True,
    help="Requests a minute that a client may make.",
)
@click.pass_obj
def serve(settings: Settings, port: int, rate_limit: int) -> int:
    """Serve a demo site on 127.0.0.1, with a manifest, log-in, posts and a profile, until Ctrl-C.

    Everything is kept in memory. Each call is logged on standard error, with its request id.
    """
    from aurora_server.demo_site.people import DEMO_EMAIL, DEMO_PASSWORD
    from aurora_server.demo_site.site import HOST, listen, serve_site

    stay()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        listener = listen(port)
    except OSError as error:
        raise click.UsageError(
            f"{HOST}:{port} cannot be listened on ({error.strerror}); choose another --port"
        ) from error

    def ready(origin: str) -> None:
        if settings.json:
            print_document({"url": origin, "email": DEMO_EMAIL, "password": DEMO_PASSWORD})
        else:
            print(f"{origin}  log in as {DEMO_EMAIL} with {DEMO_PASSWORD}; Ctrl-C ends")
            print(f"try: aurora manifest crawl {origin}")
        sys.stdout.flush()

    try:
        serve_site(listener, rate_limit, ready)
    except KeyboardInterrupt:
        print("aurora: the demo site has ended", file=sys.stderr)
    finally:
        listener.close()
    return FINE
