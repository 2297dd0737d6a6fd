"""Work tree of an experiment (audit of an agent's git activity: commits, pushes, force pushes, rewritten history): what
git shows of it before and after an iteration, and so what was really done.

What agents say of their work is no evidence; branches, commits and files are (AURORA §9.8, "Git Branch Isolation").
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_indexer.git import commands
from aurora_indexer.git.local_remotes import Published, published, published_since
from aurora_orchestration.guardrails.redaction import redact

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"
MAX_COMMITS = 50
MAX_FILES = 200
MAX_REFS = 10
"""Refs beside branches that are named one by one."""

MAX_DIFF = 12_000
"""Characters of a diff that a judge is shown."""

MAX_HASHED = 16 << 20
"""Bytes of a file that are read to see whether it changed."""

_NO_COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The empty tree: what a branch without a commit is compared with."""


class TreeState(Struct, frozen=True, kw_only=True):
    """State of a work tree: branch ("" where HEAD is detached), commit, where every branch is, uncommitted files.

    `others` are the refs beside branches: tags, notes, the stash, and whatever an agent may think of. `published` is
    what remotes on this machine have.

    `repository` is the folder git keeps it in ("" where there is none). `files` maps each changed or untracked file to
    what git says of it and a digest of its bytes. `moves` counts HEAD's steps as its reflog has them.
    """

    repository: str
    branch: str
    head: str
    branches: dict[str, str]
    remotes: dict[str, str]
    files: dict[str, str]
    moves: int
    others: dict[str, str] = {}
    published: Published = {}

    @property
    def digest(self) -> str:
        """Equal for states with the same commit and the same uncommitted files."""
        told = "\0".join((self.branch, self.head, *(f"{name}\1{state}" for name, state in sorted(self.files.items()))))
        return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=12).hexdigest()


class Changes(Struct, frozen=True, kw_only=True):
    """Changes between two states of a work tree.

    `commits` are the branch's new ones, newest first, `files` all that differ, committed or not. `left` says in words
    how agents left the branch, "" where they stayed on it; `forbidden` what else they did that they may not; `noted`
    what happened beside the branch, by them or by somebody who works in another work tree. `repository`: it is still
    the one that it was.
    """

    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    diff: str = ""
    left: str = ""
    forbidden: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    repository: bool = True

    def __bool__(self) -> bool:
        return bool(self.commits or self.files)

    @property
    def line(self) -> str:
        """The changes in a line of a scratchpad."""
        found = "none: no commit, no changed file"
        if self:
            shown = ", ".join(self.files[:8]) + ("…" if len(self.files) > 8 else "")
            counted = f"{_counted(len(self.commits), 'commit')}, {_counted(len(self.files), 'changed file')}"
            found = f"{counted} ({shown})" if shown else counted
        return "; ".join((found, *self.forbidden, *self.noted))


async def look(root: Path, *, without: Sequence[Path] = ()) -> TreeState:
    """The work tree at `root` as git and its files show it now; `without` are files that do not count (our notes)."""
    repository = await _ask(root, "rev-parse", "--absolute-git-dir")
    branch = await _ask(root, "symbolic-ref", "--quiet", "HEAD")
    listed = await _ask(root, "for-each-ref", "--format=%(objectname) %(refname)")
    refs = {name: commit for commit, _, name in (line.partition(" ") for line in listed.splitlines())}
    head = refs.get(branch) or await _ask(root, "rev-parse", "--quiet", "--verify", "HEAD")
    status = await _ask(
        root, *await _without_filters(root), "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"
    )
    moves = await _ask(root, "rev-list", "--walk-reflogs", "--count", "HEAD") if head else "0"
    return TreeState(
        repository=repository,
        branch=branch.removeprefix(HEADS),
        head=head,
        branches={name.removeprefix(HEADS): commit for name, commit in refs.items() if name.startswith(HEADS)},
        remotes={name.removeprefix(REMOTES): commit for name, commit in refs.items() if name.startswith(REMOTES)},
        files=await asyncio.to_thread(_files, root, status, without),
        moves=int(moves) if moves.isdecimal() else 0,
        others={name: commit for name, commit in refs.items() if not name.startswith((HEADS, REMOTES))},
        published=await published(root),
    )


async def changes(
    root: Path, before: TreeState, after: TreeState, *, push: bool, merge: bool, checkout: bool
) -> Changes:
    """What happened between two looks; `push`, `merge` and `checkout` say what agents may do."""
    if replaced := await _replaced(root, before, after):
        return Changes(left=replaced, repository=False)
    # A tree without a commit is compared with nothing; one that went back shows what came on top all the same.
    base = before.head or _NO_COMMIT
    span = f"{before.head}..{after.head}" if before.head else after.head
    commits: list[str] = []
    committed: list[str] = []
    if after.head and after.head != before.head:
        commits = (await _ask(root, "log", f"--max-count={MAX_COMMITS}", "--format=%h %s", span)).splitlines()
        committed = [
            name for name in (await _ask(root, "diff", "--name-only", "-z", base, after.head)).split("\0") if name
        ]
    uncommitted = [name for name in {**before.files, **after.files} if before.files.get(name) != after.files.get(name)]
    files = tuple(dict.fromkeys((*committed, *sorted(uncommitted))))[:MAX_FILES]
    pushed, moved = await published_since(root, before.published, after.head)
    return Changes(
        commits=tuple(redact(each, pii=False).text[:300] for each in commits),
        files=files,
        diff=await _diff(root, base, files, after) if files else "",
        left="" if checkout and before.branch == after.branch else await _left(root, before, after, checkout=checkout),
        forbidden=(
            *(await _merged(root, span, after, merge=merge)),
            *(await _pushed(root, before, after, push=push) or ([] if push else pushed)),
        ),
        noted=(
            *(await _taken_back(root, before, after)),
            *_other_branches(before, after),
            *_other_refs(before, after),
            *moved,
        ),
    )


async def _replaced(root: Path, before: TreeState, after: TreeState) -> str:
    """How the repository itself went, in words; "" where it is the one that it was."""
    if not after.repository:
        return "an agent deleted the repository"
    # One that was begun anew in its place has none of its commits; what was amended or reset is kept for weeks.
    known = not before.head or await _ask(root, "rev-parse", "--quiet", "--verify", f"{before.head}^{{commit}}")
    if after.repository != before.repository or not known:
        return "an agent put another repository in the place of this one"
    return ""


async def _left(root: Path, before: TreeState, after: TreeState, *, checkout: bool) -> str:
    """How the branch was left, in words."""
    if after.branch != before.branch:
        where = f"for '{after.branch}'" if after.branch else "(HEAD is detached)"
        made = await _ask(root, "rev-list", "--count", f"{before.head}..{after.head}") if before.head else "0"
        there = f", with {_counted(int(made), 'commit')} there" if made.isdecimal() and made != "0" else ""
        return f"an agent left branch '{before.branch}' {where}{there}"
    if checkout or after.moves <= before.moves:
        return ""
    steps = await _ask(
        root, "log", "--walk-reflogs", f"--max-count={after.moves - before.moves}", "--format=%gs", "HEAD"
    )
    away = [step for step in steps.splitlines() if step.startswith("checkout: moving from ")]
    others = [step for step in away if not step.endswith(f" from {before.branch} to {before.branch}")]
    # Somebody who was away and has come back may have worked there; our own guard brings back without a commit.
    moved = _other_branches(before, after)
    return f"an agent left branch '{before.branch}' and came back: {moved[0]}" if others and moved else ""


def _other_branches(before: TreeState, after: TreeState) -> list[str]:
    """Other branches that were made, moved or deleted."""
    found = []
    for name in sorted({*before.branches, *after.branches} - {before.branch}):
        old, new = before.branches.get(name), after.branches.get(name)
        if old != new:
            found.append(f"branch '{name}' was {'made' if old is None else 'deleted' if new is None else 'moved'}")
    return found


def _other_refs(before: TreeState, after: TreeState) -> list[str]:
    """Refs beside branches that were made, moved or deleted: a commit may be kept in any of them."""
    found = []
    for name in sorted({*before.others, *after.others}):
        old, new = before.others.get(name), after.others.get(name)
        if old != new:
            found.append(f"{name} was {'made' if old is None else 'deleted' if new is None else 'moved'}")
    return found[:MAX_REFS] + ([f"{len(found) - MAX_REFS} more refs were changed"] if len(found) > MAX_REFS else [])


async def _taken_back(root: Path, before: TreeState, after: TreeState) -> list[str]:
    """Commits that the branch had and has no more: history was rewritten."""
    if not before.head or not after.head or before.head == after.head or before.branch != after.branch:
        return []
    gone = await _ask(root, "rev-list", "--count", f"{after.head}..{before.head}")
    return [f"{_counted(int(gone), 'commit')} of the branch taken back"] if gone.isdecimal() and gone != "0" else []


async def _merged(root: Path, span: str, after: TreeState, *, merge: bool) -> list[str]:
    """Merge commits that were made, where agents may not merge."""
    if merge or not after.head:
        return []
    found = await _ask(root, "log", "--merges", "--max-count=3", "--format=%h %s", span)
    return [f"merged ({line[:100]})" for line in found.splitlines()]


async def _pushed(root: Path, before: TreeState, after: TreeState, *, push: bool) -> list[str]:
    """Pushes, as the reflogs of remote-tracking branches tell them from what was fetched."""
    found = []
    for name, commit in sorted(after.remotes.items()):
        own = name.endswith(f"/{before.branch}") or commit == after.head
        if push or not own or before.remotes.get(name) == commit:
            continue
        last = await _ask(root, "log", "--walk-reflogs", "--max-count=1", "--format=%gs", f"{REMOTES}{name}")
        if last.startswith("update by push"):
            found.append(f"pushed to {name}")
    return found


async def _without_filters(root: Path) -> list[str]:
    """Options of git by which nothing is run that a repository configures for the content of its files."""
    found = await _ask(root, "config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$")
    return [part for key in dict.fromkeys(found.splitlines()) for part in ("-c", f"{key}=")]


async def _diff(root: Path, base: str, files: Sequence[str], after: TreeState) -> str:
    """The diff of these files from `base` to what lies on disk, and what new files hold; cut, without secrets."""
    text = await _ask(
        root,
        *await _without_filters(root),
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--stat",
        "--patch",
        base,
        "--",
        *files,
    )
    for name in files:
        if after.files.get(name, "").startswith("??") and len(text) < MAX_DIFF:
            text += f"\nnew file {name}:\n{await asyncio.to_thread(_head_of, root / name)}"
    return redact(text[: 2 * MAX_DIFF], pii=False).text[:MAX_DIFF]


def _files(root: Path, status: str, without: Sequence[Path]) -> dict[str, str]:
    """The changed files of a status, each with its state and a digest of what it holds."""
    # By os: a link that leads to itself is no error.
    left_out = {os.path.realpath(path) for path in without}
    found: dict[str, str] = {}
    for entry in status.split("\0"):
        state, name = entry[:2], entry[3:]
        path = root / name
        if not name or os.path.realpath(path) in left_out:
            continue
        try:
            digest = _digest(path) if path.is_file() else "-"
        except OSError:  # gone meanwhile, or not for us to read: its state says that it changed
            digest = "-"
        found[name] = f"{state} {digest}"
    return found


def _digest(path: Path) -> str:
    """Digest of a file's bytes; of a large one, which may be nothing but holes, of its size and time."""
    with path.open("rb") as file:
        facts = os.fstat(file.fileno())
        if facts.st_size > MAX_HASHED:
            return f"{facts.st_size}-{facts.st_mtime_ns}"
        return hashlib.blake2b(file.read(MAX_HASHED), digest_size=8).hexdigest()


def _head_of(path: Path) -> str:
    """The beginning of a new file; of a link, which may lead to a pipe or out of the repository, nothing."""
    try:
        return read_prefix(str(path), 2_000).decode("utf-8", "replace")
    except (OSError, NotARegularFile):
        return "(cannot be read)"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


async def _ask(root: Path, *arguments: str) -> str:
    """What git says, as it can be written down, "" where it fails."""
    return await commands.text(root, arguments, seconds=20.0, errors="replace")
