"""Folding range provider (code folding): objects, arrays and comments on several lines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, snapshot_of
from aurora_server.session.converter import plain

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

MOST = 5_000
"""Ranges in one answer, the outermost of the text first, where the client sets no limit."""


def register(server: AuroraServer) -> None:
    """Answer `textDocument/foldingRange`."""
    server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)(folding_ranges)


async def folding_ranges(ls: AuroraServer, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
    """Folding ranges, whole lines only; None in documents that are not ours."""
    snapshot = await snapshot_of(ls, params.text_document.uri)
    if snapshot is None:
        return None
    folding = ls.client.text_document.folding_range if ls.client.text_document is not None else None
    limit = folding.range_limit if folding is not None else None
    most = MOST if limit is None else limit
    found: list[types.FoldingRange] = await asyncio.to_thread(lambda: plain(_ranges(snapshot, most)))
    return found


def _ranges(snapshot: Snapshot, limit: int) -> list[types.FoldingRange]:
    from aurora_manifest.editing.spans import folds

    found = folds(snapshot.json, snapshot.index)
    if len(found) > limit:  # the largest matter most
        found = sorted(sorted(found, key=lambda each: each.start_line - each.end_line)[:limit])
    return [
        types.FoldingRange(
            each.start_line, each.end_line, kind=types.FoldingRangeKind.Comment if each.comment else None
        )
        for each in found
    ]
