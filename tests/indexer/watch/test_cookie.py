"""What the watcher knows it has heard: a cookie comes back after every event before it, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.watch.cookie import Cookies
from aurora_indexer.watch.watcher import FileChanges, Watcher
from tests.wait_limits import HANG

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only inotify tells in order")


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[tuple[Path, Watcher, list[FileChanges]]]:
    root = tmp_path / "root"
    root.mkdir()
    batches: list[FileChanges] = []
    watcher = Watcher(
        root, batches.append, asyncio.get_running_loop(), debounce=0.2, cookies=Cookies(tmp_path / "home" / "watch")
    )
    await asyncio.to_thread(watcher.start)
    yield root, watcher, batches
    await asyncio.to_thread(watcher.stop)


async def test_every_change_before_the_question_is_counted(watched: tuple[Path, Watcher, list[FileChanges]]) -> None:
    root, watcher, batches = watched
    assert await watcher.changes_pending(HANG) == 0
    for number in range(100):
        (root / f"new_{number}.py").write_text("x = 1\n")
        heard = await watcher.changes_pending(HANG)
        assert heard is not None
        assert heard + sum(len(each.changed) for each in batches) >= number + 1, "the last one was not heard of"
    async with asyncio.timeout(HANG):
        while await watcher.changes_pending(HANG):
            await asyncio.sleep(0.02)
    assert set().union(*(each.changed for each in batches)) == {f"new_{number}.py" for number in range(100)}


async def test_nothing_is_left_in_the_workspace_or_beside_it(
    watched: tuple[Path, Watcher, list[FileChanges]], tmp_path: Path
) -> None:
    root, watcher, batches = watched
    assert await asyncio.gather(*(watcher.changes_pending(HANG) for _ in range(50))) == [0] * 50
    assert [*root.iterdir(), *(tmp_path / "home" / "watch").iterdir()] == []
    assert batches == []


async def test_without_events_in_order_nothing_is_claimed(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    watcher = Watcher(tmp_path, lambda _: None, loop, polling=True, cookies=Cookies(tmp_path / "watch"))
    await asyncio.to_thread(watcher.start)
    assert await watcher.changes_pending(HANG) is None
    await asyncio.to_thread(watcher.stop)


async def test_a_cookie_that_cannot_be_made_claims_nothing(
    watched: tuple[Path, Watcher, list[FileChanges]], tmp_path: Path
) -> None:
    _, watcher, _ = watched
    (tmp_path / "home" / "watch").rmdir()
    assert await watcher.changes_pending(HANG) is None


async def test_what_can_be_read_again_is_news(watched: tuple[Path, Watcher, list[FileChanges]]) -> None:
    root, watcher, batches = watched
    (root / "below").mkdir()
    for path in (root / "one.py", root / "below" / "two.py"):
        path.write_text("x = 1\n")
        path.chmod(0)
    (root / "below").chmod(0)
    async with asyncio.timeout(HANG):
        while await watcher.changes_pending(HANG):
            await asyncio.sleep(0.02)
    batches.clear()
    (root / "one.py").chmod(0o600)
    (root / "below").chmod(0o700)
    async with asyncio.timeout(HANG):
        while not {"one.py", "below/two.py"} <= set().union(*(each.changed for each in batches)):
            await asyncio.sleep(0.02)
