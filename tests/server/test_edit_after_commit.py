"""An edit right after a commit counts as one, whichever of the two git, the indexer and detection came to first.

The indexer tells of files and of the end of a run; when it does is what these tests choose, in its place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from aurora_deliverables.deliverables import Deliverables
from aurora_indexer.index_runs import Touched
from aurora_memory.store import Store, file_reader
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.deliverable_detection import HEAD_FACT, DeliverableDetection
from tests.e2e.repositories import commit, git, write
from tests.wait_limits import HANG


class Runs:
    """What detection hears of index runs: files that one touched, and its end."""

    def __init__(self) -> None:
        self.touched: list[Callable[[Touched], None]] = []
        self.ended: list[Callable[[Any], None]] = []

    def on_files_changed(self, hearer: Callable[[Touched], None]) -> Callable[[], None]:
        self.touched.append(hearer)
        return lambda: self.touched.remove(hearer)

    def on_progress(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        self.ended.append(listener)
        return lambda: self.ended.remove(listener)

    async def first_run(self) -> None:
        """It is over."""

    def tell(self, *paths: str, edited: bool) -> None:
        """A run that found these files changed, and its end."""
        for hearer in self.touched:
            hearer(Touched(paths, (), edited))
        for listener in self.ended:
            listener(None)


class AtWork(NamedTuple):
    """A repository with one planned change, and detection that has looked at all of it."""

    root: Path
    runs: Runs
    store: Store
    deliverables: Deliverables

    async def phase(self, change_id: str = "add-search") -> str | None:
        found = await self.deliverables.get(change_id)
        return found.current_phase if found is not None else None

    async def head_is_looked_at(self) -> None:
        """Wait until detection has gone through the commits up to HEAD."""
        head = git(self.root, "rev-parse", "HEAD").strip()
        await eventually(lambda: self._looked_at(head))

    async def _looked_at(self, head: str) -> bool:
        return await self.store.read(file_reader.fact, HEAD_FACT) == head


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HANG):
        while not await holds():
            await asyncio.sleep(0.02)


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[AtWork]:
    root = write(
        tmp_path / "shop",
        {
            "openspec/changes/add-search/proposal.md": "## Why\nCustomers cannot find products.\n",
            "openspec/changes/add-search/tasks.md": "## 1. Search\n- [ ] 1.1 Find\n",
            "src/catalogue.py": "def products():\n    return []\n",
        },
    )
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin")
    store = await Store.open(tmp_path / "memory.db")
    runs, deliverables = Runs(), Deliverables(store, time.time)
    detection = DeliverableDetection(root, store, deliverables, cast(Any, runs), DetectSettings())
    at_work = AtWork(root, runs, store, deliverables)
    runs.tell("openspec/changes/add-search/tasks.md", "openspec/changes/add-search/proposal.md", edited=True)
    await planned(at_work, "add-search")
    await at_work.head_is_looked_at()
    yield at_work
    await detection.close()
    await store.close()


async def planned(work: AtWork, change_id: str) -> None:
    async def is_known() -> bool:
        return await work.phase(change_id) is not None

    await eventually(is_known)


async def is_applied(work: AtWork) -> bool:
    return await work.phase() == "apply"


async def test_an_edit_that_is_seen_with_the_commit_before_it(work: AtWork) -> None:
    git(work.root, "commit", "-q", "--allow-empty", "-m", "Nothing of it")
    assert not await is_applied(work)
    write(work.root, {"src/search.py": "def search():\n    return 2\n"})
    work.runs.tell("src/search.py", edited=False)
    await eventually(lambda: is_applied(work))


async def test_an_edit_after_a_commit_that_was_looked_at_before_the_indexer_saw_it(work: AtWork) -> None:
    git(work.root, "commit", "-q", "--allow-empty", "-m", "Nothing of it")
    work.runs.tell(edited=True)  # a run that began before the commit ends
    await work.head_is_looked_at()
    assert not await is_applied(work)
    write(work.root, {"src/search.py": "def search():\n    return 2\n"})
    work.runs.tell("src/search.py", edited=False)
    await eventually(lambda: is_applied(work))


@pytest.mark.parametrize("early", [False, True])
async def test_files_that_a_checkout_changed_are_nobodys_edit(work: AtWork, early: bool) -> None:
    git(work.root, "switch", "-q", "-c", "other")
    write(work.root, {"src/catalogue.py": "def products():\n    return [1]\n"})
    git(work.root, "commit", "-q", "-am", "Elsewhere")
    work.runs.tell(edited=True)
    await work.head_is_looked_at()
    phase = await work.phase()
    git(work.root, "switch", "-q", "main")
    if early:
        work.runs.tell(edited=True)
        await work.head_is_looked_at()
    work.runs.tell("src/catalogue.py", edited=False)
    write(work.root, {"openspec/changes/add-cart/proposal.md": "## Why\nNobody can buy.\n"})
    work.runs.tell("openspec/changes/add-cart/proposal.md", edited=True)
    await planned(work, "add-cart")
    assert await work.phase() == phase


@pytest.mark.parametrize("branch", ["main", "feature/add-search"])
async def test_a_commit_where_the_spec_of_the_only_open_change_is_not_is_no_work_on_it_unless_the_branch_says_so(
    work: AtWork, branch: str
) -> None:
    git(work.root, "switch", "-q", "-C", branch)
    git(work.root, "rm", "-rq", "openspec/changes/add-search")
    git(work.root, "commit", "-q", "-m", "docs: no search")
    write(work.root, {"src/letters.py": "LETTERS = 26\n"})
    commit(work.root, "feat: letters (#1)")
    work.runs.tell("openspec/changes/add-search/proposal.md", edited=False)
    await work.head_is_looked_at()
    assert await is_applied(work) == (branch != "main")
