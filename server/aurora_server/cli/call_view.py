"""A call before and after it is sent, with secrets hidden."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import msgspec

from aurora_protocol.manifest.client.arguments import mapping_of
from aurora_protocol.manifest.client.calling import Call
from aurora_protocol.manifest.client.caution import MASK, destructive, masked, secret
from aurora_protocol.manifest.client.transport import Reply, Request
from aurora_protocol.manifest.model import Capability
from aurora_server.cli.output import Style
from aurora_server.cli.site_view import body_value, reply_lines, state_of
from aurora_server.cli.words import plain, plain_lines

_ALWAYS_SECRET = frozenset({"authorization", "proxy-authorization"})


def preview_document(planned: Call, request: Request, capability: Capability) -> dict[str, Any]:
    """What `call --dry-run --json` prints."""
    return {
        "capability": planned.capability,
        "method": request.method,
        "url": shown_url(planned, request.url, capability),
        "headers": dict(_headers(planned, request, capability)),
        "body": _body(planned, capability),
        "destructive": destructive(capability) is not None,
        "sent": False,
    }


def preview_lines(planned: Call, request: Request, capability: Capability) -> list[str]:
    """The request as HTTP writes it."""
    lines = [f"{request.method} {plain(shown_url(planned, request.url, capability))}"]
    lines += [f"{plain(name)}: {plain(value)}" for name, value in _headers(planned, request, capability)]
    body = _body(planned, capability)
    if body is not None:
        lines += ["", *plain_lines(json.dumps(body, ensure_ascii=False, indent=2))]
    return lines


def reply_document(planned: Call, reply: Reply, capability: Capability) -> dict[str, Any]:
    """What `--json` prints of a call that was sent."""
    state, problem = state_of(reply.header("aura-state"))
    return {
        "capability": planned.capability,
        "method": reply.method,
        "url": shown_url(planned, reply.url, capability),
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


def answer_lines(planned: Call, reply: Reply, capability: Capability, style: Style) -> list[str]:
    """The site's answer to a call, for people."""
    shown = msgspec.structs.replace(reply, url=shown_url(planned, reply.url, capability))
    return reply_lines(shown, style)


def shown_url(planned: Call, url: str, capability: Capability) -> str:
    """The URL a call goes to, or was answered from, without the secrets among its arguments."""
    schemas = _schemas(capability)
    for name, value in planned.url_values.items():
        if secret(name, schemas.get(name)) and isinstance(value, str) and value:
            url = url.replace(quote(value, safe=""), MASK).replace(value, MASK)
    return url


def _schemas(capability: Capability) -> dict[str, Any]:
    """The schema of each value by the name it is sent under, where the mapping is a plain one."""
    mapping = mapping_of(capability)
    properties = {name: member.value.value for name, member in capability.properties.items()}
    return {**properties, **{name: properties.get(str(pointer)[1:]) for name, pointer in mapping.items()}}


def _body(planned: Call, capability: Capability) -> Any:
    return None if planned.body is None else masked(dict(planned.body), _schemas(capability))


def _headers(planned: Call, request: Request, capability: Capability) -> list[tuple[str, str]]:
    schemas = _schemas(capability)
    hidden = {name.lower() for name in planned.header_names if secret(name, schemas.get(name))} | _ALWAYS_SECRET
    return [(name, _hide(name, value, hidden)) for name, value in request.headers]


def _hide(name: str, value: str, hidden: set[str] | frozenset[str]) -> str:
    if name.lower() == "cookie":
        return "; ".join(f"{pair.partition('=')[0]}={MASK}" for pair in value.split("; "))
    if name.lower() in hidden:
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {MASK}" if space else MASK
    return value
