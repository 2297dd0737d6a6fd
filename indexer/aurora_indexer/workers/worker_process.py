"""Worker process (subprocess), seen from the daemon: send it a batch, read its replies within a timeout, kill it."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from aurora_indexer import WorkerLost
from aurora_indexer.workers.messages import LENGTH_BYTES, MAX_FRAME, ParseRequest, Ready, Reply, decode_reply, frame
from aurora_protocol.process_state import is_stopped

DECODE_HERE = 128 << 10
"""Larger replies (bytes) are decoded in a thread: the event loop has others to serve."""

START_SECONDS = 60.0

LOOK_EVERY = 2.0
"""Seconds of silence between two looks at a worker's process."""

_PIPE_LIMIT = 1 << 20
_STDERR_LINES = 20


class WorkerProcess:
    """A running worker. `idle_since` is the pool's note (event loop time)."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.idle_since = 0.0
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> WorkerProcess:
        """Start one and wait until it is ready. Raises `WorkerLost`."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, env=dict(environment), limit=_PIPE_LIMIT
            )
        except OSError as error:
            raise WorkerLost(f"A parsing worker cannot be started ({command[0]} in {folder}): {error}") from error
        worker = cls(process)
        try:
            first = await worker._receive(START_SECONDS, "Starting a parsing worker")
            if not isinstance(first, Ready):
                raise WorkerLost("The parsing worker answered before it was asked.")
        except BaseException:
            await asyncio.shield(worker.kill())
            raise
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet, as far as is known."""
        return self._process.returncode is None

    async def send(self, request: ParseRequest, seconds: float) -> None:
        """Hand it a batch. Raises `WorkerLost`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame(request))
            async with asyncio.timeout(seconds):
                await self._process.stdin.drain()
        except TimeoutError:
            raise WorkerLost(f"The parsing worker took no request for {seconds:g} s.") from None
        except (BrokenPipeError, ConnectionResetError):
            raise WorkerLost(await self._last_words()) from None

    async def receive(self, seconds: float) -> Reply:
        """Its next reply, awaited for at most `seconds`. Raises `WorkerLost`."""
        reply = await self._receive(seconds, "Parsing")
        if isinstance(reply, Ready):
            raise WorkerLost("The parsing worker started anew in the middle of its work.")
        return reply

    async def _receive(self, seconds: float, what: str) -> Reply | Ready:
        """Length-prefixed reply, within a timeout and a size limit. Raises WorkerLost."""
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                length = int.from_bytes(await self._head(), "big")
                if length > MAX_FRAME:
                    raise WorkerLost(f"The parsing worker sent a message of {length:,} bytes.")
                body = await self._process.stdout.readexactly(length)
        except TimeoutError:
            raise WorkerLost(f"{what} took longer than {seconds:g} s and was stopped.") from None
        except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
            raise WorkerLost(await self._last_words()) from None
        try:
            return decode_reply(body) if length <= DECODE_HERE else await asyncio.to_thread(decode_reply, body)
        except msgspec.DecodeError as error:
            raise WorkerLost(f"The parsing worker's reply cannot be read: {error}") from error

    async def _head(self) -> bytes:
        """Length of its next reply. A worker that was stopped (SIGSTOP) will not send one, and is killed."""
        assert self._process.stdout is not None
        looks = 0
        while True:
            try:
                # In this task: one of its own for each reply would cost more than taking in a small one.
                async with asyncio.timeout(LOOK_EVERY):
                    return await self._process.stdout.readexactly(LENGTH_BYTES)  # what is there stays, given up or not
            except TimeoutError:
                looks = looks + 1 if is_stopped(self.pid) else 0
                if looks > 1:
                    raise WorkerLost("The parsing worker was stopped (SIGSTOP) in its work.") from None

    async def kill(self) -> None:
        """End it now, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        await self._listener

    async def _last_words(self) -> str:
        """Crash report: why it ended, as far as its exit code and stderr tell."""
        try:
            async with asyncio.timeout(1.0):
                code = await self._process.wait()
                await asyncio.shield(self._listener)
        except TimeoutError:
            return "The parsing worker closed its pipe."
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        words = next((line for line in reversed(self._said) if line), "")
        return f"The parsing worker {how}" + (f": {words}" if words else ".")

    async def _listen(self) -> None:
        """Reader of stderr, of which the last lines are kept."""
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(64 << 10):
            self._said.extend(line.strip()[:500] for line in piece.decode("utf-8", "replace").splitlines())
