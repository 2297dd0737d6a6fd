"""Hubs that are none, or not always: servers that answer garbage, and a line to a real one that can be cut."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

READY = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I"
"""What PostgreSQL says when it has let somebody in."""


def silent(line: socket.socket) -> None:
    """Say nothing until the other side goes."""
    while line.recv(4096):
        pass


def random_bytes(line: socket.socket) -> None:
    """Send what makes no sense at all."""
    line.recv(100)
    line.sendall(random.Random(22).randbytes(100_000))


def web(line: socket.socket) -> None:
    """Answer as a web server does."""
    line.recv(100)
    line.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def hung_up(line: socket.socket) -> None:
    """Let somebody in, and close at the first question."""
    _let_in(line)
    line.recv(4096)


def out_of_step(line: socket.socket) -> None:
    """Let somebody in, and answer the first question with what is no message."""
    _let_in(line)
    line.recv(4096)
    line.sendall(b"\xffX\x7f\xff\xff\xff" + b"\0" * 1000)
    silent(line)


def other_rows(line: socket.socket) -> None:
    """Let somebody in, and answer every question with one row that says `banana`."""
    field = b"x\0" + b"\0" * 6 + b"\0\0\0\x19" + b"\xff" * 6 + b"\0\0"
    _let_in(line)
    while line.recv(65536):
        row = _message(b"T", b"\0\x01" + field) + _message(b"D", b"\0\x01\0\0\0\x06banana")
        line.sendall(b"1\0\0\0\x042\0\0\0\x04" + row + _message(b"C", b"SELECT 1\0") + b"Z\0\0\0\x05I")


def asking_for_a_password(line: socket.socket) -> None:
    """Let nobody in without a password (SCRAM)."""
    _ask(line, b"\0\0\0\x0aSCRAM-SHA-256\0\0")
    silent(line)


def asking_in_clear(line: socket.socket) -> bytes:
    """Ask for the password in clear; what came, which is nothing where the line was broken off."""
    _ask(line, b"\0\0\0\x03")
    with suppress(ConnectionResetError):
        return line.recv(4096)
    return b""


FAULTS = (random_bytes, web, hung_up, out_of_step, other_rows)


def told_as(answer: Callable[[socket.socket], None] | None) -> str:
    """What is said of a hub that answers so: it was not reached, it fails, or it answers what no hub does."""
    return {hung_up: "fails", out_of_step: "fails", other_rows: "no hub"}.get(answer, "not reached")


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def _ask(line: socket.socket, how: bytes) -> None:
    if len(line.recv(4096)) == 8:  # whether TLS is spoken
        line.sendall(b"N")
        line.recv(4096)
    line.sendall(_message(b"R", how))


def _let_in(line: socket.socket) -> None:
    if len(line.recv(4096)) == 8:  # whether TLS is spoken
        line.sendall(b"N")
        line.recv(4096)
    line.sendall(READY)


@contextmanager
def served(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server on this machine that answers so; its port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=_accept, args=(listener, answer), daemon=True).start()
        yield listener.getsockname()[1]


def _accept(listener: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):
        while True:
            threading.Thread(target=_answer, args=(listener.accept()[0], answer), daemon=True).start()


def _answer(line: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    with closing(line), suppress(OSError):
        answer(line)


class CutLine:
    """Line to a server on this machine that is cut after `most` bytes each way; None: never. `lines` counts them, and
    `sent` is all that went to the server.
    """

    def __init__(self, port: int) -> None:
        self.most: int | None = None
        self.lines = 0
        self.sent = bytearray()
        self._port = port

    def pass_on(self, line: socket.socket) -> None:
        """Pass on what is said, both ways, until too much was."""
        self.lines += 1
        with closing(socket.create_connection(("127.0.0.1", self._port))) as server:
            back = threading.Thread(target=self._copy, args=(server, line, bytearray()), daemon=True)
            back.start()
            self._copy(line, server, self.sent)
            back.join()

    def _copy(self, source: socket.socket, target: socket.socket, seen: bytearray) -> None:
        left = self.most
        with suppress(OSError):
            while data := source.recv(65536):
                seen += data
                target.sendall(data if left is None else data[:left])
                left = None if left is None else left - len(data)
                if left is not None and left <= 0:
                    break
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
