"""Git commands (subprocess) about a workspace, hardened and with a timeout: HEAD, and logs as they stream out (AURORA
§9.2, "git signal extraction").

Only the `git` program reads objects. It runs without a shell, with everything a repository's own configuration could
make it start switched off, at low priority, for a bounded time, with bounded output.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from aurora_indexer import IndexerError
from aurora_indexer.files.gitdir import find_git_directory, is_shallow, read_head

ANSWER_SECONDS = 5.0
GONE_SECONDS = 1.0
"""Seconds from a git's end to that of its pipes."""
MAX_ANSWER_BYTES = 64 << 20
MAX_LOG_BYTES = 1 << 30
_READ_BYTES = 64 << 10
_NICENESS = 10
_UNKNOWN = 255
"""Status that asyncio makes up for a process that somebody else has waited for."""

_SAFE = (
    "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat -c core.sshCommand=false -c diff.external="
    " -c log.showSignature=false -c gpg.program=false -c protocol.allow=never -c credential.helper="
    " -c log.showRoot=true -c core.quotePath=false -c core.bigFileThreshold=4m -c diff.relative=false"
    " -c diff.orderFile=/dev/null --no-pager"
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


class GitSilent(IndexerError):
    """Error of a git that was asked and did not say: it took too long, was killed, or could not be started."""


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


def is_installed() -> bool:
    """Whether there is a git to ask."""
    return shutil.which(_COMMAND[0]) is not None


class GitOutput:
    """Output of a running git, in pieces; `whole` once it has said everything and succeeded."""

    def __init__(self, process: Process, deadline: float) -> None:
        self.whole = False
        self.failed = False
        """Whether git gave up, as where an object is missing, not we."""
        self._process = process
        self._deadline = deadline

    async def pieces(self) -> AsyncIterator[bytes]:
        """At most `MAX_LOG_BYTES`, until the time is over. A failing git just stops; what came before holds."""
        taken = 0
        while piece := await self._piece():
            taken += len(piece)
            if taken > MAX_LOG_BYTES:
                return
            yield piece
        self.whole = self._process.returncode == 0
        self.failed = self._process.returncode not in (0, None)

    async def _piece(self) -> bytes:
        """Next piece of git's output, read with a timeout; empty at the end."""
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout_at(self._deadline):
                piece = await self._process.stdout.read(_READ_BYTES)
                if not piece:
                    await self._process.wait()
                return piece
        except TimeoutError:
            return b""


@contextlib.asynccontextmanager
async def streaming(
    root: Path, arguments: Sequence[str], *, deadline: float, environment: Mapping[str, str] = os.environ
) -> AsyncIterator[GitOutput]:
    """Run git for the length of the block, and no longer than to `deadline` (event loop time). Raises OSError."""
    async with _running(root, list(arguments), environment) as process:
        yield GitOutput(process, deadline)


async def answer(
    root: Path,
    arguments: Sequence[str],
    *,
    send: bytes = b"",
    seconds: float = ANSWER_SECONDS,
    partly: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> bytes | None:
    """All git says on stdout; None where it fails, takes too long, says more than `MAX_ANSWER_BYTES` or isn't there.

    `partly`: what a git said that fails then, as where an object is missing, is taken.
    """
    try:
        return await told(root, arguments, send=send, seconds=seconds, partly=partly, environment=environment)
    except GitSilent:
        return None


async def text(
    root: Path, arguments: Sequence[str], *, seconds: float = ANSWER_SECONDS, errors: str = "surrogateescape"
) -> str:
    """An `answer` as text without the line ends around it, "" for none; `errors` is what becomes of bytes that are no
    UTF-8: by default, what names a file still does.
    """
    said = await answer(root, arguments, seconds=seconds)
    return (said or b"").decode("utf-8", errors).strip("\n")


async def told(
    root: Path,
    arguments: Sequence[str],
    *,
    send: bytes = b"",
    seconds: float = ANSWER_SECONDS,
    partly: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> bytes | None:
    """Answer of a git command: all that it says on stdout; None where it says that there is nothing (it fails), says
    more than `MAX_ANSWER_BYTES` or isn't there. For those to whom nothing means something: raises GitSilent where it is
    not known.
    """
    try:
        async with asyncio.timeout(seconds), _running(root, list(arguments), environment, PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            sending = asyncio.create_task(_send(process, send))
            try:
                said = bytearray()
                while piece := await process.stdout.read(_READ_BYTES):
                    said += piece
                    if len(said) > MAX_ANSWER_BYTES:
                        return None
                status = await process.wait()
                if status == 0 or (partly and said):
                    return bytes(said)
                if status < 0 or status == _UNKNOWN:
                    raise GitSilent(f"git {arguments[0]} was killed; try again")
                return None
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
    except TimeoutError as error:
        raise GitSilent(f"git {arguments[0]} took longer than {seconds:g} s; try again") from error
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        raise GitSilent(f"git cannot be started: {error.strerror}; try again") from error


async def root_commit(root: Path, *, environment: Mapping[str, str] = os.environ) -> str | None:
    """The first commit of HEAD's history, which tells one project from another wherever it is cloned; None without.

    Of several roots, the one reached by first parents. None, too, for shallow clones: theirs is not the first.
    """
    repository = find_git_directory(root)
    if repository is None or is_shallow(repository):
        return None
    arguments = ["rev-list", "--first-parent", "--max-parents=0", "HEAD"]
    said = await answer(root, arguments, environment=environment)
    return said.decode("ascii", "replace").split("\n", 1)[0] or None if said else None


async def excludes_file(*, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The user's global ignore file (`core.excludesFile`, or git's default place), if there is one."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    named = ""
    if home:
        arguments = ["config", "--global", "--type=path", "--get", "core.excludesFile"]
        named = (await answer(Path(home), arguments, environment=environment) or b"").decode("utf-8", "replace")
        named = named.strip("\n")
    default = Path(environment.get("XDG_CONFIG_HOME") or f"{home}/.config", "git", "ignore")
    file = Path(named) if named else default
    return file if file.is_absolute() and await asyncio.to_thread(file.is_file) else None


async def _send(process: Process, what: bytes) -> None:
    """Input to git's stdin, which is closed then."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(what)
        await process.stdin.drain()
    process.stdin.close()


@contextlib.asynccontextmanager
async def _running(
    root: Path, arguments: list[str], environment: Mapping[str, str], stdin: int = DEVNULL
) -> AsyncIterator[Process]:
    """Subprocess of git, at low priority, killed and reaped at the end."""
    process = await asyncio.create_subprocess_exec(
        *_COMMAND,
        *arguments,
        stdin=stdin,
        stdout=PIPE,
        stderr=DEVNULL,
        cwd=root,
        env=_clean(environment),
        limit=1 << 20,
        start_new_session=True,
    )
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    try:
        yield process
    finally:
        _kill(process)
        await asyncio.shield(_gone(process))


def _kill(process: Process) -> None:
    """End of git's process group, of what it started too: who stands for it, a script say, may be waiting for
    another.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)  # its number is its group's for as long as anybody is in that
        else:
            process.kill()


async def _gone(process: Process) -> None:
    """Wait for its end; not for what left its group and holds its pipes open, for which asyncio would wait, too."""
    try:
        async with asyncio.timeout(GONE_SECONDS):
            await process.wait()
    except TimeoutError:
        process._transport.close()  # type: ignore[attr-defined]  # there is no other way to let go of the pipes
        await process.wait()


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Environment variables that git gets: few of ours, and the hardening ones."""
    return {name: value for name, value in environment.items() if name.upper() in _KEPT_VARIABLES} | _SETTINGS
