"""Inlay hint provider: behind a `urlTemplate`, the address an example call would have."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, manifest_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/inlayHint`."""
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))(inlay_hints)


async def inlay_hints(ls: AuroraServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """The hints in a range; None in documents that are no manifests."""
    snapshot = await manifest_of(ls, params.text_document.uri)
    return await asyncio.to_thread(_hints, snapshot, params.range) if snapshot is not None else None


def _hints(snapshot: Snapshot, part: types.Range) -> list[types.InlayHint]:
    from aurora_manifest.editing.lenses import hints

    return [
        types.InlayHint(
            snapshot.range(each.offset, each.offset).start, each.text, padding_left=True, tooltip=each.tooltip
        )
        for each in hints(snapshot.manifest, snapshot.offset(part.start), snapshot.offset(part.end))
    ]
