"""Hover provider (tooltip): the schema's words, who uses a capability, the request it makes, and the rules broken at
the place.
"""

from __future__ import annotations

import asyncio
import re

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot

_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>()#!|~])")


async def hover(snapshot: Snapshot, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """Hover for the place; None where nothing is known of it. Without `markdown`, its escapes are left out."""
    return await asyncio.to_thread(_hover, snapshot, snapshot.offset(position), markdown)


def _hover(snapshot: Snapshot, offset: int, markdown: bool) -> types.Hover | None:
    from aurora_manifest import rules
    from aurora_manifest.editing.hover import hover_at

    found = hover_at(
        snapshot.manifest,
        offset,
        schema=snapshot.schema,
        findings=snapshot.findings or (),
        documentation=rules.documentation,
    )
    if found is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
    if not markdown:
        content = types.MarkupContent(types.MarkupKind.PlainText, _ESCAPED.sub(r"\1", found.text))
    return types.Hover(content, snapshot.range(found.start, found.end))
