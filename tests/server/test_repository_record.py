"""One record for all work trees and clones of a repository: what is learned in one is known in the others."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, cast

import pytest

from aurora_deliverables.event_request import IngestRequest
from aurora_deliverables.events import Event, PhaseStarted
from aurora_indexer.indexer import Indexer
from aurora_indexer.workers.pool import WorkerPool
from aurora_memory import StoreError
from aurora_memory.record.entry import FORGET, EntryDraft
from aurora_memory.record.record_file import Record
from aurora_memory.store import Store, chunk_reader, record_outbox
from aurora_memory.store.export_format import AccessLine, ChunkKey, RunLine, write_line
from aurora_server.configuration.settings import Settings
from aurora_server.workspace import record_exchange, shared_records
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.deliverable_ingest import ingest
from aurora_server.workspace.record_exchange import RecordExchange
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.workspace import Workspace
from tests.e2e.repositories import commit, git
from tests.memory.runs import NOON, retrieved, run
from tests.memory.test_export import learned
from tests.server import record_kills, takeover_kills
from tests.wait_limits import HANG


class Opener(Protocol):
    """Opens a workspace; `settled` waits until it has exchanged with its record."""

    def __call__(self, root: Path, *, settled: bool = True) -> Awaitable[Workspace]: ...


CART = "def total(lines):\n    return sum(line.price for line in lines)\n"
SOON = 20.0
"""Seconds until what another work tree learned is known, on a machine that does much else."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "cart.py").write_text(CART)
    commit(root, "the shop")
    return root


@pytest.fixture
async def records(tmp_path: Path) -> SharedRecords:
    return SharedRecords(tmp_path / "home")


@pytest.fixture
async def opened(tmp_path: Path, records: SharedRecords) -> AsyncIterator[Opener]:
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    workspaces: list[Workspace] = []

    async def open_(root: Path, *, settled: bool = True) -> Workspace:
        workspace = await Workspace.open(root, Settings(home=tmp_path / "home"), pool, records=records)
        workspaces.append(workspace)
        assert workspace.record is not None
        if settled:
            with suppress(StoreError):
                await workspace.record.settled()
        return workspace

    yield open_
    for each in workspaces:
        if not each._closed:
            await each.close()
    await pool.aclose()
    assert records.opened() == []


async def row_of(store: Store, path: str, name: str) -> int:
    (found,) = await store.read(chunk_reader.by_name, path, name)
    return found.id


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not holds():
            await asyncio.sleep(0.05)  # a look reads all of a memory


def known(workspace: Workspace) -> dict[str, Any]:
    return learned(workspace._store.path) | {"log_index": []}


def entries(records: SharedRecords) -> list[str]:
    (path,) = [each for each in (records.home / "records").glob("*.sqlite") if each.name != "repositories.sqlite"]
    record = Record.open(path, path.stem, "nobody", "none")
    try:
        return [each.body for _, each in record.after(0, 100_000)]
    finally:
        record.close()


async def test_what_is_learned_in_one_work_tree_is_known_in_the_others_and_in_a_clone(
    shop: Path, opened: Opener, records: SharedRecords
) -> None:
    tree, clone = shop.parent / "feature", shop.parent / "clone"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    git(shop, "clone", "-q", str(shop), str(clone))
    here, there, other = [await opened(root) for root in (shop, tree, clone)]
    total = await row_of(here._store, "cart.py", "total")
    await here._store.learn(run(1, retrieved=retrieved(total)))
    await there.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
    await until(lambda: known(here) == known(there) == known(other) and bool(known(other)["deliverable_events"]))
    assert known(other)["accesses"] and known(other)["documents"]
    said = entries(records)
    assert len(said) == len(set(said))
    for each in (here, there, other):
        assert await each._store.read(record_outbox.count) == 0
        assert each.record is not None and each.record.problem is None
        await each.record.settled()
    assert entries(records) == said, "nothing comes back as an echo"


async def test_a_work_tree_that_was_closed_takes_in_what_it_missed_and_a_chunk_that_is_not_there_waits(
    shop: Path, opened: Opener
) -> None:
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    (tree / "cart.py").unlink()
    there = await opened(tree)
    await there.close()
    here = await opened(shop)
    await here._store.record_accesses([await row_of(here._store, "cart.py", "total")], "success", NOON)
    assert here.record is not None
    await here.record.settled()
    again = await opened(tree)
    assert known(again)["accesses"] == known(here)["accesses"] != []
    assert await again._store.read(chunk_reader.by_name, "cart.py", "total") == []
    (tree / "cart.py").write_text(CART)
    await again.index(None)
    found = await again.explain("code:cart.py:total")
    assert len(found.accesses) == 1


async def test_what_was_learned_before_its_record_was_is_taken_over(shop: Path, opened: Opener, tmp_path: Path) -> None:
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    alone = await Workspace.open(shop, Settings(home=tmp_path / "home"), pool)
    await alone._indexer.first_run()
    await alone._store.record_accesses([await row_of(alone._store, "cart.py", "total")], "success", NOON)
    await alone.close()
    await pool.aclose()
    clone = shop.parent / "clone"
    git(shop, "clone", "-q", str(shop), str(clone))
    here, there = await opened(shop), await opened(clone)
    await until(lambda: known(there) == known(here) and bool(known(here)["accesses"]))


async def test_folders_of_one_repository_share_what_lies_below_both_and_no_changes(shop: Path, opened: Opener) -> None:
    for name in ("pay", "ship"):
        (shop / name).mkdir()
        (shop / name / "send.py").write_text("def send(order):\n    return order.number + order.address\n")
    top, pay, ship = [await opened(shop / each) for each in ("", "pay", "ship")]
    await pay._store.record_accesses([await row_of(pay._store, "send.py", "send")], "success", NOON)
    await pay.deliverables.record([Event("e1", "faster", NOON, PhaseStarted("apply"))])
    await until(lambda: bool(known(top)["accesses"]))
    assert ship.record is not None and top.record is not None
    await ship.record.settled()
    await top.record.settled()
    assert known(top)["accesses"][0][:2] == ("pay/send.py", "send")
    assert known(ship)["accesses"] == [] == known(ship)["deliverable_events"] == known(top)["deliverable_events"]


async def test_a_change_of_another_work_tree_is_not_missed_here(shop: Path, opened: Opener) -> None:
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    here, there = await opened(shop), await opened(tree)
    await there.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
    await until(lambda: bool(known(here)["deliverable_events"]))
    assert (await here.deliverables.get("add-search")) is not None
    here.detecting.forget()
    await here.detecting._begin()
    assert here.detecting.open_ids == []
    assert there.detecting.open_ids == ["add-search"]


def said(records: SharedRecords, author: str, *drafts: EntryDraft) -> None:
    """What another program appends to the record."""
    (path,) = [each for each in (records.home / "records").glob("*.sqlite") if each.name != "repositories.sqlite"]
    record = Record.open(path, path.stem, author, "elsewhere")
    try:
        record.append(drafts)
    finally:
        record.close()


async def test_what_is_forgotten_goes_from_every_memory_wherever_its_code_is_by_now(
    shop: Path, opened: Opener, records: SharedRecords
) -> None:
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    here, there = await opened(shop), await opened(tree)
    total = await row_of(here._store, "cart.py", "total")
    await here._store.learn(run(1, retrieved=retrieved(total)))
    await here._store.learn(run(2, score=0.1, query="Why does the login page flicker?"))
    await here.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
    await here._store.index_log("2025/12/run.md", "# Execution\n\nToken validation was implemented for OAuth2.\n")
    theirs = AccessLine(ChunkKey("cart.py", "total", "function", ""), NOON + 77, "success")
    said(records, "bob", EntryDraft("access", write_line(theirs).decode().rstrip(), NOON + 77))
    await until(lambda: len(known(there)["accesses"]) == len(known(here)["accesses"]) == 3)
    (tree / "cart.py").rename(tree / "basket.py")
    await there.index(None)
    assert {row[0] for row in known(there)["accesses"]} == {"basket.py", ""}
    me = here.record.place.author if here.record is not None and here.record.place is not None else ""
    said(records, me, EntryDraft(FORGET, "{}", time.time()))
    await until(lambda: not known(there)["documents"] and not known(here)["documents"])
    for each in (here, there):
        assert each.record is not None
        await each.record.settled()
    assert [row[0] for row in known(here)["accesses"]] == ["cart.py"]
    assert [row[0] for row in known(there)["accesses"]] == ["basket.py"], "told again, it is the same use"
    for each in (here, there):
        left = {name for name, rows in known(each).items() if rows}
        assert left == {"accesses"}, "what a colleague learned stays"
        assert (await each._store.check()).faults == ()
        assert await each.deliverables.all() == []
    assert learned(here._store.path)["log_index"], "logs are in no record"
    await here._store.record_accesses([total], "success", time.time())  # after what was forgotten
    await until(lambda: [row[0] for row in known(there)["accesses"]] == ["basket.py"] * 2)


async def test_what_is_told_after_a_forget_stands_by_what_that_left(
    shop: Path, opened: Opener, records: SharedRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_records, "LOOK_SECONDS", HANG)  # the moment in which nobody has looked yet
    here = await opened(shop)
    assert here.record is not None and here.record.place is not None
    await here.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
    await here.record.settled()
    here.record._task.cancel()  # nor does what would follow by itself come first
    said(records, here.record.place.author, EntryDraft(FORGET, "{}", time.time()))
    event = {"id": "e2", "change_id": "add-search", "event_type": "phase_start", "phase": "verify"}
    line = json.dumps({**event, "timestamp": "2026-06-01T00:00:00Z"})
    assert (await ingest(here, IngestRequest(lines=[line])))["accepted"] == 1
    assert [each.id for each in await here.deliverables.events("add-search")] == ["e2"]
    await here.record.settled()
    assert [each.id for each in await here.deliverables.events("add-search")] == ["e2"], "it was told afterwards"


async def test_what_is_told_before_the_files_are_known_stands_by_what_a_forget_left_while_nobody_was_there(
    shop: Path, opened: Opener, records: SharedRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = await opened(shop)
    assert here.record is not None and here.record.place is not None
    await here.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
    author = here.record.place.author
    await here.close()
    said(records, author, EntryDraft(FORGET, "{}", time.time()))
    known_files = asyncio.Event()
    monkeypatch.setattr(Indexer, "first_run", lambda _: known_files.wait())
    again = await opened(shop, settled=False)
    event = {"id": "e2", "change_id": "add-search", "event_type": "phase_start", "phase": "verify"}
    line = json.dumps({**event, "timestamp": "2026-06-01T00:00:00Z"})
    assert (await ingest(again, IngestRequest(lines=[line])))["accepted"] == 1
    assert [each.id for each in await again.deliverables.events("add-search")] == ["e2"]
    known_files.set()
    assert again.record is not None
    await again.record.settled()
    assert [each.id for each in await again.deliverables.events("add-search")] == ["e2"]


async def test_a_pattern_is_forgotten_of_everyone_and_the_code_it_used_is_not(
    shop: Path, opened: Opener, records: SharedRecords
) -> None:
    here = await opened(shop)
    total = await row_of(here._store, "cart.py", "total")
    lesson = await here._store.learn(run(1, retrieved=retrieved(total)))
    assert lesson.reasoning_id is not None and here.record is not None
    await here.record.settled()
    pattern = lesson.reasoning_id.removeprefix("reas:")
    said(records, "bob", EntryDraft(FORGET, f'{{"pattern":"{pattern}"}}', time.time()))
    await until(lambda: not known(here)["documents"])
    assert [row[0] for row in known(here)["accesses"]] == ["cart.py"]
    assert known(here)["used"] == [] and known(here)["boosts"] != []


async def test_a_secret_that_a_colleagues_entry_holds_is_kept_in_no_memory(
    shop: Path, opened: Opener, records: SharedRecords
) -> None:
    here = await opened(shop)
    secret = "ghp_" + "a1B2" * 9
    told = RunLine("r1", NOON, "failure", 0.1, f"Why does {secret} fail?")
    said(records, "bob", EntryDraft("run", write_line(told).decode().rstrip(), NOON))
    await until(lambda: bool(known(here)["runs"]))
    assert secret not in str(known(here))


async def test_a_record_that_cannot_be_opened_costs_nothing_but_a_word(
    shop: Path, opened: Opener, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "records").write_text("no folder")
    pool = WorkerPool(1, folder=tmp_path, environment=os.environ)
    here = await Workspace.open(shop, Settings(home=tmp_path / "home"), pool, records=SharedRecords(tmp_path / "home"))
    try:
        assert here.record is not None
        await until(lambda: here.record is not None and here.record.problem is not None)
        await here._store.record_accesses([await row_of(here._store, "cart.py", "total")], "success", NOON)
        assert await here._store.read(record_outbox.count) == 1
        for _ in range(2):  # after the second, the exchange that was woken by the access has failed too
            with pytest.raises(StoreError):
                await here.record.settled()
        (tmp_path / "home" / "records").unlink()
        await here.record.settled()
        assert await here._store.read(record_outbox.count) == 0
        assert here.record.problem is None, "what is over is told no more, whoever made the exchange that succeeded"
    finally:
        await here.close()
        await pool.aclose()


class Refusing:
    """Records that cannot be joined, and a memory that learns when it is told to."""

    def __init__(self) -> None:
        self.tries: asyncio.Queue[None] = asyncio.Queue()
        self.learn: Callable[[], None] = lambda: None

    async def join(self, *_: object) -> None:
        self.tries.put_nowait(None)
        raise StoreError("records cannot be opened; mend that")

    def on_learned(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.learn = listener
        return lambda: None

    async def tried(self) -> None:
        async with asyncio.timeout(HANG):
            await self.tries.get()

    async def exchange(self) -> RecordExchange:
        async def nothing(*_: object) -> None: ...

        refusing = cast("Any", self)
        return RecordExchange(Path("shop"), refusing, refusing, nothing, nothing, Colleagues(Path("shop")))


async def test_what_is_learned_before_the_files_are_known_is_recorded_when_the_daemon_is_stopped(
    shop: Path, tmp_path: Path, records: SharedRecords
) -> None:
    async def nothing(*_: object) -> None: ...

    store = await Store.open(tmp_path / "memory.db")
    exchange = RecordExchange(shop, store, records, asyncio.Event().wait, nothing, Colleagues(shop))
    await store.learn(run(1))
    await exchange.close()
    assert await store.read(record_outbox.waiting, 0, 9) == []
    await store.close()
    heard = asyncio.Event().set
    shared, _ = await records.join(shop, heard)
    assert len(shared.record.of_kind("reasoning")) == 1
    await records.leave(shared, heard)


async def test_a_record_that_comes_in_the_moment_of_a_close_is_left(
    shop: Path, tmp_path: Path, records: SharedRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None: ...

    closing: list[asyncio.Task[None]] = []
    join = records.join

    async def joined_while_closing(*given: Any) -> Any:
        joined = await join(*given)
        closing.append(asyncio.create_task(exchange.close()))
        return joined

    monkeypatch.setattr(records, "join", joined_while_closing)
    store = await Store.open(tmp_path / "memory.db")
    exchange = RecordExchange(shop, store, records, nothing, nothing, Colleagues(shop))
    await until(lambda: bool(closing))
    await closing[0]
    await store.close()
    assert records.opened() == []


async def test_an_exchange_that_failed_is_tried_again_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_exchange, "AGAIN_SECONDS", 0.0)
    records = Refusing()
    exchange = await records.exchange()
    for _ in range(3):
        await records.tried()
    await exchange.close()


async def test_an_exchange_that_failed_is_tried_again_at_once_when_something_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(record_exchange, "AGAIN_SECONDS", 2 * HANG)
    records = Refusing()
    exchange = await records.exchange()
    await records.tried()
    records.learn()
    await records.tried()
    assert exchange.problem == "records cannot be opened; mend that"
    await exchange.close()


async def test_a_damaged_record_is_found_and_made_anew_from_what_is_readable_and_the_memories(
    shop: Path, opened: Opener, records: SharedRecords
) -> None:
    clone = shop.parent / "clone"
    git(shop, "clone", "-q", str(shop), str(clone))
    here, there = await opened(shop), await opened(clone)
    total = await row_of(here._store, "cart.py", "total")
    for number in range(100):
        await here._store.record_accesses([total], "success", NOON + number)
    await until(lambda: len(known(there)["accesses"]) == 100)
    assert here.record is not None and here.record.place is not None
    before = known(here)
    path = here.record.place.path
    for each in (here, there):
        await each.close()
    raw = bytearray(path.read_bytes())
    for at in range(3 * 4096, len(raw), 3 * 4096):
        raw[at : at + 200] = b"\x55" * 200
    path.write_bytes(raw)
    again, other = await opened(shop), await opened(clone)
    findings = (await again.doctor()).findings
    assert [each.what for each in findings if each.level == "error" and str(path) in each.what]
    done = (await again.repair()).findings
    assert any("the repository's record was damaged" in each.what for each in done), done
    assert [each.what for each in done if each.level == "error"] == []
    assert list(path.parent.glob("*.damaged-*"))
    await until(lambda: known(again) == known(other) == before)
    said_now = entries(records)
    assert len(said_now) == len(set(said_now)) >= 100


@pytest.mark.parametrize("kills", [2, 4])
@pytest.mark.long
def test_nothing_acknowledged_is_lost_or_doubled_when_the_daemon_is_killed(tmp_path: Path, kills: int) -> None:
    record_kills.made(tmp_path)
    acknowledged = record_kills.killed(tmp_path, kills, 1)
    found, bodies = asyncio.run(record_kills.counted(tmp_path))
    assert len(acknowledged) >= kills
    assert found[0] == found[1]
    assert set(acknowledged) <= found[0].keys()
    assert set(found[0].values()) == {1}
    assert len(bodies) == len(set(bodies)) == len(found[0])


@pytest.mark.long
async def test_a_takeover_that_is_killed_again_and_again_records_everything_once(tmp_path: Path) -> None:
    took = []
    for name, kills in (("whole", 0), ("killed", 2)):
        folder = tmp_path / name
        before = learned(takeover_kills.made(folder, 500))
        await asyncio.to_thread(takeover_kills.killed, folder, kills, 22, 1.5)
        assert await takeover_kills.take_over(folder) == []
        took.append(takeover_kills.recorded(folder))
        assert len(before["accesses"]) == 503
    assert took[0] == took[1] and sum(took[0].values()) > 503
    assert max(took[0].values()) == 1
