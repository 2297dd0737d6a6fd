"""`aurora manifest call`: do what a site's manifest declares."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click

from aurora_cli.call_view import answer_lines, preview_document, preview_lines, reply_document
from aurora_cli.errors import FINE, NO
from aurora_cli.output import style_of
from aurora_cli.regex_timeout import Deadline
from aurora_cli.settings import Settings
from aurora_cli.site_call import (
    arguments_given,
    call_with,
    confirm_call,
    hint_after,
    jar_of,
    send_call,
    sending_options,
    warn_of_errors,
)
from aurora_cli.site_options import cache_of, policy_of, site_options
from aurora_cli.site_view import print_document
from aurora_manifest.client.fetch import fetch as fetch_manifest
from aurora_manifest.client.request import find_capability
from aurora_manifest.client.transport import RequestPolicy, preview


@click.command()
@click.argument("url")
@click.argument("capability")
@click.option("--args", "document", metavar="JSON", help="The arguments, a JSON object; - reads standard input.")
@click.option("--arg", "pairs", metavar="NAME=VALUE", multiple=True, help="One argument. Repeatable; lists repeat it.")
@click.option("--dry-run", is_flag=True, help="Show the request, secrets hidden, and send nothing.")
@sending_options
@site_options
@click.pass_obj
def call(
    settings: Settings,
    url: str,
    capability: str,
    document: str | None,
    pairs: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    token: str | None,
    cookie_jar: Path | None,
    no_cookies: bool,
    timeout: float,
    insecure_http: bool,
    no_cache: bool,
    allow_cross_origin: bool,
) -> int:
    """Call CAPABILITY of the site at URL. Exits 0 when the site did it, 1 when it refused, 4 when it was not sent.

    Arguments are checked against the manifest first. Cookies the site sets are kept for the next call. What stands in
    --args can be seen by other users of this machine: give secrets on standard input.
    """
    policy = policy_of(timeout, insecure_http, allow_cross_origin)
    deadline = Deadline(timeout)
    with deadline.running():
        published = asyncio.run(fetch_manifest(url, policy, cache=cache_of(settings, no_cache)))
        warn_of_errors(published)
        chosen = find_capability(published.manifest, capability)
    arguments = arguments_given(chosen, document, pairs)
    with deadline.running():
        planned = call_with(chosen, published.origin, arguments, token)
    jar = jar_of(settings, published.origin, cookie_jar, no_cookies)
    own = RequestPolicy(timeout=deadline.left, insecure_http=insecure_http, whole=False)
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    if dry_run:
        shown = asyncio.run(preview(planned.request, own, cookies=jar.load() if jar else None))
        if settings.json:
            print_document(preview_document(planned, shown, chosen))
        else:
            print("\n".join(preview_lines(planned, shown)))
        return FINE
    if not yes:
        confirm_call(chosen, planned)
    reply = asyncio.run(send_call(planned, own, jar))
    if settings.json:
        print_document(reply_document(planned, reply))
    else:
        print("\n".join(answer_lines(planned, reply, style)))
    hint_after(planned, reply)
    return FINE if reply.fine else NO
