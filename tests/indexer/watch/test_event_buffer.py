"""What is told of many events: the last state of each path, folders with all below them, and when nothing but a look
at everything helps.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable

import pytest

from aurora_indexer.watch.event_buffer import MAX_PATHS, EventBuffer, FileEvents


class Taken:
    """An event buffer, and how often the loop was woken."""

    def __init__(self) -> None:
        self.woken = 0
        self.events = EventBuffer(asyncio.get_running_loop(), self._wake)

    def _wake(self) -> None:
        self.woken += 1

    async def take(self) -> FileEvents:
        await asyncio.sleep(0)
        return self.events.take()


@pytest.fixture
async def taken() -> Taken:
    return Taken()


def told(changed: set[str] | None = None, removed: set[str] | None = None, **more: bool) -> FileEvents:
    return FileEvents(changed or set(), removed or set(), more.get("overflow", False), more.get("git", False))


async def test_a_path_is_told_once_by_its_last_state(taken: Taken) -> None:
    for _ in range(3):
        taken.events.changed("a.py")
    taken.events.changed("b.py")
    taken.events.removed("b.py")
    taken.events.removed("c.py")
    taken.events.changed("c.py")
    assert await taken.take() == told({"a.py", "c.py"}, {"b.py"})
    assert await taken.take() == told(), "what was taken is told once"


async def test_what_came_and_went_between_two_looks_is_no_news(taken: Taken) -> None:
    taken.events.changed("a.py", fresh=True)
    taken.events.removed("a.py")
    assert await taken.take() == told()


async def test_what_went_came_and_went_is_gone(taken: Taken) -> None:
    taken.events.removed("a.py")
    taken.events.changed("a.py", fresh=True)
    taken.events.removed("a.py")
    assert await taken.take() == told(removed={"a.py"})


async def test_what_was_new_at_an_earlier_look_is_missed_when_it_goes(taken: Taken) -> None:
    taken.events.changed("a.py", fresh=True)
    assert await taken.take() == told({"a.py"})
    taken.events.removed("a.py")
    assert await taken.take() == told(removed={"a.py"})


async def test_a_folder_takes_along_what_changed_below_it_before(taken: Taken) -> None:
    taken.events.changed("src/deep/a.py")
    taken.events.changed("source/a.py")
    taken.events.removed("src", is_folder=True)
    assert await taken.take() == told({"source/a.py"}, {"src", "src/deep/a.py"})


async def test_a_file_made_anew_below_a_removed_folder_is_there(taken: Taken) -> None:
    taken.events.changed("src/deep/a.py")
    taken.events.removed("src", is_folder=True)
    taken.events.changed("src/deep/a.py")
    taken.events.changed("src/new.py", fresh=True)
    assert await taken.take() == told({"src/deep/a.py", "src/new.py"}, {"src"})


async def test_a_folder_that_goes_twice_takes_along_what_came_between(taken: Taken) -> None:
    taken.events.removed("src", is_folder=True)
    taken.events.changed("src/a.py", fresh=True)
    taken.events.removed("src", is_folder=True)
    assert await taken.take() == told(removed={"src", "src/a.py"})


async def test_a_removed_folder_of_an_earlier_look_takes_nothing_along(taken: Taken) -> None:
    taken.events.removed("src", is_folder=True)
    await taken.take()
    taken.events.changed("src/a.py")
    assert await taken.take() == told({"src/a.py"})


async def test_as_many_paths_as_can_be_looked_at_are_told_one_by_one(taken: Taken) -> None:
    assert MAX_PATHS == 20_000
    for number in range(MAX_PATHS):
        taken.events.changed(f"{number}.py")
    noted = await taken.take()
    assert len(noted.changed) == MAX_PATHS and not noted.overflow


@pytest.mark.parametrize(
    "one_more", [EventBuffer.changed, EventBuffer.removed, lambda events, path: events.changed(path, fresh=True)]
)
async def test_one_more_asks_for_a_look_at_everything(
    taken: Taken, one_more: Callable[[EventBuffer, str], None]
) -> None:
    taken.events.removed("folder", is_folder=True)
    for number in range(MAX_PATHS - 1):
        taken.events.changed(f"{number}.py", fresh=True)
    one_more(taken.events, "one more.py")
    noted = await taken.take()
    assert noted.overflow and noted.changed | noted.removed <= {"one more.py"}, "a look at everything finds the others"
    taken.events.changed("later.py")
    assert await taken.take() == told({"later.py"}), "and only once"


async def test_what_was_new_before_everything_is_looked_at_is_missed_when_it_goes(taken: Taken) -> None:
    taken.events.changed("a.py", fresh=True)
    for number in range(MAX_PATHS):
        taken.events.changed(f"{number}.py")
    taken.events.removed("a.py")
    noted = await taken.take()
    assert noted.overflow and "a.py" in noted.removed


async def test_lost_events_ask_for_a_look_at_everything_once(taken: Taken) -> None:
    taken.events.overflowed()
    assert await taken.take() == told(overflow=True)
    assert await taken.take() == told()


async def test_git_is_told_once(taken: Taken) -> None:
    taken.events.git_moved()
    assert taken.events.git
    assert await taken.take() == told(git=True)
    assert not taken.events.git and await taken.take() == told()


async def test_watching_that_broke_asks_for_a_look_at_everything(taken: Taken) -> None:
    error = OSError(errno.ENOSPC, "no more watches")
    taken.events.failed(error)
    assert taken.events.trouble is error
    assert (await taken.take()).overflow


async def test_the_loop_is_woken_once_for_a_batch_from_whatever_thread(taken: Taken) -> None:
    def note() -> None:
        for number in range(50):
            taken.events.changed(f"{number}.py")

    threads = [threading.Thread(target=note) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    await asyncio.sleep(0)
    assert taken.woken == 1
    await taken.take()
    for tell in (
        lambda: taken.events.changed("a.py"),
        lambda: taken.events.removed("b.py"),
        taken.events.overflowed,
        taken.events.git_moved,
    ):
        before = taken.woken
        tell()
        await taken.take()
        assert taken.woken == before + 1
    assert taken.events.last_at > 0


def test_news_for_a_loop_that_is_closed_is_nobodys() -> None:
    loop = asyncio.new_event_loop()
    events = EventBuffer(loop, lambda: None)
    loop.close()
    events.changed("a.py")
    assert events.take() == told({"a.py"})
