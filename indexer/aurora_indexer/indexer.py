"""Indexer (incremental): one workspace's memory kept in step with its files: sweep (rescan, reindex), parse what
changed, write, resolve.

One task does all the work of a workspace, in order. Everybody else only says what may have changed: the watcher, an
editor's `didSave`, a request to index, the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from aurora_indexer import IndexerError, documents, languages
from aurora_indexer.batches import Batches
from aurora_indexer.documents import DocumentFormat
from aurora_indexer.files.scan import FoundFile, Limits, ScanResult, find_file, scan
from aurora_indexer.files.skips import Skip
from aurora_indexer.git.history import learn_history
from aurora_indexer.index_runs import ChangedFiles, IndexProgress, IndexSummary, State
from aurora_indexer.languages import Language
from aurora_indexer.module_aliases import keep_module_aliases
from aurora_indexer.watch.watched_root import WatchedRoot
from aurora_indexer.watch.watcher import FileChanges
from aurora_indexer.workers.messages import Parsed, ParseFailed, Reply, WorkItem
from aurora_indexer.workers.pool import WorkerPool
from aurora_indexer.workers.process_file import parse_source, process_file
from aurora_memory import StoreError
from aurora_memory.chunks import ParsedFile
from aurora_memory.store import Counts, FileStat, Store, file_reader
from aurora_protocol import plugins
from aurora_protocol.secret_mask import RULES

logger = logging.getLogger(__name__)

HERE_FILES = 4
HERE_BYTES = 256 << 10
HERE_SECONDS = 0.25
"""A save of a few small files, or a first index of no more, is parsed in a thread of the daemon: a worker would take
longer to start.
"""

HISTORY_PATIENCE = 0.2
"""Seconds that who asked for an index waits for git's history too: the first answer knows it, if files are few."""

HISTORY_AGAIN = (5.0, 30.0, 120.0, 600.0)
"""Seconds to wait before each further try, where git's history could not be read; later ones come with the sweeps."""

CHUNKING = "10"
"""By which rules files become chunks. Another number looks into every file anew, once, and writes all that it holds:
raise it with those rules.
"""

HEARD_SECONDS = 0.25
"""Seconds that an answer waits for the watcher to have heard of all that happened before the question."""

COUNT_EVERY = 5.0
"""Seconds after which what memory holds is counted again while many files are taken in."""

RETRY_SECONDS = 2.0
MANY_FILES = 100
"""From so many parsed files on, a run was a bulk write; so many by one or by many runs, and the index is tidied."""

LOOK_SECONDS = 2.0
"""Seconds between looks at the root itself: no event tells that it was removed and made again."""


class IndexerSettings(Struct, frozen=True):
    """Timing of an indexer, in seconds: debounce, quiet time before a change is taken in, and how often everything is
    looked over anew.

    `cookies` is a folder outside the workspace for files by which the watcher knows what it has heard.
    """

    limits: Limits
    debounce: float = 0.05
    sweep: float = 600.0
    cookies: Path | None = None


_Waiter = tuple["asyncio.Future[IndexSummary]", Callable[[IndexProgress], None] | None]


class _Wanted(Struct):
    """Queue of what has to be looked at next. `everything` outranks `paths`; `edited` is false for checkouts, and stays
    so until it was looked at.
    """

    paths: set[str]
    everything: bool = False
    edited: bool = True

    def __bool__(self) -> bool:
        return self.everything or bool(self.paths)

    def add(self, paths: Iterable[str] = (), *, everything: bool = False, edited: bool = True) -> None:
        """Want more. One that is no edit makes all of it none: what of it is one, nobody can tell any more."""
        self.paths.update(paths)
        self.everything = self.everything or everything
        self.edited = self.edited and edited


class Indexer:
    """Indexer of one root into one store. `start` it, tell it of changes, `close` it."""

    def __init__(self, root: Path, store: Store, pool: WorkerPool, settings: IndexerSettings) -> None:
        self.root = root
        self.state: State = "scanning"
        self.last_error: str | None = None
        self.pending = 0
        self.last_scan: ScanResult | None = None
        self.counts: Counts | None = None
        self._store = store
        self._pool = pool
        self._settings = settings
        self._watched = WatchedRoot(root, settings.debounce, self._on_changes, settings.cookies)
        self._wanted = _Wanted(set(), everything=True, edited=False)
        self._under_way = 0
        self._untidied = 0
        self._wake = asyncio.Event()
        self._waiters: list[_Waiter] = []
        self._sweeping: list[_Waiter] | None = None
        self._listeners: list[Callable[[IndexProgress | None], None]] = []
        self._hearers: list[Callable[[ChangedFiles], None]] = []
        self._current: list[Callable[[IndexProgress], None]] = []
        self._task: asyncio.Task[None] | None = None
        self.learning_history = False
        """Whether git's history is being read."""
        self.history_problem: str | None = None
        """Why git's history could not be read the last time."""
        self._history: asyncio.Task[None] | None = None
        self._history_wanted = asyncio.Event()
        self._history_read = 0.0
        self._first = asyncio.Event()
        self.between_runs = asyncio.Lock()
        """Held while a run is under way; who holds it may change under the indexer what it goes by."""

    @property
    def watching(self) -> str:
        """Way in which changes are noticed: `inotify`, `fsevents`, `polling`, or `off` until the watch is up."""
        return self._watched.mode

    @property
    def warning(self) -> str | None:
        """Warning of the watcher: what it could not do, if anything."""
        return self._watched.warning

    async def changes_pending(self) -> int | None:
        """How many changes made before this call are not in memory yet; None where the watcher cannot tell."""
        noted = await self._watched.changes_pending(HEARD_SECONDS)
        if noted is None:
            return None
        return noted + max(self.pending, self._under_way, len(self._wanted.paths) + self._wanted.everything)

    def start(self) -> None:
        """Begin: first a sweep over everything, then whatever changes."""
        self._task = asyncio.create_task(self._work(), name=f"index {self.root}")

    async def close(self) -> None:
        """Stop watching and working; what was written stays, the rest is found by the next sweep."""
        tasks = [task for task in (self._task, self._history) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._watched.stop()
        for future, _ in self._waiters:
            future.cancel()

    def changed(self, paths: Sequence[str]) -> None:
        """These files (relative, `/`) may have changed or gone."""
        self._wanted.add(paths)
        self.pending = max(self.pending, len(self._wanted.paths))
        self._wake.set()

    async def run(
        self,
        paths: Sequence[str] | None,
        progress: Callable[[IndexProgress], None] | None = None,
        *,
        edited: bool = True,
    ) -> IndexSummary:
        """Bring `paths`, or everything, up to date and wait for it. Raises what keeps the store from being written.

        `edited` false: what differs is not the user's doing, so chunks do not count as changed now.
        """
        future: asyncio.Future[IndexSummary] = asyncio.get_running_loop().create_future()
        if edited and paths is None and self._sweeping is not None and not self._first.is_set():
            self._sweeping.append((future, progress))  # the first sweep, now under way, sees all there is
            if progress is not None:
                self._current.append(progress)
            return await future
        self._waiters.append((future, progress))
        self._wanted.add(paths or (), everything=paths is None, edited=edited)
        self._wake.set()
        return await future

    def on_progress(self, listener: Callable[[IndexProgress | None], None]) -> Callable[[], None]:
        """Be told of progress, and with None of the end of a run; returns how to stop listening."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def on_files_changed(self, hearer: Callable[[ChangedFiles], None]) -> Callable[[], None]:
        """Be told which files each run but the very first found changed; returns how to stop."""
        self._hearers.append(hearer)
        return lambda: self._hearers.remove(hearer) if hearer in self._hearers else None

    @property
    def history_percent(self) -> int | None:
        """How much of git's history is read, in per cent; None when it is not being read."""
        return int(100 * self._history_read) if self.learning_history else None

    async def first_run(self) -> None:
        """Wait until the first sweep was done (or failed)."""
        await self._first.wait()

    async def _work(self) -> None:
        """Main loop of the indexer: a run for what is wanted, else a wait."""
        while True:
            wanted, self._wanted = self._wanted, _Wanted(set())
            waiters, self._waiters = self._waiters, []
            self._current = [progress for _, progress in waiters if progress is not None]
            if wanted or waiters:
                await self._attempt(wanted, waiters)
            if self._wanted or self._waiters:
                continue
            await self._wait()

    async def _wait(self) -> None:
        """Until something may have changed: somebody said so, the time has come, or the root is another folder."""
        self._wake.clear()
        due = time.monotonic() + self._settings.sweep
        while not self._wake.is_set():
            with contextlib.suppress(TimeoutError):
                # Not wait_for: in Python 3.11 that forgets that it was cancelled where what it waits for came as well.
                async with asyncio.timeout(min(LOOK_SECONDS, self._settings.sweep)):
                    await self._wake.wait()
            if time.monotonic() >= due:
                self._wanted.add(everything=True)
                return
            if await self._watched.was_replaced():
                await self._watched.stop()
                self._wanted.add(everything=True, edited=False)
                return

    async def _attempt(self, wanted: _Wanted, waiters: list[_Waiter]) -> None:
        """Run with its error handling: who waits for it is answered, what failed is tried again."""
        self._sweeping = waiters if wanted.everything else None
        self._under_way = max(1, len(wanted.paths))  # until it is written: `pending` counts what is still to be parsed
        try:
            async with self.between_runs:
                summary = await self._once(wanted)
            self._under_way = 0
            if waiters and self._history is not None and summary.parsed <= MANY_FILES:
                await asyncio.wait({self._history}, timeout=HISTORY_PATIENCE)
            for future, _ in waiters:
                if not future.done():
                    future.set_result(summary)
            self._untidied += summary.parsed
            if self._untidied > MANY_FILES:
                await self._store.tidy()  # or recall would read through a write-ahead log as large as the index
                self._untidied = 0
        except asyncio.CancelledError:
            for future, _ in waiters:
                future.cancel()
            raise
        except (StoreError, IndexerError, OSError) as error:
            if str(error) != self.last_error:  # it is tried again and again: a folder that is gone would fill the log
                logger.error("indexing failed", extra={"root": str(self.root), "error": str(error)})
            await self._give_up(wanted, waiters, error)
            return
        except Exception as error:
            logger.exception("indexing failed", extra={"root": str(self.root)})
            await self._give_up(wanted, waiters, IndexerError(f"indexing {self.root} failed: {error!r}; see the log"))
            return
        finally:
            self._sweeping = None
            self._under_way = 0
            self._tell(None)

    async def _give_up(self, wanted: _Wanted, waiters: list[_Waiter], error: Exception) -> None:
        """Retry: say what happened to all who wait, and try the same again a little later."""
        self.state, self.last_error = "error", str(error)
        for future, _ in waiters:
            if not future.done():
                future.set_exception(error)
        self._first.set()
        self._wanted.add(wanted.paths, everything=wanted.everything, edited=wanted.edited)
        await asyncio.sleep(RETRY_SECONDS)

    async def _once(self, wanted: _Wanted) -> IndexSummary:
        """Run: sweep or refresh, reference resolution, counts."""
        begun = time.monotonic()
        if wanted.everything:
            self.state = "scanning"
            self._tell(IndexProgress(0, 0, 0, "scanning"))
            await self._watched.start()
            summary = await self._sweep(wanted.edited)
        else:
            summary = await self._refresh(sorted(wanted.paths), wanted.edited)
        await self._resolve()
        self.counts = await self._store.counts()
        self.state, self.last_error, self.pending = "ready", None, len(self._wanted.paths)
        if summary.parsed or summary.removed or not self._first.is_set():
            await self._store.remember("indexed_at", str(time.time()))
            logger.info(
                "indexed",
                extra={
                    "root": str(self.root),
                    "seconds": round(time.monotonic() - begun, 3),
                    **structs.asdict(summary),
                },
            )
        self._first.set()
        if wanted.everything:
            self.learning_history = True
        if wanted.everything or summary.parsed:  # a save may have undone edits
            self._history_wanted.set()
            if self._history is None or self._history.done():
                self._history = asyncio.create_task(self._learn(), name=f"history of {self.root}")
        return summary

    async def _learn(self) -> None:
        """History read as often as it is wanted, and again in a while where git or memory did not answer, as on a busy
        machine; a sweep has it read at once.
        """
        again = iter(HISTORY_AGAIN)
        while self._history_wanted.is_set():
            self._history_wanted.clear()
            self._history_read = 0.0
            try:
                self.history_problem = await learn_history(self.root, self._store, tell=self._tell_history)
            finally:
                self.learning_history = False
            if self.history_problem is not None and (seconds := next(again, None)) is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._history_wanted.wait()
                self._history_wanted.set()

    def _tell_history(self, read: float) -> None:
        self.learning_history, self._history_read = True, read

    async def _sweep(self, edited: bool) -> IndexSummary:
        """Change detection: compare every file's stat (size, mtime) with what memory knows; look into those that
        differ.
        """
        found = await asyncio.to_thread(
            scan, self.root, self._settings.limits, self._watched.rules, self._workers_ahead()
        )
        known = await self._store.read(file_reader.files)
        skips = await self._store.read(file_reader.skips)
        self.last_scan = found
        await keep_module_aliases(self.root, self._store, [file.path for file in found.files])
        seen = {file.path for file in found.files}
        removed = [path for path in known if path not in seen] + [path for path in skips if path not in seen]
        stats = known | {path: stat for path, (_, _, stat) in skips.items()}
        outdated = await self._store.read(file_reader.fact, "chunking") != (
            chunking := await asyncio.to_thread(_chunking)
        )
        changed = [file for file in found.files if outdated or not _same(file, stats.get(file.path))]
        held = sum(file.path in known for file in found.files)  # others were looked into, and hold nothing
        unchanged = held - sum(file.path in known for file in changed)
        hashes = {} if outdated else known
        anew = bool(known) and outdated
        by_hand = edited and not anew
        summary = await self._take_in(changed, removed, hashes, first_time=not known, edited=by_hand, anew=anew)
        if outdated:
            await self._store.remember("chunking", chunking)
        old_rules = await self._store.read(file_reader.fact, "secret_rules") != RULES
        if old_rules and await self._store.remove_secrets(indexed_before=bool(known)):
            await self._store.remember("secret_rules", RULES)
        return structs.replace(summary, unchanged=summary.unchanged + unchanged)

    async def _refresh(self, paths: Sequence[str], edited: bool) -> IndexSummary:
        """Incremental refresh: look at some files only; a folder among them stands for the files memory has below
        it."""
        found = await asyncio.to_thread(
            lambda: [(path, find_file(self._watched.rules, path, self._settings.limits)) for path in paths]
        )
        known = await self._store.read(file_reader.files_at, paths)
        changed = [file for _, file in found if not isinstance(file, Skip) and not _same(file, known.get(file.path))]
        kept = {file.path for _, file in found if not isinstance(file, Skip)}
        removed = [path for path in known if path not in kept]
        return await self._take_in(changed, removed, known, first_time=False, edited=edited)

    async def _take_in(
        self,
        changed: Sequence[FoundFile],
        removed: Sequence[str],
        known: dict[str, FileStat],
        *,
        first_time: bool,
        edited: bool,
        anew: bool = False,
    ) -> IndexSummary:
        """Incremental update: changed files are parsed by the workers and written in batches."""
        if not changed and not removed:
            return IndexSummary()
        self.state = "indexing"
        self.pending = len(changed)
        chunks = self.counts.chunks if self.counts else 0
        limit = self._settings.limits.max_file_bytes
        batches = Batches(self._store, removed, first_time=first_time, edited=edited, anew=anew, expected=len(changed))
        items = [
            WorkItem(file.path, file.size, known[file.path].content_hash if file.path in known else b"")
            for file in changed
        ]
        done = 0
        parsed: list[str] = []
        count_at = time.monotonic() + COUNT_EVERY

        async def take(reply: Reply) -> None:
            nonlocal done, count_at
            await batches.add(reply)
            done += 1
            if isinstance(reply, Parsed) and not first_time:
                parsed.append(reply.path)
            self.pending = len(changed) - done
            if time.monotonic() >= count_at:  # a first index of a large tree takes minutes, and answers all the while
                self.counts = await self._store.counts()
                count_at = time.monotonic() + COUNT_EVERY
            self._tell(IndexProgress(done, len(changed), chunks + batches.chunks, "indexing"))

        def tell_changed() -> None:
            if parsed or (removed and not first_time):
                for hearer in tuple(self._hearers):
                    hearer(ChangedFiles(tuple(parsed), tuple(removed), edited))

        try:
            few = len(items) <= HERE_FILES and sum(item.size for item in items) <= HERE_BYTES
            if few and (edited or (first_time and await self._first_time_here())):
                slow = []
                for item in items:
                    reply = await asyncio.to_thread(process_file, str(self.root), item, limit, _parse_here)
                    if isinstance(reply, ParseFailed):
                        slow.append(item)  # a worker has more time, and may die of it
                    else:
                        await take(reply)
                items = slow
            if items:
                async with contextlib.aclosing(self._pool.parse(self.root, items)) as replies:
                    async for reply in replies:
                        await take(reply)
            await batches.finish()
        except BaseException as error:
            await batches.abandon()
            if isinstance(error, Exception):  # tried again: to that run what was written by then is no change any more
                tell_changed()
            raise
        tell_changed()
        return IndexSummary(
            parsed=batches.parsed,
            unchanged=batches.unchanged,
            removed=batches.removed,
            skipped=batches.skipped,
            failed=batches.failed,
        )

    def _workers_ahead(self) -> Callable[[int], None] | None:
        """Warm-up of the workers, told on another thread how many files there are by now: they load while the rest of a
        first index is being found. A few files take none.
        """
        if self.counts is None or self.counts.files:
            return None
        loop = asyncio.get_running_loop()
        started = False

        def start(files: int) -> None:
            nonlocal started
            if files > HERE_FILES and not started:
                started = True
                loop.call_soon_threadsafe(self._pool.warm)

        return start

    async def _first_time_here(self) -> bool:
        """Whether this is the first try at a first index. Where a parser brought the daemon down in that, a worker,
        which may die of a file, does the next.
        """
        if await self._store.read(file_reader.fact, "first_index") is not None:
            return False
        await self._store.remember("first_index", "begun")
        return True

    async def _resolve(self) -> None:
        await self._store.resolve(lambda waiting: self._tell(IndexProgress(0, waiting, 0, "linking")))

    def _on_changes(self, changes: FileChanges) -> None:
        """Handler of file events: what changed is queued; an overflow or a checkout asks for a sweep."""
        everything = changes.overflow or changes.git_head_changed
        self._wanted.add(everything=everything, edited=not changes.git_head_changed)
        self.changed([*changes.changed, *changes.removed])

    def _tell(self, progress: IndexProgress | None) -> None:
        """Notification of the listeners (observers) of progress."""
        for listener in list(self._listeners):
            listener(progress)
        if progress is not None:
            for waiting in self._current:
                waiting(progress)


def _chunking() -> str:
    """Rules by which files become chunks: ours, those of secrets, and the plug-ins that have a say, with versions."""
    owners = {plugin.distribution for plugin in plugins.load(languages.GROUP, Language)}
    owners.update(plugin.distribution for plugin in plugins.load(documents.GROUP, DocumentFormat))
    return " ".join((f"{CHUNKING}.{RULES}", *sorted(owners)))


def _parse_here(path: str, source: bytes, *, shown: bytes) -> ParsedFile | None:
    return parse_source(path, source, HERE_SECONDS, shown=shown)


def _same(file: FoundFile, stat: FileStat | None) -> bool:
    return stat is not None and (file.size, file.mtime_ns, file.mark) == (stat.size, stat.mtime_ns, stat.mark)
