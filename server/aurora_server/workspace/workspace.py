"""Workspace (facade): one root's memory, its indexer, and every question that can be asked of them."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from aurora_deliverables.deliverables import Deliverables
from aurora_indexer.files.scan import Limits
from aurora_indexer.index_runs import IndexProgress
from aurora_indexer.indexer import Indexer, IndexerSettings
from aurora_indexer.workers.pool import WorkerPool
from aurora_indexer.workers.process_file import get_ready
from aurora_memory import StoreError, UnknownChunk
from aurora_memory.chunks import type_of
from aurora_memory.lifespans.policies import Merged
from aurora_memory.recall import parse_question
from aurora_memory.recall.places import below
from aurora_memory.store import Counts, Store, file_reader
from aurora_memory.views import UsageCounts
from aurora_protocol.methods import (
    DoctorResult,
    ExplainResult,
    Freshness,
    IndexResult,
    Recalled,
    RecallParams,
    RecallResult,
    WorkspaceStatus,
)
from aurora_protocol.who_methods import WhoResult
from aurora_server.configuration.settings import DeliverableSettings, DetectSettings, Settings
from aurora_server.workspace import explanation, recall_documents
from aurora_server.workspace.buffers import Buffers
from aurora_server.workspace.claude_hooks import ClaudeHooks
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.deliverable_detection import DeliverableDetection, remember_start
from aurora_server.workspace.doctor import checkup
from aurora_server.workspace.focus import EditorCursor
from aurora_server.workspace.learned_memory import LearnedMemory
from aurora_server.workspace.maintenance import LifespanReview, deleted_logs
from aurora_server.workspace.memory_settings import database_path, others_file, policies_of, policy_of, weighing_of
from aurora_server.workspace.recall import MemoryRecall, RecallAnswer, symbols
from aurora_server.workspace.recall_uses import RecallUses
from aurora_server.workspace.record_exchange import RecordExchange
from aurora_server.workspace.relocate import Adoption
from aurora_server.workspace.repair import mend, mend_record
from aurora_server.workspace.soar import Configured, Soar
from aurora_server.workspace.soar_memory import SoarMemory
from aurora_server.workspace.telemetry import TelemetryFollower
from aurora_server.workspace.transferred_patterns import TransferredPatterns, recalled
from aurora_server.workspace.who import who
from aurora_server.workspace.work_trees import keep_common, start_from_sibling, take_over_removed

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.sender import Sender
    from aurora_indexer.embedding.embedder import Embedder
    from aurora_indexer.embedding.model_process import ModelProcess
    from aurora_orchestration.run_record import RunRecord
    from aurora_server.configuration.live_settings import SettingsSource
    from aurora_server.workspace.shared_records import SharedRecords

Found = TypeVar("Found")

logger = logging.getLogger(__name__)

SAVES_PRELOADED_AFTER = 2.0
"""Seconds in which nothing is loaded that the first questions do without: it would take the interpreter from them."""


class Workspace:
    """Workspace: a root folder with its memory. All methods belong to the event loop's thread."""

    def __init__(
        self,
        root: Path,
        store: Store,
        indexer: Indexer,
        lifespans: Merged,
        measuring: DeliverableSettings,
        detect: DetectSettings,
        embedder: Embedder | None = None,
        sender: Sender | None = None,
        *,
        home: Path,
        configured: Configured,
        environ: Mapping[str, str],
        records: SharedRecords | None = None,
    ) -> None:
        self.root = root
        self._home = home
        self._closed = False
        self.policies = lifespans.policies
        self._policy_problems = lifespans.problems
        self._store = store
        self._indexer = indexer
        self._embedder = embedder
        self.uses = RecallUses(store)
        indexer.on_progress(lambda progress: self.uses.files_indexed() if progress is None else None)
        self._colleagues = Colleagues(root)
        self.buffers = Buffers(root, store.read, self.relative, self._colleagues)
        self.adoption = Adoption(root, store)
        self.deliverables = Deliverables(store, time.time, measuring.conformance_threshold)
        self.detecting = DeliverableDetection(root, store, self.deliverables, indexer, detect)
        self.hooks = ClaudeHooks(root, self.deliverables, self.detecting)
        self.learned = LearnedMemory(root, store, indexer, self.adoption, self.detecting.forget)
        self._lifespan_review = LifespanReview(root, store, indexer, lifespans.policies)
        self._follower = (
            TelemetryFollower(str(root), self.deliverables, store.outbox, sender) if sender is not None else None
        )
        self._transferred = TransferredPatterns(root, home, store.read)
        self._recall = MemoryRecall(root, store.read, lifespans.policies, embedder, self.uses, self._colleagues)
        memory = SoarMemory(
            self._recall, store, lambda: self.soar.logs_folder(), indexer.first_run, self._transferred.matching
        )
        ended = _counting(sender) if sender is not None else _count_nothing
        self.soar = Soar(root, home, configured, memory, self.deliverables, environ, ended)
        self.record = (
            RecordExchange(root, store, records, indexer.first_run, self._more_came, self._colleagues)
            if records is not None
            else None
        )
        self._preloading = asyncio.create_task(self._preload(), name=f"preload {root}")

    @classmethod
    async def open(
        cls,
        root: Path,
        settings: Settings,
        pool: WorkerPool,
        model: ModelProcess | None = None,
        sender: Sender | None = None,
        source: SettingsSource | None = None,
        environ: Mapping[str, str] = os.environ,
        records: SharedRecords | None = None,
    ) -> Workspace:
        """Open the memory of `root` and begin to bring it up to date. Raises a `StoreError`.

        With a `model`, what memory holds is embedded as well, and recalled by meaning beside words. With a `sender`,
        deliverables that end are exported. With a `source`, questions are answered as is configured when they are
        asked; without, as `settings` say. With `records`, what is learned is shared with every work tree and clone.
        """
        configured: Configured = (
            partial(source.soar_for, root) if source else lambda *, trusted, flags=None: (settings.soar, [])
        )
        path = database_path(root, settings)
        if problem := await asyncio.to_thread(others_file, path):
            raise StoreError(problem)
        sibling = await asyncio.to_thread(start_from_sibling, root, path)
        store = await Store.open(path, weighing_of(settings), policy_of(settings))
        try:
            workspace = await cls._on(store, root, settings, pool, model, sender, configured, environ, records)
        except BaseException:
            await store.close()  # an open connection would keep the whole process from ending
            raise
        if sibling is not None:
            try:
                await workspace._indexer.first_run()  # until its files were compared, memory speaks of the sibling's
            except BaseException:
                await workspace.close()
                raise
        return workspace

    @classmethod
    async def _on(
        cls,
        store: Store,
        root: Path,
        settings: Settings,
        pool: WorkerPool,
        model: ModelProcess | None,
        sender: Sender | None,
        configured: Configured,
        environ: Mapping[str, str],
        records: SharedRecords | None,
    ) -> Workspace:
        owner = await store.read(file_reader.fact, "root")
        if owner is None:
            await store.remember("root", str(root))
        elif owner != str(root):
            raise StoreError(
                f"{store.path} is the memory of {owner}, not of {root}; put {{workspace}} into memory.database_path"
            )
        limits = Limits(max_file_bytes=settings.indexing.max_file_bytes, max_files=settings.indexing.max_files)
        indexer = Indexer(
            root,
            store,
            pool,
            IndexerSettings(
                limits,
                debounce=settings.indexing.debounce_seconds,
                sweep=settings.indexing.sweep_seconds,
                cookies=settings.home / "watch",
            ),
        )
        lifespans = await asyncio.to_thread(policies_of, root, settings)
        for problem in lifespans.problems:
            logger.warning("lifespan policies", extra={"root": str(root), "problem": problem})
        indexer.counts = await store.counts()
        embedder = None
        if model is not None:
            embedder = (await asyncio.to_thread(_embedder_class))(root, store, model)
            indexer.on_progress(lambda progress: embedder.wake() if progress is None else None)
            embedder.start(indexer.first_run)
        await remember_start(root, store)
        indexer.start()
        return cls(
            root,
            store,
            indexer,
            lifespans,
            settings.deliverables,
            settings.deliverables.detect,
            embedder,
            sender,
            home=settings.home,
            configured=configured,
            environ=environ,
            records=records,
        )

    async def close(self) -> None:
        """Stop indexing and close the memory."""
        self._closed = True
        self._preloading.cancel()
        await self._lifespan_review.close()
        await self.detecting.close()
        if self._follower is not None:
            await self._follower.close()
        await self.adoption.close()
        if self._embedder is not None:
            await self._embedder.close()
        await self._recall.close()
        await self._indexer.close()
        await self.uses.close()
        await self.deliverables.close()
        if self.record is not None:
            await self.record.close()
        await self._store.close()

    async def give_memory_back(self) -> None:
        """Let go of what is held only so that the next question is answered a little sooner. Raises a `StoreError`."""
        await self._store.give_memory_back()
        self._recall.read_anew()

    def status(self) -> WorkspaceStatus:
        """State and counts, as of the last write."""
        counts = self._counts()
        return WorkspaceStatus(
            root=str(self.root),
            state=self._indexer.state,
            files=counts.files,
            chunks=counts.chunks,
            pending_files=self._indexer.pending,
            skipped_files=self._skipped_files(),
            database_bytes=_size(self._store.path),
            last_error=self._indexer.last_error,
            watching=self._indexer.watching,
            learning_history=self._indexer.learning_history,
        )

    @property
    def behind(self) -> bool:
        """Whether files are being looked through or taken in: what is said rests on the index as it was left."""
        return self._indexer.state in ("scanning", "indexing")

    async def recall(self, params: RecallParams, cursor: EditorCursor | None = None) -> RecallResult:
        """The answer that memory has for a query, told as a whole."""
        answer = await self.answer(params, cursor)
        self.uses.show(answer.told(answer.result.results))
        return answer.result

    async def answer(self, params: RecallParams, cursor: EditorCursor | None = None) -> RecallAnswer:
        """Rank what memory holds for a query. Reads only; what is pending is said in `freshness`.

        What relates to the `cursor` and to what was edited lately comes first; without one, nothing is primed.
        """
        began = time.perf_counter()
        pending = await self._indexer.changes_pending()
        freshness = self._freshness(pending)  # before: an index that is done meanwhile came too late for this answer
        focus = await self.buffers.focus(cursor, time.time()) if cursor is not None else None
        return await self._recall.answer(params, focus, freshness, began)

    async def index(
        self, paths: list[Path] | None, progress: Callable[[IndexProgress], None] | None = None
    ) -> IndexResult:
        """Bring some paths, or everything, up to date and wait for it."""
        begun = time.perf_counter()
        wanted = None if paths is None else [self.relative(path) for path in paths]
        whole = wanted is None or "" in wanted or await asyncio.to_thread(_any_folder, self.root, wanted)
        summary = await self._indexer.run(None if whole else wanted, progress)
        await self._recall.read_ahead()  # who has files indexed asks next
        counts = self._counts()
        older = await self.adoption.offer_once()
        return IndexResult(
            workspace=str(self.root),
            files=counts.files,
            chunks=counts.chunks,
            definitions=sum(
                count for kind, count in counts.kinds.items() if kind != "module" and type_of(kind) == "code"
            ),
            kinds=counts.kinds,
            languages=counts.languages,
            parsed_files=summary.parsed,
            unchanged_files=summary.unchanged,
            removed_files=summary.removed,
            skipped_files=self._skipped_files(),
            failed_files=summary.failed,
            took_ms=round((time.perf_counter() - begun) * 1000, 3),
            adoptable=str(older.root) if older else None,
        )

    async def explain(self, chunk_id: str) -> ExplainResult:
        """All that memory knows of the chunk of that id, with or without its lines. Raises UnknownChunk."""
        colleagues, policies = self._colleagues, self.policies
        return await self._or_may_come(
            self._store.read(explanation.explain_id, self.root, chunk_id, colleagues, policies)
        )

    async def who(self, place: str) -> WhoResult:
        """Who knows a file, a place in one or a name, who knows it best first. Raises UnknownChunk."""
        reading = self._indexer.learning_history
        return await self._or_may_come(
            who(self.root, self._home, self._store.read, place, time.time(), reading=reading)
        )

    async def _or_may_come(self, asked: Awaitable[Found]) -> Found:
        """What is asked for; where it is not there, it is said that it may come while files are still being indexed."""
        try:
            return await asked
        except UnknownChunk as error:
            pending = await self._indexer.changes_pending() or self._indexer.pending
            raise UnknownChunk(recall_documents.still_indexed(str(error), pending)) from None

    async def transferred_patterns(self, params: RecallParams) -> list[Recalled]:
        """Patterns of other repositories that fit a question; none where it names one place or chunk."""
        question = parse_question(below(str(self.root), params.query))
        if question.is_id or question.reasoning_id is not None or question.places or params.level is not None:
            return []
        told = params.include_content or params.budget_tokens is not None
        now = time.time()
        return [recalled(match, now, content=told) for match in await self._transferred.matching(params.query)]

    async def first_commit(self) -> str:
        """First commit of the repository that this is a part of, as it is kept; "" where it is not known."""
        return await self._store.read(file_reader.fact, "git_root") or ""

    async def symbols(self, query: str, limit: int) -> list[Recalled]:
        """Definitions whose name starts like the query, then those recall finds for it."""
        hits = await self._store.read(symbols, query, limit, time.time())
        return [recall_documents.recalled(hit, self.root, UsageCounts()) for hit in hits]

    async def doctor(self) -> DoctorResult:
        """Checkup of this workspace: what is wrong and how to mend it, and every file that is left out."""
        older = await self.adoption.offer()
        return await checkup(
            self.root, self._store, self._indexer, self._policy_problems, older, self._embedder, self.record
        )

    async def telemetry(self) -> tuple[Sender, int] | None:
        """Who sends deliverables on, and how many wait to be taken; None where nothing is exported."""
        return None if self._follower is None else (self._follower.sender, await self._follower.unsent())

    async def repair(self) -> DoctorResult:
        """Mend the memory file and index everything anew; what was done, then what doctor says."""
        done = await mend(self.root, self._store, self._indexer)
        await self.deliverables.forget()
        self.detecting.forget()
        if self.record is not None:
            done += await mend_record(self.record)
        result = await self.doctor()
        return msgspec.structs.replace(result, findings=[*done, *result.findings])

    async def forget_logs(self, files: Sequence[str]) -> None:
        """Conversation logs that are deleted (paths below their folder) are not found any more."""
        if not self._closed:
            await self._store.forget_logs(files)

    def files_changed(self, paths: list[Path]) -> None:
        """Hear from an editor that files were saved, created or deleted."""
        self._indexer.changed([self.relative(path) for path in paths])

    def on_progress(self, listener: Callable[[IndexProgress | None], None]) -> Callable[[], None]:
        """Be told of background indexing, and with None of its end; returns how to stop listening."""
        return self._indexer.on_progress(listener)

    def relative(self, path: Path) -> str:
        """`path` within this workspace, with `/`. Raises StoreError for paths outside."""
        try:
            return _slashed(path.relative_to(self.root))
        except ValueError:
            pass
        try:
            return _slashed(Path(os.path.realpath(path)).relative_to(self.root))
        except ValueError as error:
            raise StoreError(f"{path} is outside the workspace {self.root}") from error

    async def catch_up(self) -> None:
        """Take in what was recorded, or forgotten, by another process a moment ago."""
        if self.record is not None:
            await self.record.catch_up()

    async def _preload(self) -> None:
        """Load what neither the start nor the first questions and saves wait for, once the files are known."""
        await self._indexer.first_run()
        await asyncio.to_thread(importlib.import_module, "numpy")  # 0.1 s, and only ranking needs it
        await keep_common(self.root, self._store)
        if self.record is not None:
            with suppress(StoreError):  # the exchange tries again, and tells
                await self.record.settled()
        if await take_over_removed(self.root, self._store, self.adoption):
            self._indexer.counts = await self._store.counts()
            self.detecting.forget()
        await self.soar.look_for_interrupted()
        if gone := await deleted_logs(self._store, self.soar.logs_folder):
            await self.forget_logs(gone)
        await asyncio.sleep(SAVES_PRELOADED_AFTER)
        await asyncio.to_thread(get_ready, self._counts().languages)
        await asyncio.to_thread(importlib.import_module, "aurora_protocol.secrets")  # looked for in what is recorded

    async def _more_came(self, forgetting: bool) -> None:
        """What others learned came into memory, or something went out of it."""
        if forgetting:
            await self.deliverables.forget()
            self.detecting.forget()
        self._indexer.counts = await self._store.counts()

    def _freshness(self, pending: int | None) -> Freshness:
        """How far behind memory is now; when it was indexed, memory itself says. `pending` as of `Indexer.heard`."""
        counts = self._counts()
        return Freshness(
            indexed_at=None,
            pending_files=self._indexer.pending if pending is None else pending,
            heard=pending is not None,
            skipped_files=self._skipped_files(),
            files=counts.files,
            chunks=counts.chunks,
            state=self._indexer.state,
            history_percent=self._indexer.history_percent,
        )

    def _counts(self) -> Counts:
        counts = self._indexer.counts
        assert counts is not None, "counted when the workspace was opened"
        return counts

    def _skipped_files(self) -> int:
        scan = self._indexer.last_scan
        return self._counts().skipped + (len(scan.skips) if scan else 0)


def _embedder_class() -> type[Embedder]:
    from aurora_indexer.embedding.embedder import Embedder

    return Embedder


def _size(path: Path) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += path.with_name(path.name + suffix).stat().st_size
        except OSError:
            continue
    return total


def _any_folder(root: Path, paths: Sequence[str]) -> bool:
    return any(os.path.isdir(root / path) for path in paths)  # noqa: PTH112 - a name too long is none either


def _slashed(path: Path) -> str:
    return "" if path == Path() else path.as_posix()


def _counting(sender: Sender) -> Callable[[RunRecord], None]:
    """Tells telemetry of each run that ended."""

    def count(run: RunRecord) -> None:
        from aurora_server.workspace.query_telemetry import run_measurements  # there by now: a run has ended

        sender.count(run_measurements(run))

    return count


def _count_nothing(_: object) -> None:
    """What is done of a run where nothing is exported."""
