"""The worker pool on real processes: killed, hanging, cancelled, closed, orphaned; no file may get lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from aurora_indexer import WorkerLost
from aurora_indexer.workers import worker_process
from aurora_indexer.workers.messages import FileSkipped, Parsed, ParseFailed, Reply, Unchanged, WorkItem, content_hash
from aurora_indexer.workers.pool import PoolClosed, WorkerPool, _Work
from tests.indexer.workers.forked import have_forked
from tests.processes import lives
from tests.wait_limits import HANG

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills by signal")

LEAST_PRIORITY = 19
"""The highest niceness there is."""

FAKE_WORKER = """
import os, sys, time
from aurora_indexer.workers.process_file import parse_source
from aurora_indexer.workers.worker import serve

def parse(path, source, *, shown):
    if b"DIE" in source:
        os.kill(os.getpid(), 9)
    if b"STUMBLE" in source and not os.path.exists("stumbled"):
        open("stumbled", "w").close()
        os._exit(3)
    if b"HANG" in source:
        time.sleep(600)
    if b"SLOW" in source:
        time.sleep(0.2)
    if b"RAISE" in source:
        raise ValueError("no good\\nreally")
    if b"PRINT" in source:
        print("a library talks")
        os.write(1, b"even natively")
    return parse_source(path, source)

serve(parse, sys.argv[1:])
"""


class Setting:
    """A root with files, a folder for the workers, and pools that are closed at the end."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "root"
        self.folder = tmp_path / "folder"
        self.root.mkdir()
        self.folder.mkdir()
        (self.folder / "fake_worker.py").write_text(FAKE_WORKER)
        self.pools: list[WorkerPool] = []

    def pool(self, size: int = 1, *, parse_timeout: float = 20.0, idle_seconds: float = 30.0) -> WorkerPool:
        made = WorkerPool(
            size,
            folder=self.folder,
            environment={**os.environ, "PYTHONPATH": str(self.root)},
            niceness=0,
            parse_timeout=parse_timeout,
            idle_seconds=idle_seconds,
            command=(sys.executable, "-P", str(self.folder / "fake_worker.py")),
        )
        self.pools.append(made)
        return made

    def items(self, sources: dict[str, str]) -> list[WorkItem]:
        for path, source in sources.items():
            (self.root / path).write_text(source)
        return [WorkItem(path, len(source)) for path, source in sources.items()]

    def many(self, count: int, source: str = "def f(): pass\n") -> list[WorkItem]:
        return self.items({f"f{number}.py": source for number in range(count)})


@pytest.fixture
async def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Setting]:
    made = Setting(tmp_path)

    def run(arguments: list[str]) -> None:
        sys.argv[1:] = arguments
        exec(FAKE_WORKER, {})

    have_forked(monkeypatch, (sys.executable, "-P", str(made.folder / "fake_worker.py")), run)
    yield made
    for pool in made.pools:
        await pool.aclose()


async def collect(pool: WorkerPool, root: Path, items: Sequence[WorkItem]) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}
    async with contextlib.aclosing(pool.parse(root, items)) as found:
        async for reply in found:
            assert reply.path not in replies
            replies[reply.path] = reply
    assert set(replies) == {item.path for item in items}
    return replies


async def gone(pids: Sequence[int], seconds: float = HANG) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(lives(pid) for pid in pids):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_worker_that_was_stopped_is_replaced_in_seconds(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "LOOK_EVERY", 0.1)
    pool = setting.pool(parse_timeout=HANG)
    await collect(pool, setting.root, setting.many(1))
    (pid,) = pool.pids
    os.kill(pid, signal.SIGSTOP)
    replies = await collect(pool, setting.root, setting.many(5, "def other(): pass\n"))
    assert all(isinstance(reply, Parsed) for reply in replies.values())
    assert pool.pids != [pid] and await gone([pid])


async def test_a_reply_takes_no_task_of_its_own(setting: Setting) -> None:
    pool = setting.pool()
    await collect(pool, setting.root, setting.many(1))
    made: list[object] = []

    def note(loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> asyncio.Task[Any]:
        made.append(coroutine)
        return asyncio.Task(coroutine, loop=loop, **more)

    asyncio.get_running_loop().set_task_factory(note)
    try:
        await collect(pool, setting.root, setting.many(200, "def other(): pass\n"))
    finally:
        asyncio.get_running_loop().set_task_factory(None)
    assert len(made) < 100


async def test_the_real_worker_parses_and_tells_stat_and_hash(tmp_path: Path) -> None:
    source = "def hello():\n    return 1\n"
    file = tmp_path / "a.py"
    file.write_text(source)
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    try:
        reply = (await collect(pool, tmp_path, [WorkItem("a.py")]))["a.py"]
        assert isinstance(reply, Parsed)
        assert [chunk.name for chunk in reply.file.chunks if chunk.kind == "function"] == ["hello"]
        assert reply.file.content_hash == content_hash(source.encode())
        assert (reply.stat.size, reply.stat.mtime_ns) == (file.stat().st_size, file.stat().st_mtime_ns)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, pool.pids[0]) == min(own + 10, LEAST_PRIORITY)
        os.utime(file)
        again = (await collect(pool, tmp_path, [WorkItem("a.py", 0, reply.file.content_hash)]))["a.py"]
        assert isinstance(again, Unchanged)
        assert again.stat.mtime_ns == file.stat().st_mtime_ns
    finally:
        await pool.aclose()


async def test_what_is_not_parsed_says_why(setting: Setting) -> None:
    items = setting.items(
        {"binary.py": "a\0b", "generated.py": "# @generated\n", "huge.py": "#" * (1 << 20) + "#", "bad.py": "RAISE"}
    )
    os.mkfifo(setting.root / "pipe.py")
    (setting.root / "link.py").symlink_to(setting.root / "bad.py")
    items += [WorkItem("gone.py"), WorkItem("pipe.py"), WorkItem("link.py"), WorkItem("bad.py/below.py")]
    replies = await collect(setting.pool(), setting.root, items)
    reasons = {path: reply.skip.reason for path, reply in replies.items() if isinstance(reply, FileSkipped)}
    assert reasons == {
        "binary.py": "binary",
        "generated.py": "generated",
        "huge.py": "too-large",
        "gone.py": "gone",
        "pipe.py": "not-a-file",
        "link.py": "unreadable",
        "bad.py/below.py": "gone",
    }
    failed = replies["bad.py"]
    assert isinstance(failed, ParseFailed)
    assert failed.message == "ValueError: no good"
    assert failed.stat is not None


async def test_all_files_of_many_batches_over_several_workers(setting: Setting) -> None:
    pool = setting.pool(2)
    replies = await collect(pool, setting.root, setting.many(150))
    assert all(isinstance(reply, Parsed) for reply in replies.values())
    assert len(pool.pids) == 2


async def test_nothing_a_library_prints_reaches_the_wire(setting: Setting) -> None:
    replies = await collect(setting.pool(), setting.root, setting.items({"a.py": "PRINT = 1\n", "b.py": "x = 1\n"}))
    assert all(isinstance(reply, Parsed) for reply in replies.values())


async def test_a_worker_imports_nothing_from_workspace_or_python_path(setting: Setting) -> None:
    for name in ("msgspec.py", "aurora_indexer.py", "tree_sitter.py"):
        (setting.root / name).write_text("raise SystemExit('captured')\n")
        (setting.folder / name).write_text("raise SystemExit('captured')\n")
    pool = WorkerPool(1, folder=setting.folder, environment={**os.environ, "PYTHONPATH": str(setting.root)})
    setting.pools.append(pool)
    replies = await collect(pool, setting.root, setting.items({"a.py": "x = 1\n"}))
    assert isinstance(replies["a.py"], Parsed)


def killed_one_of(pids: list[int]) -> bool:
    """Kill the first process that is still there; the pool may not know yet that another one is gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


async def test_killing_workers_in_the_middle_loses_nothing(setting: Setting) -> None:
    pool = setting.pool(2)
    items = setting.many(40, "SLOW = 1\n")[:12] + setting.many(100)[12:]
    replies: dict[str, Reply] = {}
    kills = 0
    async for reply in pool.parse(setting.root, items):
        replies[reply.path] = reply
        if kills < 2 and len(replies) % 5 == 0:
            kills += killed_one_of(pool.pids)
    assert kills == 2
    assert set(replies) == {item.path for item in items}
    assert all(isinstance(reply, Parsed) for reply in replies.values())


async def test_files_that_end_their_worker_fail_alone(setting: Setting) -> None:
    sources = {f"f{number}.py": "x = 1\n" for number in range(20)}
    sources |= {f"die{number}.py": "DIE = 1\n" for number in range(2)}
    replies = await collect(setting.pool(2), setting.root, setting.items(sources))
    failed = {path: reply.message for path, reply in replies.items() if isinstance(reply, ParseFailed)}
    assert set(failed) == {"die0.py", "die1.py"}
    assert all("signal 9" in message for message in failed.values())


async def test_a_file_gets_a_second_try(setting: Setting) -> None:
    replies = await collect(setting.pool(), setting.root, setting.items({"a.py": "STUMBLE = 1\n"}))
    assert isinstance(replies["a.py"], Parsed)
    assert (setting.folder / "stumbled").exists()


async def test_a_hanging_file_is_given_up(setting: Setting) -> None:
    begun = time.monotonic()
    pool = setting.pool(parse_timeout=1.0)
    replies = await collect(
        pool, setting.root, setting.items({"a.py": "x=1\n", "hang.py": "HANG = 1\n", "b.py": "y=1\n"})
    )
    failed = replies["hang.py"]
    assert isinstance(failed, ParseFailed)
    assert "longer than 1 s" in failed.message
    assert isinstance(replies["b.py"], Parsed)
    assert time.monotonic() - begun >= 2.0, "two tries of a second each"


async def test_cancelling_leaves_no_process(setting: Setting) -> None:
    pool = setting.pool(2)
    task = asyncio.create_task(collect(pool, setting.root, setting.many(64, "SLOW = 1\n")))
    while len(pool.pids) < 2:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)
    pids = pool.pids
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert pool.pids == []
    assert await gone(pids)
    assert len(await collect(pool, setting.root, setting.many(3))) == 3


async def test_leaving_the_loop_early_ends_the_workers_in_use(setting: Setting) -> None:
    pool = setting.pool()
    async with contextlib.aclosing(pool.parse(setting.root, setting.many(50))) as replies:
        async for _ in replies:
            break
    assert pool.pids == []


async def test_closing_ends_everything(setting: Setting) -> None:
    pool = setting.pool(2)
    task = asyncio.create_task(collect(pool, setting.root, setting.many(64, "SLOW = 1\n")))
    while len(pool.pids) < 2:
        await asyncio.sleep(0.02)
    pids = pool.pids
    await pool.aclose()
    with pytest.raises(PoolClosed):
        await task
    assert await gone(pids)
    with pytest.raises(PoolClosed):
        await collect(pool, setting.root, setting.many(1))
    await pool.aclose()


async def test_idle_workers_go_and_come_back(setting: Setting) -> None:
    pool = setting.pool(2, idle_seconds=0.3)
    task = asyncio.create_task(collect(pool, setting.root, setting.many(70)))
    pids: set[int] = set()
    while not task.done():
        pids |= set(pool.pids)
        await asyncio.sleep(0.01)
    assert len(await task) == 70
    assert len(pids) == 2
    assert await gone(list(pids))
    while pool.pids:
        await asyncio.sleep(0.02)
    await collect(pool, setting.root, setting.many(2))


async def test_an_idle_worker_that_died_is_no_trouble(setting: Setting) -> None:
    pool = setting.pool()
    await collect(pool, setting.root, setting.many(2))
    os.kill(pool.pids[0], signal.SIGKILL)
    replies = await collect(pool, setting.root, setting.many(2))
    assert all(isinstance(reply, Parsed) for reply in replies.values())


async def test_a_slow_reader_slows_the_workers(setting: Setting) -> None:
    pool = setting.pool()
    items = setting.many(200)
    async with contextlib.aclosing(pool.parse(setting.root, items)) as replies:
        await anext(replies)
        await asyncio.sleep(1.0)
        used = psutil.Process(pool.pids[0]).cpu_times()
        await asyncio.sleep(0.5)
        later = psutil.Process(pool.pids[0]).cpu_times()
        assert later.user - used.user < 0.2
        assert len([reply async for reply in replies]) == 199


async def test_a_short_call_does_not_wait_for_a_long_one(setting: Setting) -> None:
    pool = setting.pool()
    slow = setting.items({f"slow{number}.py": "SLOW = 1\n" for number in range(160)})
    long = asyncio.create_task(collect(pool, setting.root, slow))
    await asyncio.sleep(0.5)
    await asyncio.wait_for(collect(pool, setting.root, setting.items({"saved.py": "x = 1\n"})), HANG)
    assert not long.done()
    long.cancel()
    await asyncio.gather(long, return_exceptions=True)


async def test_workers_that_cannot_start_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nonesuch\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ, command=(sys.executable, "-P", str(broken)))
    with pytest.raises(WorkerLost, match="No module named 'nonesuch'"):
        await collect(pool, tmp_path, [WorkItem("a.py")])
    await pool.aclose()
    missing = WorkerPool(1, folder=tmp_path, environment=os.environ, command=(str(tmp_path / "none"),))
    with pytest.raises(WorkerLost, match="cannot be started"):
        await collect(missing, tmp_path, [WorkItem("a.py")])
    await missing.aclose()


async def test_workers_started_ahead_are_those_that_get_the_work(setting: Setting) -> None:
    pool = setting.pool(2)
    pool.warm()
    async with asyncio.timeout(HANG):
        while len(pool.pids) < 2:
            await asyncio.sleep(0.02)
    ahead = pool.pids
    pool.warm()
    await collect(pool, setting.root, setting.many(40))
    assert pool.pids == ahead


async def test_closing_ends_workers_that_are_being_started(setting: Setting) -> None:
    pool = setting.pool(2)
    pool.warm()
    await asyncio.sleep(0)
    await pool.aclose()
    assert pool.pids == []
    assert not [child for child in psutil.Process().children() if str(setting.folder) in " ".join(child.cmdline())]


async def test_no_items_no_workers(setting: Setting) -> None:
    pool = setting.pool()
    assert await collect(pool, setting.root, []) == {}
    assert pool.pids == []


DAEMON = """
import asyncio, os, sys
from pathlib import Path
from typing import Any
from aurora_indexer.workers.messages import WorkItem
from aurora_indexer.workers.pool import WorkerPool

async def main():
    folder, root = Path(sys.argv[1]), Path(sys.argv[2])
    pool = WorkerPool(2, folder=folder, environment=os.environ,
                      command=(sys.executable, "-P", str(folder / "fake_worker.py")))
    async def run(path):
        async for _ in pool.parse(root, [WorkItem(path)]):
            pass
    tasks = [asyncio.create_task(run(path)) for path in ("idle.py", "hang.py")]
    await tasks[0]
    while len(pool.pids) < 2:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)
    print(*pool.pids, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_killed_daemon_leaves_no_worker_not_even_a_busy_one(setting: Setting, tmp_path: Path) -> None:
    setting.items({"idle.py": "x = 1\n", "hang.py": "HANG = 1\n"})
    script = tmp_path / "daemon.py"
    script.write_text(DAEMON)
    daemon = subprocess.Popen(
        [sys.executable, str(script), str(setting.folder), str(setting.root)], stdout=subprocess.PIPE
    )
    assert daemon.stdout is not None
    with daemon.stdout:
        pids = [int(pid) for pid in (await asyncio.to_thread(daemon.stdout.readline)).split()]
    assert len(pids) == 2
    daemon.kill()
    daemon.wait()
    assert await gone(pids)


async def test_control_c_in_the_terminal_is_the_daemons_business(setting: Setting) -> None:
    pool = setting.pool()
    await collect(pool, setting.root, setting.many(1))
    pid = pool.pids[0]
    os.kill(pid, signal.SIGINT)
    await asyncio.sleep(0.2)
    assert lives(pid)
    assert len(await collect(pool, setting.root, setting.many(2))) == 2
    assert pool.pids == [pid]


def test_large_files_come_first_and_few_files_last() -> None:
    sizes = {
        "a.py": 10,
        "big.py": 90_000,
        "bigger.py": 99_000,
        "c.ts": 10,
        "d.ts": 10,
        "big.ts": 80_000,
        "e.ts": 95_000,
    }
    work = _Work(Path("/root"), [WorkItem(path, size) for path, size in sizes.items()] * 10)
    front, back = work.next_batch(), work.next_batch(from_end=True)
    assert front[0].path == "bigger.py" and back[0].path == "e.ts"
    taken = len(front) + len(back)
    last: list[WorkItem] = []
    while batch := work.next_batch():
        taken, last = taken + len(batch), batch
    assert taken == 10 * len(sizes) and len(last) == 1


def test_every_item_is_worked_on_once_whatever_its_size() -> None:
    items = [WorkItem(f"{n}.{'py' if n % 3 else 'ts'}", n * 7_919 % 200_000) for n in range(500)]
    work, taken, end = _Work(Path("/root"), items), [], False
    while batch := work.next_batch(from_end=end):
        taken += batch
        end = not end
    assert sorted(taken, key=lambda item: item.path) == sorted(items, key=lambda item: item.path)


def test_what_a_lost_worker_left_is_next_and_what_ended_it_is_tried_again_after_all_else() -> None:
    work = _Work(Path("/root"), [WorkItem(f"{n:02}.py", 10) for n in range(12)])
    lost = work.next_batch()
    assert work.give_back_after_loss(deque(lost)) is None, "it gets a second try"
    rest: list[list[WorkItem]] = []
    while batch := work.next_batch():
        rest.append(batch)
    told = [item for batch in rest for item in batch]
    assert told[: len(lost) - 1] == lost[1:], "nobody waits longer because a neighbour ended the worker"
    assert rest[-1] == [lost[0]], "alone, and last: it may end the next worker as well"
