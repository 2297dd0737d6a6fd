"""Document link provider: the schema, the site, the manifest's own address, opened by a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import manifest_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/documentLink`."""
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)(document_links)


async def document_links(ls: AuroraServer, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """The addresses that can be opened; None in documents that are no manifests."""
    snapshot = await manifest_of(ls, params.text_document.uri)
    if snapshot is None:
        return None
    from aurora_manifest.editing.links import links

    return [
        types.DocumentLink(snapshot.range(each.start, each.end), each.target, each.tooltip)
        for each in links(snapshot.manifest, snapshot.uri)
    ]
