"""Git history (a commit walk, incremental and resumable) as a memory's first accesses (ruling 7), function by function,
learnt beside everything else.

A pass follows the first-parent line from HEAD to the first commit whose past is known already; then chunks that have
no past there (new in memory, or back from another branch) are followed further, in their own files only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.files.gitdir import find_git_directory, shallow_commits
from aurora_indexer.git import commands
from aurora_indexer.git.commands import GitSilent
from aurora_indexer.git.commit_chain import MAX_CHAIN, ChainLink, first_parents, merged_subjects, told
from aurora_indexer.git.function_history import FunctionWalk, WalkedCommit
from aurora_indexer.git.line_moves import LineMap, LineSpan, own_spans
from aurora_indexer.git.log_parser import ARGUMENTS, GitLogParser, LoggedCommit
from aurora_indexer.git.worktree import edits, tracked_files
from aurora_memory import StoreError
from aurora_memory.store import Store, commit_reader, file_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.views import ChunkPlace

logger = logging.getLogger(__name__)

MAX_COMMITS = 3000
MAX_SECONDS = 60.0
"""Limits of one walk through git's history, newest first: commits, and seconds."""

MAX_BROKEN = 50
"""Unreadable commits that one walk passes over."""

BROKEN = "history_broken"
"""Fact of memory: the commits of the history that git could not read, as hashes between spaces."""

SAVED_AT_ONCE = 500
FEW_FILES = 100
"""So few files are looked up by their paths, and chunks in them followed by a log of these files."""

WALKING = "2"
"""By which rules commits are followed. Another number has git's log read anew, once: raise it with those rules."""


class Bounds(Struct, frozen=True):
    """Limits of one walk: first-parent commits, and seconds."""

    commits: int = MAX_COMMITS
    seconds: float = MAX_SECONDS


async def learn_history(
    root: Path, store: Store, bounds: Bounds | None = None, tell: Callable[[float], None] = lambda _: None
) -> str | None:
    """Bring what memory knows of git up to HEAD; why it could not, None where it could. A pass cut short goes on the
    next time.

    `tell` hears how much of it is read, in [0, 1].
    """
    try:
        await _learn(root, store, bounds or Bounds(), tell)
    except (StoreError, OSError, GitSilent) as error:  # a git that did not answer does not say that something is broken
        logger.warning("git history not kept", extra={"root": str(root), "error": str(error)})
        return str(error)
    return None


async def _learn(root: Path, store: Store, bounds: Bounds, tell: Callable[[float], None]) -> None:
    """Incremental pass: from HEAD to the first commit that is settled, then the chunks that have no past yet."""
    repository = find_git_directory(root)
    head = await asyncio.to_thread(commands.head, root) if repository else None
    if repository is None or head is None or not commands.is_installed():
        return
    outdated = await store.read(file_reader.fact, "walking") != WALKING
    known_head = not outdated and head == await store.read(file_reader.fact, "git_head")
    tracked = await _undone(root, store, head) if known_head else None
    if known_head and not tracked:
        return
    tell(0.0)
    line = await first_parents(root, head)
    if not known_head:
        tracked = await tracked_files(root, head)
    if not line or tracked is None:
        logger.warning("no git history", extra={"root": str(root), "error": f"git cannot read commit {head}"})
        await store.remember(BROKEN, head)
        return
    known = await store.read(commit_reader.hashes)
    if outdated:
        if known:
            await store.history.drop(known)
            await store.remember("git_head", "")  # or a pass that comes to no end would be the last
            known = {}
        await store.remember("walking", WALKING)
    reachable = {link.hash for link in line}
    await store.history.drop([commit for commit in known if commit not in reachable])
    followed = await store.read(commit_reader.followed)
    shallow = shallow_commits(repository)
    end = next((n for n, link in enumerate(line) if link.hash in shallow), len(line))
    settled = min(end, next((n for n, link in enumerate(line) if known.get(link.hash)), end))
    names, walk, clean = await _today(root, store, tracked)
    deadline = asyncio.get_running_loop().time() + bounds.seconds
    below = repository.work_tree != root
    # What goes through all commits or all chunks does so beside the event loop.
    walking = await asyncio.to_thread(_Walking, root, below, store, line, names, walk, deadline, tell)
    reached = await walking.follow(0, min(settled, bounds.commits))
    if reached == settled < end:
        await asyncio.to_thread(lambda: walk.only(walk.survivors() - followed))
        stop = min(end, settled + bounds.commits)
        reached = await walking.follow(settled, stop, own_files=len(walk.files) <= FEW_FILES)
    await walking.save()
    cut = len(line) < MAX_CHAIN and not line[-1].first and line[-1].hash not in shallow
    broken = [*walking.broken, *([line[-1].hash] if cut else [])]
    if broken or reached == settled:  # a pass over new commits says nothing of what lies behind them
        was = await store.read(file_reader.fact, BROKEN) or ""
        kept = [known for known in was.split() if known in reachable] if settled < end else []
        await store.remember(BROKEN, " ".join(dict.fromkeys([*broken, *kept])))
    behind = line[min(reached, len(line) - 1)]
    survivors = await asyncio.to_thread(lambda: walk.survivors() - followed)
    await store.history.settle(head, line[0].at, behind.hash, behind.at, survivors, names)
    await store.history.forget_checkouts(clean, time.time())


async def _undone(root: Path, store: Store, head: str) -> dict[bytes, bytes]:
    """Edits that were taken back since commit `head` are taken back in memory, too; the tracked files where chunks are
    as committed and have no past: they were gone for a while.
    """
    now = time.time()
    edited = await store.read(commit_reader.seen_changing, now)
    if not edited:
        return {}
    paths = {path.encode("utf-8", "surrogateescape") for path in edited.values()}
    tracked = await tracked_files(root, head, paths if len(paths) <= FEW_FILES else ())
    if not tracked:
        return {}
    tracked = {path: blob for path, blob in tracked.items() if path in paths}
    _, _, clean = await _today(root, store, tracked)
    clean &= edited.keys()
    if clean:
        await store.history.forget_checkouts(clean, now)
    still = await store.read(commit_reader.seen_changing, now) if clean else {}
    back = {still[each].encode("utf-8", "surrogateescape") for each in clean & still.keys()}
    return {path: tracked[path] for path in back}


async def _today(
    root: Path, store: Store, tracked: Mapping[bytes, bytes]
) -> tuple[dict[int, str], FunctionWalk, set[int]]:
    """The tracked chunks' names, the walk at HEAD (stepped back over what is not committed), chunks as committed."""
    # Memory has no paths that are no text.
    few = [path.decode("utf-8", "replace") for path in tracked] if len(tracked) <= FEW_FILES else None
    by_path, names = await asyncio.to_thread(_by_path, await store.read(commit_reader.places, few), tracked)
    stats = await (store.read(file_reader.files) if few is None else store.read(file_reader.files_at, few))
    indexed = {path: stat.content_hash for path, stat in stats.items()}
    hunks, lost = await edits(root, {path: tracked[path] for path in by_path}, indexed)

    def begin() -> tuple[FunctionWalk, set[int]]:
        spans = {path: own_spans(chunks) for path, chunks in by_path.items() if path not in lost}
        walk = FunctionWalk(spans)
        for path, edited in hunks.items():
            walk.edited(path, edited)
        kept = {path: LineMap(hunks.get(path, ())).spares for path in spans}
        changed = {span.chunk_id for path, own in spans.items() for span in own if not kept[path](span)}
        return walk, {span.chunk_id for own in spans.values() for span in own} - changed

    return names, *await asyncio.to_thread(begin)


def _by_path(
    places: Sequence[ChunkPlace], tracked: Container[bytes]
) -> tuple[dict[bytes, list[LineSpan]], dict[int, str]]:
    """Spans of the tracked chunks by path, and the chunks' names."""
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
        tell: Callable[[float], None],
    ) -> None:
        self.broken: list[str] = []
        self._tell = tell
        self._reached = 0
        self._span = (0, 1)
        self._gave_up = False
        self._moved = False
        """Whether a file was renamed to one that the log under way does not follow."""
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
        self._span = (start, stop)
        while not await self._stretch(self._reached, stop, own_files=own_files):
            passed = self._moved or await self._pass_broken(stop)
            if not passed or self._reached >= stop:
                return self._reached
        return stop

    async def _stretch(self, start: int, stop: int, *, own_files: bool = False) -> bool:
        """Walk over commits of the line that git can read; whether all were."""
        before = self._line[stop].hash if stop < len(self._line) else None
        arguments = [*self._arguments, self._line[start].hash]
        if own_files:
            paths = [os.fsdecode(path) for path in self._walk.files]
            bounds = ["--full-diff", *([f"^{before}"] if before else []), "--", *paths]  # whole: a rename has two sides
            arguments = ["--literal-pathspecs", *arguments, *bounds]
        else:
            arguments.append(f"--max-count={stop - start}")
        asked = frozenset(self._walk.files) if own_files else None
        self._moved = False

        def take(commit: LoggedCommit) -> None:
            if not self._moved:
                self._walk.take(commit)
                self._moved = asked is not None and not asked.issuperset(self._walk.files)

        reader = GitLogParser(self._walk.files, take)
        async with commands.streaming(self._root, arguments, deadline=self._deadline) as output:
            async for piece in output.pieces():
                await asyncio.to_thread(reader.feed, piece)
                self._collect()
                if len(self._ready) >= SAVED_AT_ONCE:
                    await self.save()
                if not self._walk.files:
                    return True  # every function was brought in by now
                if self._moved:
                    return False
        self._gave_up = output.failed
        if not output.whole:
            return False
        reader.finish()
        self._collect()
        if self._moved:
            return False
        self._reached = stop
        return True

    async def _pass_broken(self, stop: int) -> bool:
        """Step over a commit that git cannot read; the files it changed are followed no further. False: no way on."""
        if not self._gave_up:
            return False
        at = self._reached
        if await self._stretch(at, at + 1):
            return True  # git had failed at the one behind it
        for behind in range(at + 1, min(stop, len(self._line) - 1, at + 1 + MAX_BROKEN) + 1):
            if len(self.broken) >= MAX_BROKEN:
                return False
            self.broken.append(self._line[behind - 1].hash)
            arguments = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"]
            if "--relative" in self._arguments:
                arguments.append("--relative")
            said = await commands.answer(self._root, [*arguments, self._line[behind].hash, self._line[at].hash])
            if said is not None:
                self._walk.lose(said.split(b"\0"))
                self._reached = behind
                return True
        return False

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
        """Walked commits that wait to be saved, and how far that came (progress)."""
        walked = self._walk.walked()
        if walked:
            self._ready.extend(walked)
            self._reached = self._places.get(walked[-1].hash, self._reached - 1) + 1
            start, stop = self._span
            self._tell(min(1.0, (self._reached - start) / max(stop - start, 1)))
