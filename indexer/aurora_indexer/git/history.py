"""Git's history as a memory's first accesses (ruling 7), function by function, learnt beside everything else.

A pass follows the first-parent line from HEAD to the first commit whose past is known already; then chunks that have
no past there (new in memory, or back from another branch) are followed further, in their own files only.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.files.gitdir import find_git_directory, shallow_commits
from aurora_indexer.git import commands
from aurora_indexer.git.commit_chain import ChainLink, first_parents, merged_subjects, told
from aurora_indexer.git.function_history import FunctionWalk, WalkedCommit
from aurora_indexer.git.line_moves import LineSpan, own_spans
from aurora_indexer.git.log_parser import ARGUMENTS, LogReader
from aurora_indexer.git.worktree import edits, tracked_files
from aurora_memory import StoreError
from aurora_memory.store import Store, commit_reader, file_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.views import ChunkPlace

logger = logging.getLogger(__name__)

MAX_COMMITS = 3000
MAX_SECONDS = 60.0
"""Limits of one walk through git's history, newest first: commits, and seconds."""

SAVED_AT_ONCE = 500
FEW_FILES = 100
"""Chunks in so few files are followed by a log of these files; git then does not follow renames."""


class Bounds(Struct, frozen=True):
    """Limits of one walk: first-parent commits, and seconds."""

    commits: int = MAX_COMMITS
    seconds: float = MAX_SECONDS


async def learn_history(root: Path, store: Store, bounds: Bounds | None = None) -> None:
    """Bring what memory knows of git up to HEAD. Failures are logged only; a pass cut short goes on the next time."""
    try:
        await _learn(root, store, bounds or Bounds())
    except (StoreError, OSError) as error:
        logger.warning("git history not kept", extra={"root": str(root), "error": str(error)})


async def _learn(root: Path, store: Store, bounds: Bounds) -> None:
    repository = find_git_directory(root)
    head = await asyncio.to_thread(commands.head, root) if repository else None
    if repository is None or head is None or head == await store.read(file_reader.fact, "git_head"):
        return
    line = await first_parents(root, head)
    tracked = await tracked_files(root, head)
    if not line or tracked is None:
        logger.warning("no git history", extra={"root": str(root), "error": f"git cannot read commit {head}"})
        return
    known = await store.read(commit_reader.hashes)
    reachable = {link.hash for link in line}
    await store.history.drop([commit for commit in known if commit not in reachable])
    followed = await store.read(commit_reader.followed)
    shallow = shallow_commits(repository)
    end = next((n for n, link in enumerate(line) if link.hash in shallow), len(line))
    settled = min(end, next((n for n, link in enumerate(line) if known.get(link.hash)), end))
    names, walk = await _today(root, store, tracked)
    deadline = asyncio.get_running_loop().time() + bounds.seconds
    walking = _Walking(root, repository.work_tree != root, store, line, names, walk, deadline)
    reached = await walking.follow(0, min(settled, bounds.commits))
    if reached == settled < end:
        walk.only(walk.survivors() - followed)
        stop = min(end, settled + bounds.commits)
        reached = await walking.follow(settled, stop, own_files=len(walk.files) <= FEW_FILES)
    await walking.save()
    behind = line[min(reached, len(line) - 1)]
    await store.history.settle(head, line[0].at, behind.hash, behind.at, walk.survivors() - followed, names)


async def _today(root: Path, store: Store, tracked: Mapping[bytes, bytes]) -> tuple[dict[int, str], FunctionWalk]:
    """The tracked chunks' names, and the walk at HEAD: stepped back over what is edited and not committed."""
    by_path, names = await asyncio.to_thread(_by_path, await store.read(commit_reader.places), tracked)
    indexed = {path: stat.content_hash for path, stat in (await store.read(file_reader.files)).items()}
    hunks, lost = await edits(root, {path: tracked[path] for path in by_path}, indexed)

    def begin() -> FunctionWalk:
        walk = FunctionWalk({path: own_spans(spans) for path, spans in by_path.items() if path not in lost})
        for path, edited in hunks.items():
            walk.edited(path, edited)
        return walk

    return names, await asyncio.to_thread(begin)


def _by_path(
    places: Sequence[ChunkPlace], tracked: Container[bytes]
) -> tuple[dict[bytes, list[LineSpan]], dict[int, str]]:
    by_path: dict[bytes, list[LineSpan]] = {}
    names: dict[int, str] = {}
    for place in places:
        path = place.path.encode("utf-8", "surrogateescape")
        if path in tracked:
            by_path.setdefault(path, []).append(LineSpan(place.id, place.line_start, place.line_end))
            names[place.id] = place.name
    return by_path, names


class _Walking:
    """A walk under way: git's log goes in, commits and what they changed go into the store."""

    def __init__(
        self,
        root: Path,
        below: bool,
        store: Store,
        line: Sequence[ChainLink],
        names: Mapping[int, str],
        walk: FunctionWalk,
        deadline: float,
    ) -> None:
        self._reached = 0
        self._deadline = deadline
        self._root = root
        self._arguments = [*ARGUMENTS, "--relative"] if below else ARGUMENTS
        self._store = store
        self._line = line
        self._places = {link.hash: n for n, link in enumerate(line)}
        self._names = names
        self._walk = walk
        self._ready: list[WalkedCommit] = []
        self._subjects: dict[str, list[str]] = {}

    async def follow(self, start: int, stop: int, *, own_files: bool = False) -> int:
        """Walk from commit `start` of the line to before `stop`; how far that came. `own_files` reads only theirs."""
        self._reached = start
        if start >= stop or not self._walk.files:
            return stop
        before = self._line[stop].hash if stop < len(self._line) else None
        self._subjects |= await merged_subjects(self._root, self._line[start:stop], before)
        arguments = [*self._arguments, self._line[start].hash]
        if own_files:
            paths = [os.fsdecode(path) for path in self._walk.files]
            arguments = ["--literal-pathspecs", *arguments, *([f"^{before}"] if before else []), "--", *paths]
        else:
            arguments.append(f"--max-count={stop - start}")
        reader = LogReader(self._walk.files, self._walk.take)
        async with commands.streaming(self._root, arguments, deadline=self._deadline) as output:
            async for piece in output.pieces():
                await asyncio.to_thread(reader.feed, piece)
                self._collect()
                if len(self._ready) >= SAVED_AT_ONCE:
                    await self.save()
                if not self._walk.files:
                    return stop  # every function was brought in by now
        if not output.whole:
            return self._reached
        reader.finish()
        self._collect()
        return stop

    async def save(self) -> None:
        """Keep what was walked since the last time."""
        ready, self._ready = self._ready, []
        commits = [
            ChangingCommit(
                commit.hash,
                commit.at,
                *told(commit, self._subjects.get(commit.hash, ())),
                commit.files,
                commit.sweeping,
                commit.chunk_ids,
            )
            for commit in ready
            if commit.chunk_ids
        ]
        await self._store.history.save(commits, self._names)

    def _collect(self) -> None:
        walked = self._walk.walked()
        if walked:
            self._ready.extend(walked)
            self._reached = self._places.get(walked[-1].hash, self._reached - 1) + 1
