"""Changes of repositories (deduplication across clones): a deliverable is known by its repository and its change,
however many work trees and clones of that repository are open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aurora_indexer.files.gitdir import find_git_directory
from aurora_indexer.git import commands

if TYPE_CHECKING:
    from pathlib import Path

    from aurora_deliverables.deliverable import Deliverable
    from aurora_server.workspace.workspace import Workspace


async def repository_of(root: Path) -> str:
    """What the repository of a folder is known by on every machine: its first commit, and the folder within it.

    The folder itself where git does not tell.
    """
    within = await asyncio.to_thread(_within_repository, root)
    first = await commands.root_commit(root) if within is not None else None
    return str(root) if first is None else f"{first}:{within}"


def _within_repository(root: Path) -> str | None:
    repository = find_git_directory(root)
    try:
        return root.resolve().relative_to(repository.work_tree.resolve()).as_posix() if repository else None
    except ValueError:
        return None


async def each_once(workspaces: Sequence[Workspace], as_of: float | None = None) -> list[tuple[Workspace, Deliverable]]:
    """Deduplicated deliverables of some workspaces, each change of a repository once, with a workspace that knows it.

    With `as_of` (Unix seconds) as they stood then.

    Of several records of one the fullest counts, with the earliest time at which any of them saw it begin.
    """
    if len(workspaces) < 2:
        return [(workspace, each) for workspace in workspaces for each in await _stood(workspace, as_of)]
    found: dict[tuple[str, str], tuple[Workspace, Deliverable]] = {}
    for workspace in workspaces:
        repository = await repository_of(workspace.root)
        for each in await _stood(workspace, as_of):
            names = [(repository, name) for name in (each.change_id, *each.names)]
            key = next((name for name in names if name in found), names[0])
            found[key] = (workspace, each) if key not in found else _fuller(found[key], (workspace, each))
    return list(found.values())


async def by_repository(workspaces: Sequence[Workspace], as_of: float | None = None) -> dict[str, list[Deliverable]]:
    """Grouping by the folder of the workspace that knows them, each change of a repository once, as they stood."""
    known: dict[str, list[Deliverable]] = {str(each.root): [] for each in workspaces}
    for workspace, each in await each_once(workspaces, as_of):
        known[str(workspace.root)].append(each)
    return known


async def _stood(workspace: Workspace, as_of: float | None) -> Sequence[Deliverable]:
    return await (workspace.deliverables.all() if as_of is None else workspace.deliverables.as_of(as_of))


def _fuller(one: tuple[Workspace, Deliverable], other: tuple[Workspace, Deliverable]) -> tuple[Workspace, Deliverable]:
    """Deduplication of two records of one change: the fuller counts."""
    best, rest = (one, other) if fullness(one[1]) >= fullness(other[1]) else (other, one)
    workspace, deliverable = best
    return workspace, replace(deliverable, started_at=min(deliverable.started_at, rest[1].started_at))


def fullness(deliverable: Deliverable) -> tuple[bool, bool, int, float]:
    """Over before open, delivered before failed, more that was done before less, earlier before later."""
    over = deliverable.completed_at is not None
    return over, over and not deliverable.deliverable_failed, len(deliverable.spans), -deliverable.started_at
