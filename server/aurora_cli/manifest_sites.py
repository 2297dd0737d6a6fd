"""`aurora manifest fetch | crawl | call | state | serve`: sites that publish a manifest, discovered, called and tried
over HTTP.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from typing import Any

import click

from aurora_cli.errors import FINE, NO, exit_code, one_line
from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import style_of
from aurora_cli.site_call import (
    CommandDeadline,
    answer_lines,
    arguments_of,
    call_with,
    confirm_call,
    confirming_option,
    document_given,
    hint_after,
    pairs_given,
    preview_document,
    preview_lines,
    reply_document,
    send_call,
    warn_of_errors,
)
from aurora_cli.site_options import SiteOptions, site_options
from aurora_cli.site_view import (
    crawled_document,
    crawled_lines,
    decoded_lines,
    print_document,
    published_document,
    published_lines,
)
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.fetch import fetch as fetch_manifest
from aurora_manifest.client.request import find_capability
from aurora_manifest.client.state import MAX_HEADER, read_state
from aurora_manifest.client.transport import RequestPolicy, preview
from aurora_protocol import ProtocolError, SiteError
from aurora_protocol.human_text import plain_lines

_AT_ONCE = 8
"""Sites that are asked at the same time."""


@click.command()
@click.argument("url")
@click.option("--raw", is_flag=True, help="Print the manifest itself, just as the site sent it; findings go to stderr.")
@click.option("--refresh", is_flag=True, help="Ask the site even if the copy kept here is fresh.")
@site_options
@click.pass_obj
def fetch(
    settings: GlobalOptions,
    url: str,
    raw: bool,
    refresh: bool,
    site: SiteOptions,
) -> int:
    """Get the manifest of the site at URL, and check it. Exits 1 when it is not valid.

    URL is a site (example.com), for its /.well-known/aura.json, or a JSON file's own address.
    """
    cookies, token = site.cookies(settings, url), site.checked_token()
    with CommandDeadline(site.timeout).running():
        published = asyncio.run(
            fetch_manifest(url, site.policy, cache=site.cache(settings), ask=refresh, cookies=cookies, token=token)
        ).checked()
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


@click.command()
@click.argument("urls", metavar="URL…", nargs=-1, required=True)
@site_options
@click.pass_obj
def crawl(
    settings: GlobalOptions,
    urls: tuple[str, ...],
    site: SiteOptions,
) -> int:
    """Show what the sites at URL offer to agents: resources, capabilities, and the AURA-State sent along.

    Each site is asked once. Exits 1 when a manifest is not valid, 2 when a site could not be read.
    """
    cache, token = site.cache(settings), site.checked_token()
    if token and len(urls) > 1:
        raise click.UsageError("--token is for one site: name one URL")
    turn = asyncio.Semaphore(_AT_ONCE)

    async def visit(url: str) -> Published | ProtocolError:
        async with turn:
            try:
                cookies = site.cookies(settings, url)
                return await fetch_manifest(url, site.policy, cache=cache, ask=True, cookies=cookies, token=token)
            except ProtocolError as error:
                return error

    async def visit_all() -> list[Published | ProtocolError]:
        return await asyncio.gather(*(visit(url) for url in urls))

    visited = [
        (url, _looked_at(found, site.timeout)) for url, found in zip(urls, asyncio.run(visit_all()), strict=True)
    ]
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


def _looked_at(found: Published | ProtocolError, seconds: float) -> Published | ProtocolError:
    """A manifest once it was read and checked, or why that could not be done in time."""
    if isinstance(found, Published):
        try:
            with CommandDeadline(seconds).running():
                return found.checked()
        except ProtocolError as error:
            return error
    return found


@click.command()
@click.argument("url")
@click.argument("capability")
@click.option("--args", "document", metavar="JSON", help="The arguments, a JSON object; - reads standard input.")
@click.option("--arg", "pairs", metavar="NAME=VALUE", multiple=True, help="One argument. Repeatable; lists repeat it.")
@click.option("--dry-run", is_flag=True, help="Show the request, secrets hidden, and send nothing.")
@confirming_option
@site_options
@click.pass_obj
def call(
    settings: GlobalOptions,
    url: str,
    capability: str,
    document: str | None,
    pairs: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    site: SiteOptions,
) -> int:
    """Call CAPABILITY of the site at URL.

    Exits 0 when the site did it, 1 when it refused or its answer is cut, 4 when it was not sent.

    Arguments are checked against the manifest first. Cookies the site sets are kept for the next call. What stands in
    --args can be seen by other users of this machine: give secrets on standard input.
    """
    given, words = document_given(document), pairs_given(pairs)
    deadline = CommandDeadline(site.timeout)
    with deadline.running():
        published = asyncio.run(_manifest_for(url, capability, site, settings))
        warn_of_errors(published)
        chosen = find_capability(published.manifest, capability)
    arguments = arguments_of(chosen, given, words)
    with deadline.running():
        planned = call_with(chosen, published.origin, arguments, site.token)
    jar = site.jar(settings, published.origin)
    own = RequestPolicy(timeout=deadline.left, insecure_http=site.insecure_http, whole=False)
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
    return FINE if reply.whole else NO


async def _manifest_for(url: str, capability: str, site: SiteOptions, settings: GlobalOptions) -> Published:
    """The manifest with `capability` in it: as everybody sees it, else as the session and the token do."""
    cookies, token = site.cookies(settings, url), site.checked_token()
    known = token is not None or bool(cookies is not None and len(cookies))
    try:
        public = await fetch_manifest(url, site.policy, cache=site.cache(settings))
        if not known or capability in public.manifest.capabilities:
            return public
    except SiteError:
        if not known:
            raise
    return await fetch_manifest(url, site.policy, cookies=cookies, token=token)


@click.command()
@click.argument("header")
@click.pass_obj
def state(settings: GlobalOptions, header: str) -> int:
    """Decode HEADER, the value of an AURA-State header, or - for standard input.

    Base64 and Base64URL are read, padded or not. Exits 2 when it cannot be decoded, 1 when it is no AURA-State.
    """
    text = sys.stdin.read(MAX_HEADER + 100) if header == "-" else header
    decoded = read_state(text)
    if settings.json:
        print_document({"state": decoded.document, "valid": not decoded.problems, "problems": decoded.problems})
    else:
        style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
        shown = json.dumps(decoded.document, ensure_ascii=False, indent=2)
        print("\n".join([*decoded_lines(decoded, style), *plain_lines(shown)]))
    return NO if decoded.problems else FINE


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
def serve(settings: GlobalOptions, port: int, rate_limit: int) -> int:
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
