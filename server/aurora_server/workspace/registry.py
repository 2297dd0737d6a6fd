"""Registry of open workspaces (reference counted): one per root, shared by all sessions, closed some time after the
last left.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol import BAD_INPUT, AuroraError
from aurora_protocol.methods import WorkspaceStatus

if TYPE_CHECKING:
    from aurora_server.workspace.workspace import Workspace

logger = logging.getLogger(__name__)

MOST_LINGERING = 16
"""Workspaces without users that stay open at a time: each has 11 files, three threads and 2 MB, and a command for every
folder on a disk would leave hundreds of them."""

Opener = Callable[[Path], Awaitable["Workspace"]]
"""Opens the workspace at a canonical root. It is called once per root, however many sessions want it."""


class WorkspaceError(AuroraError):
    """A folder cannot be, or is not, an open workspace; the message says why and the next step."""

    exit_code = BAD_INPUT


def canonical(folder: Path, user_home: Path) -> Path:
    """Canonical path (realpath) of `folder`, links resolved. Touches the disk.

    Raises WorkspaceError for what is no folder, and for the user's home and everything above it: indexing those would
    read all the user has.
    """
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        if "\ufffd" in str(folder):  # what clients make of bytes that are no text
            raise _not_utf8(folder) from error
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise WorkspaceError(f"cannot open {folder} as a workspace: {reason}; check the path") from error
    if not root.is_dir():
        raise WorkspaceError(f"cannot open {folder} as a workspace: it is not a folder; give the folder it is in")
    try:
        str(root).encode()
    except UnicodeEncodeError as error:
        raise _not_utf8(root) from error
    home = user_home.resolve()
    if root == home:
        raise WorkspaceError(f"{root} is your home folder and is not indexed; open a project folder inside it")
    if root == Path(root.anchor) or root in home.parents:
        raise WorkspaceError(f"{root} is too much to index; open a project folder inside it")
    return root


def _not_utf8(folder: Path) -> WorkspaceError:
    shown = os.fsencode(folder).decode("utf-8", "replace")
    return WorkspaceError(f"cannot open {shown} as a workspace: its path is not UTF-8; rename the folder")


@dataclass(eq=False)
class _OpenWorkspace:
    root: Path
    users: int = 0
    workspace: Workspace | None = None
    opening: asyncio.Task[Workspace] | None = None
    closing: asyncio.Task[None] | None = None
    farewell: asyncio.TimerHandle | None = None
    error: str | None = None


class Workspaces:
    """Registry of open workspaces: opens, counts and closes them. All methods belong to the event loop's thread.

    `linger` is how many seconds a workspace without users stays open: command line calls come and go.
    """

    def __init__(self, opener: Opener, *, linger: float, user_home: Path) -> None:
        self._opener = opener
        self.linger = linger
        self._user_home = user_home
        self._entries: dict[Path, _OpenWorkspace] = {}
        self._closed = False

    async def acquire(self, folder: Path) -> Workspace:
        """Reference: open the workspace at `folder`, or share it; `release` it as often as it was acquired.

        Raises WorkspaceError, and whatever opening it raises. A root that failed is tried again on the next call.
        """
        root = await asyncio.to_thread(canonical, folder, self._user_home)
        if self._closed:
            raise WorkspaceError(f"cannot open {root}: the daemon is stopping; try again")
        entry = self._entries.setdefault(root, _OpenWorkspace(root))
        entry.users += 1
        if entry.farewell is not None:
            entry.farewell.cancel()
            entry.farewell = None
        try:
            if entry.workspace is not None:
                return entry.workspace
            if entry.opening is None:
                entry.opening = asyncio.create_task(self._open(entry), name=f"open {root}")
                entry.opening.add_done_callback(_retrieve)
            # A session that gives up must not take the opening away from the others that wait for it.
            return await asyncio.shield(entry.opening)
        except BaseException:
            self._leave(entry)
            raise

    def release(self, workspace: Workspace) -> None:
        """Say that one user of `workspace` is done with it."""
        for entry in self._entries.values():
            if entry.workspace is workspace:
                self._leave(entry)
                return

    async def let_go(self, root: Path) -> bool:
        """Eviction of a canonical `root` that only lingers; False where somebody uses it."""
        entry = self._entries.get(root)
        if entry is None:
            return True
        if entry.users:
            return False
        if entry.farewell is not None:
            entry.farewell.cancel()
            entry.farewell = None
        if entry.closing is None or entry.closing.done():
            entry.closing = asyncio.create_task(self._close(entry), name=f"close {root}")
        await asyncio.wait({entry.closing})
        return root not in self._entries

    def opened(self) -> list[Workspace]:
        """Every workspace that is open now."""
        return [entry.workspace for entry in self._entries.values() if entry.workspace is not None]

    def status(self) -> list[WorkspaceStatus]:
        """Every workspace that is open, opening, or could not be opened, by root."""
        return [_status(self._entries[root]) for root in sorted(self._entries)]

    async def close(self) -> None:
        """Close everything, whoever uses it; nothing can be acquired afterwards."""
        self._closed = True
        for entry in self._entries.values():
            if entry.farewell is not None:
                entry.farewell.cancel()
            if entry.opening is not None:
                entry.opening.cancel()
        under_way = [entry.closing for entry in self._entries.values() if entry.closing is not None]
        await asyncio.gather(*under_way, *(self._close(entry) for entry in list(self._entries.values())))

    async def _open(self, entry: _OpenWorkspace) -> Workspace:
        """Opening of a workspace, after one that is closing."""
        try:
            if entry.closing is not None:
                await asyncio.wait([entry.closing])
            entry.workspace = await self._opener(entry.root)
        except BaseException as error:
            entry.error = str(error) or type(error).__name__
            raise
        else:
            entry.error = None
            logger.info("workspace opened", extra={"root": str(entry.root)})
            return entry.workspace
        finally:
            entry.opening = None

    def _leave(self, entry: _OpenWorkspace) -> None:
        """Release one reference; after the last one a workspace lingers, and of too many the first due is closed."""
        entry.users -= 1
        if entry.users == 0 and not self._closed:
            loop = asyncio.get_running_loop()
            entry.farewell = loop.call_later(self.linger, self._expire, entry)
            lingering = [each for each in self._entries.values() if each.farewell is not None]
            if len(lingering) > MOST_LINGERING:
                self._expire(min(lingering, key=_leaves_at))

    def _expire(self, entry: _OpenWorkspace) -> None:
        """End of the grace period: a workspace without users is closed."""
        if entry.farewell is not None:
            entry.farewell.cancel()
            entry.farewell = None
        entry.closing = asyncio.create_task(self._close(entry), name=f"close {entry.root}")

    async def _close(self, entry: _OpenWorkspace) -> None:
        """Close of a workspace, unless somebody came back."""
        if entry.opening is not None:
            await asyncio.wait([entry.opening])
        if entry.users and not self._closed:
            return  # somebody came back before we got here
        workspace, entry.workspace = entry.workspace, None
        try:
            if workspace is not None:
                await workspace.close()
                logger.info("workspace closed", extra={"root": str(entry.root)})
        except Exception:  # one workspace that cannot be closed must not keep the others, or the daemon, from ending
            logger.exception("workspace could not be closed", extra={"root": str(entry.root)})
        finally:
            if entry.users == 0 and entry.opening is None:
                self._entries.pop(entry.root, None)


def _leaves_at(entry: _OpenWorkspace) -> float:
    return entry.farewell.when() if entry.farewell is not None else float("inf")


def _status(entry: _OpenWorkspace) -> WorkspaceStatus:
    if entry.workspace is not None:
        return entry.workspace.status()
    return WorkspaceStatus(
        root=str(entry.root),
        state="error" if entry.error is not None else "scanning",
        files=0,
        chunks=0,
        pending_files=0,
        skipped_files=0,
        database_bytes=0,
        last_error=entry.error,
    )


def _retrieve(task: asyncio.Task[Workspace]) -> None:
    """Take note of a failure that nobody waits for any more, so that asyncio does not complain of it."""
    if not task.cancelled():
        task.exception()
