"""A daemon made for a test: a real Unix socket, real frames, and whatever answers the test wants."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from aurora_protocol import FrameError
from aurora_protocol.address import Address, Info, write_info
from aurora_protocol.frames import Decoder, encode
from tests.wait_limits import HANG

Handler = Callable[["Session", dict[str, Any]], Any]
"""Takes the session and the request's params; what it returns is the result, an Exception becomes an error."""


class Refusal(Exception):
    """Raise it in a handler to answer with this JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One accepted connection, with what came in over it."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self.received: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.stream.sendall(encode(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def progress(self, params: dict[str, Any], **value: Any) -> None:
        self.send({"method": "$/progress", "params": {"token": params["workDoneToken"], "value": value}})


class FakeDaemon:
    """Listens at an address and answers each request by the handler of its method."""

    def __init__(self, address: Address, handlers: dict[str, Handler] | None = None) -> None:
        self.address = address
        self.handlers: dict[str, Handler] = {
            "initialize": lambda session, params: {"capabilities": {}},
            "shutdown": lambda session, params: None,
            **(handlers or {}),
        }
        self.sessions: list[Session] = []
        self._threads: list[threading.Thread] = []
        address.prepare()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.fspath(address.socket))
        write_info(address, Info(os.getpid(), address.version, os.fspath(address.socket), time.time()))
        self._listener.listen(16)
        self._start(self._accept)

    def __enter__(self) -> FakeDaemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def received(self) -> list[dict[str, Any]]:
        """Every message of every session, in order of arrival within each."""
        return [message for session in self.sessions for message in session.received]

    def params(self, method: str) -> dict[str, Any]:
        """The params of the last message with this method."""
        return next(m.get("params", {}) for m in reversed(self.received) if m.get("method") == method)

    def wait_for(self, method: str, seconds: float = HANG) -> dict[str, Any]:
        """The first message with this method, once it has arrived."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for message in self.received:
                if message.get("method") == method:
                    return message
            time.sleep(0.01)
        raise AssertionError(f"{method} did not arrive within {seconds} s")

    def stop(self) -> None:
        """Stop listening, drop every connection and wait for the threads."""
        if self._listener.fileno() >= 0:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self.address.socket.unlink(missing_ok=True)
        for session in self.sessions:
            try:
                session.stream.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the client had hung up already
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(5)

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            session = Session(stream)
            self.sessions.append(session)
            self._start(self._serve, session)

    def _serve(self, session: Session) -> None:
        decoder = Decoder()
        with session.stream:
            while True:
                try:
                    data = session.stream.recv(65536)
                    if not data:
                        return
                    for body in decoder.feed(data):
                        message = json.loads(body)
                        session.received.append(message)
                        if message.get("method") == "exit":
                            return
                        if "method" in message and "id" in message:
                            with suppress(BrokenPipeError):  # who has hung up may have said something before
                                self._reply(session, message)
                except (OSError, FrameError):
                    return

    def _reply(self, session: Session, message: dict[str, Any]) -> None:
        handler = self.handlers.get(message["method"])
        try:
            if handler is None:
                raise Refusal(-32601, f"no handler for {message['method']}")
            result = handler(session, message.get("params") or {})
        except Refusal as refusal:
            session.send({"id": message["id"], "error": {"code": refusal.code, "message": str(refusal)}})
        else:
            session.send({"id": message["id"], "result": result})
