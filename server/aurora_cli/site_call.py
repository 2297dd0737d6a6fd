"""Site call: what `manifest call` and `manifest do` have in common: arguments from the command line, checks, consent,
sending.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from aurora_cli.regex_timeout import within
from aurora_cli.settings import Settings
from aurora_manifest.client.arguments import MAX_ARGUMENTS, mapping_of, misfits, read_arguments, unused
from aurora_manifest.client.consent import destructive
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.origins import Origin, manifest_url, origin_of
from aurora_manifest.client.request import CapabilityCall, build_call
from aurora_manifest.client.transport import RequestPolicy, SiteReply, send
from aurora_manifest.model import Capability
from aurora_protocol import Blocked, SiteError
from aurora_protocol.human_text import plain

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

Command = TypeVar("Command", bound=Callable[..., Any])

TOKEN_VARIABLE = "AURORA_MANIFEST_TOKEN"
CHECK_WITHIN = 5.0
"""Seconds: a site's `pattern` can be one that Python's `re` needs for ever to refuse."""

_YES = click.option("--yes", is_flag=True, help="Do not ask before something may be destroyed.")
_TOKEN = click.option("--token", envvar=TOKEN_VARIABLE, help=f"Send this bearer token. [env var: {TOKEN_VARIABLE}]")
_JAR = click.option(
    "--cookie-jar", type=click.Path(dir_okay=False, path_type=Path), help="Keep cookies in this file instead."
)
_NO_COOKIES = click.option("--no-cookies", is_flag=True, help="Send and keep no cookies.")


def sending_options(command: Command) -> Command:
    """Give a command `--yes`, `--token`, `--cookie-jar` and `--no-cookies`."""
    for option in (_NO_COOKIES, _JAR, _TOKEN, _YES):
        command = option(command)
    return command


def session_options(command: Command) -> Command:
    """Give a command `--token`, `--cookie-jar` and `--no-cookies`."""
    for option in (_NO_COOKIES, _JAR, _TOKEN):
        command = option(command)
    return command


def cookies_for(settings: Settings, place: str, file: Path | None, no_cookies: bool) -> CookieJar | None:
    """The cookies of the session at the site of `place`, as `call` keeps them. Raises SiteError."""
    jar = jar_of(settings, origin_of(manifest_url(place)), file, no_cookies)
    return jar.load() if jar else None


def checked_token(token: str | None) -> str | None:
    """A bearer token that can be sent, or none. Raises SiteError for what is no token."""
    if token and (not token.isprintable() or not token.isascii() or " " in token):
        raise SiteError("the token must be printable ASCII without spaces")
    return token or None


def jar_of(settings: Settings, origin: Origin, file: Path | None, no_cookies: bool) -> Jar | None:
    """Where a site's cookies are kept by those options; None where they are not."""
    if no_cookies:
        return None
    return Jar(file.absolute()) if file else Jar.of(settings.address.home, origin)


def call_with(capability: Capability, origin: Origin, arguments: dict[str, Any], token: str | None) -> CapabilityCall:
    """The checked request that calls a capability. Raises SiteError or Blocked where there can be none."""
    check_arguments(capability, arguments)
    planned = build_call(capability, origin, arguments)
    return with_token(planned, token) if token else planned


async def send_call(planned: CapabilityCall, policy: RequestPolicy, jar: Jar | None) -> SiteReply:
    """Send one call; cookies come from the jar and go back into it."""
    reply = await send(planned.request, policy, cookies=jar.load() if jar else None)
    if jar is not None:
        jar.save()
    return reply


def with_token(planned: CapabilityCall, token: str) -> CapabilityCall:
    """The call with a bearer token. Raises SiteError for what is no token."""
    checked_token(token)
    kept = [each for each in planned.request.headers if each[0].lower() != "authorization"]
    headers = (*kept, ("Authorization", f"Bearer {token}"))
    return msgspec.structs.replace(planned, request=msgspec.structs.replace(planned.request, headers=headers))


def arguments_given(capability: Capability, document: str | None, pairs: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of `--args` and `--arg`, typed as the capability's parameters say."""
    arguments = document_given(document)
    for name, values in pairs_given(pairs).items():
        arguments[name] = typed(capability, name, values)
    return arguments


def document_given(document: str | None) -> dict[str, Any]:
    """The object of `--args`, read from standard input where it is -. Raises SiteError."""
    text = sys.stdin.read(MAX_ARGUMENTS + 1) if document == "-" else document
    return read_arguments(text) if text is not None else {}


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
    from aurora_manifest.json.scanner import parse

    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    document = parse(text)
    return text if document.problems or document.root is None else document.root.value


def patience() -> AbstractContextManager[None]:
    """For one check of arguments: SiteError when it takes too long."""
    return within(CHECK_WITHIN, "checking arguments against the manifest takes too long; a pattern in it is at fault")


def check_arguments(capability: Capability, arguments: dict[str, Any]) -> None:
    """Raise SiteError that tells of every argument that does not fit."""
    schema = capability.parameters.value if capability.parameters else None
    with patience():
        found = misfits(schema, arguments)
    if found:
        told = "; ".join(f"{each.path or 'the arguments'} {each.message}" for each in found)
        raise SiteError(f"{plain(capability.name)}: {plain(told)}")
    ignored = unused(mapping_of(capability), arguments)
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


def confirm_call(capability: Capability, planned: CapabilityCall) -> None:
    """Raise Blocked unless nothing can be destroyed, or a person at the terminal agrees."""
    reason = destructive(capability)
    if reason is None:
        return
    doing = f"{plain(capability.name)}: {planned.request.method} {plain(planned.shown_url)}"
    what = f"{doing} may destroy something ({plain(reason)})"
    if not can_ask():
        raise Blocked(f"{what}; give --yes to do it")
    if not click.confirm(f"{what}. Do it?", err=True):
        raise Blocked(f"{plain(capability.name)}: not sent")


def can_ask() -> bool:
    """Whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def hint_after(planned: CapabilityCall, reply: SiteReply) -> None:
    """Say on standard error what to do when the site wants to know who asks, or asks to wait."""
    hint = ""
    if reply.status == 401 and planned.secrets:
        hint = "the site does not accept these credentials: look at them again; nobody is logged in"
    elif reply.status == 401 and any(name.lower() == "authorization" for name, _ in planned.request.headers):
        hint = "the site does not accept this token: it may be wrong, or have run out"
    elif reply.status == 401:
        hint = "the site wants to know who asks; call its login capability first, or give --token"
    elif reply.status in (429, 503) and (wait := reply.header("retry-after")):
        unit = " s" if wait.isascii() and wait.isdigit() else ""
        hint = f"the site asks to wait: try again after {plain(wait[:40])}{unit}"
    elif reply.status == 429:
        hint = "the site is asked too often: try again later"
    if hint:
        print(f"aurora: {hint}", file=sys.stderr)
