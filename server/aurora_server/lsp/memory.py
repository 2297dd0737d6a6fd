"""Memory requests `aurora/memory/*`: what was learned, carried from one memory to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol import memory_methods
from aurora_protocol.memory_methods import (
    MemoryAdoptParams,
    MemoryAdoptResult,
    MemoryExportResult,
    MemoryFileParams,
    MemoryImportResult,
    MemoryRestoreParams,
    MemoryRestoreResult,
)
from aurora_server.lsp.server import params_as
from aurora_server.session.errors import INVALID_PARAMS, RequestError
from aurora_server.workspace.registry import WorkspaceError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace


def register(server: AuroraServer) -> None:
    """Answer `aurora/memory/export`, `…/import`, `…/adopt`, `…/restore`."""
    server.feature(memory_methods.MEMORY_EXPORT)(export)
    server.feature(memory_methods.MEMORY_IMPORT)(import_)
    server.feature(memory_methods.MEMORY_ADOPT)(adopt)
    server.feature(memory_methods.MEMORY_RESTORE)(restore)


async def export(ls: AuroraServer, value: object) -> MemoryExportResult:
    """Write what the session's workspace learned to a file."""
    path = _absolute(params_as(MemoryFileParams, value).path)
    return await (await _only(ls)).learned.export(path)


async def import_(ls: AuroraServer, value: object) -> MemoryImportResult:
    """Take what another workspace, or this one on another machine, learned into the session's workspace."""
    path = _absolute(params_as(MemoryFileParams, value).path)
    return await (await _only(ls)).learned.take_in(path)


async def adopt(ls: AuroraServer, value: object) -> MemoryAdoptResult:
    """Merge the memory of another folder, gone or named, into that of the session's workspace."""
    params = params_as(MemoryAdoptParams, value)
    workspace = await _only(ls)
    if params.list:
        return MemoryAdoptResult(others=await workspace.learned.others())
    chosen = await workspace.adoption.chosen(None if params.source is None else _absolute(params.source))
    if not await ls.core.workspaces.let_go(chosen.root):
        raise WorkspaceError(f"{chosen.root} is open in an editor or another session; close it there and try again")
    return await workspace.learned.adopt(chosen)


async def restore(ls: AuroraServer, value: object) -> MemoryRestoreResult:
    """Bring a reasoning chunk back from the archive."""
    params = params_as(MemoryRestoreParams, value)
    return MemoryRestoreResult(id=params.id, restored=await (await _only(ls)).learned.restore(params.id))


async def _only(ls: AuroraServer) -> Workspace:
    """The workspace of a session that has one: memory belongs to a workspace, and none is guessed at."""
    workspaces = await ls.folders.opened()
    if len(workspaces) > 1:
        names = ", ".join(str(workspace.root) for workspace in workspaces)
        raise RequestError(INVALID_PARAMS, f"this session has several workspaces ({names}); open one of them alone")
    return workspaces[0]


def _absolute(given: str) -> Path:
    """Absolute path, validated. Raises RequestError."""
    path = Path(given)
    if not path.is_absolute() or "\0" in given:
        raise RequestError(INVALID_PARAMS, f"invalid params: `path` must be an absolute path, not {given[:200]!r}")
    return path
