"""Site view: a site's manifest, its state and its answers, rendered for people and as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from aurora_cli import output
from aurora_cli.output import TerminalStyle
from aurora_cli.table import table_lines
from aurora_manifest.client.consent import destructive
from aurora_manifest.client.fetch import Published
from aurora_manifest.client.state import SiteState, read_state
from aurora_manifest.client.transport import SiteReply
from aurora_manifest.findings import Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Capability, Manifest
from aurora_manifest.model import string as string_at
from aurora_manifest.rules.places import IGNORE
from aurora_protocol import SiteError
from aurora_protocol.human_text import count, plain, plain_lines, shorten, size

_SIGNS = {"error": ("✗", "red"), "warning": ("!", "yellow"), "info": ("·", "yellow"), "hint": ("·", "yellow")}
_SOURCES = {"site": "from the site", "revalidated": "kept here, still current", "cache": "kept here, still fresh"}
_SHOWN_FINDINGS = 20
_SHOWN_LINES = 400


def print_document(value: Any) -> None:
    """Print one JSON document. Keys stay as they are: most of them are a site's."""
    output.print_json(_finite(value))


def _finite(value: Any) -> Any:
    """JSON knows no infinity, yet a number as large can be written in it."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def published_document(published: Published) -> dict[str, Any]:
    """What `fetch --json` prints."""
    manifest = published.manifest
    return {
        "url": published.url,
        "origin": str(published.origin),
        "source": published.source,
        "etag": published.headers.get("etag"),
        "bytes": len(published.text.encode("utf-8", "replace")),
        "valid": published.valid,
        "diagnostics": [_diagnostic(each, published) for each in published.findings],
        "summary": {"resources": len(manifest.resources), "capabilities": len(manifest.capabilities)},
        "manifest": published.document.root.value if published.document.root else None,
    }


def crawled_document(published: Published) -> dict[str, Any]:
    """What `crawl --json` prints of one site."""
    manifest = published.manifest
    document = published_document(published)
    for name in ("manifest", "diagnostics"):
        del document[name]
    state, problem = state_of(published.state)
    return document | {
        "site": manifest.site.value if manifest.site else None,
        "policy": manifest.policy.value if manifest.policy else None,
        "resources": [
            {
                "name": each.name,
                "uri_pattern": each.uri_pattern.value if each.uri_pattern else None,
                "description": each.description.value if each.description else None,
                "operations": {
                    operation.method: operation.capability_id.value if operation.capability_id else None
                    for operation in each.operations
                },
            }
            for each in manifest.resources
        ],
        "capabilities": [_capability_document(each) for each in manifest.capabilities.values()],
        "state": dict(state.document) if state else None,
        "state_problem": problem,
    }


def _capability_document(capability: Capability) -> dict[str, Any]:
    return {
        "id": capability.name,
        "description": capability.description.value if capability.description else None,
        "method": capability.method.value if capability.method else None,
        "url_template": capability.url_template.value if capability.url_template else None,
        "parameters": capability.parameters.value if capability.parameters else None,
        "required": [each.value for each in capability.required],
        "destructive": destructive(capability) is not None,
    }


def _diagnostic(finding: Finding, published: Published) -> dict[str, Any]:
    place = finding.range(published.document.lines)
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path,
        "range": {
            "start": {"line": place.start.line, "character": place.start.character},
            "end": {"line": place.end.line, "character": place.end.character},
        },
    }


def published_lines(published: Published, style: TerminalStyle) -> list[str]:
    """A manifest in short: where from, whose, how much, and what is wrong with it."""
    how = f"{size(len(published.text.encode('utf-8', 'replace')))}, {_SOURCES[published.source]}"
    lines = [f"{plain(published.url)}  {style.dim(how)}", *_site_lines(published.manifest, style)]
    return lines + finding_lines(published, style)


def finding_lines(published: Published, style: TerminalStyle) -> list[str]:
    """The findings of a manifest, one per line; the errors first among those shown."""
    ordered = sorted(published.findings, key=lambda each: (each.severity != "error", each.start))
    lines = []
    for each in ordered[:_SHOWN_FINDINGS]:
        start = each.range(published.document.lines).start
        sign, color = _SIGNS[each.severity]
        place = style.dim(f"{start.line + 1}:{start.character + 1}")
        lines.append(f"{style.colored(sign, color)} {place} {plain(each.message)} {style.dim(each.rule)}")
    if len(ordered) > _SHOWN_FINDINGS:
        lines.append(style.dim(f"… and {len(ordered) - _SHOWN_FINDINGS:,} more; --json lists them"))
    if not any(each.severity == "error" for each in ordered):
        lines.append(f"{style.colored('✓', 'green')} valid")
    return lines


def crawled_lines(published: Published, style: TerminalStyle) -> list[str]:
    """All that a manifest offers: resources, capabilities with how they are called, and the state sent with it."""
    manifest = published.manifest
    lines = published_lines(published, style)
    if manifest.resources:
        lines += ["", style.bold("resources")]
    for resource in manifest.resources:
        pattern = plain(str(resource.uri_pattern.value)) if resource.uri_pattern else "?"
        lines.append(f"  {plain(resource.name)}  {pattern}")
        rows = []
        for each in resource.operations:
            named = plain(str(each.capability_id.value)) if each.capability_id else "?"
            rows.append([plain(each.method), f"→ {named}"])
        lines += table_lines(rows, style, least={0: 6}, indent=4, gap=1) if rows else []
    if manifest.capabilities:
        lines += ["", style.bold("capabilities")]
    for capability in manifest.capabilities.values():
        lines += _capability_lines(capability, style)
    return [*lines, "", *state_lines(published.state, style)]


def _capability_lines(capability: Capability, style: TerminalStyle) -> list[str]:
    """Lines of a capability: method, URL, parameters, warning of what it destroys."""
    method = plain(str(capability.method.value)) if capability.method else "?"
    template = plain(str(capability.url_template.value)) if capability.url_template else "?"
    risk = destructive(capability)
    warning = style.colored(f"  asks first: {plain(risk)}", "yellow") if risk else ""
    lines = [f"  {style.bold(plain(capability.name))}  {method} {template}{warning}"]
    if capability.description:
        lines.append(f"    {shorten(plain(str(capability.description.value)), 160)}")
    required = {each.value for each in capability.required}
    shown = []
    for name, member in capability.properties.items():
        if name == IGNORE:
            continue
        kind = string_at(member.value, "type")
        shown.append(f"{plain(name)}{'*' if name in required else ''}: {plain(str(kind.value)) if kind else 'any'}")
    if shown:
        lines.append(style.dim(f"    {', '.join(shown)}"))
    return lines


def _site_lines(manifest: Manifest, style: TerminalStyle) -> list[str]:
    name, url = (string_at(manifest.site, each) for each in ("name", "url"))
    site = " · ".join(plain(str(each.value)) for each in (name, url) if each)
    capabilities = _many(len(manifest.capabilities), "capability", "capabilities")
    told = f"{capabilities}, {count(len(manifest.resources), 'resource')}"
    hint = string_at(manifest.policy, "authHint")
    return [*([style.bold(site)] if site else []), told + (f", auth by {plain(str(hint.value))}" if hint else "")]


def _many(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def state_of(header: str | None) -> tuple[SiteState | None, str | None]:
    """The state in a header, or why there is none to show."""
    if header is None:
        return None, None
    try:
        return read_state(header), None
    except SiteError as error:
        return None, str(error)


def state_lines(header: str | None, style: TerminalStyle) -> list[str]:
    """What the AURA-State header of an answer says."""
    state, problem = state_of(header)
    if problem:
        return [f"{style.colored('!', 'yellow')} {plain(problem)}"]
    if state is None:
        return [style.dim("no AURA-State was sent")]
    return decoded_lines(state, style)


def decoded_lines(state: SiteState, style: TerminalStyle) -> list[str]:
    """A decoded state: signed in or not, and what may be called now."""
    known = {True: "signed in", False: "not signed in", None: "does not say whether one is signed in"}
    lines = [f"{style.bold('AURA-State')}  {known[state.is_authenticated]}"]
    if state.capabilities is not None:
        named = ", ".join(plain(each) for each in state.capabilities)
        lines.append(f"  {_many(len(state.capabilities), 'capability', 'capabilities')} now: {named or 'none'}")
    lines += [f"  {style.colored('!', 'yellow')} {problem}" for problem in state.problems]
    return lines


def body_value(reply: SiteReply) -> Any:
    """A reply's body: the value if it is whole JSON, else text, else None where it is neither."""
    if not reply.body:
        return None
    try:
        text = reply.body.decode("utf-8")
    except UnicodeDecodeError:
        return None if not reply.cut else reply.body.decode("utf-8", "replace")
    if reply.media_type == "application/json" or reply.media_type.endswith("+json"):
        document = parse(text)
        if not document.problems and document.root is not None:
            return document.root.value
    return text


def reply_lines(reply: SiteReply, style: TerminalStyle) -> list[str]:
    """A site's answer: what was asked last, status, state, body."""
    color = "green" if reply.fine else "red"
    said = style.colored(f"{reply.status} {reply.reason}".strip(), color)
    lines = [f"{reply.method} {plain(reply.url)}  {said}", *state_lines(reply.header("aura-state"), style)]
    value = body_value(reply)
    if value is None and reply.body:
        lines.append(style.dim(f"{size(len(reply.body))} of {plain(reply.media_type) or 'an unnamed type'}"))
    elif value is not None:
        text = value if isinstance(value, str) else json.dumps(_finite(value), ensure_ascii=False, indent=2)
        shown = plain_lines(text)
        lines += shown[:_SHOWN_LINES]
        if len(shown) > _SHOWN_LINES:
            lines.append(style.dim(f"… and {len(shown) - _SHOWN_LINES:,} more lines; --json shows them"))
    return lines
