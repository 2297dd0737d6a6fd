"""What `manifest call` and `manifest do` have in common: arguments from the command line, checks, consent, sending."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec

from aurora_protocol import Blocked, SiteError
from aurora_protocol.manifest.client.arguments import MAX_ARGUMENTS, misfits, read_arguments, unused
from aurora_protocol.manifest.client.calling import Call
from aurora_protocol.manifest.client.caution import destructive, secret
from aurora_protocol.manifest.client.cookies import Jar
from aurora_protocol.manifest.client.fetching import Published
from aurora_protocol.manifest.client.transport import Policy, Reply, send
from aurora_protocol.manifest.model import Capability
from aurora_server.cli.patience import within
from aurora_server.cli.words import plain

CHECK_WITHIN = 5.0
"""Seconds: a site's `pattern` can be one that Python's `re` needs for ever to refuse."""


async def send_call(planned: Call, policy: Policy, jar: Jar | None) -> Reply:
    """Send one call; cookies come from the jar and go back into it."""
    reply = await send(planned.request, policy, cookies=jar.load() if jar else None)
    if jar is not None:
        jar.save()
    return reply


def with_token(planned: Call, token: str) -> Call:
    """The call with a bearer token. Raises SiteError for what is no token."""
    if not token.isprintable() or not token.isascii() or " " in token:
        raise SiteError("the token must be printable ASCII without spaces")
    kept = [each for each in planned.request.headers if each[0].lower() != "authorization"]
    headers = (*kept, ("Authorization", f"Bearer {token}"))
    return msgspec.structs.replace(planned, request=msgspec.structs.replace(planned.request, headers=headers))


def arguments_given(capability: Capability, document: str | None, pairs: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of `--args` and `--arg`, typed as the capability's parameters say."""
    text = sys.stdin.read(MAX_ARGUMENTS + 1) if document == "-" else document
    arguments = read_arguments(text) if text is not None else {}
    for name, values in pairs_given(pairs).items():
        arguments[name] = typed(capability, name, values)
    return arguments


def pairs_given(pairs: tuple[str, ...]) -> dict[str, list[str]]:
    """`--arg NAME=VALUE` as words by name; a name may come more than once."""
    given: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--arg")
        given.setdefault(name, []).append(value)
    return given


def typed(capability: Capability, name: str, values: list[str]) -> Any:
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


def check_arguments(capability: Capability, arguments: dict[str, Any]) -> None:
    """Raise SiteError that tells of every argument that does not fit."""
    schema = capability.parameters.value if capability.parameters else None
    with within(CHECK_WITHIN, f"{capability.name}: checking the arguments takes too long; a pattern must be at fault"):
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


def warn_of_errors(published: Published) -> None:
    """Say on standard error that the manifest has errors."""
    errors = sum(each.severity == "error" for each in published.findings)
    if errors:
        told = "an error" if errors == 1 else f"{errors:,} errors"
        print(f"aurora: the manifest has {told}; see: aurora manifest fetch {plain(published.url)}", file=sys.stderr)


def confirm_call(capability: Capability, planned: Call) -> None:
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
