"""Selection range provider (expand selection): content, string, member, object, and so on outwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, snapshot_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/selectionRange`."""
    server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)(selection_ranges)


async def selection_ranges(ls: AuroraServer, params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
    """One chain of ranges for each position; None in documents that are not ours."""
    snapshot = await snapshot_of(ls, params.text_document.uri)
    if snapshot is None:
        return None
    return await asyncio.to_thread(lambda: [_chain(snapshot, snapshot.offset(each)) for each in params.positions])


def _chain(snapshot: Snapshot, offset: int) -> types.SelectionRange:
    """Chain of ever wider ranges around an offset."""
    from aurora_manifest.editing.spans import selections

    chain: types.SelectionRange | None = None
    for start, end in reversed(selections(snapshot.json, offset)):
        chain = types.SelectionRange(snapshot.range(start, end), chain)
    assert chain is not None, "the whole text is always one of them"
    return chain
