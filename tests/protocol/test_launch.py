"""Starting the daemon: real processes, racing starters, other versions, and daemons that cannot start."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aurora_protocol import DaemonUnreachable, launch
from aurora_protocol.address import Address, Info, read_info, write_info
from aurora_protocol.launch import (
    daemon_environment,
    ensure_daemon,
    listening,
    replace_older,
    stop_listener,
    wait_until_gone,
)
from tests.wait_limits import HANG

DAEMON = """
import fcntl, os, signal, socket, sys, time
from pathlib import Path
from aurora_protocol.address import Address, Info, write_info
version = sys.argv[1]
address = Address.of(Path(os.environ["AURORA_HOME"]), version=version)
lock = open(address.lock, "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(0)
with open(address.home / "started", "a") as record:
    record.write(f"{os.getpid()}\\n")
def stop(*_):
    address.socket.unlink(missing_ok=True)
    time.sleep(0.2)  # still holds the lock, as a daemon that closes its databases does
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
listener = socket.socket(socket.AF_UNIX)
address.socket.unlink(missing_ok=True)
listener.bind(str(address.socket))
write_info(address, Info(os.getpid(), version, str(address.socket), time.time()))  # before anyone is answered
listener.listen(16)
kept = []
while True:
    kept.append(listener.accept())
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Address]:
    address = Address.of(tmp_path / "h")
    yield address
    info = read_info(address)
    if info is not None and info.pid != os.getpid():
        stop_listener(info.socket, info.pid)


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    script = tmp_path / "daemon.py"
    script.write_text(DAEMON)
    return lambda version: (sys.executable, "-P", str(script), version)


def started(address: Address) -> list[int]:
    return [int(line) for line in (address.home / "started").read_text().split()]


def test_the_first_client_starts_it_and_the_second_finds_it(
    address: Address, command: Callable[[str], tuple[str, ...]]
) -> None:
    assert not listening(address)
    with ensure_daemon(address, command=command(address.version)), ensure_daemon(address, command=("/no/such",)):
        assert listening(address)
        [pid] = started(address)
        assert os.getsid(pid) != os.getsid(0)
        if sys.platform == "linux":
            assert Path(f"/proc/{pid}/cwd").readlink() == address.home


def test_racing_starters_end_with_one_daemon(address: Address, command: Callable[[str], tuple[str, ...]]) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            ensure_daemon(address, timeout=HANG, command=command(address.version)).close()
        except BaseException as error:  # noqa: BLE001 - a thread's failure has to reach the test
            failures.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(started(address)) == 1


def test_one_that_was_slower_than_another_starts_no_more(
    address: Address, command: Callable[[str], tuple[str, ...]], tmp_path: Path
) -> None:
    """Otherwise `aurora daemon stop` would be followed by a daemon that nobody asked for."""
    script = tmp_path / "slow.py"
    script.write_text("import os, time\nopen('slow', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    slow = threading.Thread(
        target=lambda: ensure_daemon(address, timeout=HANG, command=(sys.executable, str(script))).close()
    )
    slow.start()
    while not (address.home / "slow").exists() or not (address.home / "slow").read_text():
        time.sleep(0.005)
    address.home.joinpath("started").touch()
    fast = subprocess.Popen(command(address.version), env=daemon_environment(os.environ, address.home))
    slow.join()
    assert wait_until_gone(int((address.home / "slow").read_text()), time.monotonic() + HANG)
    assert started(address) == [fast.pid]
    fast.terminate()
    fast.wait()


def test_a_daemon_of_another_version_makes_way(address: Address, command: Callable[[str], tuple[str, ...]]) -> None:
    older = Address.of(address.home, version="0.0.1")
    ensure_daemon(older, command=command("0.0.1")).close()
    ensure_daemon(address, command=command(address.version)).close()
    old, new = started(address)
    assert wait_until_gone(old, time.monotonic() + HANG)
    assert read_info(address) is not None
    os.kill(new, 0)


def test_a_newer_daemon_is_left_alone(address: Address, command: Callable[[str], tuple[str, ...]]) -> None:
    newer = Address.of(address.home, version="99.10.0")
    ensure_daemon(newer, command=command("99.10.0")).close()
    (pid,) = started(address)
    with pytest.raises(DaemonUnreachable, match=rf"AURORA 99\.10\.0 is running \(process {pid}\).*aurora daemon stop"):
        ensure_daemon(Address.of(address.home, version="99.9.1"), command=command("99.9.1"))
    assert started(address) == [pid]
    os.kill(pid, signal.SIGKILL)
    assert wait_until_gone(pid, time.monotonic() + HANG)
    ensure_daemon(address, command=command(address.version)).close()  # what it left behind is in nobody's way
    assert len(started(address)) == 2


def test_a_process_that_does_not_listen_at_the_socket_is_never_signalled(
    address: Address, command: Callable[[str], tuple[str, ...]]
) -> None:
    ensure_daemon(address, command=command(address.version)).close()
    info = read_info(address)
    assert info is not None
    caught: list[int] = []
    previous = signal.signal(signal.SIGTERM, lambda number, _: caught.append(number))
    try:
        write_info(address, Info(os.getpid(), "0.0.1", info.socket, 0.0))  # a recycled pid: ours
        replace_older(address, time.monotonic() + 1)
        write_info(address, Info(os.getpid(), "0.0.1", "/no/such/socket", 0.0))
        replace_older(address, time.monotonic() + 1)
    finally:
        signal.signal(signal.SIGTERM, previous)
        write_info(address, info)
    assert caught == []


def test_a_daemon_that_is_just_stopping_is_waited_out(
    address: Address, command: Callable[[str], tuple[str, ...]]
) -> None:
    ensure_daemon(address, command=command(address.version)).close()
    [pid] = started(address)
    os.kill(pid, signal.SIGTERM)
    while address.socket.exists():
        time.sleep(0.005)
    ensure_daemon(address, command=command(address.version)).close()
    assert len(started(address)) == 2


def test_a_daemon_that_cannot_start_shows_its_last_words(address: Address) -> None:
    script = "import sys; print('noise'); sys.stderr.write('cannot open the store: disk full\\n\\n'); sys.exit(7)"
    with pytest.raises(DaemonUnreachable, match=r"exit code 7.*cannot open the store: disk full.*daemon\.log"):
        ensure_daemon(address, command=(sys.executable, "-c", script))
    structured = """print('{"level": "error", "message": "port taken"}'); raise SystemExit(1)"""
    with pytest.raises(DaemonUnreachable, match=r"\(exit code 1\): port taken; log: "):
        ensure_daemon(address, command=(sys.executable, "-c", structured))


def test_a_daemon_that_never_listens_is_given_up(address: Address) -> None:
    with pytest.raises(DaemonUnreachable, match=r"did not come up within 0.3 s"):
        ensure_daemon(address, timeout=0.3, command=(sys.executable, "-c", "import time; time.sleep(1)"))


def test_a_program_that_does_not_exist(address: Address) -> None:
    with pytest.raises(DaemonUnreachable, match="cannot run /no/such/python"):
        ensure_daemon(address, command=("/no/such/python",))


def test_the_daemon_gets_no_pythonpath_of_a_workspace(tmp_path: Path) -> None:
    import aurora_protocol

    given = {"PYTHONPATH": str(tmp_path), "HOME": "/h"}
    assert daemon_environment(given, tmp_path) == {"HOME": "/h", "AURORA_HOME": str(tmp_path)}
    ours = str(Path(aurora_protocol.__file__).parents[1])
    kept = daemon_environment({"PYTHONPATH": os.pathsep.join([ours, str(tmp_path)])}, tmp_path)
    assert kept["PYTHONPATH"] == ours


def test_the_daemon_looks_for_programs_in_no_relative_folder(tmp_path: Path) -> None:
    """git runs in workspaces: `.` in PATH would have it be the workspace's own."""
    path = os.pathsep.join(["", ".", "bin", "/usr/bin", "./x", "/bin"])
    assert daemon_environment({"PATH": path}, tmp_path)["PATH"] == os.pathsep.join(["/usr/bin", "/bin"])


@pytest.mark.skipif(sys.platform == "win32", reason="only one daemon listens there")
@pytest.mark.parametrize(
    ("running", "here", "becomes"),
    [
        pytest.param("1.2.3", "1.2.3", "kept", id="the same"),
        pytest.param("1.2.2", "1.2.3", "stopped", id="an older one makes way"),
        pytest.param("1.9.0", "1.10.0", "stopped", id="by number, not by letter"),
        pytest.param("1.2", "1.2.1", "stopped", id="however long it is"),
        pytest.param("1.2.4", "1.2.3", "refused", id="a newer one does not"),
        pytest.param("1.2.3.dev1", "1.2.3", "stopped", id="another build of the same release makes way"),
        pytest.param("1.2.3", "1.2.3.dev1", "stopped", id="in either direction"),
        pytest.param("unknown", "1.2.3", "stopped", id="and so does one whose version says nothing"),
    ],
)
def test_which_daemon_makes_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: str, here: str, becomes: str
) -> None:
    address = Address.of(tmp_path, version=here)
    address.info.parent.mkdir(parents=True, exist_ok=True)
    write_info(address, Info(4321, running, "its.sock", 1.0))
    asked: list[tuple[str, int]] = []

    def stopped(socket: str, pid: int) -> bool:
        asked.append((socket, pid))
        return True

    monkeypatch.setattr(launch, "_listens", lambda *which: True)
    monkeypatch.setattr(launch, "stop_listener", stopped)
    monkeypatch.setattr(launch, "wait_until_gone", lambda pid, deadline: True)
    if becomes == "refused":
        with pytest.raises(DaemonUnreachable, match=f"AURORA {running} is running .* and this is {here}: upgrade"):
            replace_older(address, 0.0)
    else:
        replace_older(address, 0.0)
    assert asked == ([("its.sock", 4321)] if becomes == "stopped" else [])


@pytest.mark.skipif(sys.platform == "win32", reason="only one daemon listens there")
def test_a_newer_daemon_that_is_gone_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = Address.of(tmp_path, version="1.0.0")
    address.info.parent.mkdir(parents=True, exist_ok=True)
    write_info(address, Info(4321, "2.0.0", "its.sock", 1.0))
    monkeypatch.setattr(launch, "_listens", lambda *which: False)
    replace_older(address, 0.0)


def test_a_log_that_is_closed_to_its_own_user_keeps_no_daemon_from_starting(
    address: Address, command: Callable[[str], tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also as root, who may write everywhere."""

    def closed(path: Path, flags: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(launch, "open_own", closed)
    ensure_daemon(address, command=command(address.version)).close()
    assert len(started(address)) == 1 and not address.log.exists()


def test_a_log_that_belongs_to_another_refuses(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    def anothers(path: Path, flags: int) -> int:
        raise PermissionError(errno.EPERM, f"{path} belongs to user 7, not to you", str(path))

    monkeypatch.setattr(launch, "open_own", anothers)
    with pytest.raises(
        DaemonUnreachable, match=r"cannot write .*daemon\.log: .*belongs to user 7.*set another AURORA_HOME"
    ):
        ensure_daemon(address, environ={**os.environ, "AURORA_HOME": str(address.home)})


def test_a_log_that_cannot_even_be_looked_at_is_named_with_a_way_out(tmp_path: Path) -> None:
    address = Address.of(tmp_path)
    address.log.parent.mkdir(mode=0o700)
    address.log.symlink_to(address.log.name)
    with pytest.raises(DaemonUnreachable, match=r"cannot write .*daemon\.log: it is a link; remove it, or set another"):
        ensure_daemon(address, environ={**os.environ, "AURORA_HOME": str(tmp_path)})
