"""The daemon as a process: one per home, found by everybody, gone when it should be."""

from __future__ import annotations

import shutil
import signal
import stat
import sys
import threading
from pathlib import Path

import pytest

from aurora_protocol.address import Address, read_info
from aurora_protocol.client import Client
from aurora_protocol.connection import NobodyThere, open_connection
from tests.server.daemons import Daemon, launch, until
from tests.wait_limits import HANG


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_two_racing_starters_end_with_one_daemon(home: Path) -> None:
    starters = [launch(home) for _ in range(4)]
    try:
        address = Address.of(home)
        until(lambda: sum(each.poll() is None for each in starters) == 1, "all but one have given way")
        losers = [each for each in starters if each.poll() is not None]
        assert [each.returncode for each in losers] == [0, 0, 0]
        assert [each.stderr.read() for each in losers if each.stderr] == [b"", b"", b""]
        (winner,) = (each for each in starters if each.poll() is None)
        with Client.connect(address) as client:
            client.initialize(None, "test", None)
            assert client.request("aurora/status")["pid"] == winner.pid
        info = read_info(address)
        assert info is not None
        assert (info.pid, info.socket) == (winner.pid, str(address.socket))
    finally:
        for each in starters:
            each.terminate()
            each.wait(HANG)
            assert each.stderr is not None
            each.stderr.close()


def test_twenty_clients_at_once_are_all_served(home: Path) -> None:
    counts: list[int] = []
    everybody = threading.Barrier(20)

    def visit(daemon: Daemon) -> None:
        with daemon.client() as client:
            everybody.wait(HANG)
            counts.append(client.request("aurora/status", timeout=HANG)["connections"])
            everybody.wait(HANG)

    with Daemon(home) as daemon:
        visitors = [threading.Thread(target=visit, args=(daemon,)) for _ in range(20)]
        for visitor in visitors:
            visitor.start()
        for visitor in visitors:
            visitor.join(HANG)
        assert len(counts) == 20
        assert min(counts) >= 20, "all of them were connected at once"
        with daemon.client() as client:
            until(lambda: client.request("aurora/status")["connections"] == 1, what="the visitors are gone")


def test_only_its_user_can_reach_it(home: Path) -> None:
    with Daemon(home) as daemon, daemon.wire() as wire:
        wire.initialize()  # the socket answers before the log is open
        assert stat.S_IMODE(daemon.address.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(daemon.address.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(daemon.address.info.stat().st_mode) == 0o600
        assert stat.S_IMODE(daemon.address.log.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_cleanly(home: Path, number: signal.Signals) -> None:
    with Daemon(home) as daemon, daemon.wire() as wire:
        wire.initialize()
        daemon.process.send_signal(number)
        assert wire.ends()
        assert daemon.process.wait(HANG) == 0
        assert not daemon.address.socket.exists()
        assert not daemon.address.info.exists()
        assert [line["message"] for line in daemon.log()][-1] == "daemon stopped"


def test_another_starts_after_kill_9(home: Path) -> None:
    with Daemon(home) as killed:
        killed.process.kill()
        killed.process.wait(HANG)
        assert killed.address.socket.exists(), "or this test shows nothing"
    with pytest.raises(NobodyThere):
        open_connection(killed.address, 1.0)
    with Daemon(home) as daemon, daemon.client() as client:
        assert client.request("aurora/status")["pid"] == daemon.process.pid


def test_it_stops_when_asked_after_answering(home: Path) -> None:
    with Daemon(home) as daemon:
        client = daemon.client()
        assert client.request("aurora/stop") is None
        assert daemon.process.wait(HANG) == 0
        client.close()


def test_it_ends_when_idle_but_not_while_somebody_is_connected(home: Path) -> None:
    with Daemon(home, AURORA_DAEMON_IDLE_MINUTES="0.01") as daemon:
        with daemon.wire() as wire:
            wire.initialize()
            with pytest.raises(TimeoutError):
                wire.wait(lambda _: False, 2.0)
            assert daemon.process.poll() is None
        assert daemon.process.wait(HANG) == 0
        assert daemon.log()[-2]["message"] == "daemon stopping"
        assert daemon.log()[-2]["reason"] == "idle"


BREAKING = """
import signal, sys
from asyncio import BaseEventLoop
from aurora_cli import main

whole = BaseEventLoop._run_once

def once(loop):
    BaseEventLoop._run_once = whole
    raise MemoryError("none left")

def broken(*_):
    BaseEventLoop._run_once = once

signal.signal(signal.SIGUSR1, broken)
sys.argv[1:] = ["daemon", "run", "--detached"]
sys.exit(main())
"""
"""A daemon whose event loop breaks after a signal, as one that gets no memory for the loop itself."""


def test_an_event_loop_that_breaks_leaves_no_process_behind(home: Path, tmp_path: Path) -> None:
    """Threads of databases and of the file watcher keep a process whose main thread has ended."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "code.py").write_text("def one():\n    return 1\n")
    with Daemon(home, (sys.executable, "-P", "-c", BREAKING)) as daemon:
        with daemon.client(root) as client:
            client.request("aurora/index", {}, timeout=HANG)
            daemon.process.send_signal(signal.SIGUSR1)
            assert daemon.process.wait(HANG) != 0
        said = daemon.address.log.read_text()
        assert '"daemon stopping", "reason": "an internal error"' in said


def test_it_ends_when_its_socket_is_taken_away(home: Path) -> None:
    with Daemon(home) as daemon:
        daemon.address.socket.unlink()
        assert daemon.process.wait(HANG) == 0


def test_it_leaves_the_socket_of_a_successor_alone(home: Path) -> None:
    with Daemon(home) as daemon:
        daemon.address.socket.unlink()
        daemon.address.socket.write_text("somebody else's")
        assert daemon.process.wait(HANG) == 0
        assert daemon.address.socket.read_text() == "somebody else's"


def test_it_ends_when_its_home_is_removed(home: Path) -> None:
    with Daemon(home) as daemon:
        until(lambda: daemon.address.log.exists() and "daemon started" in daemon.address.log.read_text())
        shutil.rmtree(home)
        assert daemon.process.wait(HANG) == 0
        assert not home.exists()


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [({"AURORA_DAEMON_IDLE_MINUTES": "never"}, b"idle_minutes"), ({"AURORA_LOGGING_LEVEL": "LOUD"}, b"level")],
)
def test_settings_it_cannot_use_are_refused_in_one_line(
    home: Path, variables: dict[str, str], complaint: bytes
) -> None:
    process = launch(home, **variables)
    _, told = process.communicate(timeout=HANG)
    assert process.returncode == 2
    assert complaint in told
    assert told.count(b"\n") == 1
    assert not Address.of(home).socket.exists()


def test_a_home_open_to_others_is_refused(home: Path) -> None:
    run = Address.of(home).lock.parent
    run.mkdir(parents=True)
    run.chmod(0o755)
    process = launch(home)
    _, told = process.communicate(timeout=HANG)
    assert process.returncode == 3
    assert b"chmod 700" in told


def test_the_log_holds_events_but_never_what_was_said(home: Path, tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"
    uri = (tmp_path / "aura.json").as_uri()
    with Daemon(home, AURORA_LOGGING_LEVEL="INFO") as daemon:
        with daemon.wire() as wire:
            wire.initialize()
            document = {"uri": uri, "languageId": "json", "version": 1, "text": f'{{"key": "{secret}"'}
            wire.notify("textDocument/didOpen", {"textDocument": document})
            wire.notify("textDocument/didOpen", {"textDocument": {"uri": secret, "text": 3}})
            wire.notification("textDocument/publishDiagnostics")
            assert wire.ask("aurora/recall", {"query": secret})["error"]["code"] == -32803
            assert wire.ask("aurora/recall", {"query": secret, "limit": secret})["error"]["code"] == -32602
            assert wire.ask(secret)["error"]["code"] == -32601
            wire.stream.sendall(b"Content-Length: 30\r\n\r\n" + secret.encode() + b"!!")
            assert wire.ends()
        until(lambda: any(line["message"] == "session ended" for line in daemon.log()))
        assert all({"time", "level", "logger", "message"} <= line.keys() for line in daemon.log())
        assert secret not in daemon.address.log.read_text()
