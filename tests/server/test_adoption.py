"""Which older memory is offered to a folder, and which one it adopts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aurora_memory import StoreError
from aurora_memory.store import Store
from aurora_server.workspace.relocate import Adoption
from tests.memory.chunks import chunk, file
from tests.memory.runs import run

OURS = "0" * 40

Keep = Callable[..., Awaitable[Path]]


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    """Make the memory of a folder, which is gone unless `there`, with so much learned in it; its file."""
    (tmp_path / "memory").mkdir()

    async def kept(name: str, learned: int = 1, git_root: str = OURS, *, there: bool = False) -> Path:
        path = tmp_path / "memory" / f"{name}.db"
        store = await Store.open(path)
        await store.remember("root", str(tmp_path / name))
        await store.remember("git_root", git_root)
        for number in range(learned):
            await store.learn(run(number, query="Answer " + "one two three".split()[number]))
        await store.close()
        if there:
            (tmp_path / name).mkdir()
        return path

    return kept


@asynccontextmanager
async def moved(folder: Path, git_root: str = OURS) -> AsyncIterator[tuple[Adoption, Store]]:
    """A folder of the repository that has just been opened: git does not say more than memory knows."""
    (folder / "moved").mkdir()
    store = await Store.open(folder / "memory" / "moved.db")
    await store.remember("root", str(folder / "moved"))
    await store.remember("git_root", git_root)
    adoption = Adoption(folder / "moved", store)
    try:
        yield adoption, store
    finally:
        await adoption.close()
        await store.close()


async def test_a_memory_of_a_folder_that_is_gone_is_adopted_where_it_is_the_only_one(
    tmp_path: Path, keep: Keep
) -> None:
    only = await keep("only")
    await keep("empty", 0)
    await keep("alive", 2, there=True)
    await keep("other", 2, "f" * 40)
    async with moved(tmp_path) as (adoption, _):
        assert (await adoption.chosen(None)).path == only


async def test_of_several_the_user_chooses(tmp_path: Path, keep: Keep) -> None:
    for name in ("first", "second"):
        await keep(name)
    async with moved(tmp_path) as (adoption, _):
        with pytest.raises(StoreError, match=rf"several memories fit .*{tmp_path}/first, {tmp_path}/second.*--from"):
            await adoption.chosen(None)


async def test_what_is_named_is_adopted_whatever_it_is_but_itself(tmp_path: Path, keep: Keep) -> None:
    other = await keep("other", 0, "f" * 40, there=True)
    async with moved(tmp_path) as (adoption, store):
        assert (await adoption.chosen(other)).path == other, "by its file"
        assert (await adoption.chosen(tmp_path / "other")).path == other, "by its folder"
        with pytest.raises(StoreError, match=r"is the memory of .* already"):
            await adoption.chosen(store.path)
        with pytest.raises(StoreError, match="is no memory file, nor a folder with one"):
            await adoption.chosen(tmp_path / "nowhere")
        with pytest.raises(StoreError, match="no memory of a folder that is gone fits"):
            await adoption.chosen(None)


async def test_memories_of_the_repository_are_listed_first_then_those_with_most_in_them(
    tmp_path: Path, keep: Keep
) -> None:
    for name, learned, repository in (("a", 3, "f" * 40), ("b", 1, OURS), ("c", 2, OURS), ("d", 1, "")):
        await keep(name, learned, repository)
    async with moved(tmp_path) as (adoption, _):
        assert [each.path.stem for each in await adoption.others()] == ["c", "b", "a", "d"]


async def test_of_several_memories_that_with_most_in_it_is_offered_and_once(tmp_path: Path, keep: Keep) -> None:
    for name, learned in (("a", 1), ("b", 2), ("c", 1)):
        await keep(name, learned)
    async with moved(tmp_path) as (adoption, _):
        offered = await adoption.offer_once()
        assert offered is not None and offered.path.stem == "b"
        assert await adoption.offer_once() is None
        assert await adoption.offer() == offered, "who asks for it is told again"


@pytest.mark.parametrize("git_root", ["f" * 40, ""])
async def test_another_repositorys_memory_is_not_offered(tmp_path: Path, keep: Keep, git_root: str) -> None:
    await keep("older", 1, git_root)
    async with moved(tmp_path) as (adoption, _):
        assert await adoption.offer() is None


async def test_nothing_is_offered_where_something_was_learned(tmp_path: Path, keep: Keep) -> None:
    await keep("older")
    await keep("moved")
    async with moved(tmp_path) as (adoption, _):
        assert await adoption.offer() is None


async def test_nothing_is_offered_where_an_answer_was_already_used(tmp_path: Path, keep: Keep) -> None:
    await keep("older")
    mine = await Store.open(await keep("moved", 0))
    await mine.write([file("a.py", chunk("a.py", "load"))])
    await mine.record_accesses([1], "success", 1000.0)
    await mine.close()
    async with moved(tmp_path) as (adoption, _):
        assert await adoption.offer() is None
