"""MCP tool `aurora_validate_manifest`: the rules of `aurora manifest validate`, for a text or a workspace's file."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from aurora_protocol.strict_modes import without_waiting
from aurora_server.mcp.daemon_link import DaemonLink, Heard
from aurora_server.mcp.replies import DEFAULT_TOKENS, ToolReply, within
from aurora_server.mcp.tool import Arguments, Tokens, Tool

WELL_KNOWN = ".well-known/aura.json"
MAX_MANIFEST = 8 << 20
"""Bytes; the check of a larger one would take minutes."""


class NotRead(Exception):
    """The manifest cannot be read; the message says which and why."""


class ValidateManifest(Arguments, frozen=True, kw_only=True):
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_MANIFEST)] | None,
        Meta(description="The manifest itself"),
    ] = None
    file: Annotated[str, Meta(min_length=1, max_length=4_000, description="Or its file here")] = WELL_KNOWN
    max_tokens: Tokens = DEFAULT_TOKENS


async def _validate(link: DaemonLink, given: ValidateManifest, _: Heard) -> ToolReply:
    """Every finding, one per line, worst first."""
    try:
        text = given.text if given.text is not None else await asyncio.to_thread(manifest_in, link.root, given.file)
    except NotRead as error:
        return ToolReply(f"{MANIFEST_TOOL.name}: {error}", failed=True)
    lines, errors = await asyncio.to_thread(_checked, text)
    head = f"{'not valid' if errors else 'valid'}: {errors} errors, {len(lines) - errors} other findings"
    return ToolReply(within("\n".join([head, *lines]), given.max_tokens))


def manifest_in(root: Path, name: str) -> str:
    """The text of a file within the workspace at `root`, links followed. Raises NotRead, for those outside as well."""
    home = root.resolve()
    try:
        path = (home / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the name, a circle of links
        raise NotRead(f"{name!r} cannot be read: {error}") from error
    if not path.is_relative_to(home):
        raise NotRead(f"{name} is outside of the workspace {home}; name a file in it, or give its `text`")
    try:
        with open(path, "rb", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotRead(f"{name} is not a file; name one, or give its `text`")
            content = file.read(MAX_MANIFEST + 1)
    except OSError as error:
        raise NotRead(f"{name} cannot be read: {error.strerror}; name another `file`, or give its `text`") from error
    if len(content) > MAX_MANIFEST:
        raise NotRead(f"{name} is larger than {MAX_MANIFEST >> 20} MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotRead(f"{name} is not UTF-8: byte {error.start}") from error


def _checked(text: str) -> tuple[list[str], int]:
    from aurora_manifest.check import check_document  # with the first one: a tenth of the time to start
    from aurora_manifest.json.parser import parse

    document = parse(text)
    order = ("error", "warning", "info", "hint")
    found = sorted(check_document(document), key=lambda each: (order.index(each.severity), each.start))
    lines = []
    for each in found:
        place = document.lines.position(each.start)
        lines.append(f"{each.severity} {place.line + 1}:{place.character + 1} {each.message} [{each.rule}]")
    return lines, sum(each.severity == "error" for each in found)


MANIFEST_TOOL = Tool(
    name="aurora_validate_manifest",
    title="Check manifest",
    description="Check an AURA manifest (aura.json): findings by line. Default: .well-known/aura.json.",
    more="A manifest tells agents what a site offers. Syntax, schema and meaning, with each finding's place.",
    takes=ValidateManifest,
    handler=_validate,
)
