"""Git's history as a memory's first accesses (ruling 7): each file's commit times, taken in when HEAD has moved."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from aurora_indexer import git
from aurora_memory import MemoryError_
from aurora_memory.store import Store

logger = logging.getLogger(__name__)

HISTORY_COMMITS = 100_000
HISTORY_SECONDS = 20.0
"""How much of git's history one pass may look at, newest first."""


async def learn_history(root: Path, store: Store, files_known: asyncio.Event) -> None:
    """Read the log beside the first sweep; keep what it told once the files are known. Failures are logged only."""
    try:
        await _learn(root, store, files_known)
    except (MemoryError_, OSError) as error:
        logger.warning("git history not kept", extra={"root": str(root), "error": str(error)})


async def _learn(root: Path, store: Store, files_known: asyncio.Event) -> None:
    head = await asyncio.to_thread(git.head, root)
    if head is None or head == await store.read.fact("git_head"):
        return
    history = await git.history(root, max_commits=HISTORY_COMMITS, seconds=HISTORY_SECONDS)
    await files_known.wait()
    if history.problem is not None:
        logger.warning("no git history", extra={"root": str(root), "error": history.problem})
        return
    commits = {path: (file.times, file.last_hash, file.last_subject) for path, file in history.files.items()}
    if not history.complete and commits:
        # A file the pass did not reach is older than all it saw; the file's own time is only when it was cloned.
        oldest = min(times[-1] for times, _, _ in commits.values())
        commits |= {path: ((oldest,), "", "") for path in await store.read.files() if path not in commits}
    await store.save_commits(commits, head)
