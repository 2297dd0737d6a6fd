"""Client of the daemon that blocks (synchronous JSON-RPC over a socket): one connection, one request at a time,
standard library only.

It is what the command line talks through, so it stays cheap to import.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aurora_protocol import DaemonUnreachable, FrameError, RequestFailed
from aurora_protocol.address import Address
from aurora_protocol.connection import open_connection, peer_process
from aurora_protocol.frames import Body, Decoder, encode
from aurora_protocol.process_state import is_stopped
from aurora_protocol.version import __version__

METHOD_NOT_FOUND = -32601
REQUEST_CANCELLED = -32800

Progress = Callable[[dict[str, Any]], None]
"""Takes the value of each `$/progress`: `kind` is `begin`, `report` or `end`, with `title`, `message`, `percentage`."""

Answerer = Callable[[dict[str, Any]], Any]
"""Answers a request of the daemon: takes its params, returns the result. What it raises ends the request it came in."""

_RECEIVE = 256 * 1024
_POLITE = 1.0
_LOOK_EVERY = 2.0
"""Seconds of silence between two looks at the daemon's process: found stopped in both, it will not answer."""


class ConnectionLost(DaemonUnreachable):
    """The daemon hung up; if it was just stopping, a new one can be started."""


class Client:
    """A session with the daemon. Use as a context manager, or `close` it."""

    def __init__(self, stream: socket.socket, where: str = "the daemon") -> None:
        self._stream = stream
        self._where = where
        self._decoder = Decoder()
        self._arrived: list[Body] = []
        self._last_id = 0
        self._initialized = False
        self._usable = True
        self._answerers: dict[str, Answerer] = {}

    @classmethod
    def connect(cls, address: Address, timeout: float = 5.0) -> Client:
        """Connect to a running daemon. Raises NobodyThere when none listens, DaemonUnreachable for other reasons."""
        return cls(open_connection(address, timeout), f"the daemon at {address.socket}")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def initialize(
        self,
        root: Path | None,
        client_name: str,
        process_id: int | None,
        *,
        timeout: float | None = 30.0,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Handshake (`initialize`): open the session, and the workspace at `root` (None: no workspace). Returns the
        server's capabilities.

        `options` are `initializationOptions`: what this client can do that LSP has no capability for.
        """
        uri = root.absolute().as_uri() if root is not None else None
        params: dict[str, Any] = {
            "processId": process_id,
            "clientInfo": {"name": client_name, "version": __version__},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": root.name or str(root)}] if root is not None else None,
            "capabilities": {"window": {"workDoneProgress": True}},
        }
        if options is not None:
            params["initializationOptions"] = dict(options)
        result = self.request("initialize", params, timeout=timeout)
        self.notify("initialized", {})
        self._initialized = True
        return result if isinstance(result, dict) else {}

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_progress: Progress | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Send a request and wait for its result, at most `timeout` seconds.

        `on_progress` is given a token of its own and called with each `$/progress` value; a `partialResultToken` in
        `params` takes its place. Raises RequestFailed when the
        answer is an error, DaemonUnreachable when none comes. A time-out or Ctrl-C cancels the request at the daemon.
        """
        self._last_id += 1
        request = self._last_id
        filled = dict(params) if params is not None else None
        token: object = None
        if on_progress is not None:
            filled = filled or {}
            if "partialResultToken" not in filled:
                filled = {"workDoneToken": f"request-{request}", **filled}
            token = filled.get("partialResultToken", filled.get("workDoneToken"))
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            self._send({"jsonrpc": "2.0", "id": request, "method": method, "params": filled}, deadline)
            while True:
                message = self._receive(deadline)
                if "method" in message:
                    self._answer(message, token, on_progress, deadline)
                elif message.get("id") == request:
                    return _result(message, method)
                elif message.get("id") is None and "error" in message:
                    _result(message, method)  # the daemon could not even read a request's id: it was this one
        except TimeoutError:
            self._cancel(request)
            raise DaemonUnreachable(
                f"{self._where} did not answer {method} within {timeout:g} s; try: aurora daemon stop"
            ) from None
        except KeyboardInterrupt:
            self._cancel(request)
            raise

    def answer(self, method: str, answerer: Answerer) -> None:
        """Have the daemon's requests of that method answered while this client waits for an answer of its own."""
        self._answerers[method] = answerer

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification. Raises DaemonUnreachable when the connection is gone."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._send(message, None)

    @property
    def peer(self) -> int | None:
        """The daemon's process id, as the system tells it of the socket; None where it does not."""
        return peer_process(self._stream)

    def detach(self) -> socket.socket:
        """Give the connected socket away, for a caller that speaks for itself; this client is done then."""
        self._usable = False
        return self._stream

    def close(self) -> None:
        """Graceful end: take leave (`shutdown`, `exit`) where that is still possible, and close the socket. Never
        raises.
        """
        try:
            if self._initialized and self._usable:
                self.request("shutdown", timeout=_POLITE)
                self.notify("exit")
        except (DaemonUnreachable, RequestFailed):
            pass  # the socket is closed next, which says the same
        finally:
            self._usable = False
            self._stream.close()

    def _answer(
        self, message: dict[str, Any], token: object, on_progress: Progress | None, deadline: float | None
    ) -> None:
        """Dispatch of what the server sends by itself: progress notifications, and requests to this client."""
        method, params = message["method"], message.get("params")
        if "id" not in message:
            if method == "$/progress" and on_progress is not None and isinstance(params, dict):
                value = params.get("value")
                if params.get("token") == token and isinstance(value, dict):
                    on_progress(value)
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method in ("window/workDoneProgress/create", "client/registerCapability", "client/unregisterCapability"):
            reply["result"] = None
        elif method == "workspace/configuration":
            items = params.get("items") if isinstance(params, dict) else None
            reply["result"] = [None] * len(items) if isinstance(items, list) else []
        elif (answerer := self._answerers.get(method)) is not None:
            reply["result"] = answerer(params if isinstance(params, dict) else {})
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"this client does not answer {method}"}
        self._send(reply, deadline)

    def _send(self, message: dict[str, Any], deadline: float | None) -> None:
        """Frame written to the socket, within the deadline."""
        if message.get("params", ...) is None:
            del message["params"]
        frame = encode(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        finished = False
        try:
            self._stream.settimeout(_left(deadline))
            self._stream.sendall(frame)
            finished = True
        except TimeoutError:
            raise DaemonUnreachable(f"{self._where} takes no more requests; try: aurora daemon stop") from None
        except OSError as error:
            raise ConnectionLost(f"{self._where} closed the connection; see: aurora doctor") from error
        finally:
            self._usable = self._usable and finished  # half a frame: nothing can follow it

    def _receive(self, deadline: float | None) -> dict[str, Any]:
        """Next message from the socket, within the deadline; a stopped daemon (SIGSTOP) is told from a slow one."""
        looks = 0
        while not self._arrived:
            left = _left(deadline)
            self._stream.settimeout(_LOOK_EVERY if left is None else min(left, _LOOK_EVERY))
            try:
                data = self._stream.recv(_RECEIVE)
            except ConnectionError:
                data = b""
            except TimeoutError:
                looks = looks + 1 if is_stopped(peer_process(self._stream)) else 0
                if looks > 1:
                    self._usable = False
                    raise DaemonUnreachable(
                        f"{self._where} was stopped (SIGSTOP); end it with: aurora daemon stop"
                    ) from None
                continue
            if not data:
                self._usable = False
                raise ConnectionLost(f"{self._where} closed the connection; see: aurora doctor")
            try:
                self._arrived = self._decoder.feed(data)
            except FrameError as error:
                self._usable = False
                raise DaemonUnreachable(f"{self._where} does not speak our protocol: {error}") from error
        try:
            message = json.loads(self._arrived.pop(0))
        except ValueError as error:
            raise DaemonUnreachable(f"{self._where} sent a message that is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise DaemonUnreachable(f"{self._where} sent a message that is not a JSON object")
        return message

    def _cancel(self, request: int) -> None:
        """Cancellation of a request at the daemon."""
        if self._usable:
            with suppress(DaemonUnreachable):  # a gone daemon has nothing left to cancel
                self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request}}, _soon())


def _result(message: dict[str, Any], method: str) -> Any:
    """Result of a response; an error response (JSON-RPC error code) is raised as RequestFailed."""
    error = message.get("error")
    if error is None:
        return message.get("result")
    if not isinstance(error, dict):
        raise RequestFailed(f"{method} failed: {error}", 0)
    code, data = error.get("code"), error.get("data")
    kind = data.get("kind") if isinstance(data, dict) else None
    raise RequestFailed(
        str(error.get("message") or f"{method} failed"),
        code if isinstance(code, int) else 0,
        kind if isinstance(kind, str) else None,
    )


def _soon() -> float:
    return time.monotonic() + _POLITE


def _left(deadline: float | None) -> float | None:
    """Remaining seconds until a deadline. Raises TimeoutError when it is over."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
