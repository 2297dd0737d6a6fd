"""Document symbols of a manifest: site, resources, capabilities and what is in them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot

if TYPE_CHECKING:
    from aurora_manifest.editing.outline import OutlineEntry

_KINDS = {
    "site": types.SymbolKind.Package,
    "policy": types.SymbolKind.Object,
    "group": types.SymbolKind.Namespace,
    "resource": types.SymbolKind.Class,
    "operation": types.SymbolKind.Method,
    "capability": types.SymbolKind.Function,
    "parameter": types.SymbolKind.Variable,
    "action": types.SymbolKind.Event,
    "member": types.SymbolKind.Property,
}


async def symbols(snapshot: Snapshot) -> list[types.DocumentSymbol]:
    """The manifest's outline."""
    return await asyncio.to_thread(_symbols, snapshot)


def _symbols(snapshot: Snapshot) -> list[types.DocumentSymbol]:
    from aurora_manifest.editing.outline import outline

    return [_symbol(snapshot, each) for each in outline(snapshot.manifest)]


def _symbol(snapshot: Snapshot, entry: OutlineEntry) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=entry.name,
        kind=_KINDS[entry.kind],
        range=snapshot.range(entry.start, entry.end),
        selection_range=snapshot.range(entry.name_start, entry.name_end),
        detail=entry.detail or None,
        children=[_symbol(snapshot, each) for each in entry.children] or None,
    )
