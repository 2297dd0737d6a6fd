"""Hubs that fail in every way: an editor notices nothing, one line says so, and afterwards everything is there once."""

from __future__ import annotations

import asyncio
import os
import queue
import random
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec
import psutil
import pytest

pytest.importorskip("psycopg", reason="the extra 'team' is not installed")

from psycopg import sql

from aurora_memory.record.record_file import Record
from aurora_protocol.methods import RecallParams
from aurora_server.workspace.workspace import Workspace
from aurora_team import HubAway
from aurora_team.hub import Hub
from aurora_team.membership import Membership, Memberships
from tests.memory.runs import NOON
from tests.programs import COMMAND, run
from tests.shares import one_of_each
from tests.team import faulty_hubs
from tests.team.postgres import Server
from tests.team.test_daemon_exchange import clone_of, daemon, team, until
from tests.wait_limits import HANG

TIMES = 40
"""Things that are learned while a hub fails."""


def joined(home: Path, port: int) -> Memberships:
    """A team that was joined at a port of this machine."""
    url = f"postgresql://ann@127.0.0.1:{port}/postgres"
    home.joinpath("team.json").write_bytes(msgspec.json.encode([Membership(url, "crew", "ann")]))
    return Memberships(home)


async def used(workspace: Workspace, first: int, times: int = TIMES) -> None:
    """What an editor asks, and what is learned of it."""
    for number in range(first, first + times):
        assert (await workspace.recall(RecallParams(query="total"))).results
        await workspace._store.record_accesses([1], "success", NOON + number)


def status(folder: Path) -> str:
    """What `aurora status` says of the team."""
    environ = {**os.environ, "AURORA_HOME": str(folder / "home-ann")}
    command = [*COMMAND, "status"]
    done = run(command, cwd=folder / "ann", env=environ, capture_output=True, text=True, timeout=HANG)
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("team")]
    return line


def test_a_hub_that_wants_a_password_says_where_to_put_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    with (
        faulty_hubs.served(faulty_hubs.asking_for_a_password) as port,
        pytest.raises(HubAway, match=r"no password supplied; put it into ~/\.pgpass or PGPASSWORD$"),
        Hub.open(f"postgresql://ann@127.0.0.1:{port}/aurora"),
    ):
        pass


def test_who_asks_for_the_password_in_clear_on_this_machine_is_told_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user could listen where the hub does not run now."""
    monkeypatch.setenv("PGPASSWORD", "hunter22")
    heard = queue.Queue[bytes]()
    with (
        faulty_hubs.served(lambda line: heard.put(faulty_hubs.asking_in_clear(line))) as port,
        pytest.raises(HubAway, match=r"requested a cleartext password; if the hub is to have it, add \?require_auth="),
        Hub.open(f"postgresql://ann@127.0.0.1:{port}/aurora"),
    ):
        pass
    assert heard.get(timeout=HANG) == b""
    assert heard.empty()


@pytest.mark.parametrize("answer", one_of_each([None, *faulty_hubs.FAULTS], faulty_hubs.told_as))
async def test_what_is_no_hub_is_one_line_and_leaves_no_process(
    tmp_path: Path, answer: Callable[[socket.socket], None] | None
) -> None:
    clone_of(tmp_path, "ann")
    home = tmp_path / "home-ann"
    with faulty_hubs.served(answer or faulty_hubs.silent) as port:
        if answer is None:
            with closing(socket.create_server(("127.0.0.1", 0))) as free:
                port = free.getsockname()[1]  # refused from now on
        async with daemon(tmp_path, "ann") as (workspace, exchange):
            memberships = joined(home, port)
            await used(workspace, 0, 4)
            await until(lambda: exchange.failures > 0)
            (told,) = memberships.read()
            assert told.problem.startswith("the hub "), told
            said = await asyncio.to_thread(team, tmp_path, "ann", "status")
            assert said.count("\n") == 1 and told.problem in said
            assert told.problem[:40] in await asyncio.to_thread(status, tmp_path)
            assert workspace.record is not None and workspace.record.problem is None
        assert not [each for each in psutil.Process().children() if "sync" in each.cmdline()]


@asynccontextmanager
async def member(server: Server, folder: Path, role: str) -> AsyncIterator[tuple[Workspace, faulty_hubs.CutLine]]:
    """Daemon of Ann, who has joined a team as that role, by a line that can be cut."""
    clone_of(folder, "ann")
    with server.connect() as db:
        db.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    await asyncio.to_thread(team, folder, "ann", "create", server.url(), role)
    await asyncio.to_thread(team, folder, "ann", "members", server.url(), role, "--add", role)
    line = faulty_hubs.CutLine(server.port)
    with faulty_hubs.served(line.pass_on) as port:
        async with daemon(folder, "ann") as (workspace, _):
            url = f"postgresql://{role}@127.0.0.1:{port}/postgres"
            said = await asyncio.to_thread(team, folder, "ann", "join", url)
            assert f"joined {role}" in said, said
            yield workspace, line


def own(home: Path) -> list[str]:
    """Ids of what Ann's record holds of her own, but for what is sent to nobody."""
    (path,) = [each for each in (home / "records").glob("*.sqlite") if each.stem != "repositories"]
    with closing(Record.open(path, path.stem, "nobody", "none")) as record:
        return sorted(entry.id for _, entry in record.after(0, 100_000) if entry.kind == "access")


def at_hub(server: Server, name: str) -> list[str]:
    """Ids of what the team has."""
    with server.connect() as db:
        rows = db.execute("SELECT id FROM aurora.entries WHERE team_id = %s AND kind = 'access'", (name,)).fetchall()
    return sorted(str(row[0]) for row in rows)


@pytest.mark.parametrize("rounds", [2, 5])
@pytest.mark.long
async def test_a_line_that_is_cut_anywhere_loses_and_doubles_nothing(
    server: Server, tmp_path: Path, rounds: int
) -> None:
    chance = random.Random(22)
    async with member(server, tmp_path, f"cutter{rounds}") as (workspace, line):
        for round_ in range(rounds):
            line.most = chance.randrange(1, 20_000)
            before = line.lines
            await used(workspace, round_ * TIMES)
            await until(lambda before=before: line.lines > before)
        line.most = None
        home = tmp_path / "home-ann"
        await until(lambda: len(own(home)) == rounds * TIMES and at_hub(server, f"cutter{rounds}") == own(home))
        await until(lambda: Memberships(home).read()[0].problem == "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts a small disk")
@pytest.mark.long
async def test_a_hub_whose_disk_is_full_is_told_and_has_everything_when_there_is_room(
    server: Server, tmp_path: Path
) -> None:
    disk = server.folder / "disk"
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"cannot mount here: {mount.stderr.strip()}")
    home = tmp_path / "home-ann"
    tables: list[str] = []
    try:
        async with member(server, tmp_path, "full") as (workspace, _):
            shutil.chown(disk, "postgres")
            with server.connect() as db:
                db.execute(sql.SQL("CREATE TABLESPACE small LOCATION {}").format(str(disk)))
                rows = db.execute(
                    "SELECT relid::regclass::text FROM pg_partition_tree('aurora.entries') WHERE isleaf"
                ).fetchall()
                for name in [str(row[0]) for row in rows]:
                    db.execute(sql.SQL("ALTER TABLE {} SET TABLESPACE small").format(sql.SQL(name)))
                    tables.append(name)
            filler = disk / "ballast"
            filler.write_bytes(b"x" * shutil.disk_usage(disk).free)
            await used(workspace, 0)
            await until(lambda: "No space left" in Memberships(home).read()[0].problem)
            assert "No space left" in await asyncio.to_thread(status, tmp_path)
            filler.unlink()
            await used(workspace, TIMES)
            await until(lambda: len(own(home)) == 2 * TIMES and at_hub(server, "full") == own(home))
            await until(lambda: Memberships(home).read()[0].problem == "")
    finally:
        with server.connect() as db:
            for name in tables:
                db.execute(sql.SQL("ALTER TABLE {} SET TABLESPACE pg_default").format(sql.SQL(name)))
            db.execute("DROP TABLESPACE IF EXISTS small")
        subprocess.run(["umount", "-l", disk], check=True)
