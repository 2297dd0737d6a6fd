"""Chain of commits (first-parent history) that a walk follows, and what merges brought in: hashes and subjects only,
which cost little.

On the first-parent line a merge stands for its whole branch; its own message says "Merge branch", its commits say what
was done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_indexer.git import commands
from aurora_indexer.git.function_history import WalkedCommit

MAX_CHAIN = 20_000
MAX_SIDE_COMMITS = 20_000
MAX_SUBJECTS = 50
"""Subjects of its branch that are kept of a merge."""

CHAIN_SECONDS = 20.0
_TRAILER = ("signed-off-by:", "co-authored-by:", "reviewed-by:", "acked-by:", "tested-by:", "change-id:")


class ChainLink(Struct, frozen=True, gc=False):
    """A commit of the first-parent line. `at` in Unix seconds."""

    hash: str
    at: int
    merge: bool
    first: bool = False
    """Whether it has no parent, so that a line which ends elsewhere was cut off."""


async def first_parents(root: Path, head: str) -> list[ChainLink]:
    """The first-parent line from `head` on, newest first; empty where git cannot tell. Raises GitSilent."""
    arguments = ["log", "--first-parent", "--no-show-signature", f"--max-count={MAX_CHAIN}", "--format=%H %ct %P", head]
    said = await commands.told(root, arguments, seconds=CHAIN_SECONDS, partly=True)
    return await asyncio.to_thread(_line, said or b"")


def _line(said: bytes) -> list[ChainLink]:
    """Parser of git log's lines: hash, commit time and parents."""
    lines = (line.split() for line in said.decode("ascii", "replace").splitlines())
    return [
        ChainLink(words[0], int(words[1]), len(words) > 3, len(words) == 2)
        for words in lines
        if len(words) > 1 and words[1].isdigit()
    ]


async def merged_subjects(root: Path, line: Sequence[ChainLink], before: str | None) -> dict[str, list[str]]:
    """For each merge on the line the subjects of the commits it brought in, newest first.

    `before` is the commit behind the line, None at the first one.
    """
    if not any(link.merge for link in line):
        return {}
    arguments = ["log", "--no-show-signature", "--encoding=UTF-8", f"--max-count={MAX_SIDE_COMMITS}"]
    arguments += ["--format=%x00%H%x00%P%x00%s", line[0].hash, *([f"^{before}"] if before else [])]
    said = await commands.answer(root, arguments, seconds=CHAIN_SECONDS)
    return await asyncio.to_thread(lambda: branches([link.hash for link in line if link.merge], _graph(said or b"")))


def _graph(said: bytes) -> dict[str, tuple[list[str], str]]:
    """Each commit's parents and subject."""
    fields = said.decode("utf-8", "replace").split("\0")[1:]
    return {fields[n]: (fields[n + 1].split(), fields[n + 2].removesuffix("\n")) for n in range(0, len(fields) - 2, 3)}


def branches(merges: Sequence[str], graph: Mapping[str, tuple[Sequence[str], str]]) -> dict[str, list[str]]:
    """Traversal of the commit graph (DAG): give every side commit to the oldest merge that has it. `merges`: newest
    first; `graph`: parents and subject.
    """
    taken: set[str] = set(_first_line(merges, graph))
    found: dict[str, list[str]] = {}
    for merge in reversed(merges):
        subjects: list[str] = []
        waiting = list(reversed(graph[merge][0][1:])) if merge in graph else []
        while waiting:
            commit = waiting.pop()
            if commit in taken or commit not in graph:
                continue
            taken.add(commit)
            parents, subject = graph[commit]
            if len(subjects) < MAX_SUBJECTS and len(parents) < 2:
                subjects.append(subject)
            waiting.extend(reversed(parents))
        found[merge] = subjects
    return found


def _first_line(merges: Sequence[str], graph: Mapping[str, tuple[Sequence[str], str]]) -> Iterable[str]:
    """First-parent history of a graph."""
    commit = merges[0] if merges else ""
    while commit in graph:
        yield commit
        commit = graph[commit][0][0] if graph[commit][0] else ""


def told(commit: WalkedCommit, subjects: Sequence[str]) -> tuple[str, str]:
    """A commit's subject and message as people and search want them: of a merge, what its branch says."""
    lines = [line for line in commit.body.splitlines() if not line.lower().startswith(_TRAILER)]
    message = "\n".join([*lines, *subjects]).strip()
    if len(commit.parents) < 2 or not commit.subject.startswith("Merge "):
        return commit.subject, message
    title = next((line.strip() for line in [*lines, *subjects] if line.strip()), "")
    return title or commit.subject, message
