"""`aurora manifest fetch`: a site's manifest, checked."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click

from aurora_cli.errors import FINE, NO
from aurora_cli.output import style_of
from aurora_cli.settings import Settings
from aurora_cli.site_call import checked_token, cookies_for, session_options
from aurora_cli.site_options import cache_of, policy_of, site_options
from aurora_cli.site_view import print_document, published_document, published_lines
from aurora_manifest.client.fetch import fetch as fetch_manifest


@click.command()
@click.argument("url")
@click.option("--raw", is_flag=True, help="Print the manifest itself, just as the site sent it; findings go to stderr.")
@click.option("--refresh", is_flag=True, help="Ask the site even if the copy kept here is fresh.")
@session_options
@site_options
@click.pass_obj
def fetch(
    settings: Settings,
    url: str,
    raw: bool,
    refresh: bool,
    token: str | None,
    cookie_jar: Path | None,
    no_cookies: bool,
    timeout: float,
    insecure_http: bool,
    no_cache: bool,
    allow_cross_origin: bool,
) -> int:
    """Get the manifest of the site at URL, and check it. Exits 1 when it is not valid.

    URL is a site (example.com), for its /.well-known/aura.json, or a JSON file's own address.
    """
    policy = policy_of(timeout, insecure_http, allow_cross_origin)
    cookies = cookies_for(settings, url, cookie_jar, no_cookies)
    published = asyncio.run(
        fetch_manifest(
            url, policy, cache=cache_of(settings, no_cache), ask=refresh, cookies=cookies, token=checked_token(token)
        )
    )
    if settings.json:
        print_document(published_document(published))
    elif raw:
        sys.stdout.buffer.write(published.text.encode("utf-8"))
        sys.stdout.buffer.flush()
        style = style_of(sys.stderr, os.environ, no_color=settings.no_color)
        print("\n".join(published_lines(published, style)), file=sys.stderr)
    else:
        style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
        print("\n".join(published_lines(published, style)))
    return FINE if published.valid else NO
