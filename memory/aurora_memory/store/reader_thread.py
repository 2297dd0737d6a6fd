"""Reader thread (an executor of one thread): where plain functions over a `Reader` run, one at a time and off the event
loop.

SQLite answers one question faster than threads change. So a whole recall, a plain function of dozens of questions, runs
as one call on the thread of its aiosqlite connection (datasette's `execute_fn` does the same).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import aiosqlite

from aurora_memory import StoreError
from aurora_memory.activation import USUAL, Weighing
from aurora_memory.store.connection import on_thread_of
from aurora_memory.store.reader import Reader

P = ParamSpec("P")
T = TypeVar("T")


class ReaderThread:
    """Thread of one memory file's reader: `await read(recall, question, 10, now)` runs `recall(reader, question, …)`.

    Close it, or its thread stays.
    """

    def __init__(self, path: Path, weighing: Weighing = USUAL) -> None:
        self._path = path
        self._reader = Reader(path, weighing)
        self._connection: aiosqlite.Connection | None = None
        self._there = asyncio.Event()
        self._closed = False

    async def __call__(self, function: Callable[Concatenate[Reader, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function of the reader on its thread. Who is cancelled does not wait for its end.

        Raises a `StoreError` where the file cannot be read, and what the function raises.
        """
        await self._there.wait()
        if self._closed or self._connection is None:
            raise StoreError(f"{self._path} was closed meanwhile; ask again")
        given_up = False

        def work() -> T:
            if given_up:  # in the queue still: nobody waits for it any more
                raise asyncio.CancelledError
            return function(self._reader, *args, **kwargs)

        try:
            return await on_thread_of(self._connection, work)
        except asyncio.CancelledError:
            given_up = True
            raise

    @property
    def writes(self) -> int:
        """How often something was committed, or the file exchanged: earlier answers hold while it stays the same."""
        return self._reader.writes

    def count_write(self) -> None:
        """Hear from the store that something was committed."""
        self._reader.writes += 1

    def forget_words(self) -> None:
        """Hear from the store that the word index was made anew."""
        self._reader.forget_words()

    async def open(self) -> None:
        """Connect to the file as it is now, and answer. Raises a `StoreError` that says what to do."""
        self._connection = await aiosqlite.Connection(self._reader.connect, iter_chunk_size=64)
        self._there.set()

    async def leave(self) -> None:
        """Close the connection once what was asked is answered; what is asked from now on waits for `open`."""
        self._there.clear()
        await self._disconnect()

    async def close(self) -> None:
        """Close the connection and end its thread; what is asked afterwards is refused. Twice is once."""
        self._closed = True
        await self._disconnect()

    async def _disconnect(self) -> None:
        """Disconnection, on the reader's thread."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
