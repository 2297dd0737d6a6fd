"""Who shares which workspace, and when it is closed. The workspaces here only count; opening real ones is e2e's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from aurora_memory import StoreCorrupt
from aurora_server.session.folders import Folders, real
from aurora_server.workspace.registry import MOST_LINGERING, WorkspaceError, Workspaces, canonical
from tests.wait_limits import HANG


class Counting:
    """Stands for a workspace: knows its root and whether it was closed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.closed = False

    async def close(self) -> None:
        await asyncio.sleep(0.01)
        self.closed = True


class Shelf:
    """Opens `Counting` workspaces, slowly, and can be made to fail."""

    def __init__(self) -> None:
        self.opened: list[Counting] = []
        self.failure: Exception | None = None
        self.delay = 0.02

    async def open(self, root: Path) -> Any:
        await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        self.opened.append(Counting(root))
        return self.opened[-1]


class LingerThatPasses:
    """Timers of the running loop that wait for so many seconds, and end when it is called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        call_later = loop.call_later
        self._kept: list[asyncio.TimerHandle] = []

        def keep(delay: float, callback: Callable[..., object], *args: Any) -> asyncio.TimerHandle:
            if delay != seconds:
                return call_later(delay, callback, *args)
            self._kept.append(asyncio.TimerHandle(loop.time() + delay, callback, args, loop))
            return self._kept[-1]

        monkeypatch.setattr(loop, "call_later", keep)

    def __call__(self) -> int:
        """End them; returns how many were not cancelled."""
        due = [timer for timer in self._kept if not timer.cancelled()]
        self._kept.clear()
        for timer in due:
            timer._run()
        return len(due)


def registry(shelf: Shelf, linger: float = 60.0, user_home: Path = Path("/nobody/home")) -> Workspaces:
    return Workspaces(shelf.open, linger=linger, user_home=user_home)


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG):
        while not condition():
            await asyncio.sleep(0.005)


async def test_sessions_that_race_for_a_root_share_it(tmp_path: Path) -> None:
    shelf = Shelf()
    workspaces = registry(shelf)
    (tmp_path / "link").symlink_to(tmp_path)
    got = await asyncio.gather(*(workspaces.acquire(each) for each in [tmp_path, tmp_path / "link", tmp_path] * 5))
    assert len(set(map(id, got))) == len(shelf.opened) == 1
    await workspaces.close()
    assert shelf.opened[0].closed


async def test_it_is_closed_when_the_last_user_has_left_and_some_time_has_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf()
    passes = LingerThatPasses(monkeypatch, 60.0)
    workspaces = registry(shelf, linger=60.0)
    workspace = await workspaces.acquire(tmp_path)
    assert await workspaces.acquire(tmp_path) is workspace
    workspaces.release(workspace)
    assert passes() == 0, "one user is left"
    workspaces.release(workspace)
    assert await workspaces.acquire(tmp_path) is workspace
    assert passes() == 0, "somebody came back in time"
    workspaces.release(workspace)
    assert not shelf.opened[0].closed
    assert passes() == 1
    await eventually(lambda: shelf.opened[0].closed)
    assert workspaces.status() == []
    assert await workspaces.acquire(tmp_path) is not workspace
    await workspaces.close()


async def test_only_so_many_stay_open_without_users_and_the_first_that_was_left_goes_first(tmp_path: Path) -> None:
    shelf = Shelf()
    workspaces = registry(shelf, linger=60.0)
    roots = [tmp_path / str(number) for number in range(MOST_LINGERING + 3)]
    for root in roots:
        root.mkdir()
    used = await workspaces.acquire(roots[0])
    for root in (roots[2], roots[1], *roots[3:]):
        workspaces.release(await workspaces.acquire(root))
    await eventually(lambda: len(workspaces.opened()) == MOST_LINGERING + 1)
    assert {each.root for each in workspaces.opened()} == {*roots} - {roots[1], roots[2]}
    workspaces.release(used)
    await eventually(lambda: len(workspaces.opened()) == MOST_LINGERING)
    assert roots[3] not in {each.root for each in workspaces.opened()}
    await workspaces.close()
    assert all(each.closed for each in shelf.opened)


async def test_coming_back_while_it_is_being_closed_opens_it_anew_afterwards(tmp_path: Path) -> None:
    shelf = Shelf()
    workspaces = registry(shelf, linger=0.0)
    for _ in range(30):
        workspace = await workspaces.acquire(tmp_path)
        assert not cast("Counting", workspace).closed
        workspaces.release(workspace)
        await asyncio.sleep(0.004)
    alive = [each for each in shelf.opened if not each.closed]
    assert len(alive) <= 1
    await workspaces.close()
    assert all(each.closed for each in shelf.opened)


async def test_a_session_that_gives_up_does_not_take_the_opening_from_others(tmp_path: Path) -> None:
    shelf = Shelf()
    workspaces = registry(shelf, linger=0.05)
    impatient = asyncio.create_task(workspaces.acquire(tmp_path))
    patient = asyncio.create_task(workspaces.acquire(tmp_path))
    await asyncio.sleep(0.01)
    impatient.cancel()
    assert (await patient).root == tmp_path
    workspaces.release(patient.result())
    await eventually(lambda: shelf.opened[0].closed)
    abandoned = asyncio.create_task(workspaces.acquire(tmp_path))
    await asyncio.sleep(0.01)
    abandoned.cancel()
    await eventually(lambda: len(shelf.opened) == 2 and shelf.opened[1].closed)


async def test_a_failure_is_in_the_status_and_tried_again_by_the_next(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.failure = StoreCorrupt("it is damaged")
    workspaces = registry(shelf)
    for _ in range(2):
        with pytest.raises(StoreCorrupt):
            await workspaces.acquire(tmp_path)
    (status,) = workspaces.status()
    assert (status.state, status.last_error) == ("error", "it is damaged")
    shelf.failure = None
    assert (await workspaces.acquire(tmp_path)).root == tmp_path
    await workspaces.close()
    with pytest.raises(WorkspaceError, match="stopping"):
        await workspaces.acquire(tmp_path)


def test_homes_and_what_is_above_them_are_refused(tmp_path: Path) -> None:
    home = tmp_path / "users" / "me"
    (home / "project").mkdir(parents=True)
    (tmp_path / "file").touch()
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    (tmp_path / "to-odd").symlink_to(odd)
    assert canonical(home / "project", home) == home / "project"
    for folder, reason in [
        (home, "home folder"),
        (home / "project" / "..", "home folder"),
        (home.parent, "too much"),
        (Path("/"), "too much"),
        (tmp_path / "file", "not a folder"),
        (tmp_path / "none", "No such file"),
        (odd, "not UTF-8"),
        (tmp_path / "to-odd", "not UTF-8"),
        (tmp_path / "\ufffd", "not UTF-8"),
    ]:
        with pytest.raises(WorkspaceError, match=reason) as caught:
            canonical(folder, home)
        assert "\n" not in str(caught.value)


async def test_paths_belong_to_the_deepest_folder(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "way").symlink_to(inner)
    folders = Folders(registry(Shelf()))
    folders.add(tmp_path)
    folders.add(inner)
    assert [each.root for each in await folders.opened()] == [inner, tmp_path]
    for path, root in [
        (inner / "x.py", inner),
        (tmp_path / "way" / "x.py", inner),
        (tmp_path / "a" / "x.py", tmp_path),
        (tmp_path / "a" / "inner.py", tmp_path),
    ]:
        owner = await folders.owner(path)
        assert owner is not None
        assert owner.root == root
    assert await folders.owner(tmp_path.parent / "x.py") is None
    grouped = await folders.group([inner / "x.py", tmp_path / "y.py", tmp_path / "way" / "z.py", Path("/q")])
    assert {workspace.root: paths for workspace, paths in grouped.items()} == {
        inner: [inner / "x.py", inner / "z.py"],
        tmp_path: [tmp_path / "y.py"],
    }
    folders.close()


async def test_folders_come_and_go_and_give_back_what_they_took(tmp_path: Path) -> None:
    shelf = Shelf()
    workspaces = registry(shelf, linger=0.01)
    came: list[Path] = []
    went: list[Path] = []
    folders = Folders(workspaces, lambda one: came.append(one.root), lambda one: went.append(one.root))
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        root.mkdir()
        folders.add(root)
    assert {each.root for each in await folders.opened()} == set(roots)
    folders.remove(roots[0])
    folders.remove(roots[0])
    assert [each.root for each in await folders.opened()] == [roots[1]]
    folders.add(roots[0])
    folders.remove(roots[0])  # before it was open
    folders.close()
    await eventually(lambda: all(each.closed for each in shelf.opened))
    assert workspaces.opened() == []
    assert sorted(came) == sorted(went) == sorted(roots)


async def test_a_folder_that_cannot_be_opened_is_told_and_tried_again_later(tmp_path: Path) -> None:
    shelf, now = Shelf(), [0.0]
    shelf.failure = StoreCorrupt("it is damaged")
    folders = Folders(registry(shelf), clock=lambda: now[0])
    with pytest.raises(WorkspaceError, match="no workspace"):
        await folders.opened()
    folders.add(tmp_path)
    with pytest.raises(StoreCorrupt):
        await folders.opened()
    shelf.failure = None
    with pytest.raises(StoreCorrupt):
        await folders.opened()
    now[0] += 6.0
    assert [each.root for each in await folders.opened()] == [tmp_path]
    folders.close()


def test_a_linked_file_belongs_where_the_link_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "target.py").touch()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "link.py").symlink_to("/etc/hosts")
    assert real(tmp_path / "folder" / "link.py") == tmp_path / "real" / "link.py"
