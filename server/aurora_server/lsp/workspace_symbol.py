"""Workspace symbol provider (go to symbol): definitions by name, from memory, over all folders of the session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_protocol.methods import Recalled
from aurora_server.lsp.document_symbol import KINDS
from aurora_server.lsp.memory_text import file_uri
from aurora_server.lsp.recall import own_results

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

LIMIT = 128
"""Symbols per answer; editors ask again with every character typed."""

_KINDS_BY_NAME: dict[str, types.SymbolKind] = {str(name): kind for name, kind in KINDS.items()}


def register(server: AuroraServer) -> None:
    """Answer `workspace/symbol`."""
    server.feature(types.WORKSPACE_SYMBOL)(workspace_symbols)


async def workspace_symbols(
    ls: AuroraServer, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation] | None:
    """The definitions whose names fit the query, best first."""
    workspaces = await ls.folders.opened()
    answers = await asyncio.gather(*(workspace.symbols(params.query, LIMIT) for workspace in workspaces))
    found = own_results(list(zip(workspaces, answers, strict=True)))
    # Each workspace put its best first; among several, and among equals, what begins like the query goes before.
    found.sort(key=lambda one: _distance(one.name, params.query))
    return [_symbol(one) for one in found[:LIMIT]]


def _distance(name: str, query: str) -> int:
    """Match rank, how far a name is from the query: the same, a prefix match, a substring, or a looser one."""
    simple, wanted = name.rpartition(".")[2].casefold(), query.casefold()
    if simple == wanted:
        return 0
    if simple.startswith(wanted):
        return 1
    return 2 if wanted in simple else 3


def _symbol(one: Recalled) -> types.SymbolInformation:
    """Symbol information of a result."""
    container, _, name = one.name.rpartition(".")
    start, end = types.Position(one.line - 1, 0), types.Position(one.line_end, 0)
    where = types.Location(file_uri(Path(one.workspace) / one.file), types.Range(start, end))
    kind = _KINDS_BY_NAME.get(one.kind, types.SymbolKind.Function)
    return types.SymbolInformation(where, name or one.name, kind, container_name=container or one.file)
