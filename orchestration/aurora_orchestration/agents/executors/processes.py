"""Subprocess of an agent, under its supervisor: started without a shell, written to, read from line by line, and killed
for certain (SIGTERM, then SIGKILL).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_orchestration import OrchestrationError

if TYPE_CHECKING:
    import psutil

GRACE_SECONDS = 2.0
MAX_LINE = 8 << 20
MAX_STDERR = 16 << 10
"""Bytes of its standard error that are kept."""

MAX_COMPLAINTS = 64 << 20
"""Bytes of standard error after which an agent is ended."""

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_LAST_RESORT_SECONDS = 3.0
_POLL_SECONDS = 0.01


class AgentError(OrchestrationError):
    """An agent cannot be run, broke off, or answered nothing usable; the message is one line."""


class Flood(AgentError):
    """An agent wrote more than an answer can need."""


class AgentProcess:
    """Process of a running agent. Every process it started ends with it, also when the daemon is killed."""

    def __init__(self, process: asyncio.subprocess.Process, lifeline: int, name: str, most: int) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.stdin, self._stdout = process.stdin, process.stdout
        self._process = process
        self._lifeline = lifeline
        self._name = name
        self._left = most
        self._said = b""
        self._ended = False
        self._flooded = False
        self._listening = asyncio.ensure_future(self._listen(process.stderr))

    async def line(self) -> bytes:
        """The next line of its output, without the break; empty at the end. Raises `Flood`."""
        try:
            line = await self._stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as ended:
            line = ended.partial
        except asyncio.LimitOverrunError as error:
            raise Flood(f"agent {self._name}: wrote a line of more than {MAX_LINE >> 20} MiB; it was ended") from error
        self._left -= len(line)
        if self._left < 0 or self._flooded:
            raise Flood(f"agent {self._name}: wrote more than an answer can hold; it was ended")
        return line.removesuffix(b"\n") or line

    async def write(self, data: bytes) -> None:
        """Write to its input, waiting while its pipe is full (backpressure). That it is closed is no error here."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.stdin.write(data)
            await self.stdin.drain()

    async def code(self) -> int:
        """Its exit code, once it has ended."""
        # Not `wait()`, which also waits until everything it wrote was read: a flood would keep that from ever coming.
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio has no event for that
            await asyncio.sleep(_POLL_SECONDS)
        return self._process.returncode

    def complaint(self) -> str:
        """What it wrote last to its standard error, in one line of at most 300 characters."""
        lines = [line.strip() for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()]
        last = " ".join(lines[-1:])[-300:]
        return "".join(sign if sign.isprintable() else "\ufffd" for sign in last)

    async def end(self) -> None:
        """End it and all it started: they are asked, and killed two seconds later. Done even if this is cancelled."""
        await _finished(asyncio.ensure_future(self._end()))

    async def _end(self) -> None:
        """Kill the process tree for certain, also those that left its process group."""
        # Only Linux lets the supervisor find processes that left its group for a session of their own.
        strays = [] if sys.platform == "linux" else await asyncio.to_thread(_tree, self._process.pid)
        self._close_lifeline()
        self.stdin.close()
        try:
            await asyncio.wait_for(self.code(), GRACE_SECONDS + _LAST_RESORT_SECONDS)
        except TimeoutError:
            strays += await asyncio.to_thread(_tree, self._process.pid)
        if strays:
            await asyncio.to_thread(_kill, strays)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.code(), _LAST_RESORT_SECONDS)
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listening
        # asyncio keeps the pipes open for as long as anybody holds their other ends.
        self._process._transport.close()  # type: ignore[attr-defined]

    def _close_lifeline(self) -> None:
        """Lifeline closed: have the supervisor end the agent."""
        if not self._ended:
            self._ended = True
            os.close(self._lifeline)

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        """Standard error drained, its end kept; a flood of it ends the agent."""
        heard = 0
        while piece := await stderr.read(1 << 16):
            self._said = (self._said + piece)[-MAX_STDERR:]
            heard += len(piece)
            if heard > MAX_COMPLAINTS:
                self._flooded = True
                self._close_lifeline()
                return


async def start(
    name: str,
    command: str,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    seconds: float,
    most: int,
) -> AgentProcess:
    """Subprocess of `command` (a path, or a name on the environment's PATH) in `folder`. Raises `AgentError`.

    `most` bounds its output in bytes, `seconds` (of the processor, four times over) its work. No shell is involved.
    """
    if os.name != "posix":
        raise AgentError(f"agent {name}: programs are run on Linux and macOS only; give it an http endpoint instead")
    program = shutil.which(command, path=environment.get("PATH", ""))
    if program is None:
        raise AgentError(f"agent {name}: there is no program {command}; mend its path, then run: aurora agents refresh")
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            os.fspath(_SUPERVISOR),
            str(reading),
            str(GRACE_SECONDS),
            str(int(4 * seconds) + 60),
            program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            pass_fds=(reading,),
            start_new_session=True,
            limit=MAX_LINE,
        )
    except (OSError, ValueError) as error:
        os.close(writing)
        raise AgentError(f"agent {name}: cannot be started: {error}") from error
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return AgentProcess(process, writing, name, most)


async def _finished(task: asyncio.Future[None]) -> None:
    """Shield from cancellation: wait for `task` also while being cancelled, and be cancelled then."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


def _tree(pid: int) -> list[psutil.Process]:
    """A process and all that can be found below it, the lowest last."""
    import psutil

    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _kill(processes: list[psutil.Process]) -> None:
    """Kill signal to those that are still there; psutil knows when a number has passed to another process."""
    import psutil

    for each in reversed(processes):
        with contextlib.suppress(psutil.Error):
            each.kill()
