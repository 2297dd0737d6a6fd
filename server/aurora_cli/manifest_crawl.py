"""`aurora manifest crawl`: what sites offer."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import click

from aurora_cli.errors import FINE, NO, exit_code, one_line
from aurora_cli.output import style_of
from aurora_cli.settings import Settings
from aurora_cli.site_call import checked_token, cookies_for, session_options
from aurora_cli.site_options import cache_of, policy_of, site_options
from aurora_cli.site_view import crawled_document, crawled_lines, print_document
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.fetch import fetch as fetch_manifest
from aurora_protocol import ProtocolError

_AT_ONCE = 8


@click.command()
@click.argument("urls", metavar="URL…", nargs=-1, required=True)
@session_options
@site_options
@click.pass_obj
def crawl(
    settings: Settings,
    urls: tuple[str, ...],
    token: str | None,
    cookie_jar: Path | None,
    no_cookies: bool,
    timeout: float,
    insecure_http: bool,
    no_cache: bool,
    allow_cross_origin: bool,
) -> int:
    """Show what the sites at URL offer to agents: resources, capabilities, and the AURA-State sent along.

    Each site is asked once. Exits 1 when a manifest is not valid, 2 when a site could not be read.
    """
    policy = policy_of(timeout, insecure_http, allow_cross_origin)
    cache, token = cache_of(settings, no_cache), checked_token(token)
    if token and len(urls) > 1:
        raise click.UsageError("--token is for one site: name one URL")
    turn = asyncio.Semaphore(_AT_ONCE)

    async def visit(url: str) -> Published | ProtocolError:
        async with turn:
            try:
                cookies = cookies_for(settings, url, cookie_jar, no_cookies)
                return await fetch_manifest(url, policy, cache=cache, ask=True, cookies=cookies, token=token)
            except ProtocolError as error:
                return error

    async def visit_all() -> list[Published | ProtocolError]:
        return await asyncio.gather(*(visit(url) for url in urls))

    visited = list(zip(urls, asyncio.run(visit_all()), strict=True))
    if settings.json:
        print_document([_document(url, found) for url, found in visited])
    else:
        style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
        pages = [crawled_lines(found, style) for _, found in visited if isinstance(found, Published)]
        print("\n\n".join("\n".join(lines) for lines in pages), end="\n" if pages else "")
    for _, found in visited:
        if isinstance(found, ProtocolError):
            print(f"aurora: {one_line(found)}", file=sys.stderr)
    return max(_code(found) for _, found in visited)


def _document(url: str, found: Published | ProtocolError) -> dict[str, Any]:
    if isinstance(found, ProtocolError):
        return {"asked": url, "error": one_line(found)}
    return {"asked": url, "error": None, **crawled_document(found)}


def _code(found: Published | ProtocolError) -> int:
    if isinstance(found, ProtocolError):
        return exit_code(found)
    return FINE if found.valid else NO
