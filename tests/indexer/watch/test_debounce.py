"""When a batch of file events goes out and what it tells, by a clock that stands still while code runs.

Times are in ticks, 64 to the second, so that they add up without rounding.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.watch import watcher
from aurora_indexer.watch.event_buffer import MAX_PATHS, EventBuffer
from aurora_indexer.watch.watcher import FileChanges, Mode, Watcher

TICK = 1 / 64
DEBOUNCE = 4
FOREVER = 64_000


class Leap(selectors.DefaultSelector):
    """Does not wait: tells the loop's clock to go on instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen any more"
        self.now += max(timeout, 0.0)
        return super().select(0)


class StillLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes only while all of it sleeps; what it would do in threads it does at once."""

    def __init__(self) -> None:
        self._leap = Leap()
        super().__init__(self._leap)

    def time(self) -> float:
        return self._leap.now

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> Any:
        future = self.create_future()
        future.set_result(func(*args))
        return future


class Quiet:
    """A tree that never tells anything by itself."""

    watches = 0

    def start(self) -> None:
        self.watches = 1

    def stop(self) -> None:
        self.watches = 0


class FedWatcher(Watcher):
    """A watcher whose events are what a test says."""

    @property
    def events(self) -> EventBuffer:
        return self._events

    def _native(self) -> tuple[Any, Mode]:
        return Quiet(), "inotify"


Event = tuple[int, Callable[[EventBuffer], None]]


def save(at: int, path: str = "a.py") -> Event:
    return at, lambda events: events.changed(path)


def goes(at: int, path: str, *, is_folder: bool = False) -> Event:
    return at, lambda events: events.removed(path, is_folder=is_folder)


def git(at: int) -> Event:
    return at, lambda events: events.git_moved()


def saves(begin: int, end: int, every: int) -> list[Event]:
    """One file, saved again and again."""
    return [save(at) for at in range(begin, end + 1, every)]


def batches(
    root: Path, events: list[Event], *, locked_until: int = 0, debounce: int = DEBOUNCE
) -> list[tuple[float, FileChanges]]:
    """When which batch went out."""
    loop = StillLoop()
    given: list[tuple[float, FileChanges]] = []

    async def run() -> None:
        made = FedWatcher(
            root, lambda changes: given.append((loop.time() / TICK, changes)), loop, debounce=debounce * TICK
        )
        made._git_is_busy = lambda: loop.time() < locked_until * TICK  # type: ignore[method-assign]
        made.start()
        for at, happens in events:
            loop.call_at(at * TICK, happens, made.events)
        await asyncio.sleep(FOREVER * TICK)
        made.stop()
        await asyncio.sleep(0)

    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    return given


def times(given: list[tuple[float, FileChanges]]) -> list[float]:
    return [at for at, _ in given]


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        pytest.param([save(64)], [68], id="one save goes out after the debounce"),
        pytest.param([save(64), save(65)], [72], id="a second one within it goes along"),
        pytest.param([save(64), save(69)], [68, 73], id="one after it is a batch of its own"),
        pytest.param([save(64), save(67, "b.py"), save(70, "c.py")], [76], id="other files are waited for as well"),
        pytest.param(saves(64, 124, 3), [80, 98, 116, 130], id="a busy tree is told of every fifth of a second"),
        pytest.param([(64, EventBuffer.overflowed), save(66)], [72], id="lost events are held as long as others"),
    ],
)
def test_a_batch_goes_out_when_it_is_quiet_and_at_the_latest_after_a_fifth_of_a_second(
    tmp_path: Path, events: list[Event], wanted: list[int]
) -> None:
    assert times(batches(tmp_path, events)) == wanted


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    commit(tmp_path, "1")
    return tmp_path


def commit(root: Path, digit: str) -> None:
    (root / ".git/refs/heads/main").write_text(digit * 40)


def commits(at: int, root: Path) -> Event:
    def happens(events: EventBuffer) -> None:
        commit(root, "2")
        events.git_moved()

    return at, happens


@pytest.mark.parametrize(
    ("events", "locked_until", "wanted"),
    [
        pytest.param([git(64), save(70)], 0, [88], id="a quarter of a second of quiet ends git's work"),
        pytest.param([git(64), save(76), save(88), save(100)], 0, [116], id="spurts of a checkout are one batch"),
        pytest.param([git(64), save(64)], 192, [192], id="index.lock holds it"),
        pytest.param([git(64), save(64)], FOREVER, [384], id="but for five seconds at most"),
        pytest.param([save(64), git(66)], 0, [84], id="git that comes second holds it as well"),
        pytest.param([git(64), save(64), save(128)], 0, [80, 132], id="what comes after git's work is not held"),
        pytest.param([git(64)], 0, [], id="HEAD where it was is no news"),
    ],
)
def test_a_checkout_is_one_batch(repository: Path, events: list[Event], locked_until: int, wanted: list[int]) -> None:
    given = batches(repository, events, locked_until=locked_until)
    assert times(given) == wanted
    assert not any(changes.git_head_changed for _, changes in given)


def test_a_debounce_longer_than_gits_quiet_counts_for_git_too(repository: Path) -> None:
    assert times(batches(repository, [git(64), save(76)], debounce=32)) == [128]


def test_a_commit_is_told_once_with_what_it_changed(repository: Path) -> None:
    given = batches(repository, [commits(64, repository), save(70), git(128), save(128, "b.py")])
    assert [changes for _, changes in given] == [
        FileChanges({"a.py"}, set(), git_head_changed=True),
        FileChanges({"b.py"}, set()),
    ]


def test_a_commit_that_changes_no_file_is_told(repository: Path) -> None:
    assert [changes for _, changes in batches(repository, [commits(64, repository)])] == [
        FileChanges(set(), set(), git_head_changed=True)
    ]


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        pytest.param([save(64), goes(65, "a.py")], FileChanges(set(), {"a.py"}), id="changed, then gone"),
        pytest.param([goes(64, "a.py"), save(65)], FileChanges({"a.py"}, set()), id="gone, then back"),
        pytest.param(
            [save(64, "src/a.py"), goes(65, "src", is_folder=True)],
            FileChanges(set(), {"src", "src/a.py"}),
            id="gone with its folder",
        ),
        pytest.param(
            [goes(64, "src", is_folder=True), save(65, "src/a.py")],
            FileChanges({"src/a.py"}, {"src"}),
            id="made anew below a folder that went: the folder's other files are gone, this one is there",
        ),
        pytest.param(
            [goes(64, "src", is_folder=True), save(65, "srcs/a.py")],
            FileChanges({"srcs/a.py"}, {"src"}),
            id="a name that begins like the folder's",
        ),
        pytest.param(
            [(64, lambda events: [events.changed(f"{n}.py") for n in range(MAX_PATHS + 1)])],
            FileChanges({f"{MAX_PATHS}.py"}, set(), overflow=True),
            id="more than can be told one by one: look at everything",
        ),
    ],
)
def test_one_batch_tells_the_last_state_of_each_path(tmp_path: Path, events: list[Event], wanted: FileChanges) -> None:
    assert [changes for _, changes in batches(tmp_path, events)] == [wanted]


def test_the_limits_are_those_the_rows_were_written_for() -> None:
    assert (watcher.LONGEST_HOLD, watcher.LONGEST_GIT_HOLD, watcher.GIT_QUIET) == (0.2, 5.0, 0.25)


def test_after_the_end_nothing_is_told(tmp_path: Path) -> None:
    loop = StillLoop()
    given: list[FileChanges] = []

    async def run() -> None:
        made = FedWatcher(tmp_path, given.append, loop, debounce=DEBOUNCE * TICK)
        made.start()
        await asyncio.sleep(1)
        made.events.changed("a.py")
        await asyncio.sleep(DEBOUNCE * TICK / 2)
        made.stop()
        await asyncio.sleep(1)

    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    assert given == []
