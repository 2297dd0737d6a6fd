"""Address of the daemon (socket path, endpoint discovery): the path of its Unix socket, one per AURORA_HOME, named
after the version.

On Linux and macOS that is a Unix socket in a folder only its user can enter. On Windows it is a loopback TCP port,
named with a secret in a file of the user's profile; that half is written for, but untested.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aurora_protocol import DaemonUnreachable
from aurora_protocol.strict_modes import OWN_FILE, complaint, make_private_folder, read_own, way_complaint
from aurora_protocol.version import __version__

MAX_SOCKET_PATH = 100
"""Bytes; macOS allows 104 in a socket's path and Linux 108, a closing zero included."""

_MAX_INFO = 1 << 16

SHARED_TEMP = Path("/tmp")
"""Not $TMPDIR: an editor and a shell may disagree about that, and have to find the same daemon."""


def home(environ: Mapping[str, str]) -> Path:
    """The folder of everything AURORA keeps for this user: $AURORA_HOME, or `~/.aurora`."""
    chosen = environ.get("AURORA_HOME", "")
    user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "") or str(Path.home())
    if not chosen:
        return Path(user, ".aurora")
    if chosen == "~" or chosen.startswith("~/"):
        chosen = user + chosen[1:]
    # `..` behind a folder of another user, who may put a link there, would lead wherever he likes.
    return Path(os.path.abspath(chosen))  # noqa: PTH100 - Path.absolute keeps it


def in_home(path: str, home: Path) -> str:
    """A configured path with `~/.aurora` read as `home`, which is where everything of AURORA is; others as they are."""
    usual = "~/.aurora"
    if path == usual or path.startswith(f"{usual}/"):
        return str(home / path[len(usual) :].lstrip("/"))
    return path


@dataclass(frozen=True)
class Address:
    """Paths of the daemon of one home: its socket, lock file, info file and log, by which it is found.

    `lock` and `info` carry no version, so that two versions know of each other; `socket` does, so that a client never
    talks to a daemon of another version by accident. `token` is used on Windows only.
    """

    home: Path
    version: str
    socket: Path
    lock: Path
    info: Path
    token: Path
    log: Path

    @classmethod
    def of(cls, home: Path, *, version: str = __version__, temp: Path = SHARED_TEMP) -> Address:
        """The address of the daemon that keeps its things in `home`. Touches no file."""
        run = home / "run"
        socket = run / f"aurora-{version}.sock"
        if len(os.fsencode(socket)) > MAX_SOCKET_PATH:
            socket = _short_socket(home, version, temp)
        return cls(
            home=home,
            version=version,
            socket=socket,
            lock=run / "daemon.lock",
            info=run / "daemon.json",
            token=run / f"aurora-{version}.token",
            log=home / "logs" / "daemon.log",
        )

    def prepare(self) -> None:
        """Make the folders, closed to other users. Raises DaemonUnreachable when one is not ours or cannot be made."""
        for folder in dict.fromkeys((self.home, self.lock.parent, self.log.parent, self.socket.parent)):
            try:
                make_private_folder(folder)
            except OSError as error:
                raise DaemonUnreachable(
                    f"cannot make {folder}: {error.strerror}; set AURORA_HOME to a writable folder"
                ) from error
        self.check()
        _check_contents(self.home)

    def check(self) -> None:
        """Raise DaemonUnreachable if another user could have put up, or could enter, a folder of ours that exists.

        `home` and `logs` others may read where their user lets them; nobody else may write there.
        """
        for folder in (self.home, self.log.parent):
            _check_believed(folder)
        if self.home.exists() and (problem := way_complaint(self.home)):
            raise DaemonUnreachable(f"{problem}, or set another AURORA_HOME")
        for folder in dict.fromkeys((self.lock.parent, self.socket.parent)):
            _check_private(folder)


@dataclass(frozen=True)
class Info:
    """Self-description of a running daemon in its info file (a PID file). `started` is seconds since the epoch."""

    pid: int
    version: str
    socket: str
    started: float


def write_info(address: Address, info: Info) -> None:
    """Atomic write of the PID file, `info`: a reader sees the old file or the new one."""
    document = {"pid": info.pid, "version": info.version, "socket": info.socket, "started": info.started}
    _write_private(address.info, document)


def read_info(address: Address) -> Info | None:
    """Self-description of the last daemon of this home; None when there is nothing usable. It may be long gone."""
    document = _read_object(address.info)
    try:
        return Info(
            pid=int(document["pid"]),
            version=str(document["version"]),
            socket=str(document["socket"]),
            started=float(document["started"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def write_token(address: Address, port: int, token: str) -> None:
    """Windows: publish the loopback port and the secret a client says first, on a line of its own. Untested there."""
    _write_private(address.token, {"port": port, "token": token})


def read_token(address: Address) -> tuple[int, str] | None:
    """Windows: the port and secret of the daemon, or None when it left none. Untested there."""
    document = _read_object(address.token)
    try:
        return int(document["port"]), str(document["token"])
    except (KeyError, TypeError, ValueError):
        return None


def _short_socket(home: Path, version: str, temp: Path) -> Path:
    """Path of the daemon's socket where the usual one is longer than the system takes."""
    import hashlib  # costs milliseconds that the usual, short path need not pay

    digest = hashlib.sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:16]
    user = os.getuid() if sys.platform != "win32" else os.getlogin()
    return temp / f"aurora-{user}" / f"{digest}-{version}.sock"


def _check_private(folder: Path) -> None:
    """Permission check: a folder of ours is a folder, and closed to others (0700). Raises DaemonUnreachable."""
    if sys.platform == "win32":
        return
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise DaemonUnreachable(f"cannot look at {folder}: {error.strerror}; set another AURORA_HOME") from error
    if not stat.S_ISDIR(status.st_mode):
        raise DaemonUnreachable(f"{folder} is not a folder; remove it, or set AURORA_HOME to another folder")
    if status.st_uid != os.geteuid():
        raise DaemonUnreachable(f"{folder} belongs to user {status.st_uid}, not to you; set another AURORA_HOME")
    if status.st_mode & 0o077:
        raise DaemonUnreachable(f"{folder} is open to other users; run: chmod 700 '{folder}'")


def _check_believed(path: Path) -> None:
    """Raise DaemonUnreachable where others may write what `path` leads to. A link to a folder of one's own is fine."""
    try:
        problem = complaint(path, path.stat())
    except FileNotFoundError:
        return
    except OSError as error:
        raise DaemonUnreachable(f"cannot look at {path}: {error.strerror}; set another AURORA_HOME") from error
    if problem:
        raise DaemonUnreachable(f"{problem}, or set another AURORA_HOME")


def _check_contents(home: Path) -> None:
    """Raise DaemonUnreachable where a file or folder in `home` is another user's, or may be written by one."""
    with os.scandir(home) as entries:
        for entry in entries:
            _check_believed(Path(entry.path))


def _write_private(path: Path, document: Mapping[str, object]) -> None:
    """Atomic write (temporary file, rename) of JSON that only the user can read (0600)."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN_FILE, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file)
    unfinished.replace(path)


def _read_object(path: Path) -> dict[str, Any]:
    """JSON object in a file of ours; empty where there is none."""
    try:
        document = json.loads(read_own(path, _MAX_INFO))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
