"""Authorship of a place (git blame): which developers wrote its lines, and who made the commits that touched it, first
to last, by git (`.mailmap` too).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git import commands

BLAME_SECONDS = 10.0
_NOBODY = "0" * 40


class Authored(Struct, frozen=True):
    """Commit and its author. `email` is the one that counts, `raw_email` the one in the commit. `at`: Unix seconds."""

    commit: str
    email: str
    raw_email: str
    name: str
    at: float


class LineCommits(Struct, frozen=True):
    """Lines of a place: how many stand there by each commit, and how many are in no commit yet."""

    by_commit: Mapping[str, int]
    uncommitted: int


async def authors(
    root: Path, commits: Collection[str], *, environment: Mapping[str, str] = os.environ
) -> list[Authored]:
    """Authors of those commits; one that is not in the repository any more is left out."""
    if not commits:
        return []
    arguments = ["log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--format=%H%x00%aE%x00%ae%x00%aN%x00%at"]
    send = "".join(f"{commit}\n" for commit in commits).encode()
    said = await commands.answer(root, arguments, send=send, partly=True, environment=environment)
    found: list[Authored] = []
    for line in (said or b"").decode("utf-8", "replace").split("\n"):
        parts = line.split("\0")
        if len(parts) == 5 and parts[4].lstrip("-").isdigit():
            commit, email, raw, name, at = parts
            found.append(Authored(commit, email.strip().lower(), raw.strip().lower(), name[:200], float(at)))
    return found


async def lines_of(
    root: Path, path: str, first: int, last: int, *, environment: Mapping[str, str] = os.environ
) -> LineCommits | None:
    """Whose the lines `first` to `last` of a file are, as it stands now; None where git cannot tell (in time)."""
    arguments = ["blame", "--line-porcelain", "-L", f"{first},{last}", "--", path]
    said = await commands.answer(root, arguments, seconds=BLAME_SECONDS, environment=environment)
    if said is None:
        return None
    counts: dict[str, int] = {}
    begins = True  # a header begins each line, which a tab begins in turn
    for line in said.split(b"\n"):
        if line.startswith(b"\t"):
            begins = True
        elif begins and line:
            commit = line.split(b" ", 1)[0].decode("ascii", "replace")
            counts[commit] = counts.get(commit, 0) + 1
            begins = False
    return LineCommits(counts, counts.pop(_NOBODY, 0))
