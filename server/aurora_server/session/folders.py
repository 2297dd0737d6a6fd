"""Folders of one session's workspace (multi-root): several roots, nested ones included, that come and go."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol import AuroraError
from aurora_server.workspace.registry import WorkspaceError, Workspaces

if TYPE_CHECKING:
    from aurora_server.workspace.workspace import Workspace

logger = logging.getLogger(__name__)

RETRY_AFTER = 5.0
"""Seconds before a folder that could not be opened is tried again, by the next request that needs it."""


@dataclass(eq=False)
class _Folder:
    path: Path
    opening: asyncio.Task[Workspace]
    tried_at: float

    @property
    def workspace(self) -> Workspace | None:
        """The workspace, once and while it is open."""
        task = self.opening
        return task.result() if task.done() and not task.cancelled() and task.exception() is None else None


class Folders:
    """Folders that a session has open. `on_open` is told of each workspace as it opens, `on_leave` when it is left."""

    def __init__(
        self,
        workspaces: Workspaces,
        on_open: Callable[[Workspace], None] = lambda _: None,
        on_leave: Callable[[Workspace], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspaces = workspaces
        self._on_open = on_open
        self._on_leave = on_leave
        self._clock = clock
        self._folders: dict[Path, _Folder] = {}

    def add(self, path: Path) -> None:
        """Begin to open `path`; a failure shows when the folder is needed."""
        if path not in self._folders:
            self._folders[path] = _Folder(path, self._begin(path), self._clock())

    def remove(self, path: Path) -> None:
        """Leave `path`; requests under way keep the workspace they have."""
        folder = self._folders.pop(path, None)
        if folder is not None:
            self._leave(folder)

    def close(self) -> None:
        """Leave all folders."""
        for path in list(self._folders):
            self.remove(path)

    async def opened(self) -> list[Workspace]:
        """The open workspaces, deepest root first, waiting for those that are just being opened.

        Raises WorkspaceError when there is none, with the reason of the first that could not be opened.
        """
        await self._settle()
        workspaces = self._now()
        if workspaces:
            return workspaces
        for folder in self._folders.values():
            if not folder.opening.cancelled() and (error := folder.opening.exception()) is not None:
                raise error
        raise WorkspaceError("this session has no workspace; open a folder, or name one with --workspace")

    async def failed(self) -> list[tuple[Path, BaseException]]:
        """The folders that could not be opened, and why."""
        await self._settle()
        return [
            (folder.path, error)
            for folder in self._folders.values()
            if not folder.opening.cancelled() and (error := folder.opening.exception()) is not None
        ]

    def again(self, path: Path) -> None:
        """Retry at once of a folder that could not be opened: what kept it from that is mended."""
        folder = self._folders.get(path)
        if folder is not None and folder.opening.done() and folder.workspace is None:
            folder.opening, folder.tried_at = self._begin(path), self._clock()

    async def owner(self, path: Path) -> Workspace | None:
        """Workspace of a path, by the longest prefix: the deepest root around `path`; None outside of all."""
        await self._settle()
        return owner_of(await asyncio.to_thread(real, path), self._now())

    async def group(self, paths: list[Path]) -> dict[Workspace, list[Path]]:
        """Grouping of `paths`, links resolved, by their workspace; those outside all folders are left out."""
        await self._settle()
        workspaces = self._now()
        grouped: dict[Workspace, list[Path]] = {}
        for path in await asyncio.to_thread(_all_real, paths):
            workspace = owner_of(path, workspaces)
            if workspace is not None:
                grouped.setdefault(workspace, []).append(path)
        return grouped

    async def _settle(self) -> None:
        """Wait for folders that are being opened; failed ones are retried after a while."""
        for folder in list(self._folders.values()):
            failed = folder.opening.done() and folder.workspace is None
            if failed and self._clock() - folder.tried_at >= RETRY_AFTER:
                folder.opening, folder.tried_at = self._begin(folder.path), self._clock()
        waiting = [folder.opening for folder in self._folders.values() if not folder.opening.done()]
        if waiting:
            await asyncio.wait(waiting)

    def _now(self) -> list[Workspace]:
        found = {workspace.root: workspace for folder in self._folders.values() if (workspace := folder.workspace)}
        return sorted(found.values(), key=lambda workspace: len(workspace.root.parts), reverse=True)

    def _begin(self, path: Path) -> asyncio.Task[Workspace]:
        task = asyncio.create_task(self._workspaces.acquire(path), name=f"acquire {path}")
        task.add_done_callback(self._begun)
        return task

    def _begun(self, task: asyncio.Task[Workspace]) -> None:
        """Callback of an opened workspace; a failure is logged."""
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            told = str(error) if isinstance(error, AuroraError) else None
            logger.warning(
                "workspace could not be opened", extra={"reason": told}, exc_info=error if told is None else None
            )
        elif any(folder.opening is task for folder in self._folders.values()):
            self._on_open(task.result())

    def _leave(self, folder: _Folder) -> None:
        """Release of a folder's workspace, also of one that is still being opened."""
        task = folder.opening
        if task.done():
            workspace = folder.workspace
            if workspace is not None:
                self._on_leave(workspace)
                self._workspaces.release(workspace)
        else:
            # Cancelled between being acquired and being handed over, a task may still succeed.
            task.add_done_callback(lambda done: self._leave(folder))
            task.cancel()


def owner_of(path: Path, workspaces: list[Workspace]) -> Workspace | None:
    """Owner of a path among `workspaces`, deepest root first. `path` has its links resolved."""
    return next((workspace for workspace in workspaces if path.is_relative_to(workspace.root)), None)


def real(path: Path) -> Path:
    """Real path, with the links of its folder resolved. The file itself may be a link, and may not exist."""
    return Path(os.path.realpath(path.parent), path.name)  # a circle of links leads nowhere: `resolve` would raise


def _all_real(paths: list[Path]) -> list[Path]:
    parents = {parent: os.path.realpath(parent) for parent in {path.parent for path in paths}}
    return [Path(parents[path.parent], path.name) for path in paths]
