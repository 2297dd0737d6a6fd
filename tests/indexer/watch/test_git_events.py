"""The watcher in repositories: a checkout is one batch, and HEAD is known to have moved when it has."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.indexer.watch.event_probe import MODES, Seen, until, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    write(made / "src" / "a.py")
    write(made / "src" / "deep" / "er" / "b.py")
    return made


@pytest.fixture
async def native(root: Path) -> AsyncIterator[Seen]:
    made = Seen(root, polling=False)
    await made.start()
    yield made
    await asyncio.to_thread(made.watcher.stop)


SETTINGS = {"user.name": "t", "user.email": "t@t", "init.defaultBranch": "main", "maintenance.auto": "false"}


def run(folder: Path, *arguments: str) -> None:
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    run(root, "init", "-q")
    run(root, "add", ".")
    run(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def with_side(repository: Path) -> Path:
    """The same, on a branch of its that has many files more."""
    for number in range(120):
        write(repository / f"pkg{number % 10}" / f"f{number}.py")
    run(repository, "checkout", "-q", "-b", "side")
    run(repository, "add", ".")
    run(repository, "commit", "-qm", "many files")
    return repository


def one_batch(seen: Seen) -> bool:
    """HEAD moved once. A machine short of time may tell of a few files late, in one straggler."""
    first, *late = seen.batches
    return first.git_head_changed and len(late) <= 1 and not any(batch.git_head_changed for batch in late)


async def test_a_checkout_is_one_batch(with_side: Path, native: Seen) -> None:
    await asyncio.to_thread(run, with_side, "checkout", "-q", "main")
    await native.until(removed={"pkg9/f119.py"})
    await native.quiet()
    assert one_batch(native)
    native.forget()
    await asyncio.to_thread(run, with_side, "checkout", "-q", "side")
    await native.until(changed={f"pkg{number % 10}/f{number}.py" for number in range(120)})
    await native.quiet()
    assert one_batch(native)


async def test_a_held_lock_holds_the_batch_but_not_for_ever(repository: Path, native: Seen) -> None:
    lock = write(repository / ".git" / "index.lock")
    write(repository / "src" / "a.py", "y = 5\n")
    await asyncio.sleep(1.0)
    assert native.batches == []
    lock.unlink()
    await native.until(changed={"src/a.py"})


@pytest.mark.parametrize("mode", MODES)
async def test_commits_move_head_and_reading_does_not(repository: Path, mode: str) -> None:
    seen = Seen(repository, polling=mode == "polling")
    await seen.start()
    try:
        await asyncio.to_thread(run, repository, "status")
        await asyncio.to_thread(run, repository, "update-index", "--refresh")
        await seen.quiet()
        assert not any(batch.git_head_changed for batch in seen.batches)
        await asyncio.to_thread(run, repository, "commit", "-q", "--allow-empty", "-m", "nothing")
        await until(lambda: any(batch.git_head_changed for batch in seen.batches))
        seen.forget()
        await asyncio.to_thread(run, repository, "reset", "-q", "--soft", "HEAD~1")
        await until(lambda: any(batch.git_head_changed for batch in seen.batches))
    finally:
        await asyncio.to_thread(seen.watcher.stop)


async def test_a_worktrees_head_lies_elsewhere(repository: Path, tmp_path: Path) -> None:
    run(repository, "worktree", "add", "-q", "-b", "third", str(tmp_path / "tree"))
    seen = Seen(tmp_path / "tree", polling=False)
    await seen.start()
    try:
        await asyncio.to_thread(run, tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "x")
        await until(lambda: any(batch.git_head_changed for batch in seen.batches))
    finally:
        await asyncio.to_thread(seen.watcher.stop)
