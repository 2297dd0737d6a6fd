"""What git knows of a workspace: HEAD, and when each file was committed (AURORA §9.2, "git signal extraction").

Only the `git` program reads objects. It runs without a shell, with everything a repository's own configuration could
make it start switched off, at low priority, for a bounded time, with bounded output.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from msgspec import Struct

from aurora_indexer.gitdir import find_git_directory, is_shallow, read_head
from aurora_indexer.gitlog import FORMAT, FileHistory, LogReader

__all__ = ["FileHistory", "History", "excludes_file", "head", "history", "root_commit"]

ANSWER_SECONDS = 5.0
MAX_LOG_BYTES = 256 << 20
_READ_BYTES = 64 << 10
_NICENESS = 10

_SAFE = (
    "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat -c core.sshCommand=false -c diff.external="
    " -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c credential.helper= --no-pager"
)
_COMMAND = ("git", *_SAFE.split())

_KEPT_VARIABLES = frozenset({"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP"})
_SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


class History(Struct, frozen=True):
    """What one pass over the log gave: `files` by path relative to the root, from the newest `commits` commits.

    `complete` is false when a bound was met first or the clone is shallow. `problem` says why there is nothing.
    """

    files: dict[str, FileHistory]
    commits: int = 0
    complete: bool = False
    problem: str | None = None


def head(root: Path, *, environment: Mapping[str, str] = os.environ) -> str | None:
    """The commit HEAD is at, or None (no repository, no commit yet). Blocks for a few file reads, rarely a process."""
    repository = find_git_directory(root)
    found = read_head(repository) if repository else None
    if found is None or not found.needs_git:
        return found.commit if found else None
    try:
        done = subprocess.run(
            [*_COMMAND, "rev-parse", "--verify", "--quiet", "HEAD"],
            cwd=root,
            env=_clean(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("ascii", "replace").strip() or None


async def history(
    root: Path,
    *,
    max_commits: int = 2000,
    seconds: float = 10.0,
    environment: Mapping[str, str] = os.environ,
) -> History:
    """Read the newest commits once: for each file below `root` when it was committed, and its last commit.

    Merges and renames are not looked into. Never raises for what a repository may be like: see `History.problem`.
    """
    repository = find_git_directory(root)
    if repository is None:
        return History({}, problem="Not a git repository.")
    arguments = ["log", "-z", "--name-only", "--no-renames", "--no-merges", "--no-ext-diff", "--no-textconv"]
    arguments += ["--no-show-signature", "--no-color", "--ignore-submodules=all", f"--max-count={max_commits}"]
    arguments += [f"--format={FORMAT}", "--relative"]
    if repository.work_tree != root:
        arguments += ["--", "."]
    reader = LogReader()
    problem = None
    finished = False
    try:
        async with asyncio.timeout(seconds), _running(root, arguments, environment) as process:
            finished, problem = await _follow(process, reader)
    except TimeoutError:
        pass
    except OSError as error:
        problem = f"git cannot be run: {error.strerror or error}."
    complete = finished and problem is None and reader.commits < max_commits and not is_shallow(repository)
    return History(await asyncio.to_thread(reader.files), reader.commits, complete, problem)


async def root_commit(root: Path, *, environment: Mapping[str, str] = os.environ) -> str | None:
    """The first commit of HEAD's history, which tells one project from another wherever it is cloned; None without.

    Of several roots, the one reached by first parents. None, too, for shallow clones: theirs is not the first.
    """
    repository = find_git_directory(root)
    if repository is None or is_shallow(repository):
        return None
    arguments = ["rev-list", "--first-parent", "--max-parents=0", "HEAD"]
    return (await _answer(root, arguments, environment)).split("\n", 1)[0] or None


async def excludes_file(*, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The user's global ignore file (`core.excludesFile`, or git's default place), if there is one."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    named = ""
    if home:
        arguments = ["config", "--global", "--type=path", "--get", "core.excludesFile"]
        named = (await _answer(Path(home), arguments, environment)).strip("\n")
    default = Path(environment.get("XDG_CONFIG_HOME") or f"{home}/.config", "git", "ignore")
    file = Path(named) if named else default
    return file if file.is_absolute() and await asyncio.to_thread(file.is_file) else None


async def _answer(root: Path, arguments: list[str], environment: Mapping[str, str]) -> str:
    """What git says on stdout, "" where it fails, takes too long or isn't there."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS), _running(root, arguments, environment) as process:
            assert process.stdout is not None
            said = await process.stdout.read(_READ_BYTES)
            return said.decode("utf-8", "replace") if await process.wait() == 0 else ""
    except (OSError, TimeoutError):
        return ""


async def _follow(process: Process, reader: LogReader) -> tuple[bool, str | None]:
    """Feed the log to `reader`, in pieces that keep the event loop free; whether it ended, and git's complaint."""
    assert process.stdout is not None
    assert process.stderr is not None
    taken = 0
    while piece := await process.stdout.read(_READ_BYTES):
        taken += len(piece)
        if taken > MAX_LOG_BYTES:
            return False, None
        reader.feed(piece)
    complaint = (await process.stderr.read(_READ_BYTES)).decode("utf-8", "replace").strip()
    if await process.wait() == 0:
        return True, None
    if "does not have any commits" in complaint:
        return True, "There are no commits yet."
    return True, f"git log failed: {complaint.splitlines()[0] if complaint else 'no reason given'}"


@contextlib.asynccontextmanager
async def _running(root: Path, arguments: list[str], environment: Mapping[str, str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, *arguments, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=root, env=_clean(environment), limit=1 << 20
    )
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.shield(process.wait())


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.upper() in _KEPT_VARIABLES} | _SETTINGS
