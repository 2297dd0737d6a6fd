"""Who parses a first index: the daemon where the files are few, workers where they are many or it died of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer import indexer as module
from aurora_indexer.files.scan import Limits, scan
from aurora_indexer.indexer import HERE_FILES, Indexer, IndexerSettings
from aurora_indexer.watch.watcher import FileChanges
from aurora_indexer.workers.messages import ParseFailed, ReadStat, Reply, WorkItem
from aurora_indexer.workers.pool import WorkerPool
from aurora_memory import StoreBusy
from aurora_memory.store import Written, file_reader
from aurora_memory.store.reader import Reader
from tests.indexer.workers.forked import have_forked
from tests.memory.stores import new_store
from tests.wait_limits import HANG

SMALL = 4096
"""Bytes of files that the daemon parses itself, here: a quarter of a million comments take seconds."""


@pytest.fixture(autouse=True)
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    have_forked(monkeypatch)


def files(root: Path, count: int, size: int = 0) -> None:
    """So many modules of one function, each with comments of about so many bytes."""
    root.mkdir(exist_ok=True)
    for number in range(count):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n" + "# word\n" * (size // 7))


@asynccontextmanager
async def indexed(folder: Path, before: dict[str, str] | None = None) -> AsyncIterator[tuple[Indexer, WorkerPool]]:
    """The indexer of `folder / "work"` after its first look, and its workers; `before` has what memory knew already."""
    store = await new_store(folder / "memory.db")
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    for key, value in (before or {}).items():
        await store.remember(key, value)
    indexer = Indexer(folder / "work", store, pool, IndexerSettings(Limits(max_file_bytes=1 << 20, max_files=1000)))
    indexer.counts = await store.counts()
    indexer.start()
    try:
        await indexer.first_run()
        yield indexer, pool
    finally:
        await indexer.close()
        await pool.aclose()
        await store.close()


def with_files(count: int, size: int = 0) -> Callable[[Path], None]:
    return lambda root: files(root, count, size)


@pytest.mark.parametrize(
    ("made", "before", "workers"),
    [
        pytest.param(with_files(0), {}, 0, id="nothing to parse takes no worker"),
        pytest.param(with_files(HERE_FILES), {}, 0, id="a few files take none"),
        pytest.param(with_files(HERE_FILES + 1), {}, 1, id="one more takes a worker"),
        pytest.param(with_files(2, SMALL // 2 + 7), {}, 1, id="large ones take a worker"),
        pytest.param(
            with_files(1), {"first_index": "begun"}, 1, id="where the daemon did not come to an end, a worker tries"
        ),
    ],
)
async def test_a_first_index(
    tmp_path: Path,
    made: Callable[[Path], None],
    before: dict[str, str],
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aurora_indexer.indexer.HERE_BYTES", SMALL)
    made(tmp_path / "work")
    async with indexed(tmp_path, before) as (indexer, pool):
        assert len(pool.pids) == workers
        assert indexer.counts is not None and indexer.last_error is None
        assert indexer.counts.files + indexer.counts.skipped == len(list((tmp_path / "work").iterdir()))


async def test_what_differs_later_and_was_edited_by_nobody_is_for_a_worker(tmp_path: Path) -> None:
    files(tmp_path / "work", 1)
    async with indexed(tmp_path):
        pass
    files(tmp_path / "work", 2)
    async with indexed(tmp_path) as (indexer, pool):
        assert len(pool.pids) == 1
        assert indexer.counts is not None and indexer.counts.files == 2


def test_a_look_tells_after_each_folder_how_many_files_there_are(tmp_path: Path) -> None:
    files(tmp_path, 2)
    files(tmp_path / "below", 3)
    told: list[int] = []
    scan(tmp_path, Limits(max_file_bytes=1 << 20, max_files=1000), tell=told.append)
    assert told == [2, 5]


async def test_what_fails_again_and_again_for_one_reason_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("aurora_indexer.indexer.RETRY_SECONDS", 0.01)
    files(tmp_path / "work", 1)
    async with indexed(tmp_path) as (indexer, _):
        shutil.rmtree(tmp_path / "work")
        for _ in range(3):
            with pytest.raises(OSError, match="work"):
                await indexer.run(None)
        files(tmp_path / "work", 1)
        assert (await indexer.run(None)).failed == 0
    assert [each.getMessage() for each in caplog.records].count("indexing failed") == 1


async def test_what_the_daemon_cannot_parse_in_its_time_a_worker_parses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def slow(root: str, item: WorkItem, *_: object) -> Reply:
        looked.append(item.path)
        return ParseFailed(item.path, "too slow", ReadStat(size=item.size, mtime_ns=1, mark=1))

    monkeypatch.setattr("aurora_indexer.indexer.process_file", slow)
    files(tmp_path / "work", 2)
    async with indexed(tmp_path) as (indexer, pool):
        assert sorted(looked) == ["m0.py", "m1.py"] and len(pool.pids) == 1
        assert indexer.counts is not None and (indexer.counts.files, indexer.counts.skipped) == (2, 0)


async def test_what_other_rules_make_of_files_is_no_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Indexer, "_on_changes", lambda *_: None)  # or the watcher would be quicker on a busy machine
    files(tmp_path / "work", 1)
    async with indexed(tmp_path) as (indexer, _):
        heard: list[tuple[tuple[str, ...], bool]] = []
        indexer.on_files_changed(lambda told: heard.append((told.changed, told.edited)))
        await indexer._store.remember("chunking", "of another version")
        assert (await indexer.run(None)).parsed == 1
        assert await indexer._store.read(file_reader.fact, "chunking") != "of another version"
        assert (await indexer.run(None)).parsed == 0
        files(tmp_path / "work", 1, 70)
        assert (await indexer.run(None)).parsed == 1
        files(tmp_path / "work", 1, 7)
        assert (await indexer.run(None, edited=False)).parsed == 1
        assert heard == [(("m0.py",), False), (("m0.py",), True), (("m0.py",), False)]


@pytest.mark.parametrize(
    ("overflow", "git", "everything", "edited"),
    [(False, False, False, True), (True, False, True, True), (False, True, True, False), (True, True, True, False)],
)
async def test_what_a_checkout_changes_is_no_edit(
    tmp_path: Path, overflow: bool, git: bool, everything: bool, edited: bool
) -> None:
    (tmp_path / "work").mkdir()
    async with indexed(tmp_path) as (indexer, _):
        indexer._on_changes(FileChanges({"a.py"}, {"b.py"}, overflow=overflow, git_head_changed=git))
        wanted = indexer._wanted
        assert (wanted.paths, wanted.everything, wanted.edited) == ({"a.py", "b.py"}, everything, edited)


async def test_a_checkout_is_no_edit_to_the_run_that_tries_again_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aurora_memory.store.connection.BUSY_SECONDS", 0)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(Indexer, "_on_changes", lambda *_: None)  # the watcher's own news would be hand edits
    files(tmp_path / "work", 2)
    async with indexed(tmp_path) as (indexer, _):
        heard: list[bool] = []
        indexer.on_files_changed(lambda changed: heard.append(changed.edited))
        rewrite(tmp_path / "work", 2, 10)
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusy):
                await indexer.run(None, edited=False)
            other.execute("ROLLBACK")
        async with asyncio.timeout(HANG):
            while indexer.state != "ready":
                await asyncio.sleep(0.01)
        assert heard and not any(heard)
        assert await indexer._store.read(changed_times) == [None, None]
        rewrite(tmp_path / "work", 2, 20)
        indexer.changed(["m0.py"])
        await indexer.run(["m1.py"])
        assert None not in await indexer._store.read(changed_times)


def rewrite(root: Path, count: int, by: int) -> None:
    """Another body for the functions of so many modules."""
    for number in range(count):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number + by}\n")


def changed_times(reader: Reader) -> list[float | None]:
    """When each chunk was changed by hand, as memory saw it."""
    return [at for (at,) in reader.rows("SELECT changed_at FROM chunks WHERE kind = 'function' ORDER BY path")]


async def test_files_that_a_failed_run_wrote_are_told_of_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(Indexer, "_on_changes", lambda *_: None)
    monkeypatch.setattr("aurora_indexer.batches.BATCH_CHANGED", 1)
    files(tmp_path / "work", 2)
    async with indexed(tmp_path) as (indexer, _):
        heard: set[str] = set()
        indexer.on_files_changed(lambda changed: heard.update(changed.changed))
        files(tmp_path / "work", 2, 70)
        write, writes = indexer._store.write, iter([True, False])

        async def once(*given: Any, **options: Any) -> Written:
            if next(writes, True):
                return await write(*given, **options)
            raise StoreBusy("the second batch found memory busy")

        monkeypatch.setattr(indexer._store, "write", once)
        with pytest.raises(StoreBusy):
            await indexer.run(None)
        assert (await indexer.run(None)).failed == 0
        assert heard == {"m0.py", "m1.py"}


async def test_after_a_checkout_nothing_that_is_wanted_besides_is_an_edit(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with indexed(tmp_path) as (indexer, _):
        indexer._on_changes(FileChanges({"a.py"}, set(), git_head_changed=True))
        indexer._on_changes(FileChanges({"b.py"}, set(), overflow=True))
        assert (indexer._wanted.everything, indexer._wanted.edited) == (True, False)


async def test_files_asked_for_by_name_are_no_edit_where_who_asks_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Indexer, "_on_changes", lambda *_: None)
    files(tmp_path / "work", 1)
    async with indexed(tmp_path) as (indexer, _):
        heard: list[bool] = []
        indexer.on_files_changed(lambda changed: heard.append(changed.edited))
        files(tmp_path / "work", 1, 70)
        assert (await indexer.run(["m0.py"], edited=False)).parsed == 1
        assert heard == [False]


async def test_what_another_folder_in_the_roots_place_holds_is_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Indexer, "_on_changes", lambda *_: None)
    files(tmp_path / "work", 1)
    files(tmp_path / "other", 1, 70)
    async with indexed(tmp_path) as (indexer, _):
        heard: list[bool] = []
        indexer.on_files_changed(lambda changed: heard.append(changed.edited))
        (tmp_path / "work").rename(tmp_path / "old")
        (tmp_path / "other").rename(tmp_path / "work")
        async with asyncio.timeout(HANG):
            while not heard:
                await asyncio.sleep(0.01)
        assert heard == [False]


async def test_what_changes_as_it_is_closed_keeps_nobody_waiting(tmp_path: Path) -> None:
    files(tmp_path / "work", 1)
    async with asyncio.timeout(HANG), indexed(tmp_path) as (indexer, _):
        await asyncio.sleep(0.1)
        indexer.changed(["m0.py"])
        await asyncio.sleep(0)  # who waits for changes has heard, and had no turn yet
        await indexer.close()


async def test_a_history_that_git_did_not_tell_is_asked_for_again_until_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path / "work", 1)
    answers = iter(["git log took longer than 20 s; try again", "git log was killed; try again", None])
    told: list[str | None] = []

    async def learn(*_: object, **__: object) -> str | None:
        told.append(asked.history_problem)
        return next(answers)

    monkeypatch.setattr(module, "learn_history", learn)
    monkeypatch.setattr(module, "HISTORY_AGAIN", (0.0,) * 5)
    async with indexed(tmp_path) as (asked, _):
        async with asyncio.timeout(HANG):
            while len(told) < 3 or asked.learning_history:
                await asyncio.sleep(0.01)
        assert told == [None, "git log took longer than 20 s; try again", "git log was killed; try again"]
        assert asked.history_problem is None


async def test_a_history_that_waits_to_be_asked_for_again_is_not_being_read_and_a_sweep_asks_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path / "work", 1)
    tries: list[None] = []

    async def learn(*_: object, **__: object) -> str | None:
        tries.append(None)
        return "git log was killed; try again"

    monkeypatch.setattr(module, "learn_history", learn)
    monkeypatch.setattr(module, "HISTORY_AGAIN", (HANG * 9,))
    async with indexed(tmp_path) as (asked, _), asyncio.timeout(HANG):
        while not tries or asked.learning_history:
            await asyncio.sleep(0.01)
        assert asked.history_percent is None
        assert asked.history_problem == "git log was killed; try again"
        await asked.run(None)
        while len(tries) < 2:
            await asyncio.sleep(0.01)


async def test_sweeps_during_a_reading_of_history_have_it_read_once_more_and_closing_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path / "work", 1)
    reading: list[asyncio.Task[object] | None] = []
    go_on = asyncio.Event()

    async def learn(*_: object, **__: object) -> str | None:
        reading.append(asyncio.current_task())
        await go_on.wait()
        return "git log was killed; try again"

    monkeypatch.setattr(module, "learn_history", learn)
    monkeypatch.setattr(module, "HISTORY_AGAIN", (HANG * 9,) * 3)
    async with indexed(tmp_path) as (asked, _), asyncio.timeout(HANG):
        for _ in range(3):
            await asked.run(None)
        assert len(reading) == 1 and asked.learning_history
        go_on.set()
        while len(reading) < 2 or asked.learning_history:
            await asyncio.sleep(0.01)
    assert len(reading) == 2 and all(task is not None and task.done() for task in reading)
