"""Process pool: a few workers that parse files apart from the daemon (crash isolation, retry, a timeout for each file),
and the certainty that no file gets lost when one of them dies.

Workers start when there is work and go when there has been none for a while, which gives their memory back. A worker
that dies or hangs is replaced: the file it was on gets one more try, alone, and is then reported as failed; the others
of its batch go back into the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from pathlib import Path

from aurora_indexer import IndexerError, WorkerLost
from aurora_indexer.workers.messages import ParseFailed, ParseRequest, Reply, WorkItem
from aurora_indexer.workers.worker_process import WorkerProcess

BATCH_BYTES = 512 << 10
BATCH_FILES = 32
LARGE_BYTES = 48 << 10
"""A file of so much is begun early: nobody should wait for the one worker that came to it last."""

STARTS = 3
"""Tries at starting a worker: more will not help."""

RESULTS_AHEAD = 16
"""Replies held for a reader that is slower than the workers; then these wait."""

_KEPT_VARIABLES = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "VIRTUAL_ENV"}
)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that a worker needs of the daemon's environment; nothing that could make it import other code."""
    return {name: value for name, value in environment.items() if name.upper() in _KEPT_VARIABLES}


class PoolClosed(IndexerError):
    """Error of files that waited in a pool when it was closed."""


class WorkerPool:
    """Pool of at most `size` worker processes, started in `folder` (one nobody else writes to) with `environment`.

    `parse_timeout` is how long (seconds) one file may take; `idle_seconds` how long an idle worker stays. `command` is
    what starts a worker; its options are appended.
    """

    def __init__(
        self,
        size: int,
        *,
        folder: Path,
        environment: Mapping[str, str],
        niceness: int = 10,
        parse_timeout: float = 30.0,
        idle_seconds: float = 30.0,
        max_file_bytes: int = 1 << 20,
        command: Sequence[str] = (sys.executable, "-P", "-m", "aurora_indexer.workers.worker"),
    ) -> None:
        if size < 1:
            raise ValueError(f"a pool needs at least one worker, not {size}")
        self.size = size
        self._folder = folder
        self._environment = clean_environment(environment)
        self._parse_timeout = parse_timeout
        self._idle_seconds = idle_seconds
        self._max_file_bytes = max_file_bytes
        # The alarm is for orphans: a living pool is quicker.
        alarm = math.ceil(parse_timeout) + 5
        self._command = (*command, "--nice", str(niceness), "--parse-timeout", str(alarm), "--parent", str(os.getpid()))
        self._slots = asyncio.Semaphore(size)
        self._idle: list[WorkerProcess] = []
        self._alive: set[WorkerProcess] = set()
        self._calls: set[asyncio.Task[None]] = set()
        self._retirement: asyncio.TimerHandle | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The worker processes there are now."""
        return sorted(worker.pid for worker in self._alive)

    async def parse(self, root: Path, items: Iterable[WorkItem]) -> AsyncGenerator[Reply, None]:
        """Parse every item below `root`: one reply for each, in no particular order.

        Workers wait when nobody takes the replies. Calls share the workers batch by batch, so a short call does not
        wait for a long one. Raises `WorkerLost` where workers cannot even start, `PoolClosed`. Whoever leaves the loop
        early closes the generator (`contextlib.aclosing`), which ends the workers it was using.
        """
        if self._closed:
            raise PoolClosed("The worker pool is closed; make a new one.")
        work = _Work(root, items)
        left = len(work)
        replies = _Replies()
        runners = [asyncio.create_task(self._run(work, replies, number)) for number in range(min(self.size, left))]
        through = asyncio.gather(*runners)
        through.add_done_callback(lambda _: replies.news.set())
        self._calls.update(runners)
        try:
            while left:
                if replies.queue.empty():
                    if through.done():
                        raise _why(through)
                    replies.news.clear()
                    await replies.news.wait()
                else:
                    left -= 1
                    yield replies.queue.get_nowait()
        finally:
            for runner in runners:
                runner.cancel()
            await asyncio.gather(through, *runners, return_exceptions=True)
            self._calls.difference_update(runners)

    def warm(self) -> None:
        """Warm-up: start the workers that nobody uses yet, in the background: much work is on its way."""
        if self._closed:
            return
        for _ in range(self.size - len(self._alive)):
            task = asyncio.create_task(self._start_one())
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _start_one(self) -> None:
        """Start of one more worker, if the pool has room."""
        async with self._slots:
            if len(self._alive) < self.size:
                with contextlib.suppress(WorkerLost):  # who has work for it tries again, and tells
                    self._give_back(await self._start())

    async def aclose(self) -> None:
        """End every worker, and every `parse` under way with `PoolClosed`. Can be called again."""
        self._closed = True
        if self._retirement:
            self._retirement.cancel()
        for runner in self._calls:
            runner.cancel()
        await asyncio.gather(*self._calls, *self._retiring, return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in list(self._alive)))
        self._alive.clear()
        self._idle.clear()

    async def _run(self, work: _Work, replies: _Replies, number: int) -> None:
        """Runner: batch after batch on whichever worker is free, until the work is done."""
        while True:
            async with self._slots:
                batch = work.next_batch(from_end=number % 2 == 1)
                if batch:
                    await self._run_batch(work, batch, replies)
            if not batch and await work.settled():
                return

    async def _run_batch(self, work: _Work, batch: list[WorkItem], replies: _Replies) -> None:
        """Batch on one worker; where that crashes, what is left is tried again on another."""
        waiting = deque(batch)
        worker = await self._take()
        try:
            await worker.send(ParseRequest(str(work.root), tuple(batch), self._max_file_bytes), self._parse_timeout)
            while waiting:
                reply = await worker.receive(self._parse_timeout)
                waiting.popleft()
                await replies.put(reply)
                work.done(1)
        except WorkerLost as error:
            await self._bury(worker)
            if failed := work.give_back_after_loss(waiting):
                await replies.put(ParseFailed(failed.path, str(error)))
                work.done(1)
        except BaseException:
            # Cancelled: replies still in the pipe belong to nobody.
            await asyncio.shield(self._bury(worker))
            raise
        else:
            self._give_back(worker)

    async def _take(self) -> WorkerProcess:
        """Idle worker, else a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.running:
                return worker
            await self._bury(worker)
        return await self._start()

    async def _start(self) -> WorkerProcess:
        """Worker start, with a few tries."""
        attempt = 1
        while True:
            try:
                worker = await WorkerProcess.start(self._command, self._folder, self._environment)
            except WorkerLost:
                if attempt == STARTS:
                    raise
                attempt += 1
            else:
                self._alive.add(worker)
                return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        """Return of a worker to the idle ones, with an idle timeout."""
        loop = asyncio.get_running_loop()
        worker.idle_since = loop.time()
        self._idle.append(worker)
        if self._retirement is None:
            self._retirement = loop.call_later(self._idle_seconds, self._retire)

    def _retire(self) -> None:
        """Idle timeout: end the workers that have been idle for long, and look again when the next one will have
        been.
        """
        loop = asyncio.get_running_loop()
        self._retirement = None
        limit = loop.time() - self._idle_seconds
        for worker in [worker for worker in self._idle if worker.idle_since <= limit]:
            self._idle.remove(worker)
            task = loop.create_task(self._bury(worker))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
        if self._idle:
            oldest = min(worker.idle_since for worker in self._idle)
            self._retirement = loop.call_at(oldest + self._idle_seconds, self._retire)

    async def _bury(self, worker: WorkerProcess) -> None:
        """Kill of a worker that cannot go on; it leaves the pool."""
        await worker.kill()
        self._alive.discard(worker)


class _Replies:
    """Replies on their way to the reader: a bounded queue, and an event for when there is news of it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Reply] = asyncio.Queue(RESULTS_AHEAD)
        self.news = asyncio.Event()

    async def put(self, reply: Reply) -> None:
        """Wait for room, and tell."""
        await self.queue.put(reply)
        self.news.set()


def _why(through: asyncio.Future[list[None]]) -> BaseException:
    """Why the runners ended before their work."""
    error = None if through.cancelled() else through.exception()
    if error is None or isinstance(error, asyncio.CancelledError):
        return PoolClosed("The worker pool was closed while files were waiting in it.")
    return error


def _in_order(items: Iterable[WorkItem]) -> list[WorkItem]:
    """Schedule: by suffix, large files at both ends, the largest outermost.

    Workers take from both ends: each then loads few grammars, which take a worker long to load, and what they come to
    last is small.
    """
    ordered = sorted(items, key=lambda item: item.path.rpartition(".")[2])
    half = sum(item.size for item in ordered) / 2
    small: list[WorkItem] = []
    first: list[WorkItem] = []
    last: list[WorkItem] = []
    passed = 0
    for item in ordered:
        if item.size < LARGE_BYTES:
            small.append(item)
        else:
            (first if passed < half else last).append(item)
        passed += item.size
    first.sort(key=lambda item: -item.size)
    last.sort(key=lambda item: item.size)
    return [*first, *small, *last]


class _Work:
    """The items of one `parse` call: waiting, under way, suspected of ending a worker."""

    def __init__(self, root: Path, items: Iterable[WorkItem]) -> None:
        self.root = root
        self._waiting = deque(_in_order(items))
        self._alone: deque[WorkItem] = deque()
        self._suspects: set[WorkItem] = set()
        self._left = len(self._waiting)
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return self._left

    def next_batch(self, *, from_end: bool = False) -> list[WorkItem]:
        """Some items for one worker, empty when none is waiting now. A suspect comes alone, and last."""
        if not self._waiting:
            return [self._alone.popleft()] if self._alone else []
        batch: list[WorkItem] = []
        size = 0
        most = min(BATCH_FILES, max(1, len(self._waiting) // 4))  # fewer at the end, so that all end together
        end = -1 if from_end else 0
        take = self._waiting.pop if from_end else self._waiting.popleft
        while self._waiting and len(batch) < most and (not batch or size + self._waiting[end].size <= BATCH_BYTES):
            item = take()
            size += item.size
            batch.append(item)
        return batch

    def give_back_after_loss(self, unanswered: deque[WorkItem]) -> WorkItem | None:
        """Retry of what a lost worker left; the item it was on (a poison message) is returned instead if it had its
        second try.
        """
        culprit = unanswered.popleft()
        self._waiting.extendleft(reversed(unanswered))
        self._news.set()
        if culprit in self._suspects:
            return culprit
        self._suspects.add(culprit)
        self._alone.append(culprit)
        return None

    def done(self, count: int) -> None:
        """So many items have had their result."""
        self._left -= count
        if not self._left:
            self._news.set()

    async def settled(self) -> bool:
        """True when every item is done; False when some came back and want a worker."""
        while self._left:
            if self._waiting or self._alone:
                return False
            self._news.clear()
            await self._news.wait()
        return True
