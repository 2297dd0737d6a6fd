"""Launch of the daemon when nobody listens, or one of another version does (version mismatch), and the wait until it
does. Standard library only.

A daemon that comes second exits 0 without a word: starting one too many does no harm, and nothing here is locked.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address, read_info
from aurora_protocol.client import Client
from aurora_protocol.closed_paths import closed_on_way, opening
from aurora_protocol.connection import NobodyThere, open_connection, open_socket, peer_process
from aurora_protocol.process_state import may_live
from aurora_protocol.strict_modes import open_own

if TYPE_CHECKING:
    from subprocess import Popen

DAEMON = ("-P", "-m", "aurora_cli", "daemon", "run", "--detached")
"""Arguments of the interpreter. `-P` keeps the working folder off the import path."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.05
_RESTART_AFTER = 0.5
_LAST_LINES = 64 * 1024


def ensure_daemon(
    address: Address,
    *,
    timeout: float = 10.0,
    command: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> Client:
    """Return a client of the daemon at `address`, not yet initialized, starting the daemon first if need be.

    A daemon of an older version in the same home is asked to stop. Raises DaemonUnreachable after `timeout` seconds, as
    soon as the daemon's process ends with a complaint, or where a newer version's daemon is running. `command` replaces
    the daemon's argv, `environ` os.environ.
    """
    deadline = time.monotonic() + timeout
    try:
        return Client.connect(address, timeout)
    except NobodyThere:
        pass
    address.prepare()
    replace_older(address, deadline)
    command = command or (sys.executable, *DAEMON)
    environment = daemon_environment(os.environ if environ is None else environ, address.home)
    logged = _size(address.log)
    process = _spawn(address, command, environment)
    ended_at: float | None = None
    pause = _FIRST_PAUSE
    while True:
        try:
            client = Client.connect(address, max(0.1, deadline - time.monotonic()))
            if client.peer not in (None, process.pid):
                process.terminate()  # another was faster: ours would start for nothing, or after that one was stopped
            return client
        except NobodyThere as error:
            now = time.monotonic()
            if now >= deadline:
                raise DaemonUnreachable(
                    f"the daemon did not come up within {timeout:g} s{_complaint(address.log, logged)}"
                ) from error
        code = process.poll()
        if code is not None and code != 0:
            raise DaemonUnreachable(f"the daemon could not start (exit code {code}){_complaint(address.log, logged)}")
        if code == 0:
            # It lost the race for the lock. The winner is about to listen, unless it was about to stop: then try again.
            ended_at = ended_at or now
            if now - ended_at >= _RESTART_AFTER:
                replace_older(address, deadline)
                process = _spawn(address, command, environment)
                ended_at = None
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def replace_older(address: Address, deadline: float) -> None:
    """Upgrade: stop a daemon of an older version that holds this home's lock; return when it is gone or `deadline` is
    reached.

    Its process is signalled only after its own socket has confirmed the process id that its info file gives. Raises
    DaemonUnreachable where a newer one runs: two editors with different versions would otherwise stop each other's
    daemon in turn, and what a newer one has written an older one cannot read.
    """
    info = read_info(address)
    if info is None or info.version == address.version or sys.platform == "win32":
        return
    if _release(info.version) > _release(address.version):
        if _listens(info.socket, info.pid):
            raise DaemonUnreachable(
                f"AURORA {info.version} is running (process {info.pid}) and this is {address.version}: upgrade this "
                "one, or end that one with `aurora daemon stop`"
            )
    elif stop_listener(info.socket, info.pid):
        wait_until_gone(info.pid, deadline)


def _release(version: str) -> tuple[int, ...]:
    """The release segment of a version, to be compared (PEP 440)."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _listens(socket_path: str, pid: int) -> bool:
    """Whether `pid` is the process that listens at `socket_path`."""
    try:
        stream = open_socket(socket_path, 1.0)
    except DaemonUnreachable:
        return False
    with stream:
        return peer_process(stream) == pid


def stop_listener(socket_path: str, pid: int) -> bool:
    """Send SIGTERM to `pid` if it is the process listening at `socket_path`. Returns whether it was sent."""
    return _listens(socket_path, pid) and _signal(pid)


def kill_listener(socket_path: str, pid: int) -> bool:
    """End `pid` at once if it is still the process listening at `socket_path`: what it acknowledged is on the disk."""
    return _listens(socket_path, pid) and _signal(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def wait_until_gone(pid: int, deadline: float) -> bool:
    """Wait for a process that may not be our child to end. Returns False at `deadline` (of time.monotonic)."""
    pause = _FIRST_PAUSE
    while may_live(pid):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return True


def listening(address: Address) -> bool:
    """Whether anything of ours accepts connections at `address`."""
    try:
        open_connection(address, 1.0).close()
    except NobodyThere:
        return False
    return True


def _spawn(address: Address, command: tuple[str, ...], environ: Mapping[str, str]) -> Popen[bytes]:
    """Start of the daemon as a detached process in a session of its own (daemonization)."""
    import subprocess  # not needed, and not paid for, while a daemon runs

    descriptor = _open_log(address.log)
    try:
        process = subprocess.Popen(
            command,
            cwd=address.home,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
    except OSError as error:
        raise DaemonUnreachable(f"cannot run {command[0]}: {error.strerror}; reinstall aurora-context") from error
    finally:
        os.close(descriptor)
    # Somebody has to collect its exit code, or it stays a zombie for as long as we live, which it may where we get no
    # thread for that.
    with suppress(RuntimeError):
        threading.Thread(target=process.wait, name="daemon-reaper", daemon=True).start()
    return process


def _open_log(log: Path) -> int:
    """Where the daemon's output goes: its log, or nowhere while that is closed to its own user. `doctor` tells of that.

    Raises DaemonUnreachable for what may be another's doing, a link say, and where nothing can be written.
    """
    try:
        return open_own(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        if error.errno == errno.EACCES:
            return os.open(os.devnull, os.O_WRONLY)
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror
        remedy = "" if error.errno in (errno.EROFS, errno.ENOSPC) else "remove it, or "
        raise DaemonUnreachable(f"cannot write {log}: {reason}; {remedy}set another AURORA_HOME") from error


def daemon_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The daemon's environment: ours, without a PYTHONPATH, or with the part of it that our own packages come from.

    Of PATH what is relative is left out: git and agents run in workspaces, where `.` would be the workspace's own.
    """
    chosen = {name: value for name, value in environ.items() if name != "PYTHONPATH"}
    if "PATH" in chosen:
        chosen["PATH"] = os.pathsep.join(each for each in chosen["PATH"].split(os.pathsep) if Path(each).is_absolute())
    chosen["AURORA_HOME"] = os.fspath(home)
    entries = [Path(entry).absolute() for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if Path(__file__).absolute().parents[1] in entries:
        usable = {Path(entry).absolute() for entry in sys.path}
        chosen["PYTHONPATH"] = os.pathsep.join(os.fspath(entry) for entry in entries if entry in usable)
    return chosen


def _signal(pid: int, number: int = signal.SIGTERM) -> bool:
    """Signal to a process, which is continued to hear it; whether it was there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    if hasattr(signal, "SIGCONT"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)  # one that was stopped hears of nothing else
    return True


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError:  # none yet, or none that can be looked at: opening it to write says which
        return 0


def _complaint(log: Path, since: int) -> str:
    """End of the daemon's log, after byte `since` of its log, and where to read more."""
    try:
        with log.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(since if size >= since else 0, size - _LAST_LINES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except PermissionError:
        closed = closed_on_way(log)
        return f"; {closed or log} is closed, so that it has no log: {opening(closed or log)}"
    except OSError:
        lines = []
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    try:
        entry = json.loads(last)
    except ValueError:
        entry = None
    if isinstance(entry, dict):
        last = str(entry.get("message") or entry.get("event") or last)
    return f": {last}; log: {log}" if last else f"; it wrote no log at {log}"
