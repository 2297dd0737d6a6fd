"""`aurora/index` (reindex): the index brought up to date, some paths or all folders, with progress and an end to wait
for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol import methods
from aurora_protocol.methods import IndexParams, IndexResult
from aurora_server.lsp.documents import path_of
from aurora_server.lsp.progress import Reporter
from aurora_server.lsp.server import params_as
from aurora_server.workspace.registry import WorkspaceError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace


def register(server: AuroraServer) -> None:
    """Answer `aurora/index`."""
    server.feature(methods.INDEX)(index)


async def index(ls: AuroraServer, value: object) -> IndexResult:
    """Bring the index up to date, of `paths` or of all folders, and wait. Can be cancelled by its progress token."""
    params = params_as(IndexParams, value)
    wanted: list[tuple[Workspace, list[Path] | None]]
    if params.paths is None:
        wanted = [(workspace, None) for workspace in await ls.folders.opened()]
    else:
        wanted = list((await _owners(ls, params.paths)).items())
    token = params.work_done_token
    task = asyncio.current_task()
    if token is None or task is None:
        return summed([await workspace.index(paths, None) for workspace, paths in wanted])
    names = ", ".join(workspace.root.name or str(workspace.root) for workspace, _ in wanted)
    reporter = Reporter(ls, token, f"Indexing {names}")
    ls.cancellable[token] = task
    reporter.begin(cancellable=True)
    try:
        return summed([await workspace.index(paths, reporter.report) for workspace, paths in wanted])
    finally:
        del ls.cancellable[token]
        reporter.end()


async def _owners(ls: AuroraServer, given: list[str]) -> dict[Workspace, list[Path]]:
    """Workspaces by path, of `given`: absolute paths, paths within the first outermost folder, or `file:` URIs."""
    if any("\0" in one for one in given):
        raise WorkspaceError("a path holds a NUL, which no file's name can; name the files of the workspace")
    first = min((each.root for each in await ls.folders.opened()), key=lambda root: len(root.parts))
    paths = [(path_of(one) if one.startswith("file:") else None) or first / one for one in given]
    owners = await ls.folders.group(paths)
    owned = sum(map(len, owners.values()))
    if owned < len(paths):
        outside = [path for path in paths if await ls.folders.owner(path) is None]
        raise WorkspaceError(f"{outside[0]} is outside the session's folders; name its folder with --workspace")
    return owners


def summed(results: list[IndexResult]) -> IndexResult:
    """The counts of several workspaces as one."""
    if len(results) == 1:
        return results[0]
    kinds: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for result in results:
        kinds.update(result.kinds)
        languages.update(result.languages)
    return IndexResult(
        workspace=", ".join(result.workspace for result in results),
        files=sum(result.files for result in results),
        chunks=sum(result.chunks for result in results),
        definitions=sum(result.definitions for result in results),
        kinds=dict(kinds),
        languages=dict(languages),
        parsed_files=sum(result.parsed_files for result in results),
        unchanged_files=sum(result.unchanged_files for result in results),
        removed_files=sum(result.removed_files for result in results),
        skipped_files=sum(result.skipped_files for result in results),
        failed_files=sum(result.failed_files for result in results),
        took_ms=round(sum(result.took_ms for result in results), 3),
        adoptable=next((result.adoptable for result in results if result.adoptable), None),
    )
