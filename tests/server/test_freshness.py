"""How fresh an answer says it is: never fresher than what it was made from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer import batches, indexer
from aurora_indexer.indexer import Indexer
from aurora_indexer.workers.pool import WorkerPool
from aurora_protocol.client import Client
from aurora_protocol.methods import RecallParams, RecallResult
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.recall import MemoryRecall
from aurora_server.workspace.workspace import Workspace
from tests.server.daemons import Daemon, until
from tests.shares import long

QUESTION = RecallParams(query="feed the pigeons")


@pytest.fixture
async def unindexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    """A workspace that nobody has indexed yet, and nobody does until its indexer is started."""
    root, home, work = (tmp_path / name for name in ("loft", "home", "work"))
    for folder in (root, home, work):
        folder.mkdir()
    (root / "loft.py").write_text("def feed(pigeons):\n    return [pigeon.eat() for pigeon in pigeons]\n")
    pool = WorkerPool(1, folder=work, environment=os.environ)
    with monkeypatch.context() as held:
        held.setattr(Indexer, "start", lambda self: None)
        opened = await Workspace.open(root, Settings(home=home), pool)
    yield opened
    await opened.close()
    await pool.aclose()


async def test_an_index_that_is_done_while_memory_is_asked_comes_too_late_for_the_answer(
    unindexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = MemoryRecall.answer

    async def answer(self: MemoryRecall, *given: Any) -> RecallResult:
        found = await answered(self, *given)
        unindexed._indexer.start()
        await unindexed.index(None)
        return found

    with monkeypatch.context() as held:
        held.setattr(MemoryRecall, "answer", answer)
        early = await unindexed.recall(QUESTION)
    assert not early.results
    assert early.freshness.indexed_at is None  # so that `aur mem` waits and asks again
    late = await unindexed.recall(QUESTION)
    assert [each.name for each in late.results] == ["feed"]
    assert late.freshness.indexed_at is not None and late.freshness.state == "ready"


async def test_what_a_first_index_has_so_far_is_counted_while_it_goes_on(
    unindexed: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (unindexed.root / f"coop{number}.py").write_text(f"def coop{number}():\n    pass\n")
    monkeypatch.setattr(indexer, "COUNT_EVERY", 0.0)
    monkeypatch.setattr(batches, "BATCH_CHUNKS", 1)
    seen: list[tuple[str, int]] = []
    unindexed._indexer.start()
    await unindexed.index(None, lambda _: seen.append((unindexed.status().state, unindexed.status().files)))
    assert any(state == "indexing" and 0 < files < 21 for state, files in seen), seen
    assert unindexed.status().files == 21


def _same_stat(path: Path, content: str) -> None:
    """Rewrite a file so that its size and mtime stay."""
    before = path.stat()
    path.write_text(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def _replaced(path: Path, content: str) -> None:
    """Put another file in a file's place (`mv`, rsync), of the same size and mtime."""
    before, other = path.stat(), path.with_name("other.txt")
    other.write_text(content)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def _copied(path: Path, content: str) -> None:
    """Copy a file over another with its times (`cp -p`)."""
    before, other = path.stat(), path.with_name("other.txt")
    other.write_text(content)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    subprocess.run(["cp", "-p", other, path], check=True)


def _synced(path: Path, content: str) -> None:
    """Bring a file over with its times (`rsync -t`), told to compare contents."""
    if shutil.which("rsync") is None:
        pytest.skip("no rsync here")
    before, other = path.stat(), path.with_name("there") / path.name
    other.parent.mkdir(exist_ok=True)
    other.write_text(content)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    subprocess.run(["rsync", "-tI", other, path], check=True)
    shutil.rmtree(other.parent)


@pytest.mark.parametrize(
    ("change", "live"),
    [
        (_same_stat, True),
        (_same_stat, False),
        long((_replaced, True)),
        (_replaced, False),
        *(long((change, live)) for change in (_copied, _synced) for live in (True, False)),  # what those two are
    ],
)
def test_a_change_of_equal_size_and_mtime_is_seen(
    tmp_path: Path, change: Callable[[Path, str], None], live: bool
) -> None:
    root, home = tmp_path / "loft", tmp_path / "home"
    root.mkdir()
    file = root / "loft.py"
    file.write_text("def feed_pigeons():\n    return 1\n")
    with ExitStack() as stack:
        daemon = stack.enter_context(Daemon(home))
        client = stack.enter_context(daemon.client(root))
        client.request("aurora/index", {})
        assert _names(client) == ["feed_pigeons"]
        if not live:
            stack.close()
        change(file, "def feed_parrots():\n    return 2\n")
        if not live:
            daemon = stack.enter_context(Daemon(home))
            client = stack.enter_context(daemon.client(root))
            client.request("aurora/index", {})
        until(lambda: _names(client) == ["feed_parrots"], "the other text is in memory")


def _names(client: Client) -> list[str]:
    """Names in memory once it says that nothing is pending, and that it has heard of everything."""
    answer: dict[str, Any] = {}

    def settled() -> bool:
        answer.update(client.request("aurora/recall", {"query": "feed"}))
        freshness = answer["freshness"]
        return bool(freshness["heard"]) and not freshness["pending_files"]

    until(settled, "nothing is pending")
    return [each["name"] for each in answer["results"]]


@pytest.mark.skipif(sys.platform != "linux", reason="only inotify tells in order")
def test_nothing_pending_is_said_only_of_what_was_heard(tmp_path: Path) -> None:
    """Right after a save an answer has the new text, or says that something is pending: a hundred times."""
    root, home = tmp_path / "loft", tmp_path / "home"
    root.mkdir()
    file = root / "loft.py"
    file.write_text("def feed_pigeons_0():\n    return 1\n")
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {})
        for number in range(100):
            file.write_text(f"def feed_pigeons_{number}():\n    return 1\n")
            answer = client.request("aurora/recall", {"query": "feed pigeons"})
            known = [each["name"] for each in answer["results"]] == [f"feed_pigeons_{number}"]
            assert known or answer["freshness"]["pending_files"] or not answer["freshness"]["heard"], number
        assert sorted(path.name for path in root.iterdir()) == ["loft.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts")
def test_a_folder_that_something_is_mounted_over_is_looked_at_again(tmp_path: Path) -> None:
    root, other, home = tmp_path / "loft", tmp_path / "other", tmp_path / "home"
    for folder in (root / "birds", other):
        folder.mkdir(parents=True)
    (root / "birds" / "loft.py").write_text("def feed_pigeons():\n    return 1\n")
    (other / "loft.py").write_text("def feed_parrots():\n    return 2\n")
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", {})
        mount = subprocess.run(["mount", "--bind", other, root / "birds"], capture_output=True, check=False)
        if mount.returncode:
            pytest.skip(f"cannot mount here: {mount.stderr.decode().strip()}")
        try:
            until(lambda: _names(client) == ["feed_parrots"], "what was mounted is in memory")
            (other / "loft.py").write_text("def feed_pheasants():\n    return 3\n")
            until(lambda: _names(client) == ["feed_pheasants"], "and what changes there")
        finally:
            subprocess.run(["umount", root / "birds"], check=True)
        until(lambda: _names(client) == ["feed_pigeons"], "what was there before is back")
