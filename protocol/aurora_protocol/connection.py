"""Connected socket (connection) to the daemon of an address, after making sure whose daemon it is: the one way in."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address, read_token

_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2  # macOS, <sys/un.h>; Python names none of them


class NobodyThere(DaemonUnreachable):
    """Nothing listens at the address; starting a daemon would mend it."""


def open_connection(address: Address, timeout: float) -> socket.socket:
    """Connect to the daemon at `address` within `timeout` seconds.

    Raises NobodyThere when nothing listens, DaemonUnreachable when what listens is not ours or does not accept.
    """
    address.check()
    if sys.platform == "win32":
        return _open_loopback(address, timeout)
    return open_socket(os.fspath(address.socket), timeout)


def open_socket(path: str, timeout: float) -> socket.socket:
    """Connect to the Unix socket at `path`, if its listener runs as this user. Raises as `open_connection` does."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.settimeout(timeout)
        try:
            _connect(stream, path, time.monotonic() + timeout)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NobodyThere(f"no daemon listens at {path}") from error
        except OSError as error:  # a time-out too
            reason = error.strerror or str(error)
            raise DaemonUnreachable(f"cannot connect to {path}: {reason}; see: aurora doctor") from error
        user = peer_user(stream)
        if user is not None and user != os.geteuid():
            raise DaemonUnreachable(f"user {user} listens at {path}, not you; set AURORA_HOME to another folder")
    except BaseException:
        stream.close()
        raise
    return stream


def _connect(stream: socket.socket, path: str, deadline: float) -> None:
    """Connection with retries while the listener's backlog is full."""
    while True:
        try:
            stream.connect(path)
        except BlockingIOError:  # Linux, when the listener's queue is full
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
        else:
            return


def peer_user(stream: socket.socket) -> int | None:
    """Peer credentials: the user id of the process at the other end of a Unix socket; None where the system does not
    tell.
    """
    try:
        if sys.platform == "linux":
            return int(struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
        if sys.platform == "darwin":
            return int(struct.unpack_from("2I", stream.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76))[1])
    except OSError:
        return None
    return None


def peer_process(stream: socket.socket) -> int | None:
    """The process id at the other end of a Unix socket; None where the system does not tell."""
    try:
        if sys.platform == "linux":
            return int(struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
        if sys.platform == "darwin":
            return int(struct.unpack("i", stream.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))[0])
    except OSError:
        return None
    return None


def _open_loopback(address: Address, timeout: float) -> socket.socket:
    """Windows: connect to the published port and say the secret. Untested there."""
    published = read_token(address)
    if published is None:
        raise NobodyThere(f"no daemon has published a port in {address.token}")
    port, token = published
    try:
        stream = socket.create_connection(("127.0.0.1", port), timeout)
    except ConnectionRefusedError as error:
        raise NobodyThere(f"no daemon listens at 127.0.0.1:{port}") from error
    except OSError as error:
        raise DaemonUnreachable(f"cannot connect to 127.0.0.1:{port}: {error}; see: aurora doctor") from error
    stream.sendall(token.encode("ascii") + b"\n")
    return stream
