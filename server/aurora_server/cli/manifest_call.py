"""`aurora manifest call`: do what a site's manifest declares."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import click

from aurora_protocol.manifest.client.calling import Call, build_call, find_capability
from aurora_protocol.manifest.client.cookies import Jar
from aurora_protocol.manifest.client.fetching import fetch as fetch_manifest
from aurora_protocol.manifest.client.transport import Policy, Reply, preview
from aurora_server.cli.call_view import preview_document, preview_lines
from aurora_server.cli.errors import FINE, NO
from aurora_server.cli.manifest_calling import (
    arguments_given,
    check_arguments,
    confirm_call,
    send_call,
    warn_of_errors,
    with_token,
)
from aurora_server.cli.output import style_of
from aurora_server.cli.settings import Settings
from aurora_server.cli.site_options import cache_of, policy_of, site_options
from aurora_server.cli.site_view import body_value, print_document, reply_lines, state_of

TOKEN_VARIABLE = "AURORA_MANIFEST_TOKEN"


@click.command()
@click.argument("url")
@click.argument("capability")
@click.option("--args", "document", metavar="JSON", help="The arguments, a JSON object; - reads standard input.")
@click.option("--arg", "pairs", metavar="NAME=VALUE", multiple=True, help="One argument. Repeatable; lists repeat it.")
@click.option("--dry-run", is_flag=True, help="Show the request, secrets hidden, and send nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before something may be destroyed.")
@click.option("--token", envvar=TOKEN_VARIABLE, help=f"Send this bearer token. [env var: {TOKEN_VARIABLE}]")
@click.option(
    "--cookie-jar", type=click.Path(dir_okay=False, path_type=Path), help="Keep cookies in this file instead."
)
@click.option("--no-cookies", is_flag=True, help="Send and keep no cookies.")
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
    published = asyncio.run(fetch_manifest(url, policy, cache=cache_of(settings, no_cache)))
    warn_of_errors(published)
    chosen = find_capability(published.manifest, capability)
    arguments = arguments_given(chosen, document, pairs)
    check_arguments(chosen, arguments)
    planned = build_call(chosen, published.origin, arguments)
    if token:
        planned = with_token(planned, token)
    jar = (
        None
        if no_cookies
        else Jar(cookie_jar.absolute())
        if cookie_jar
        else Jar.of(settings.address.home, published.origin)
    )
    own = Policy(timeout=timeout, insecure_http=insecure_http, whole=False)
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    if dry_run:
        shown = asyncio.run(preview(planned.request, own, cookies=jar.load() if jar else None))
        if settings.json:
            print_document(preview_document(planned, shown, chosen))
        else:
            print("\n".join(preview_lines(planned, shown, chosen)))
        return FINE
    if not yes:
        confirm_call(chosen, planned)
    reply = asyncio.run(send_call(planned, own, jar))
    if settings.json:
        print_document(reply_document(planned, reply))
    else:
        print("\n".join(reply_lines(reply, planned.request.method, style)))
    if reply.status == 401:
        print(
            "aurora: the site wants to know who asks; call its login capability first, or give --token", file=sys.stderr
        )
    return FINE if reply.fine else NO


def reply_document(planned: Call, reply: Reply) -> dict[str, Any]:
    """What `--json` prints of a call that was sent."""
    state, problem = state_of(reply.header("aura-state"))
    return {
        "capability": planned.capability,
        "method": planned.request.method,
        "url": reply.url,
        "ok": reply.fine,
        "status": reply.status,
        "headers": {name: value for name, value in reply.headers if name != "set-cookie"},
        "state": dict(state.document) if state else None,
        "state_problem": problem,
        "body": body_value(reply),
        "cut": reply.cut or None,
        "redirects": reply.redirects,
        "took_ms": round(reply.took_ms, 1),
    }
