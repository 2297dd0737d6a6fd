"""`aurora_validate_manifest`: the rules of `aurora manifest validate`, for a text or a file of the workspace."""

from __future__ import annotations

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from aurora_protocol.manifest.check import check_document
from aurora_protocol.manifest.scanner import parse
from aurora_server.mcp_server.daemon_link import DaemonLink, Heard
from aurora_server.mcp_server.replies import DEFAULT_TOKENS, ToolReply, within

MAX_MANIFEST = 8 << 20


class ValidateManifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=MAX_MANIFEST, description="The manifest itself, as text.")]


async def validate_manifest(_: DaemonLink, given: ValidateManifest, __: Heard) -> ToolReply:
    """Every finding, one per line, worst first."""
    lines, errors = await asyncio.to_thread(_checked, given.text)
    head = f"{'not valid' if errors else 'valid'}: {errors} errors, {len(lines) - errors} other findings"
    return ToolReply(within("\n".join([head, *lines]), DEFAULT_TOKENS))


def _checked(text: str) -> tuple[list[str], int]:
    document = parse(text)
    order = ("error", "warning", "info", "hint")
    found = sorted(check_document(document), key=lambda each: (order.index(each.severity), each.start))
    lines = []
    for each in found:
        place = document.lines.position(each.start)
        lines.append(f"{each.severity} {place.line + 1}:{place.character + 1} {each.message} [{each.rule}]")
    return lines, sum(each.severity == "error" for each in found)
