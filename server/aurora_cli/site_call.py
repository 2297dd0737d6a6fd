"""Site call, as `manifest call` and `manifest do` make it: arguments from the command line, their validation, a dry
run, consent to what destroys, sending, and the answer without secrets.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, quote_plus

import click
import msgspec

from aurora_cli.output import TerminalStyle
from aurora_cli.site_options import checked_token
from aurora_cli.site_view import body_value, reply_lines, state_of
from aurora_manifest.client.arguments import MAX_ARGUMENTS, mapping_of, misfits, read_arguments, unused
from aurora_manifest.client.consent import MASK, destructive
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.origins import Origin, origin_of, parse_url
from aurora_manifest.client.request import CapabilityCall, build_call
from aurora_manifest.client.transport import Request, RequestPolicy, SiteReply, send
from aurora_manifest.model import Capability
from aurora_protocol import CallBlocked, SiteError
from aurora_protocol.human_text import plain, plain_lines

if TYPE_CHECKING:
    pass

Command = TypeVar("Command", bound=Callable[..., Any])

CHECK_WITHIN = 3.0
"""Seconds of this process's own work: a site's `pattern` can be one that Python's `re` needs for ever to refuse.

Not of the clock: that a machine is busy is no fault of a pattern.
"""

confirming_option = click.option("--yes", is_flag=True, help="Do not ask before something may be destroyed.")

_ALWAYS_SECRET = frozenset({"authorization", "proxy-authorization"})
_SCHEMES = frozenset({"basic", "bearer", "digest", "dpop", "negotiate"})
"""Words before a credential that may be shown; any other could be a part of it."""


def call_with(capability: Capability, origin: Origin, arguments: dict[str, Any], token: str | None) -> CapabilityCall:
    """The checked request that calls a capability. Raises SiteError or CallBlocked where there can be none."""
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


def arguments_of(capability: Capability, given: Mapping[str, Any], words: Mapping[str, list[str]]) -> dict[str, Any]:
    """The arguments of `--args`, and those of `--arg`, typed as the capability's parameters say."""
    return {**given, **{name: typed(capability, name, values) for name, values in words.items()}}


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
    from aurora_manifest.json.parser import parse

    if isinstance(schema, dict) and schema.get("type") == "string":
        return text
    document = parse(text)
    return text if document.problems or document.root is None else document.root.value


@contextmanager
def patience() -> Iterator[None]:
    """Timeout of a check of arguments (ReDoS): SiteError when it takes too much; without a timer no limit.

    What is around it may end it sooner, by the clock.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SiteError("checking arguments against the manifest takes too long; a pattern in it is at fault")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CHECK_WITHIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


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
    """Confirmation: raise CallBlocked unless nothing can be destroyed, or a person at the terminal agrees."""
    reason = destructive(capability)
    if reason is None:
        return
    doing = f"{plain(capability.name)}: {planned.request.method} {plain(planned.shown_url)}"
    what = f"{doing} may destroy something ({plain(reason)})"
    if not can_ask():
        raise CallBlocked(f"{what}; give --yes to do it")
    if not click.confirm(f"{what}. Do it?", err=True):
        raise CallBlocked(f"{plain(capability.name)}: not sent")


def can_ask() -> bool:
    """Whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def hint_after(planned: CapabilityCall, reply: SiteReply) -> None:
    """Say on standard error what of the answer is missing, and what to do where the site refused or asks to wait."""
    if reply.cut:
        print(f"aurora: the answer is cut after {len(reply.body):,} bytes: {reply.cut}", file=sys.stderr)
    hint = ""
    if reply.status == 401 and planned.secrets:
        hint = "the site does not accept these credentials: look at them again; nobody is logged in"
    elif reply.status == 401 and any(name.lower() == "authorization" for name, _ in planned.request.headers):
        hint = "the site does not accept this token: it may be wrong, or have run out"
    elif reply.status == 401:
        hint = "the site wants to know who asks; call its login capability first, or give --token"
    elif reply.status == 403:
        told = "these credentials" if planned.secrets else "this"
        hint = f"the site forbids {told}: another account or token may be let in"
    elif reply.status in (429, 503) and reply.wait:
        hint = f"the site asks to wait: try again after {reply.wait}"
    elif reply.status == 429:
        hint = "the site is asked too often: try again later"
    if hint:
        print(f"aurora: {hint}", file=sys.stderr)


def preview_document(planned: CapabilityCall, request: Request, capability: Capability) -> dict[str, Any]:
    """What `call --dry-run --json` prints."""
    return {
        "capability": planned.capability,
        "method": request.method,
        "url": planned.shown_url,
        "headers": dict(_headers(planned, request)),
        "body": planned.shown_body,
        "destructive": destructive(capability) is not None,
        "sent": False,
    }


def preview_lines(planned: CapabilityCall, request: Request) -> list[str]:
    """The request as HTTP writes it."""
    lines = [f"{request.method} {plain(planned.shown_url)}"]
    lines += [f"{plain(name)}: {plain(value)}" for name, value in _headers(planned, request)]
    if planned.shown_body is not None:
        lines += ["", *plain_lines(json.dumps(planned.shown_body, ensure_ascii=False, indent=2))]
    return lines


def reply_document(planned: CapabilityCall, reply: SiteReply) -> dict[str, Any]:
    """What `--json` prints of a call that was sent."""
    state, problem = state_of(reply.header("aura-state"))
    return {
        "capability": planned.capability,
        "method": reply.method,
        "url": shown_url(planned, reply.url),
        "ok": reply.whole,
        "status": reply.status,
        "headers": {name: value for name, value in reply.headers if name != "set-cookie"},
        "state": dict(state.document) if state else None,
        "state_problem": problem,
        "body": body_value(reply),
        "cut": reply.cut or None,
        "redirects": [shown_url(planned, each) for each in reply.redirects],
        "took_ms": round(reply.took_ms, 1),
    }


def answer_lines(planned: CapabilityCall, reply: SiteReply, style: TerminalStyle) -> list[str]:
    """The site's answer to a call, for people."""
    shown = msgspec.structs.replace(reply, url=shown_url(planned, reply.url))
    return reply_lines(shown, style)


def shown_url(planned: CapabilityCall, url: str) -> str:
    """The URL a call goes to, or was answered from, without the secrets among its arguments.

    Where a redirect led elsewhere, the secrets are looked for: the site may have sent them along.
    """
    if url == planned.request.url:
        return planned.shown_url
    origin = str(origin_of(parse_url(url)))
    head, rest = (origin, url.removeprefix(origin)) if url.startswith(origin) else ("", url)
    for text in sorted(planned.secrets, key=len, reverse=True):
        for spelling in (quote(text, safe=""), quote(text), quote_plus(text), text):
            rest = rest.replace(spelling, MASK)
    return head + rest


def _headers(planned: CapabilityCall, request: Request) -> list[tuple[str, str]]:
    return [(name, _hide(name, value, planned.secret_headers)) for name, value in request.headers]


def _hide(name: str, value: str, hidden: frozenset[str]) -> str:
    """Header with its secret (authorization, cookie) masked."""
    if name.lower() == "cookie":
        return "; ".join(f"{pair.partition('=')[0]}={MASK}" for pair in value.split("; "))
    if name.lower() in _ALWAYS_SECRET:
        scheme, _, _ = value.partition(" ")
        return f"{scheme} {MASK}" if scheme.lower() in _SCHEMES else MASK
    return MASK if name.lower() in hidden else value


class _TimeIsUp(KeyboardInterrupt):
    """Alarm of a deadline. What else is raised in a callback of asyncio's is logged there, and the work goes on."""


@contextmanager
def within(seconds: float, otherwise: str) -> Iterator[None]:
    """Raise SiteError(`otherwise`) when the body takes longer. Python's `re` looks at signals while it searches.

    Works in the main thread and where there are interval timers; elsewhere the body has all the time it takes.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    started = time.monotonic()
    around = signal.getitimer(signal.ITIMER_REAL)[0]
    if 0 < around <= seconds:  # what is around this ends sooner, and says so
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TimeIsUp:
        raise SiteError(otherwise) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if around:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, around - (time.monotonic() - started)))


class CommandDeadline:
    """Deadline of a command that asks a site: so many seconds for all of it; waiting for a person does not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._spent = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left. Raises SiteError where there are none."""
        left = self._seconds - self._spent
        if left <= 0:
            raise SiteError(self._told)
        return left

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run. Raises SiteError as soon as nothing is left."""
        left, started = self.left, time.monotonic()
        try:
            with within(left, self._told):
                yield
        finally:
            self._spent += time.monotonic() - started

    @property
    def _told(self) -> str:
        return f"not done within {self._seconds:g} s; try again, or give --timeout"
