"""Exchange with a team in the background: two homes end with one memory, and a hub that is away costs nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from aurora_deliverables.events import Event, PhaseStarted
from aurora_indexer.workers.pool import WorkerPool
from aurora_memory.store import chunk_reader
from aurora_protocol.methods import RecallParams
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.shared_records import SharedRecords
from aurora_server.workspace.team_exchange import TeamExchange
from aurora_server.workspace.workspace import Workspace
from aurora_team.membership import Membership, Memberships
from tests import programs
from tests.e2e.repositories import git
from tests.memory.runs import NOON, retrieved, run
from tests.memory.test_export import learned
from tests.programs import COMMAND
from tests.team.postgres import Server
from tests.wait_limits import HANG

SOON = 60.0
"""Seconds until a colleague knows, on a machine that does much else."""


def clone_of(folder: Path, who: str) -> Path:
    root = folder / who
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "user.email", f"{who}@example.org")
    git(root, "remote", "add", "origin", "https://example.org/one.git")
    (root / "cart.py").write_text("def total(lines):\n    return sum(line.price for line in lines)\n")
    return root


@asynccontextmanager
async def daemon(folder: Path, who: str) -> AsyncIterator[tuple[Workspace, TeamExchange]]:
    """What a person's daemon has open: his clone, and the exchange with teams."""
    home = folder / f"home-{who}"
    records = SharedRecords(home)
    pool = WorkerPool(1, folder=folder, environment=os.environ)
    workspace = await Workspace.open(folder / who, Settings(home=home), pool, records=records)
    assert workspace.record is not None
    await workspace.record.settled()
    exchange = TeamExchange(records, os.environ, every=1.0)
    try:
        yield workspace, exchange
    finally:
        await exchange.close()
        await workspace.close()
        await pool.aclose()


def team(folder: Path, who: str, *arguments: str) -> str:
    environ = {**os.environ, "AURORA_HOME": str(folder / f"home-{who}")}
    command = [*COMMAND, "team", *arguments]
    done = programs.run(command, cwd=folder / who, env=environ, capture_output=True, text=True, timeout=HANG)
    return done.stdout + done.stderr


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not holds():
            await asyncio.sleep(0.05)


def known(workspace: Workspace) -> dict[str, Any]:
    """What a memory knows but for difficulties, which are sent to nobody, and the numbers of questions not kept."""
    return learned(workspace._store.path) | {"log_index": [], "difficult": []}


@pytest.mark.long
async def test_two_homes_end_with_the_same_memory(server: Server, tmp_path: Path) -> None:
    with server.connect() as db:
        for role in ("ann", "bob"):
            db.execute(f"CREATE ROLE {role} LOGIN")
    for who in ("ann", "bob"):
        clone_of(tmp_path, who)
    team(tmp_path, "ann", "create", server.url(), "crew")
    for who in ("ann", "bob"):
        team(tmp_path, "ann", "members", server.url(), "crew", "--add", who)
    async with AsyncExitStack() as stack:
        ann, _ = await stack.enter_async_context(daemon(tmp_path, "ann"))
        bob, _ = await stack.enter_async_context(daemon(tmp_path, "bob"))
        (total,) = await ann._store.read(chunk_reader.by_name, "cart.py", "total")
        await ann._store.learn(run(1, retrieved=retrieved(total.id)))
        for who in ("ann", "bob"):
            assert "joined crew" in await asyncio.to_thread(team, tmp_path, who, "join", server.url(who))
        (his,) = await bob._store.read(chunk_reader.by_name, "cart.py", "total")
        await bob._store.record_accesses([his.id], "success", NOON + 50)
        await bob.deliverables.record([Event("e1", "add-search", NOON, PhaseStarted("apply"))])
        await ann._store.learn(run(2, score=0.97, retrieved=retrieved(total.id)))
        await until(lambda: known(ann) == known(bob) and bool(known(ann)["deliverable_events"]))
        assert len(known(bob)["runs"]) == 2 and known(bob)["documents"]
        hers = await ann._store.read(chunk_reader.weighed_accesses, [total.id], NOON + 1e6)
        of_him = await bob._store.read(chunk_reader.weighed_accesses, [his.id], NOON + 1e6)
        assert hers[total.id] != of_him[his.id], "what a colleague told counts by its weight"
        assert "fine" in await asyncio.to_thread(team, tmp_path, "bob", "status")


@pytest.mark.long
async def test_a_hub_that_hangs_costs_an_editor_nothing_and_is_one_line(tmp_path: Path) -> None:
    clone_of(tmp_path, "ann")
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/aurora"
        home = tmp_path / "home-ann"
        async with daemon(tmp_path, "ann") as (workspace, exchange):
            home.joinpath("team.json").write_bytes(msgspec.json.encode([Membership(url, "crew", "ann")]))
            slowest = 0.0
            async with asyncio.timeout(SOON):
                while not exchange.failures:
                    began = time.monotonic()
                    await workspace.recall(RecallParams(query="total"))
                    await workspace._store.record_accesses([1], "success", NOON)
                    slowest = max(slowest, time.monotonic() - began)
                    await asyncio.sleep(0.05)
            assert slowest < 3.0  # it hangs for five; the machine may be busy
            (told,) = Memberships(home).read()
            assert "cannot be reached" in told.problem and "\n" not in told.problem


async def test_who_joined_no_team_has_no_process_started(tmp_path: Path) -> None:
    clone_of(tmp_path, "ann")
    records = SharedRecords(tmp_path / "home-ann")
    records.home.mkdir()
    records.home.joinpath("team.json").write_bytes(b"[\n]\n")  # no membership, however it is written
    async with joined(records, tmp_path / "ann"):
        exchange = TeamExchange(records, os.environ, every=0.01, command=("/nonexistent",))
        records.appended.set()
        await until(lambda: not records.appended.is_set())
        assert exchange.failures == 0
        records.home.joinpath("team.json").write_bytes(b"[{")  # the command says what is wrong with it
        await until(lambda: exchange.failures > 0)
        await exchange.close()


@asynccontextmanager
async def joined(records: SharedRecords, root: Path) -> AsyncIterator[None]:
    """While a record is open."""
    shared, _ = await records.join(root, _deaf)
    yield
    await records.leave(shared, _deaf)


def _deaf() -> None:
    """Who does not care that more is in a record."""
