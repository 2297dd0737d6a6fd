"""Process of the embedding model (subprocess, lazy start), seen from the daemon: started when first needed, ended when
idle, shared by all workspaces.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from aurora_indexer import WorkerLost
from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.messages import (
    LENGTH_BYTES,
    MAX_FRAME,
    Embed,
    Loaded,
    ModelUnusable,
    Reply,
    TextsRefused,
    VectorRows,
    decode_reply,
    frame,
)
from aurora_indexer.embedding.no_network import OFFLINE
from aurora_indexer.workers.pool import clean_environment

START_SECONDS = 120.0
BATCH_SECONDS = 60.0
LOSSES = 3
"""A process that ends so often without an answer in between will not do better."""

ONE_CORE = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


class ModelProcess:
    """Process of the embedding model: embeds texts with `model` (an absolute folder, or `package:NAME`), in a process
    started in `folder`.

    `problem` says why it can't, once that is known: until the daemon starts anew it is not tried again.
    """

    def __init__(
        self,
        model: str,
        *,
        folder: Path,
        environment: Mapping[str, str],
        niceness: int = 10,
        idle_seconds: float = 600.0,
        command: Sequence[str] = (sys.executable, "-P", "-m", "aurora_indexer.embedding.worker"),
    ) -> None:
        self.model = model
        self.problem: str | None = None
        self._folder = folder
        self._environment = {**clean_environment(environment), **OFFLINE, **ONE_CORE}
        self._command = (*command, "--model", model, "--nice", str(niceness), "--parent", str(os.getpid()))
        self._idle_seconds = idle_seconds
        self._process: Process | None = None
        self._loaded: Loaded | None = None
        self._turn = asyncio.Lock()
        self._documents = asyncio.Lock()
        self._losses = 0
        self._retirement: asyncio.TimerHandle | None = None
        self._retiring: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, while there is one."""
        return self._process.pid if self._process is not None else None

    async def loaded(self) -> Loaded:
        """Description of the model. Raises ModelError, WorkerLost."""
        if self._loaded is None:
            async with self._turn:
                await self._running()
        assert self._loaded is not None, "a running process has said so"
        return self._loaded

    async def embed(self, texts: Sequence[str], *, question: bool = False) -> bytes:
        """A row of float16 for each text. A question waits for one batch at most. Raises ModelError, WorkerLost."""
        if question:
            return await self._embed(Embed(tuple(texts), True))
        async with self._documents:  # so that never more than one batch of documents is in front of a question
            return await self._embed(Embed(tuple(texts)))

    async def aclose(self) -> None:
        """End the process."""
        if self._retirement is not None:
            self._retirement.cancel()
        if self._retiring is not None:
            await asyncio.gather(self._retiring, return_exceptions=True)
        await self._end()

    async def _embed(self, request: Embed) -> bytes:
        """Request to the process, whose reply is checked. Raises ModelError, WorkerLost."""
        async with self._turn:
            process = await self._running()
            reply = await self._exchange(process, frame(request), BATCH_SECONDS)
        if isinstance(reply, TextsRefused):
            raise ModelError(reply.why)
        if not isinstance(reply, VectorRows) or self._loaded is None:
            raise ModelError("the model's process answered out of turn; see the log")
        if len(reply.rows) != 2 * self._loaded.dimensions * len(request.texts):
            raise ModelError("the model's process answered with too few vectors; see the log")
        return reply.rows

    async def _running(self) -> Process:
        """The process, started where there is none. Only in one's turn."""
        if self.problem is not None:
            raise ModelError(self.problem)
        if self._process is not None and self._process.returncode is not None:
            await self._end()
        if self._process is None:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=self._folder, env=self._environment
                )
            except OSError as error:
                self.problem = f"the model's process cannot be started ({self._command[0]}): {error}"
                raise ModelError(self.problem) from error
            reply = await self._exchange(self._process, b"", START_SECONDS)
            if not isinstance(reply, Loaded):
                self.problem = (
                    reply.why if isinstance(reply, ModelUnusable) else "the model's process speaks another language"
                )
                await self._end()
                raise ModelError(self.problem)
            self._loaded = reply
        return self._process

    async def _exchange(self, process: Process, message: bytes, seconds: float) -> Reply:
        """Say something and hear the answer; a process that fails to give one is ended."""
        assert process.stdin is not None and process.stdout is not None
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(message)
                await process.stdin.drain()
                length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
                if length > MAX_FRAME:
                    raise asyncio.IncompleteReadError(b"", length)
                reply = decode_reply(await process.stdout.readexactly(length))
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError) as error:
            await self._end()
            self._losses += 1
            what = f"took longer than {seconds:g} s" if isinstance(error, TimeoutError) else "ended without an answer"
            if self._losses >= LOSSES:
                self.problem = f"the process of the model {self.model} {what}, {LOSSES} times; try another model"
            raise WorkerLost(f"the process of the model {self.model} {what}") from error
        except BaseException:
            await asyncio.shield(self._end())  # cancelled: the answer still to come belongs to nobody
            raise
        if isinstance(reply, VectorRows | TextsRefused):
            self._losses = 0
        self._retire_later()
        return reply

    def _retire_later(self) -> None:
        """Idle timeout, begun anew."""
        if self._retirement is not None:
            self._retirement.cancel()
        self._retirement = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire)

    def _retire(self) -> None:
        """End of an idle timeout."""
        self._retiring = asyncio.create_task(self._end_in_turn())

    async def _end_in_turn(self) -> None:
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        """Termination of the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
