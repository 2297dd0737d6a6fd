"""A read-only connection on a thread of its own: what every part of the reader shares.

One question to SQLite costs less than changing threads for it. So `at_once` runs a whole coroutine of questions on that
thread, in one go and off the event loop; asked one by one from the event loop, each question goes there by itself.
"""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from aurora_memory import MemoryError_
from aurora_memory.store.connection import connect_to_read, explained

T = TypeVar("T")


class Asking:
    """Questions to one memory file. Close it, or its thread stays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memory-reader")
        self._ident = 0
        self._db: sqlite3.Connection | None = None
        self.writes = 0
        """Counted up by the store at each commit: what is remembered of earlier answers may no longer hold."""
        self._known: dict[str, tuple[int, list[Any]]] = {}
        self._there = asyncio.Event()
        self._closed = False

    async def open(self) -> None:
        """Connect to the file as it is now, and answer. Raises a `MemoryError_` that says what to do."""
        await self._on_thread(self._connect)
        self.writes += 1
        self._there.set()

    async def leave(self) -> None:
        """Close the connection once what was asked is answered; what is asked from now on waits for `open`."""
        self._there.clear()
        await self._on_thread(self._disconnect)

    async def close(self) -> None:
        """Close the connection and end the thread; what is asked afterwards is refused. Twice is once."""
        if self._closed:
            return
        self._closed = True
        closing = self._on_thread(self._disconnect)
        self._thread.shutdown(wait=False)
        await closing

    async def at_once(self, asking: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that awaits nothing but this reader's answers, on the reader's thread.

        Who is cancelled does not wait for its end.
        """
        try:
            await self._there.wait()
            return await self._on_thread(lambda: _run(asking))
        finally:
            if inspect.getcoroutinestate(asking) == inspect.CORO_CREATED:
                asking.close()  # cancelled before it began

    async def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if threading.get_ident() == self._ident:
            return self._ask(sql, values)
        await self._there.wait()
        return await self._on_thread(lambda: self._ask(sql, values))

    async def _single(self, sql: str) -> Any:
        """The one value that answers a question without values; asked again only when something was written."""
        return (await self._lasting(sql))[0][0]

    async def _lasting(self, sql: str) -> list[Any]:
        """The rows that answer a question without values; asked again only when something was written."""
        known = self._known.get(sql)
        if known is None or known[0] != self.writes:
            writes = self.writes
            known = self._known[sql] = (writes, await self._rows(sql))
        return known[1]

    def _ask(self, sql: str, values: Sequence[Any]) -> list[Any]:
        assert self._db is not None, "opened before anything is asked"
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise explained(error, self._path) from error

    def _connect(self) -> None:
        self._ident = threading.get_ident()
        self._db = connect_to_read(self._path)

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _on_thread(self, work: Callable[[], T]) -> asyncio.Future[T]:
        try:
            return asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as error:
            raise MemoryError_(f"{self._path} was closed meanwhile; ask again") from error


def _run(asking: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never has to wait."""
    try:
        asking.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    asking.close()
    raise RuntimeError("only what memory answers can be awaited on the reader's thread")


def as_list(values: Sequence[int] | Sequence[str]) -> str:
    """Values for `json_each`: however many there are, the statement is the same and is compiled once."""
    return msgspec.json.encode(values).decode()


def marks(values: Sequence[Any]) -> str:
    """As many places for values as there are."""
    return ", ".join("?" * len(values))


def any_of(terms: Sequence[str]) -> str:
    """An FTS5 query for any of the terms; what they are made of is never taken for syntax."""
    return " OR ".join('"' + term.replace('"', '""').replace("\0", "") + '"' for term in terms)
