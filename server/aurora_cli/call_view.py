"""A call before and after it is sent, with secrets hidden."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec

from aurora_cli.output import Style
from aurora_cli.site_view import body_value, reply_lines, state_of
from aurora_manifest.client.consent import MASK, destructive
from aurora_manifest.client.origins import origin_of, parse_url
from aurora_manifest.client.request import CapabilityCall
from aurora_manifest.client.transport import Request, SiteReply
from aurora_manifest.model import Capability
from aurora_protocol.human_text import plain, plain_lines

_ALWAYS_SECRET = frozenset({"authorization", "proxy-authorization"})
_SCHEMES = frozenset({"basic", "bearer", "digest", "dpop", "negotiate"})
"""Words before a credential that may be shown; any other could be a part of it."""


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
        "ok": reply.fine,
        "status": reply.status,
        "headers": {name: value for name, value in reply.headers if name != "set-cookie"},
        "state": dict(state.document) if state else None,
        "state_problem": problem,
        "body": body_value(reply),
        "cut": reply.cut or None,
        "redirects": [shown_url(planned, each) for each in reply.redirects],
        "took_ms": round(reply.took_ms, 1),
    }


def answer_lines(planned: CapabilityCall, reply: SiteReply, style: Style) -> list[str]:
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
    if name.lower() == "cookie":
        return "; ".join(f"{pair.partition('=')[0]}={MASK}" for pair in value.split("; "))
    if name.lower() in _ALWAYS_SECRET:
        scheme, _, _ = value.partition(" ")
        return f"{scheme} {MASK}" if scheme.lower() in _SCHEMES else MASK
    return MASK if name.lower() in hidden else value
