"""`aurora lsp`: what editors start: a bridge (stdio proxy), a pump of bytes between an editor's pipe and the daemon's
socket.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import click

from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions
from aurora_cli.session import reach_daemon
from aurora_protocol import DaemonUnreachable, FrameError
from aurora_protocol.frames import Body, Decoder

FINE, NOT_SHUT_DOWN = 0, 1
_PIECE = 256 * 1024
_FAREWELL = 512
_DRAIN = 5.0


@click.command()
@click.option("--standalone", is_flag=True, help="Serve in this process, without a daemon.")
@click.option("--stdio", is_flag=True, hidden=True, help="What some editors add; it is the only way there is.")
@click.pass_obj
def lsp(settings: GlobalOptions, standalone: bool, stdio: bool) -> int:
    """Speak LSP on standard input and output."""
    stay()
    if standalone:
        from aurora_server.daemon.standalone import run_stdio  # pygls and all the rooms: half a second

        return run_stdio({**os.environ, **settings.variables})

    with reach_daemon(settings).detach() as stream:
        return bridge(stream, sys.stdin.fileno(), sys.stdout.fileno())


class Farewell:
    """Watch over the editor's words for `shutdown` and `exit`, which decide the bridge's exit code (LSP 3.17)."""

    def __init__(self) -> None:
        self._decoder: Decoder | None = Decoder()
        self.shutdown = False
        self.exit = False

    def watch(self, data: bytes) -> None:
        """Take in bytes on their way to the daemon. Malformed ones are for the daemon to refuse."""
        if self._decoder is None:
            return
        try:
            bodies = self._decoder.feed(data)
        except FrameError:
            self._decoder = None
            return
        for body in bodies:
            if len(body) <= _FAREWELL and (b"shutdown" in body or b"exit" in body):
                self._note(body)

    def _note(self, body: Body) -> None:
        """Message of the editor parsed: whether it is `shutdown` or `exit`."""
        try:
            message = json.loads(body)
        except ValueError:
            return
        method = message.get("method") if isinstance(message, dict) else None
        self.shutdown = self.shutdown or method == "shutdown"
        self.exit = self.exit or method == "exit"


def bridge(stream: socket.socket, source: int, sink: int, *, parent: Callable[[], int] = os.getppid) -> int:
    """Pump between the daemon's `stream` and the file descriptors `source` and `sink` until either side is done.

    Returns 0 after `shutdown` and `exit`, 1 when the editor went without (end of input, a broken pipe, or its process
    gone: `parent` tells another id). Raises DaemonUnreachable when the daemon hangs up first.
    """
    stream.settimeout(None)
    farewell = Farewell()
    editor_done, daemon_done, wake = threading.Event(), threading.Event(), threading.Event()

    def from_editor() -> None:
        while not farewell.exit and (data := _read(source)):
            farewell.watch(data)
            try:
                stream.sendall(data)
            except OSError:
                daemon_done.set()
                break
        else:
            editor_done.set()
            with suppress(OSError):  # the daemon may have closed its end already
                stream.shutdown(socket.SHUT_WR)
        wake.set()

    def from_daemon() -> None:
        while data := _receive(stream):
            try:
                _write_all(sink, data)
            except OSError:
                editor_done.set()
                break
        daemon_done.set()
        wake.set()

    born_of = parent()
    for pump in (from_editor, from_daemon):
        threading.Thread(target=pump, name=pump.__name__, daemon=True).start()
    while not wake.wait(1.0):
        if parent() != born_of:
            return NOT_SHUT_DOWN
    if not farewell.exit and not editor_done.is_set():
        raise DaemonUnreachable("the daemon ended this session; restart it from the editor, see: aurora doctor")
    daemon_done.wait(_DRAIN)
    return FINE if farewell.exit and farewell.shutdown else NOT_SHUT_DOWN


def _read(source: int) -> bytes:
    """Bytes of a pipe; empty at its end (EOF), also of a terminal that was closed."""
    try:
        return os.read(source, _PIECE)
    except OSError:  # a terminal that was closed
        return b""


def _receive(stream: socket.socket) -> bytes:
    """Bytes of the socket; empty at its end, also after a connection reset."""
    try:
        return stream.recv(_PIECE)
    except OSError:  # reset by a daemon that was killed, or closed by ourselves
        return b""


def _write_all(sink: int, data: bytes) -> None:
    """Write loop, until all bytes are written (partial writes)."""
    left = memoryview(data)
    while left:
        left = left[os.write(sink, left) :]
