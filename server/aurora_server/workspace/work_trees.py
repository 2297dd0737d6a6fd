"""Work trees (git worktrees) that share an index: a new one starts from a sibling's, a removed one leaves what it knew.

Work trees share their common git directory, so whose they are is not a guess. A folder cannot claim to be one: git
keeps in the common directory which folders are its work trees, and what a `.git` file says counts only if that agrees.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path

from aurora_indexer.files.gitdir import GitDirectory, find_git_directory, is_work_tree, read_head, work_tree_marks
from aurora_memory import StoreError
from aurora_memory.store import Store, file_reader
from aurora_memory.store.index_copy import copy_index
from aurora_memory.store.memory_files import MemoryFile, memory_files
from aurora_server.workspace.relocate import Adoption

logger = logging.getLogger(__name__)

COMMON = "git_common"
"""Fact of a memory file: the common git directory of its folder, which tells whose work tree it was once it is gone."""


RECENTLY = 3600.0
"""Seconds for which a write-ahead log that lies there is taken for one in use."""


def start_from_sibling(root: Path, path: Path) -> Path | None:
    """Warm start: memory file `path` of `root` copied from a sibling; the sibling's folder, None where there is none.

    The same folder of another work tree: one at the same commit if there is one. Nothing happens where the file is
    there. Blocks.
    """
    mine = _place(root)
    if path.exists() or mine is None:
        return None
    commit = _commit(mine[0])
    siblings = [each for each in memory_files(path.parent) if each.root != root and _is_sibling(each, *mine)]
    for each in sorted(siblings, key=lambda each: _commit(find_git_directory(each.root)) != commit):
        if copy_index(each.path, path, root):
            logger.info("started from a sibling", extra={"root": str(root), "sibling": str(each.root)})
            return each.root
        logger.warning("sibling's memory not copied", extra={"root": str(root), "sibling": str(each.root)})
    return None


async def take_over_removed(root: Path, store: Store, adoption: Adoption) -> list[Path]:
    """Take in what was learned in work trees that git has removed, and delete their memory files; their folders.

    A folder that is only away, as on a drive that is not there now, is one that git still knows.
    """
    common = await keep_common(root, store)
    if common is None:
        return []
    gone = await asyncio.to_thread(_removed, common, store.path)
    taken: list[Path] = []
    for each in gone:
        try:
            await adoption.merge(each)
            await asyncio.to_thread(_delete, each.path)
        except (StoreError, OSError) as error:
            logger.warning("removed work tree's memory kept", extra={"root": str(each.root), "error": str(error)})
            continue
        logger.info("removed work tree's memory taken over", extra={"root": str(root), "from": str(each.root)})
        taken.append(each.root)
    return taken


async def keep_common(root: Path, store: Store) -> Path | None:
    """Write down which repository's work tree a folder is; its common git directory, None where it is none."""
    common = await asyncio.to_thread(_common, root)
    if common is not None and await store.read(file_reader.fact, COMMON) != str(common):
        await store.remember(COMMON, str(common))
    return common


def _place(root: Path) -> tuple[GitDirectory, Path] | None:
    """The work tree that holds a folder, and where in it; None where git does not know it as one."""
    repository = find_git_directory(root)
    if repository is None or not is_work_tree(repository):
        return None
    return repository, root.relative_to(repository.work_tree)


def _common(root: Path) -> Path | None:
    place = _place(root)
    return place[0].common.resolve() if place is not None else None


def _is_sibling(each: MemoryFile, repository: GitDirectory, below: Path) -> bool:
    """Whether a memory file is of another work tree of the same repository."""
    place = None if each.left else _place(each.root)
    if place is None or place[1] != below:
        return False
    try:
        return place[0].common.samefile(repository.common)
    except OSError:
        return False


def _commit(repository: GitDirectory | None) -> str | None:
    """The commit a work tree is at; its branch is its own, as git lets no two be on one."""
    head = read_head(repository) if repository is not None else None
    return head.commit if head is not None else None


def _removed(common: Path, own: Path) -> list[MemoryFile]:
    """The memory files of folders that were in work trees of this repository, which git does not know any more."""
    known = work_tree_marks(common)
    return [
        each
        for each in memory_files(own.parent)
        if each.path != own
        and each.left
        and each.common == str(common)
        and not _in_use(each.path)
        and not any(folder / ".git" in known for folder in (each.root, *each.root.parents))
    ]


def _in_use(path: Path) -> bool:
    """Whether somebody has a memory file open, or had lately: a log that a crash left is not written to any more."""
    try:
        return time.time() - path.with_name(f"{path.name}-wal").stat().st_mtime < RECENTLY
    except OSError:
        return False


def _delete(path: Path) -> None:
    """Deletion of a database file with its log (WAL)."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
