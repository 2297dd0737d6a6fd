"""An edit right after a commit counts as one, whichever of the two git, the indexer and detection came to first; and no
commit is lost, whenever it is made and however long git is silent.

The indexer tells of files and of the end of a run; when it does is what these tests choose, in its place.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.detection import change_history, commits
from aurora_indexer.git import commands
from aurora_indexer.index_runs import ChangedFiles
from aurora_indexer.indexer import Indexer
from aurora_indexer.workers.pool import WorkerPool
from aurora_memory import StoreError
from aurora_memory.store import Store, file_reader
from aurora_server.configuration.settings import DetectSettings, Settings
from aurora_server.workspace.change_history import AWAY, REFS, WorkspaceGit
from aurora_server.workspace.deliverable_detection import HEAD_FACT, DeliverableDetection
from aurora_server.workspace.workspace import Workspace
from tests.e2e.repositories import commit, git, write
from tests.wait_limits import HANG


class Runs:
    """What detection hears of index runs: files that one found changed, and its end."""

    def __init__(self) -> None:
        self.hearers: list[Callable[[ChangedFiles], None]] = []
        self.ended: list[Callable[[Any], None]] = []

    def on_files_changed(self, hearer: Callable[[ChangedFiles], None]) -> Callable[[], None]:
        self.hearers.append(hearer)
        return lambda: self.hearers.remove(hearer)

    def on_progress(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        self.ended.append(listener)
        return lambda: self.ended.remove(listener)

    async def first_run(self) -> None:
        """It is over."""

    def tell(self, *paths: str, edited: bool) -> None:
        """A run that found these files changed, and its end."""
        for hearer in self.hearers:
            hearer(ChangedFiles(paths, (), edited))
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
def shop(tmp_path: Path) -> Path:
    """A repository with one planned change."""
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
    return root


@pytest.fixture
async def work(shop: Path, tmp_path: Path) -> AsyncIterator[AtWork]:
    root = shop
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


def silent_once(monkeypatch: pytest.MonkeyPatch, asked: Sequence[str]) -> None:
    """Let the next git that is asked this not answer, as on a machine that is too busy."""
    told, silent = commands.told, [True]

    async def first_not(root: Path, arguments: Sequence[str], **options: Any) -> bytes | None:
        if silent and list(arguments[: len(asked)]) == list(asked):
            silent.clear()
            raise commands.GitSilent(f"git {arguments[0]} took longer than 5 s; try again")
        return await told(root, arguments, **options)

    monkeypatch.setattr(commands, "told", first_not)


@pytest.mark.parametrize("asked", [commits.LOG, commits.REFLOG])
async def test_a_commit_of_which_git_does_not_tell_at_first(
    work: AtWork, monkeypatch: pytest.MonkeyPatch, asked: Sequence[str]
) -> None:
    silent_once(monkeypatch, asked)
    write(work.root, {"src/search.py": "def search():\n    return 2\n"})
    commit(work.root, "feat: search")
    work.runs.tell(edited=True)
    await work.head_is_looked_at()
    assert await is_applied(work)


async def test_an_edit_after_a_commit_of_which_git_does_not_tell_at_first(
    work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent_once(monkeypatch, commits.REFLOG)
    git(work.root, "commit", "-q", "--allow-empty", "-m", "Nothing of it")
    write(work.root, {"src/search.py": "def search():\n    return 2\n"})
    work.runs.tell("src/search.py", edited=False)
    await work.head_is_looked_at()
    assert await is_applied(work)


async def test_a_proposal_that_could_not_be_recorded_at_first(work: AtWork, monkeypatch: pytest.MonkeyPatch) -> None:
    record, full = work.deliverables.record, [True]

    async def first_not(events: Any) -> Any:
        if full:
            full.clear()
            raise StoreError("database or disk is full")
        return await record(events)

    monkeypatch.setattr(work.deliverables, "record", first_not)
    write(work.root, {"openspec/changes/add-cart/proposal.md": "## Why\nNobody can buy.\n"})
    work.runs.tell("openspec/changes/add-cart/proposal.md", edited=True)
    await planned(work, "add-cart")


@pytest.mark.parametrize("asked", [REFS, change_history.LOG])
async def test_a_history_that_git_did_not_tell_is_still_new(
    shop: Path, monkeypatch: pytest.MonkeyPatch, asked: Sequence[str]
) -> None:
    silent_once(monkeypatch, asked)
    repository = WorkspaceGit(shop)
    assert await repository.moved()
    assert not await repository.history()
    assert await repository.moved()
    assert "add-search" in await repository.history()
    assert not await repository.moved()


async def test_a_spec_lies_elsewhere_while_git_does_not_tell(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = WorkspaceGit(shop)
    silent_once(monkeypatch, AWAY)
    assert await repository.elsewhere("openspec/changes/add-search")
    assert not await repository.elsewhere("openspec/changes/add-search")


@pytest.mark.parametrize("first", [False, True])
async def test_a_commit_while_a_workspace_is_opened_for_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    root, indexed = write(tmp_path / "shop", {"src/catalogue.py": "def products():\n    return []\n"}), asyncio.Event()
    git(root, "init", "-q", "-b", "main")
    if not first:
        commit(root, "Begin")

    async def slow(_: Indexer) -> None:
        await indexed.wait()

    monkeypatch.setattr(Indexer, "first_run", slow)
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    workspace = await Workspace.open(root, Settings(home=tmp_path / "home"), pool)
    try:
        write(root, {"src/filter.py": "def filtered():\n    return []\n"})
        commit(root, "fix(ui): a filter that filters\n\nDeliverable: fix-filter\n")
        indexed.set()

        async def is_applied() -> bool:
            found = await workspace.deliverables.get("fix-filter")
            return found is not None and found.current_phase == "apply"

        await eventually(is_applied)
    finally:
        await workspace.close()
        await pool.aclose()
