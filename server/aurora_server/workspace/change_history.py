"""Change history by git of a workspace's specs: the history of its OpenSpec changes, and whether a spec that is not in
the work tree is on some branch or in a stash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from aurora_deliverables.detection import change_history
from aurora_deliverables.detection.change_history import ChangeHistory
from aurora_indexer.files.gitdir import find_git_directory, read_head, shallow_commits
from aurora_indexer.git import commands
from aurora_indexer.git.commands import GitSilent

LOG_SECONDS = 30.0
MAX_REFS = 5000
REFS = ("for-each-ref", f"--count={MAX_REFS}", "--format=%(objectname)")
AWAY = ("for-each-ref", f"--count={MAX_REFS}", "--no-merged=HEAD", "--format=%(objectname)")
"""Branches that are not merged: what such a one has and HEAD has not is work that lies elsewhere."""

MAINLINE = ("rev-parse", "--verify", "--quiet", "refs/remotes/origin/HEAD")
"""The branch that everybody's work goes to, where the remote says which one that is."""

STASHES = ("log", "--walk-reflogs", "--format=%H", "refs/stash", "--")


class WorkspaceGit:
    """Git of the repository that the workspace at `root` is in; of none it says that there is nothing."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._moved: tuple[object, ...] | None = ()
        self._refs: bytes | None = None
        self._history: Mapping[str, ChangeHistory] = {}

    async def moved(self) -> bool:
        """Change of refs: whether HEAD moved or something was fetched since this was asked last: a few files."""
        marks = await asyncio.to_thread(self._marks)
        moved, self._moved = marks != self._moved, marks
        return moved

    def _marks(self) -> tuple[object, ...]:
        """Marks by which a moved HEAD or a fetch is noticed: HEAD, FETCH_HEAD, packed refs."""
        repository = find_git_directory(self._root)
        if repository is None:
            return ()
        files = [
            repository.directory / "FETCH_HEAD",
            repository.common / "FETCH_HEAD",
            repository.common / "packed-refs",
        ]
        return (read_head(repository), *(_changed_at(file) for file in files))

    async def history(self) -> Mapping[str, ChangeHistory]:
        """The changes that git's log tells of, by every name; those known so far where git does not answer."""
        try:
            return await self.history_now()
        except GitSilent:
            return self._history

    async def history_now(self) -> Mapping[str, ChangeHistory]:
        """The changes that git's log tells of, by every name; read anew where a ref moved since. Raises GitSilent: HEAD
        counts as moved then.
        """
        moved, self._moved = self._moved, None
        refs = await commands.told(self._root, REFS)
        head = await asyncio.to_thread(commands.head, self._root)
        if refs is None or head is None:
            self._moved = moved
            return {}
        ends_at = await asyncio.to_thread(self._ends_at)
        state = refs + head.encode() + "".join(sorted(ends_at)).encode()
        if state != self._refs:
            said = await commands.told(self._root, change_history.LOG, seconds=LOG_SECONDS)
            if said is not None:
                self._history = await asyncio.to_thread(change_history.read_history, said, ends_at)
                self._refs = state
        self._moved = moved
        return self._history

    def _ends_at(self) -> frozenset[str]:
        repository = find_git_directory(self._root)
        return shallow_commits(repository) if repository is not None else frozenset()

    async def elsewhere(self, place: str) -> bool | None:
        """Whether what lies at `place` (relative, `/`) is on a branch that is not merged, or in a stash.

        A branch that merely was begun while it was there, and a stash that did not touch it, would not bring it back:
        they do not count, nor does a branch whose work went to main as other commits, squashed or picked, and was
        removed there. None where there is no repository to ask.
        """
        path = await self._path_in_repository(place)
        if path is None:
            return None
        try:
            away = _lines(await commands.told(self._root, AWAY))
            stashes = _lines(await commands.told(self._root, STASHES))
        except GitSilent:
            return True  # nothing is said to be lost
        # The third parent of a stash has what was not tracked.
        held = await self._contents(path, [*away, *stashes, *(f"{each}^3" for each in stashes)])
        if held is None:
            return True  # git does not answer: nothing is said to be lost
        shared = _lines(await commands.answer(self._root, MAINLINE))
        if not held or not held.keys().isdisjoint(shared):
            return bool(held)  # what the branch has that all share is there for all
        once = _lines(await commands.answer(self._root, ("rev-list", "HEAD", *shared, "--", f":(top,literal){path}")))
        had = frozenset((await self._contents(path, once) or {}).values())
        others = [commit for commit, content in held.items() if content not in had]
        return bool(others) and await self._touched(path, others, ["HEAD", *shared])

    async def _contents(self, path: str, commits: Sequence[str]) -> dict[str, bytes] | None:
        """What lies at a path (from the top) in each of some commits that has it; None where git does not answer."""
        asked = "".join(f"{each}:{path}\n" for each in commits).encode()
        said = await commands.answer(self._root, ("cat-file", "--batch-check"), send=asked) if asked else b""
        if said is None:
            return None
        lost = (b"missing", b"ambiguous")
        told = zip(commits, said.splitlines(), strict=True)
        return {each: line.partition(b" ")[0] for each, line in told if not line.endswith(lost)}

    async def touched_since(self, commit: str, place: str) -> bool:
        """Whether HEAD has commits that `commit` is not made of and that touch what lies at `place`."""
        path = await self._path_in_repository(place)
        return path is None or await self._touched(path, ["HEAD"], [commit])

    async def _touched(self, path: str, by: Sequence[str], but: Sequence[str]) -> bool:
        """Whether a commit that `by` is made of, and `but` is not, touches a path; so where git does not answer."""
        told = "".join(f"{each}\n" for each in (*by, *(f"^{each}" for each in but)))
        asked = ("rev-list", "-1", "--stdin", "--", f":(top,literal){path}")
        found = await commands.answer(self._root, asked, send=told.encode())
        return found is None or bool(found)

    async def _path_in_repository(self, place: str) -> str | None:
        """A place of the workspace from the top of its work tree; None where it lies in none."""
        repository = await asyncio.to_thread(find_git_directory, self._root)
        if repository is None:
            return None
        try:
            prefix = self._root.resolve().relative_to(repository.work_tree.resolve()).as_posix()
        except ValueError:
            return None
        return place.rstrip("/") if prefix == "." else f"{prefix}/{place.rstrip('/')}"

    async def is_clean(self, places: Sequence[str]) -> bool:
        """Clean work tree: whether the files there are as they are committed (not dirty)."""
        said = await commands.answer(self._root, ("status", "--porcelain", "--untracked-files=all", "--", *places))
        return said == b""


def _changed_at(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def _lines(said: bytes | None) -> list[str]:
    return (said or b"").decode("ascii", "replace").split()
