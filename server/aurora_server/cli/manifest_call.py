"""`aurora manifest call`: do what a site's manifest declares."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from aurora_protocol import Blocked, SiteError
from aurora_protocol.manifest.client.arguments import MAX_ARGUMENTS, misfits, read_arguments, unused
from aurora_protocol.manifest.client.calling import Call, build_call, find_capability
from aurora_protocol.manifest.client.caution import destructive, secret
from aurora_protocol.manifest.client.cookies import Jar
from aurora_protocol.manifest.client.fetching import Published
from aurora_protocol.manifest.client.fetching import fetch as fetch_manifest
from aurora_protocol.manifest.client.transport import Policy, Reply, preview, send
from aurora_protocol.manifest.model import Capability
from aurora_server.cli.call_view import preview_document, preview_lines
from aurora_server.cli.errors import FINE, NO
from aurora_server.cli.output import style_of
from aurora_server.cli.patience import within
from aurora_server.cli.settings import Settings
from aurora_server.cli.site_options import cache_of, policy_of, site_options
from aurora_server.cli.site_view import body_value, print_document, reply_lines, state_of
from aurora_server.cli.words import plain

TOKEN_VARIABLE = "AURORA_MANIFEST_TOKEN"
_CHECK_WITHIN = 5.0
"""Seconds: a site's `pattern` can be one that Python's `re` needs for ever to refuse."""


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
    _warn_of_errors(published)
    chosen = find_capability(published.manifest, capability)
    arguments = _arguments(chosen, document, pairs)
    _check(chosen, arguments)
    planned = build_call(chosen, published.origin, arguments)
    if token:
        planned = _with_token(planned, token)
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
        _confirm(chosen, planned)
    reply = asyncio.run(_send(planned, own, jar))
    if settings.json:
        print_document(_reply_document(planned, reply))
    else:
        print("\n".join(reply_lines(reply, planned.request.method, style)))
    if reply.status == 401:
        print(
            "aurora: the site wants to know who asks; call its login capability first, or give --token", file=sys.stderr
        )
    return FINE if reply.fine else NO


async def _send(planned: Call, policy: Policy, jar: Jar | None) -> Reply:
    reply = await send(planned.request, policy, cookies=jar.load() if jar else None)
    if jar is not None:
        jar.save()
    return reply


def _with_token(planned: Call, token: str) -> Call:
    if not token.isprintable() or not token.isascii() or " " in token:
        raise SiteError("the token must be printable ASCII without spaces")
    kept = [each for each in planned.request.headers if each[0].lower() != "authorization"]
    headers = (*kept, ("Authorization", f"Bearer {token}"))
    return msgspec.structs.replace(planned, request=msgspec.structs.replace(planned.request, headers=headers))


def _arguments(capability: Capability, document: str | None, pairs: tuple[str, ...]) -> dict[str, Any]:
    text = sys.stdin.read(MAX_ARGUMENTS + 1) if document == "-" else document
    arguments = read_arguments(text) if text is not None else {}
    given: dict[str, list[Any]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--arg")
        given.setdefault(name, []).append(value)
    for name, values in given.items():
        arguments[name] = _typed(capability, name, values)
    return arguments


def _typed(capability: Capability, name: str, values: list[str]) -> Any:
    """Words of the command line as the parameter's type: strings as they stand, everything else read as JSON."""
    member = capability.properties.get(name)
    schema = member.value.value if member is not None and isinstance(member.value.value, dict) else {}
    kind = schema.get("type")
    if kind == "array":
        read = [_read(each, schema.get("items")) for each in values]
        whole = _read(values[0], {}) if len(values) == 1 else None
        return whole if isinstance(whole, list) else read
    if len(values) > 1:
        raise click.BadParameter(f"{name} is given more than once, and is no list", param_hint="--arg")
    return _read(values[0], schema)


def _read(text: str, schema: Any) -> Any:
    from aurora_protocol.manifest.scanner import parse

    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    document = parse(text)
    return text if document.problems or document.root is None else document.root.value


def _check(capability: Capability, arguments: dict[str, Any]) -> None:
    """Raise SiteError that tells of every argument that does not fit."""
    schema = capability.parameters.value if capability.parameters else None
    with within(_CHECK_WITHIN, f"{capability.name}: checking the arguments takes too long; a pattern must be at fault"):
        found = misfits(schema, arguments)
    if found:
        told = "; ".join(f"{each.path or 'the arguments'} {each.message}" for each in found)
        raise SiteError(f"{plain(capability.name)}: {plain(told)}")
    ignored = unused(capability.mapping.value if capability.mapping else {}, arguments)
    variables = {each.name for each in capability.template.variables} if capability.template else set()
    ignored = [name for name in ignored if name not in variables]
    if ignored:
        names = plain(", ".join(ignored))
        print(f"aurora: the manifest maps no parameter to {names}: not sent", file=sys.stderr)


def _warn_of_errors(published: Published) -> None:
    errors = sum(each.severity == "error" for each in published.findings)
    if errors:
        told = "an error" if errors == 1 else f"{errors:,} errors"
        print(f"aurora: the manifest has {told}; see: aurora manifest fetch {plain(published.url)}", file=sys.stderr)


def _confirm(capability: Capability, planned: Call) -> None:
    """Raise Blocked unless nothing can be destroyed, or a person at the terminal agrees."""
    reason = destructive(capability)
    if reason is None:
        return
    doing = f"{plain(capability.name)}: {planned.request.method} {_address(planned)}"
    what = f"{doing} may destroy something ({plain(reason)})"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Blocked(f"{what}; give --yes to do it")
    if not click.confirm(f"{what}. Do it?", err=True):
        raise Blocked(f"{plain(capability.name)}: not sent")


def _address(planned: Call) -> str:
    hidden = any(secret(name) for name in planned.url_values)
    url = plain(planned.request.url)
    return url.partition("?")[0] if hidden else url


def _reply_document(planned: Call, reply: Reply) -> dict[str, Any]:
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
