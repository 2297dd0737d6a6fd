"""The watcher on real folders: saves, moves, limits; what it must not watch, and that it leaves no thread."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.files.scan import Limits, scan
from aurora_indexer.watch.watched_root import WatchedRoot
from aurora_indexer.watch.watcher import FileChanges, Watcher
from tests.indexer.watch.event_probe import MODES, Seen, covers, until, write
from tests.shares import long
from tests.wait_limits import HANG


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    write(made / "src" / "a.py")
    write(made / "src" / "deep" / "er" / "b.py")
    return made


@pytest.fixture(params=MODES)
async def seen(root: Path, request: pytest.FixtureRequest) -> AsyncIterator[Seen]:
    made = Seen(root, polling=request.param == "polling")
    await made.start()
    yield made
    await asyncio.to_thread(made.watcher.stop)


@pytest.fixture
async def native(root: Path) -> AsyncIterator[Seen]:
    made = Seen(root, polling=False)
    await made.start()
    assert made.watcher.mode != "polling", made.watcher.warning
    yield made
    await asyncio.to_thread(made.watcher.stop)


async def test_a_folder_made_anew_is_another_also_where_it_got_the_number_of_the_old_one(root: Path) -> None:
    watched = WatchedRoot(root, 0.01, lambda _: None)
    await watched.start()
    try:
        assert not await watched.was_replaced()
        number = root.stat().st_ino
        for _ in range(100):  # a file system gives the number again soon, or never
            shutil.rmtree(root)
            root.mkdir()
            if root.stat().st_ino == number:
                break
        deadline = time.monotonic() + HANG
        while not await watched.was_replaced():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
    finally:
        await watched.stop()


async def test_who_gives_up_while_the_watch_comes_up_leaves_none_behind(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, go_on = threading.Event(), threading.Event()
    begin = Watcher._begin

    def slow(watcher: Watcher) -> None:
        entered.set()
        assert go_on.wait(HANG)
        begin(watcher)
        ended.set()

    ended = threading.Event()
    monkeypatch.setattr(Watcher, "_begin", slow)
    watched = WatchedRoot(root, 0.05, lambda changes: None)
    starting = asyncio.create_task(watched.start())
    assert await asyncio.to_thread(entered.wait, HANG)
    starting.cancel()
    await asyncio.wait([starting])
    await watched.stop()
    go_on.set()
    assert await asyncio.to_thread(ended.wait, HANG)
    await asyncio.sleep(0.05)  # whatever the thread asked the loop for
    assert [each.get_name() for each in asyncio.all_tasks() if each.get_name().startswith("watch")] == []
    assert "anon_inode:inotify" not in {os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()}
    await watched.start()  # and it can be watched again
    assert watched.mode == "inotify"
    await watched.stop()


async def test_a_watch_that_fails_to_come_up_can_be_tried_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = WatchedRoot(root, 0.05, lambda changes: None)
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "_begin", lambda watcher: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await watched.start()
    await watched.start()
    assert watched.mode != "off"
    await watched.stop()


async def test_saves_new_files_and_deletions(seen: Seen) -> None:
    write(seen.root / "src" / "a.py", "y = 2222\n")
    write(seen.root / "src" / "new.py")
    (seen.root / "src" / "deep" / "er" / "b.py").unlink()
    await seen.until(changed={"src/a.py", "src/new.py"}, removed={"src/deep/er/b.py"})
    await seen.quiet()
    assert (seen.changed, seen.removed) == ({"src/a.py", "src/new.py"}, {"src/deep/er/b.py"})


async def test_an_atomic_save_is_one_change(native: Seen) -> None:
    temporary = write(native.root / "src" / "a.py.tmp123", "z = 3\n")
    other = write(native.root / "src" / "4913")
    other.unlink()
    temporary.rename(native.root / "src" / "a.py")
    await native.until(changed={"src/a.py"})
    await native.quiet()
    assert native.batches == [FileChanges({"src/a.py"}, set())]


async def test_a_backup_and_rewrite_save_is_one_change(native: Seen) -> None:
    file = native.root / "src" / "a.py"
    file.rename(native.root / "src" / "a.py~")
    write(file, "z = 3\n")
    (native.root / "src" / "a.py~").unlink()
    await native.until(changed={"src/a.py"})
    await native.quiet()
    assert native.batches == [FileChanges({"src/a.py"}, set())]


async def test_many_saves_come_in_few_batches(native: Seen) -> None:
    for number in range(300):
        write(native.root / "src" / f"f{number}.py")
    await native.until(changed={f"src/f{number}.py" for number in range(300)})
    assert len(native.batches) <= 8


async def test_a_busy_tree_cannot_hold_a_batch_back(native: Seen) -> None:
    async with asyncio.timeout(HANG):
        while len(native.batches) < 3:  # how soon: test_debounce.py
            write(native.root / "src" / "a.py", str(time.monotonic()))
            await asyncio.sleep(0.01)


async def test_a_new_folder_full_of_files(seen: Seen, tmp_path: Path) -> None:
    for number in range(20):
        write(seen.root / "fresh" / f"d{number}" / "x" / "c.py")
    expected = {f"fresh/d{number}/x/c.py" for number in range(20)}
    await seen.until(changed=expected)
    seen.forget()
    write(seen.root / "fresh" / "d3" / "x" / "c.py", "later = 1\n")
    await seen.until(changed={"fresh/d3/x/c.py"})


async def test_folders_moved_in_within_and_out(seen: Seen, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "sub" / "c.py")
    (tmp_path / "outside").rename(seen.root / "inside")
    await seen.until(changed={"inside/sub/c.py"})
    await seen.quiet()
    seen.forget()
    (seen.root / "inside").rename(seen.root / "renamed")
    await seen.until(changed={"renamed/sub/c.py"})
    assert covers(seen.removed, "inside/sub/c.py")
    await seen.quiet()
    seen.forget()
    write(seen.root / "renamed" / "sub" / "c.py", "after = 'the move'\n")
    await seen.until(changed={"renamed/sub/c.py"})
    assert not any(path.startswith("inside") for path in seen.changed)
    seen.forget()
    (seen.root / "renamed").rename(tmp_path / "away")
    await until(lambda: covers(seen.removed, "renamed/sub/c.py"))
    seen.forget()
    write(tmp_path / "away" / "sub" / "c.py", "unseen = 1\n")
    await seen.quiet()
    assert seen.batches == []


async def test_a_deleted_folder_takes_its_files_along(seen: Seen) -> None:
    shutil.rmtree(seen.root / "src")
    await until(lambda: covers(seen.removed, "src/deep/er/b.py") and covers(seen.removed, "src/a.py"))
    write(seen.root / "src" / "a.py", "back = 1\n")
    await seen.until(changed={"src/a.py"})


async def test_ignored_and_foreign_files_are_no_news(seen: Seen) -> None:
    write(seen.root / ".gitignore", "gen/\n*.tmp.py\n")
    await seen.overflowed()
    await seen.quiet()
    seen.forget()
    for path in ("gen/a.py", "b.tmp.py", "node_modules/x/y.js", "src/__pycache__/c.py", "picture.png", ".git/HEAD.py"):
        write(seen.root / path)
    await seen.quiet()
    assert all(not batch.changed and not batch.removed for batch in seen.batches)


async def test_changed_ignore_files_ask_for_a_look_at_everything(native: Seen) -> None:
    write(native.root / "gen" / "a.py")
    await native.until(changed={"gen/a.py"})
    native.forget()
    before = native.watcher.watches
    write(native.root / ".gitignore", "gen/\n")
    await native.overflowed()
    assert native.watcher.watches == before - 1
    assert native.rules.is_ignored("gen/a.py", False)
    (native.root / ".gitignore").unlink()
    await until(lambda: native.watcher.watches == before)
    native.forget()
    write(native.root / "gen" / "a.py", "watched = 'again'\n")
    await native.until(changed={"gen/a.py"})


async def test_a_clone_appearing_inside_is_not_watched(native: Seen) -> None:
    subprocess.run(["git", "init", "-q", str(native.root / "clone")], check=True)
    write(native.root / "clone" / "a.py")
    await native.overflowed()
    await native.quiet()
    native.forget()
    write(native.root / "clone" / "b.py")
    await native.quiet()
    assert native.changed == set()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
async def test_dependency_folders_cost_no_watches(root: Path) -> None:
    for number in range(60):
        (root / "node_modules" / f"p{number}" / "lib").mkdir(parents=True)
    seen = Seen(root, polling=False)
    await seen.start()
    try:
        assert (seen.watcher.mode, seen.watcher.watches) == ("inotify", 4)
    finally:
        await asyncio.to_thread(seen.watcher.stop)


@pytest.mark.parametrize("mode", MODES)
async def test_no_thread_is_left_and_no_batch_comes_after_the_end(root: Path, mode: str) -> None:
    for _ in range(3):
        seen = Seen(root, polling=mode == "polling")
        await seen.start()
        write(root / "src" / "a.py", str(time.monotonic()))
        await asyncio.to_thread(seen.watcher.stop)
        seen.forget()
        await asyncio.sleep(0.3)
        assert seen.batches == []
        assert seen.watcher.mode == "off"
        assert not [thread for thread in seen.threads if thread.is_alive() and "asyncio" not in thread.name]
        seen.watcher.stop()


async def test_a_batch_that_is_not_taken_does_not_end_the_watch(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    taken: list[FileChanges] = []

    def take(changes: FileChanges) -> None:
        taken.append(changes)
        if len(taken) == 1:
            raise RuntimeError("not now")

    watcher = Watcher(root, take, asyncio.get_running_loop())
    await asyncio.to_thread(watcher.start)
    try:
        write(root / "src" / "a.py", "1")
        await until(lambda: len(taken) == 1)
        write(root / "src" / "a.py", "22")
        await until(lambda: len(taken) == 2)
        assert "not taken" in caplog.text
    finally:
        await asyncio.to_thread(watcher.stop)


async def test_a_root_that_goes_away_is_told(native: Seen, tmp_path: Path) -> None:
    native.root.rename(tmp_path / "elsewhere")
    await native.overflowed()
    assert native.watcher.mode == "off"
    assert "moved or deleted" in (native.watcher.warning or "")


LIMITED = """
import asyncio, sys, time
from pathlib import Path
from aurora_indexer.watch.watcher import Watcher

async def main():
    root, got = Path(sys.argv[1]), []
    watcher = Watcher(root, got.append, asyncio.get_running_loop(), poll_seconds=0.2)
    await asyncio.to_thread(watcher.start)
    print(watcher.mode, "|", watcher.warning, "|", flush=True)
    if sys.argv[2] == "grow":
        for number in range(20):
            (root / f"d{number}").mkdir()
        while watcher.mode != "polling":
            await asyncio.sleep(0.02)
        print(watcher.mode, "|", watcher.warning, "|", any(batch.overflow for batch in got))
    (root / "src" / "a.py").write_text("changed = 1234567")
    while not any("src/a.py" in batch.changed for batch in got):
        await asyncio.sleep(0.02)
    print("seen")
    await asyncio.to_thread(watcher.stop)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
@pytest.mark.parametrize(
    ("limit", "value", "act", "names"),
    [
        ("max_inotify_watches", 2, "stay", "max_user_watches"),
        ("max_inotify_instances", 0, "stay", "max_user_instances"),
        ("max_inotify_watches", 8, "grow", "max_user_watches"),
    ],
)
def test_at_the_systems_limit_the_tree_is_polled(root: Path, limit: str, value: int, act: str, names: str) -> None:
    script = write(root.parent / "limited.py", LIMITED)
    command = f'echo {value} > /proc/sys/user/{limit} && exec "$0" "$@"'
    arguments = ["unshare", "--user", "--map-root-user", "sh", "-c", command]
    try:
        probe = subprocess.run([*arguments, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if probe.returncode != 0:
        pytest.skip("no user namespaces here")
    done = subprocess.run(
        [*arguments, sys.executable, str(script), str(root), act],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[-1] == "seen"
    assert lines[0].startswith("polling | The inotify" if act == "stay" else "inotify | None")
    assert lines[-2].startswith("polling |")
    assert names in lines[-2]


async def test_after_lost_events_everything_is_watched_again(native: Seen) -> None:
    if sys.platform != "linux":
        pytest.skip("inotify")
    tree = native.watcher._tree
    (native.root / "src").rename(native.root / "lib")
    await native.until(changed={"lib/a.py"})
    native.forget()
    await asyncio.to_thread(tree.on_queue_overflow)  # type: ignore[union-attr]
    await native.overflowed()
    native.forget()
    write(native.root / "lib" / "deep" / "er" / "b.py", "y = 7\n")
    await native.until(changed={"lib/deep/er/b.py"})


async def test_a_folder_that_is_watched_anew_before_its_rename_was_heard_of_stays_watched(native: Seen) -> None:
    if sys.platform != "linux":
        pytest.skip("inotify")
    with native.watcher._tree._lock:  # type: ignore[union-attr]  # nothing is heard of until both have happened
        write(native.root / ".gitignore", "*.log\n")
        (native.root / "src").rename(native.root / "lib")
    await native.quiet()
    native.forget()
    write(native.root / "lib" / "a.py", "y = 7\n")
    write(native.root / "lib" / "deep" / "er" / "b.py", "y = 7\n")
    await native.quiet()
    assert native.changed == {"lib/a.py", "lib/deep/er/b.py"}
    assert native.threads[0].is_alive(), "no warning ended the reading"


@pytest.mark.parametrize("seed", [0, long(1), long(2)])
async def test_random_edits_end_in_what_a_scan_sees(native: Seen, seed: int) -> None:
    """Applying every batch to a first scan gives what a last scan finds."""
    chance = random.Random(seed)
    known = {file.path for file in scan(native.root, Limits()).files}
    for step in range(150):
        folders = [native.root, *(path for path in native.root.rglob("*") if path.is_dir())]
        files = [path for path in native.root.rglob("*.py") if path.is_file()]
        act = chance.random()
        if act < 0.35 or not files:
            write(chance.choice(folders) / f"n{step}.py")
        elif act < 0.5:
            (chance.choice(folders) / f"dir{step}").mkdir()
        elif act < 0.65:
            chance.choice(files).unlink()
        elif act < 0.8:
            chance.choice(files).rename(chance.choice(folders) / f"m{step}.py")
        elif act < 0.92 and len(folders) > 2:
            source, target = chance.choice(folders[1:]), chance.choice(folders)
            if not target.is_relative_to(source):
                source.rename(target / f"moved{step}")
        elif len(folders) > 4:
            shutil.rmtree(chance.choice(folders[1:]))
        if chance.random() < 0.2:
            await asyncio.sleep(chance.random() * 0.08)
    await native.quiet()
    for batch in native.batches:
        known = {path for path in known if not covers(batch.removed, path)} | batch.changed
    assert known == {file.path for file in scan(native.root, Limits()).files}


def test_no_fork_inherits_the_watch() -> None:
    """Workers are started while the watch runs: its descriptor must not reach them."""
    code = "import os; print([os.readlink(e.path) for e in os.scandir('/proc/self/fd') if os.path.lexists(e.path)])"
    if sys.platform != "linux":
        pytest.skip("/proc")
    from watchdog.observers.inotify_c import InotifyFD

    reader = InotifyFD()
    reader.start()
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=os.sep)
    finally:
        reader.stop()
        reader.join()
    assert "inotify" not in done.stdout
