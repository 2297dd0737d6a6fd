"""Branch that headless mode may work on: no protected branch (`main`, `master`), and one that keeps an experiment apart
(§9.8).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from aurora_indexer.files.gitdir import find_git_directory, read_head
from aurora_indexer.git import commands
from aurora_orchestration import OrchestrationError
from aurora_orchestration.settings import HeadlessSettings

PROTECTED = frozenset({"main", "master"})
_HEADS = "refs/heads/"


class WrongBranch(OrchestrationError):
    """Headless mode may not work here; nothing was run."""


async def current_branch(root: Path) -> str | None:
    """The branch checked out at `root`; "" where HEAD is detached, None without a repository. Only reads."""
    repository = await asyncio.to_thread(find_git_directory, root)
    head = await asyncio.to_thread(read_head, repository) if repository else None
    if head is None:
        return None
    if head.needs_git:
        return (await commands.text(root, ["symbolic-ref", "--quiet", "HEAD"])).removeprefix(_HEADS)
    return head.ref.removeprefix(_HEADS)


async def allow(root: Path, settings: HeadlessSettings) -> str:
    """Protected branch check: the branch that headless mode works on, if it may work there.

    `main` and `master` never, whatever is configured; with `enforce_branch_check` only `required_branch`. Raises
    `WrongBranch`, also without a repository and where HEAD is detached: neither keeps an experiment apart.
    """
    branch = await current_branch(root)
    required = settings.required_branch
    create = f"git checkout -b {required if required.lower() not in PROTECTED else 'headless'}"
    if branch is None:
        raise WrongBranch(f"{root}: headless mode requires a git repository. Run: git init && {create}")
    needs = (
        f"headless mode requires '{required}' branch" if settings.enforce_branch_check else "headless mode needs one"
    )
    if not branch:
        raise WrongBranch(f"{root} is on no branch (detached HEAD); {needs}. Run: {create}")
    if branch.lower() in PROTECTED:
        raise WrongBranch(f"{root} is on '{branch}', where headless mode never works; {needs}. Run: {create}")
    if settings.enforce_branch_check and branch != required:
        raise WrongBranch(f"{root} is on '{branch}'. Headless mode requires '{required}' branch. Run: {create}")
    return branch
