"""Git directory (`.git`, worktree pointers): where a repository keeps its things, and what HEAD is (branch, commit),
read from files without starting a process.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import NamedTuple

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_protocol.strict_modes import is_strange

_MAX_POINTER = 64 << 10
_MAX_PACKED_REFS = 64 << 20
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_HOPS = 5


class GitDirectory(NamedTuple):
    """Git directory (gitdir): `work_tree` holds `.git`; `directory` is this work tree's own git directory; `common` is
    what worktrees share.
    """

    work_tree: Path
    directory: Path
    common: Path


class Head(NamedTuple):
    """HEAD: `ref` is "" when detached; `commit` is None on a branch without commits, or where only git can tell."""

    ref: str
    commit: str | None
    needs_git: bool = False


def find_git_directory(root: Path) -> GitDirectory | None:
    """The repository `root` is in, or None. Follows `.git` files of worktrees and submodules.

    What another user put into a folder that is not his, as anybody can into `/tmp`, makes no repository of it.
    """
    for folder in (root, *root.parents):
        mark = folder / ".git"
        kind = _kind(mark)
        if kind and is_strange(mark):
            continue
        if kind == stat.S_IFDIR:
            return GitDirectory(folder, mark, _common(mark))
        if kind == stat.S_IFREG:
            text = _read(mark)
            if text.startswith("gitdir:"):
                directory = folder / text.removeprefix("gitdir:").strip()
                if _kind(directory) == stat.S_IFDIR:
                    return GitDirectory(folder, directory, _common(directory))
                return None
    return None


def read_head(repository: GitDirectory) -> Head | None:
    """Commit that HEAD points to: loose refs, packed refs, detached, worktrees. None without a readable HEAD."""
    name = _read(repository.directory / "HEAD").strip()
    if _HASH.fullmatch(name):
        return Head("", name)
    if not name.startswith("ref:"):
        return None
    branch = ref = name.removeprefix("ref:").strip()
    if ref == "refs/heads/.invalid":
        return Head("", None, needs_git=True)
    for _ in range(_MAX_HOPS):
        if ".." in ref.split("/") or ref.startswith("/"):
            return None
        value = _read(repository.directory / ref).strip() or _read(repository.common / ref).strip()
        if not value:
            return Head(branch, _packed(repository.common, ref))
        if _HASH.fullmatch(value):
            return Head(branch, value)
        if not value.startswith("ref:"):
            return None
        ref = value.removeprefix("ref:").strip()
    return None


def _kind(path: Path) -> int:
    """`stat.S_IFDIR`, `S_IFREG`, …; 0 where there is nothing, or nothing we may look at."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return 0


def is_locked(repository: GitDirectory) -> bool:
    """Whether git is changing the index (`index.lock`), as during a checkout."""
    return _kind(repository.directory / "index.lock") != 0


def is_work_tree(repository: GitDirectory) -> bool:
    """Whether the repository knows the folder: its own, a submodule, or one that `git worktree add` made.

    A `.git` file is written by whoever made the folder; that the common directory names the folder is git's word.
    """
    mark = repository.work_tree / ".git"
    if repository.common == repository.directory:
        return repository.directory == mark or _is_same(named_work_tree(repository.common), repository.work_tree)
    known = _read(repository.directory / "gitdir").strip()
    try:
        return (
            bool(known)
            and repository.directory.resolve().parent == (repository.common / "worktrees").resolve()
            and (repository.directory / known).resolve() == mark.resolve()
        )
    except (OSError, RuntimeError):
        return False


def named_work_tree(common: Path) -> Path | None:
    """The work tree that a git directory elsewhere names as its own, as that of a submodule does; None without."""
    section = ""
    named = ""
    for line in _read(common / "config").splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text.partition("]")[0].strip("[ \t").lower()
        key, equals, value = text.partition("=")
        if section == "core" and equals and key.strip().lower() == "worktree":
            named = value.strip().strip('"')
    return common / named if named else None


def work_tree_marks(common: Path) -> set[Path]:
    """The `.git` files of the work trees that a repository knows beside its own, where they stood last."""
    try:
        folders = [each for each in (common / "worktrees").iterdir() if each.is_dir()]
    except OSError:
        return set()
    return {folder / known for folder in folders if (known := _read(folder / "gitdir").strip())}


def is_shallow(repository: GitDirectory) -> bool:
    """Whether the history was cut off when it was cloned."""
    return _kind(repository.common / "shallow") != 0


def shallow_commits(repository: GitDirectory) -> frozenset[str]:
    """The commits a shallow clone ends at: git shows them as if they had brought in every file."""
    return frozenset(_read(repository.common / "shallow", _MAX_PACKED_REFS).split())


def _is_same(folder: Path | None, other: Path) -> bool:
    """Whether two paths are one folder, symbolic links resolved."""
    try:
        return folder is not None and folder.resolve() == other.resolve()
    except (OSError, RuntimeError):
        return False


def _common(directory: Path) -> Path:
    """Common git directory that worktrees share (`commondir`)."""
    pointer = _read(directory / "commondir").strip()
    return directory / pointer if pointer else directory


def _packed(common: Path, ref: str) -> str | None:
    """Commit of a packed ref (`packed-refs`)."""
    text = _read(common / "packed-refs", _MAX_PACKED_REFS)
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(ref)}$", text, re.MULTILINE)
    return found.group(1) if found else None


def _read(file: Path, limit: int = _MAX_POINTER) -> str:
    """Bounded read of one of git's small files; "" where there is none."""
    try:
        content = read_prefix(str(file), limit, follow=True)
    except (OSError, NotARegularFile):
        return ""
    return content.partition(b"\0")[0].decode("utf-8", "surrogateescape")  # where git's own reading ends, too
