"""Definition, references and highlights (providers) of capability ids and parameters: go to definition, find usages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, manifest_of

if TYPE_CHECKING:
    from aurora_manifest.editing.occurrences import Named
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/definition`, `…/references` and `…/documentHighlight`."""
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(references)
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(highlights)


async def definition(ls: AuroraServer, params: types.DefinitionParams) -> list[types.Location] | None:
    """Go to definition: where the name under the cursor is defined; None where there is no name of ours."""
    snapshot, named = await named_at(ls, params.text_document.uri, params.position)
    if snapshot is None or named is None:
        return None
    return [types.Location(snapshot.uri, snapshot.range(each.start, each.end)) for each in named.definitions]


async def references(ls: AuroraServer, params: types.ReferenceParams) -> list[types.Location] | None:
    """Find references: every mention of the name under the cursor, its definition only if that is asked for."""
    snapshot, named = await named_at(ls, params.text_document.uri, params.position)
    if snapshot is None or named is None:
        return None
    left_out = [] if params.context.include_declaration else named.definitions
    return [
        types.Location(snapshot.uri, snapshot.range(each.start, each.end))
        for each in named.occurrences
        if each not in left_out
    ]


async def highlights(ls: AuroraServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
    """Highlights: every mention of the name under the cursor; a definition counts as a place that is written."""
    snapshot, named = await named_at(ls, params.text_document.uri, params.position)
    if snapshot is None or named is None:
        return None
    written = named.definitions
    kinds = types.DocumentHighlightKind
    return [
        types.DocumentHighlight(snapshot.range(each.start, each.end), kinds.Write if each in written else kinds.Read)
        for each in named.occurrences
    ]


async def named_at(ls: AuroraServer, uri: str, position: types.Position) -> tuple[Snapshot | None, Named | None]:
    """The manifest at `uri`, and what is named at a position in it."""
    snapshot = await manifest_of(ls, uri)
    if snapshot is None:
        return None, None
    return snapshot, await asyncio.to_thread(_named, snapshot, snapshot.offset(position))


def _named(snapshot: Snapshot, offset: int) -> Named | None:
    from aurora_manifest.editing.occurrences import named_at

    return named_at(snapshot.manifest, offset)
