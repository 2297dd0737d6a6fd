"""Code lenses of a manifest: how many resources use a capability, and the request it makes."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from aurora_server.lsp.manifests.commands import EXAMPLE, USES
from aurora_server.lsp.manifests.document_cache import Snapshot
from aurora_server.lsp.memory_text import counted
from aurora_server.session.converter import plain


async def lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    """The lenses above each capability, as plain values: there may be thousands."""
    found: list[types.CodeLens] = await asyncio.to_thread(lambda: plain(_lenses(snapshot)))
    return found


def _lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    from aurora_manifest.editing.lenses import lenses

    found: list[types.CodeLens] = []
    for each in lenses(snapshot.manifest):
        where = snapshot.range(each.start, each.end)
        arguments = [{"uri": snapshot.uri, "capability": each.capability}]
        title = f"used by {counted(each.resources, 'resource')}" if each.resources else "used by no resource"
        found.append(types.CodeLens(where, types.Command(title, USES, arguments=arguments)))
        if each.can_be_called:
            found.append(types.CodeLens(where, types.Command("try", EXAMPLE, arguments=arguments)))
    return found
