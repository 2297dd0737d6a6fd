"""What goes wrong in a user's life: crowds, kills, races, broken files, a full disk. Nothing is lost or lingers."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from aurora_protocol import DaemonUnreachable
from aurora_protocol.connection import open_connection
from aurora_server.mcp.daemon_link import DaemonLink
from tests.e2e.product import COMMAND, Product, daemon_process, eventually, knows, product_in, recall
from tests.e2e.repositories import large, write
from tests.server.daemons import Wire
from tests.wait_limits import HANG

CODE = "def {}(value):\n    return value\n"
FILES = 60


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    with product_in(tmp_path / "home") as product:
        yield product


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return large(tmp_path / "work", FILES)


def check_answers(product: Product, root: Path, *numbers: int) -> None:
    """The next command works, memory is whole, and what it answers is right."""
    done = product.json("index", cwd=root)
    assert (done["files"], done["failed_files"]) == (FILES, 0)
    assert done["definitions"] == FILES * 8
    for number in numbers or (0, FILES // 2, FILES - 1):
        best = product.json("mem", f"handler_{number}_5", "--limit", "3", "--content", cwd=root)["results"][0]
        assert best["file"] == f"pack_{number // 20}/module_{number}.py"
        assert best["content"].startswith(f"def handler_{number}_5(")
    product.check_databases()
    assert len(product.daemons()) == 1


def begin_indexing(product: Product, root: Path) -> Wire:
    """Open the workspace, which begins to index it, and wait for nothing."""
    eventually(lambda: product.address.socket.exists() and _listens(product), "the daemon listens")
    wire = Wire(open_connection(product.address, 5.0))
    wire.initialize(root)
    return wire


def _listens(product: Product) -> bool:
    with suppress(DaemonUnreachable):
        open_connection(product.address, 1.0).close()
        return True
    return False


@pytest.mark.long
def test_twenty_clients_at_once(product: Product, root: Path) -> None:
    product.json("index", cwd=root)

    def client(number: int) -> None:
        chance = random.Random(number)
        with product.session(root) as session:
            for turn in range(4):
                kind = chance.randrange(10)
                if kind < 6:
                    wanted = chance.randrange(FILES)
                    found = recall(session, f"handler_{wanted}_3", limit=5)
                    assert found[0]["name"] == f"handler_{wanted}_3", found
                    assert len({one["id"] for one in found}) == len(found)
                elif kind < 8:
                    name = f"edit_{number}_{turn}"
                    write(root, {f"edits/by_{number}.py": CODE.format(name)})
                    session.request("aurora/index", {"paths": [str(root / f"edits/by_{number}.py")]}, timeout=HANG)
                    assert knows(session, f"edits/by_{number}.py", name)
                elif kind < 9:
                    assert session.request("aurora/index", timeout=HANG)["failed_files"] == 0
                else:
                    assert session.request("aurora/status", timeout=HANG)["connections"] >= 1

    with ThreadPoolExecutor(20) as crowd:
        for outcome in [crowd.submit(client, number) for number in range(20)]:
            outcome.result(HANG)
    with product.session(root) as session:
        edits = list((root / "edits").glob("*.py"))
        assert session.request("aurora/index")["files"] == FILES + len(edits)
        for path in edits:
            name = path.read_text().split("(")[0].removeprefix("def ")
            assert knows(session, f"edits/{path.name}", name)
    product.check_databases()
    assert len(product.daemons()) == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.long
def test_the_daemon_is_killed_while_it_indexes(product: Product, root: Path, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(2 if seed else 1):
        daemon = daemon_process(product)
        wire = begin_indexing(product, root)
        time.sleep(chance.uniform(0.0, 0.8))
        daemon.kill()
        daemon.wait(HANG)
        wire.stream.close()
        eventually(lambda: not product.processes(), "the workers of a killed daemon end")
        write(root, {f"pack_0/module_{chance.randrange(20)}.py": CODE.format("temporarily")})
    large(root, 20)
    check_answers(product, root)


@pytest.mark.long
def test_workers_are_killed_while_they_parse(product: Product, root: Path) -> None:
    product.session(None).close()
    pid = product.pid()
    with begin_indexing(product, root) as wire:
        request = wire.post("aurora/index", {})
        for worker in eventually(product.workers, "workers start")[:2]:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        result = wire.answer(request, HANG)
    assert result["result"]["files"] == FILES, result
    check_answers(product, root)
    assert product.pid() == pid


@pytest.mark.long
def test_clients_are_killed_in_the_middle_of_requests(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    pid = product.pid()
    commands = [("mem", "handler"), ("index",), ("doctor",), ("lsp",)]
    chance = random.Random(1)
    for round_ in range(4):
        process = product.start(*commands[round_ % 4], cwd=root)
        time.sleep(chance.uniform(0.02, 0.25))
        process.kill()
        process.communicate(timeout=HANG)
    with Wire(open_connection(product.address, 5.0)) as wire:
        wire.initialize(root)
        for _ in range(20):
            wire.post("aurora/recall", {"query": "handler request session", "limit": 50})
        wire.stream.sendall(b"Content-Length: 5000\r\n\r\n{half")
    check_answers(product, root)
    assert product.pid() == pid
    eventually(lambda: {each.pid for each in product.processes()} <= _served_by(pid), "no client is left")

    def alone() -> bool:
        return bool(product.json("daemon", "status", cwd=root)["connections"] == 1)

    eventually(alone, "the sessions of killed clients end")


def _served_by(pid: int | None) -> set[int]:
    """A daemon's process id and those of its workers."""
    assert pid is not None
    return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}


@pytest.mark.long
def test_two_cold_starters_end_with_one_daemon(product: Product, root: Path) -> None:
    starters = [product.start("mem", "handler_7_5", "--json", cwd=root) for _ in range(2)]
    for starter in starters:
        out, err = starter.communicate(timeout=HANG)
        assert starter.returncode == 0, err
        assert '"name": "handler_7_5"' in out
    assert len(eventually(lambda: product.daemons(), "a daemon runs")) == 1
    product.aurora("daemon", "stop", cwd=root)
    eventually(lambda: not product.processes(), "it stops")


def test_a_home_with_a_long_path_works(tmp_path: Path) -> None:
    home = tmp_path / ("long " * 20 + "é") / ("longer" * 20)
    root = write(tmp_path / "work", {"a.py": CODE.format("far_from_home")})
    with product_in(home) as product:
        assert product.json("mem", "far from home", cwd=root)["results"][0]["name"] == "far_from_home"
        socket = Path(product.json("daemon", "status", cwd=root)["socket"])
        assert len(os.fsencode(socket)) <= 104 and socket.is_socket()
    assert not socket.exists()


def test_a_corrupt_memory_file_is_a_clear_error_and_stays(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    product.aurora("daemon", "stop", cwd=root)
    (database,) = product.databases()
    garbage = b"this is no database, but it might be all that somebody has\n" * 200
    whole = database.read_bytes()
    database.write_bytes(garbage)
    for command in (("mem", "handler"), ("index",)):
        done = product.aurora(*command, cwd=root)
        assert done.returncode in (2, 3)
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert database.name in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert database.read_bytes() == garbage
    status = product.json("daemon", "status", cwd=root)
    assert [workspace["state"] for workspace in status["workspaces"]] == ["error"]
    assert database.name in status["workspaces"][0]["last_error"]
    doctor = product.aurora("doctor", cwd=root)
    assert doctor.returncode != 0 and database.name in doctor.stdout + doctor.stderr
    database.write_bytes(whole)
    check_answers(product, root)


@pytest.mark.long
def test_a_memory_file_damaged_in_the_middle_is_told(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    product.aurora("daemon", "stop", cwd=root)
    (database,) = product.databases()
    damaged = bytearray(database.read_bytes())
    for page in range(8, len(damaged) // 4096, 3):
        damaged[page * 4096 : page * 4096 + 512] = b"\xaa" * 512
    database.write_bytes(damaged)
    doctor = product.aurora("doctor", cwd=root)
    assert doctor.returncode in (1, 2, 3), doctor.stdout + doctor.stderr
    assert "damaged" in doctor.stdout + doctor.stderr and database.name in doctor.stdout + doctor.stderr
    done = product.aurora("mem", "handler_7_5", cwd=root)
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == (1 if done.returncode else 0)
    assert database.stat().st_size >= len(damaged)


@pytest.mark.long
def test_a_changed_bit_in_a_killed_daemons_log_is_told_and_two_repairs_at_once_save_all(
    product: Product, root: Path
) -> None:
    product.json("index", cwd=root)
    event = {"event_type": "phase_start", "phase": "apply", "change_id": "x", "timestamp": "2026-01-01T00:00:00Z"}
    told = {f"event-{number}" for number in range(40)}
    with product.session(root) as client:
        lines = [json.dumps({**event, "id": each}) for each in sorted(told)]
        answer = client.request("aurora/deliverable", {"action": "ingest", "lines": lines}, timeout=HANG)
        assert answer["accepted"] == 40
    product.kill()
    (database,) = product.databases()
    log = database.with_name(f"{database.name}-wal")
    raw = bytearray(log.read_bytes())
    raw[len(raw) // 3] ^= 8
    log.write_bytes(raw)
    looked = product.aurora("doctor", cwd=root)
    assert looked.returncode == 1 and "a bit changed on the disk" in looked.stdout
    with ThreadPoolExecutor(2) as both:
        repairs = list(both.map(lambda _: product.aurora("doctor", "--repair", cwd=root), range(2)))
    assert [each.returncode for each in repairs] == [0, 0], [each.stdout + each.stderr for each in repairs]
    assert product.aurora("doctor", cwd=root).returncode == 0
    assert len(list(database.parent.glob("*.damaged-*[0-9]Z"))) == 1
    with closing(sqlite3.connect(database)) as connection:
        assert {row[0] for row in connection.execute("SELECT id FROM deliverable_events")} == told


@pytest.mark.long
def test_what_a_cut_log_held_comes_back_from_the_record(product: Product, root: Path) -> None:
    """SQLite takes a log up to where it was cut; what was acknowledged after that is in the repository's record."""
    product.json("index", cwd=root)
    event = {"event_type": "phase_start", "phase": "apply", "change_id": "x", "timestamp": "2026-01-01T00:00:00Z"}
    told = {f"event-{number}" for number in range(12)}

    def kept(path: Path, table: str) -> int:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    (database,) = product.databases()
    with product.session(root) as client:
        for each in sorted(told):
            line = json.dumps({**event, "id": each})
            client.request("aurora/deliverable", {"action": "ingest", "lines": [line]}, timeout=HANG)
        eventually(lambda: kept(database, "unrecorded") == 0, "all of it is in the record")
    product.kill()
    aside = product.home.with_name("aside")
    shutil.copytree(product.home, aside, ignore=shutil.ignore_patterns("*.sock"))
    log = database.with_name(f"{database.name}-wal")
    raw = log.read_bytes()
    for part in (0.6, 0):
        shutil.rmtree(product.home)
        shutil.copytree(aside, product.home)
        log.write_bytes(raw[: int(len(raw) * part)])
        log.with_name(f"{database.name}-shm").unlink(missing_ok=True)
        assert product.aurora("doctor", cwd=root).returncode == 0
        eventually(lambda: kept(database, "deliverable_events") >= len(told), "it comes back")
        with closing(sqlite3.connect(database)) as connection:
            assert {row[0] for row in connection.execute("SELECT id FROM deliverable_events")} == told
        product.kill()


def test_a_database_that_another_version_wrote_is_refused_not_changed(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    product.aurora("daemon", "stop", cwd=root)
    (database,) = product.databases()
    with closing(sqlite3.connect(database)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        chunks = connection.execute("SELECT count(*) FROM chunks").fetchone()
        connection.execute("PRAGMA user_version = 9999")
    if version == 0:
        pytest.skip("the schema's version is not kept in user_version")
    done = product.aurora("mem", "handler_7_5", cwd=root)
    assert done.returncode in (2, 3) and len(done.stderr.splitlines()) == 1, done.stdout + done.stderr
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM chunks").fetchone() == chunks


def limit_files(pid: int, size: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.long
def test_a_full_disk_is_told_and_survived(product: Product, tmp_path: Path) -> None:
    """No write may grow a file of the daemon past a limit: to SQLite that is a disk that is full."""
    root = large(tmp_path / "work", 20)
    product.json("index", cwd=root)
    pid = product.pid()
    assert pid is not None
    (database,) = product.databases()
    limit_files(pid, database.stat().st_size + (64 << 10))
    large(root, FILES)

    def told() -> str | None:
        status = product.json("daemon", "status", cwd=root)["workspaces"][0]
        return status["last_error"] if status["state"] == "error" else None

    message = str(eventually(told, "the status tells of the full disk"))
    assert "disk" in message.lower() or "full" in message.lower() or "large" in message.lower(), message
    answer = product.json("mem", "handler_7_5", cwd=root)
    assert answer["results"][0]["name"] == "handler_7_5", "what was known before is still recalled"
    done = product.aurora("index", cwd=root)
    assert done.returncode != 0 and len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
    assert product.pid() == pid, "the daemon lives"
    limit_files(pid, resource.RLIM_INFINITY)

    def well() -> bool:
        status = product.json("daemon", "status", cwd=root)["workspaces"][0]
        return bool(status["state"] == "ready" and status["files"] == FILES and status["last_error"] is None)

    eventually(well, "it recovers by itself once there is room")
    check_answers(product, root)
    assert product.pid() == pid


@pytest.mark.long
def test_a_tmpfs_that_is_full_is_told_and_survived(tmp_path: Path) -> None:
    """The same on a real small disk, where we may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting needs privileges")
    try:
        root = large(tmp_path / "work", 40)
        with product_in(disk / "home") as product:
            product.json("index", cwd=root)
            filler = disk / "filler"
            with suppress(OSError), filler.open("wb") as file:
                while True:
                    file.write(b"\0" * 65536)
                    file.flush()
            large(root, FILES)
            done = product.aurora("index", cwd=root)
            assert done.returncode != 0 and len(done.stderr.splitlines()) == 1, done.stdout + done.stderr
            assert product.json("mem", "handler_7_5", cwd=root)["results"][0]["name"] == "handler_7_5"
            filler.unlink()
            mounted = subprocess.run(["mount", "-o", "remount,size=200m", disk], check=False)
            check_answers(product, root)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


@pytest.mark.long
def test_a_stopped_daemon_is_told_in_seconds_and_ended_in_order(product: Product, root: Path) -> None:
    """SIGSTOP: no command waits its half minute, a hook neither, and `daemon stop` wakes it to end as it should."""
    product.json("index", cwd=root)
    (daemon,) = product.daemons()
    daemon.suspend()
    done = product.aurora("mem", "handler_7_5", cwd=root, seconds=25)
    assert done.returncode == 3 and "was stopped (SIGSTOP); end it with: aurora daemon stop" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    payload = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(root), "prompt": "x"})
    hook = subprocess.run(
        [*COMMAND, "deliverable", "ingest", "--claude-code-hook"],
        env=product.environment,
        cwd=root,
        input=payload,
        text=True,
        capture_output=True,
        timeout=25,
        check=False,
    )
    assert hook.returncode == 0 and len(hook.stderr.splitlines()) == 1, hook.stderr
    stopped = product.aurora("daemon", "stop", cwd=root, seconds=HANG)
    assert stopped.returncode == 0 and str(daemon.pid) in stopped.stdout
    assert not product.processes()
    assert product.address.log.read_text().splitlines()[-1].count("daemon stopped") == 1
    check_answers(product, root)


async def test_a_stopped_daemon_is_told_to_mcp_as_to_commands(product: Product, root: Path) -> None:
    link = DaemonLink(product.address, root, product.environment, {}, {})
    await link.open()
    (daemon,) = product.daemons()
    daemon.suspend()
    try:
        with pytest.raises(DaemonUnreachable, match=r"was stopped \(SIGSTOP\); 'aurora daemon stop' ends it"):
            await link.request("aurora/recall", {"query": "handler_7_5"}, again=True)
    finally:
        daemon.resume()
        await link.close()


@pytest.mark.long
def test_a_daemon_without_descriptors_says_so_once_and_comes_back(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    (daemon,) = product.daemons()
    _, hard = daemon.rlimit(psutil.RLIMIT_NOFILE)
    daemon.rlimit(psutil.RLIMIT_NOFILE, (daemon.num_fds() + 3, hard))
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for each in waiting:
        each.connect(str(product.address.socket))
    eventually(lambda: "nobody can connect" in product.address.log.read_text(), "it says so")
    before = product.address.log.stat().st_size
    time.sleep(3)  # asyncio tries again each second
    assert product.address.log.stat().st_size - before < 2000
    for each in waiting:
        each.close()
    daemon.rlimit(psutil.RLIMIT_NOFILE, (1024, hard))
    check_answers(product, root)


@pytest.mark.long
def test_sigterm_while_indexing_ends_everything_soon(product: Product, root: Path) -> None:
    daemon = daemon_process(product)
    wire = begin_indexing(product, root)
    time.sleep(0.3)
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(HANG)
    wire.stream.close()
    eventually(lambda: not product.processes(), "workers end with their daemon")
    assert not product.address.socket.exists()
    check_answers(product, root)


def _gone(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_a_home_that_is_removed_under_a_running_daemon_ends_it(tmp_path: Path) -> None:
    root = write(tmp_path / "work", {"a.py": CODE.format("homeless")})
    with product_in(tmp_path / "home") as product:
        product.json("index", cwd=root)
        (daemon,) = product.daemons()
        eventually(lambda: _gone(product.home), "the home is gone, whatever is written meanwhile")
        eventually(lambda: not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE, "the daemon ends")
        assert product.json("mem", "homeless", cwd=root)["results"][0]["name"] == "homeless"


def test_the_workspace_is_removed_and_comes_back(product: Product, tmp_path: Path) -> None:
    root = write(tmp_path / "work", {"a.py": CODE.format("here_today")})
    product.json("index", cwd=root)
    (root / "a.py").unlink()
    root.rmdir()
    done = product.aurora("--workspace", root, "mem", "here", cwd=tmp_path)
    assert done.returncode == 2
    write(root, {"b.py": CODE.format("back_again")})

    def back() -> bool:
        index = product.aurora("index", cwd=root)
        assert "Traceback" not in index.stderr
        found = product.json("mem", "back again", cwd=root)["results"]
        return bool(found) and found[0]["name"] == "back_again"

    eventually(back, "the new folder is indexed")
    with product.session(root) as session:
        assert not knows(session, "a.py", "here_today")
        write(root, {"c.py": CODE.format("watched_again")})
        eventually(lambda: knows(session, "c.py", "watched_again"), "the new folder is watched")


@pytest.mark.long
def test_recall_answers_while_a_cold_index_runs(product: Product, tmp_path: Path) -> None:
    small = write(tmp_path / "small", {"a.py": CODE.format("quick_answer")})
    product.json("index", cwd=small)
    big = large(tmp_path / "big", 600)
    done = threading.Event()

    def index() -> None:
        with product.session(big) as session:
            session.request("aurora/index", timeout=HANG)
        done.set()

    thread = threading.Thread(target=index)
    thread.start()
    meanwhile = 0
    with product.session(small) as session:
        while not done.is_set():
            assert recall(session, "quick answer")[0]["name"] == "quick_answer"
            meanwhile += not done.is_set()
            time.sleep(0.01)
    thread.join(HANG)
    # Some 40 where nothing else runs; who waits for the index, or for a batch of it, gets one or a few.
    assert meanwhile >= 10, f"{meanwhile} recalls were answered before the index was done"
