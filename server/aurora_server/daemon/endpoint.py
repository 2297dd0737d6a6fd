"""Endpoint of the daemon, of which a home has a single instance (a second one is prevented): lock file, socket, info
file.

The lock decides. Whoever holds it may remove a stale socket, left by a daemon that was killed; nobody else touches it.
On Windows the socket is a loopback TCP port with a secret (untested there).
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address, Info, read_info, write_info, write_token

BACKLOG = 128


@dataclass
class Endpoint:
    """A claimed address: `listener` accepts from the start, even before anybody serves it."""

    address: Address
    listener: socket.socket
    listening_at: str
    """How people call it: the socket's path, or `127.0.0.1:port`."""
    token: str | None
    _lock: FileLock
    _identity: tuple[int, int] | None

    @classmethod
    def claim(cls, address: Address, started: float) -> Endpoint | None:
        """Single instance: take the lock, listen and publish the info file. None when another daemon holds this home.

        `started` is seconds since the epoch. Raises DaemonUnreachable when the folders or the socket cannot be made.
        """
        address.prepare()
        lock = _take_lock(address.lock)
        if lock is None:
            return None
        try:
            listener, token, identity = _listen(address)
            listening_at = os.fspath(address.socket) if token is None else f"127.0.0.1:{listener.getsockname()[1]}"
            write_info(address, Info(os.getpid(), address.version, listening_at, started))
        except OSError as error:
            lock.release()
            raise DaemonUnreachable(
                f"cannot listen at {address.socket}: {error.strerror or error}; set AURORA_HOME to another folder"
            ) from error
        return cls(address, listener, listening_at, token, lock, identity)

    def intact(self) -> bool:
        """Whether clients can still find us: the socket file is there and is the one we made."""
        target = self.address.token if self._identity is None else self.address.socket
        try:
            status = target.lstat()
        except OSError:
            return False
        return self._identity is None or (status.st_dev, status.st_ino) == self._identity

    def withdraw(self) -> None:
        """Remove what clients find us by, unless it is somebody else's by now. Keeps the lock."""
        if self.intact():
            self.address.socket.unlink(missing_ok=True)
            self.address.token.unlink(missing_ok=True)
        info = read_info(self.address)
        if info is not None and info.pid == os.getpid():
            self.address.info.unlink(missing_ok=True)

    def release(self) -> None:
        """Unlock: withdraw, stop listening, and let the next daemon have the home."""
        self.listener.close()
        with suppress(OSError):  # the home may be gone, and then so is all there was to remove
            self.withdraw()
        self._lock.release()


def _listen(address: Address) -> tuple[socket.socket, str | None, tuple[int, int] | None]:
    """A listening Unix socket, for its user only, and its identity (device, inode); on Windows loopback TCP."""
    if sys.platform == "win32":
        listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        token = secrets.token_hex(32)
        write_token(address, listener.getsockname()[1], token)
        return listener, token, None
    address.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(address.socket))
        address.socket.chmod(0o600)
        listener.listen(BACKLOG)
        status = address.socket.lstat()
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener, None, (status.st_dev, status.st_ino)


def _take_lock(path: Path) -> FileLock | None:
    """Lock file, held until it is released or this process ends; None when another process holds it."""
    lock = FileLock(path, mode=0o600, thread_local=False)  # released, at times, by the thread that ends us for certain
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    return lock
