"""Real daemons for tests: processes of their own, in homes of their own, and raw connections to them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aurora_protocol.address import Address
from aurora_protocol.client import Client
from aurora_protocol.connection import NobodyThere, open_connection
from aurora_protocol.frames import Decoder, encode
from tests.programs import Started, start
from tests.wait_limits import HANG

COMMAND = (sys.executable, "-P", "-m", "aurora_cli", "daemon", "run", "--detached")

ONE_WORKER = {"AURORA_INDEXING_WORKERS": "1"}
"""Workspaces of tests have a few files: a second worker would take longer to start than the first takes for them."""


def until(condition: Callable[[], bool], what: str = "", seconds: float = HANG) -> None:
    """Wait for `condition`; fail when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what or condition}"
        time.sleep(0.02)


def launch(home: Path, **variables: str) -> Started:
    """Start a daemon process for `home`, which may not become one."""
    environment = {**os.environ, "AURORA_HOME": str(home), **variables}
    return start(COMMAND, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Daemon:
    """A daemon process, up and listening. Use as a context manager."""

    def __init__(self, home: Path, command: tuple[str, ...] = COMMAND, **variables: str) -> None:
        self.address = Address.of(home)
        environment = {**ONE_WORKER, **os.environ, "AURORA_HOME": str(home), **variables}
        begin = start if command == COMMAND else subprocess.Popen
        self.process: Started = begin(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        until(self.listens, what="the daemon listens")

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(HANG)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait(HANG)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def listens(self) -> bool:
        """Whether it accepts connections."""
        assert self.process.poll() is None, f"the daemon ended with {self.process.returncode}"
        try:
            open_connection(self.address, 1.0).close()
        except NobodyThere:
            return False
        return True

    def client(self, root: Path | None = None) -> Client:
        """An initialized command line session."""
        client = Client.connect(self.address)
        client.initialize(root, "test", None)
        return client

    def wire(self) -> Wire:
        """A bare connection."""
        return Wire(open_connection(self.address, 5.0))

    def log(self) -> list[dict[str, Any]]:
        """What it has logged."""
        lines = self.address.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


class Wire:
    """A connection on which anything can be said. Server requests are answered with null."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self.stream.settimeout(HANG)
        self.received: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._decoder = Decoder()
        self._last_id = 0

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def send(self, message: object) -> None:
        """Send one message."""
        self.stream.sendall(encode(json.dumps(message).encode()))

    def post(self, method: str, params: object = None) -> int:
        """Send a request without waiting; returns its id."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, identity: object, seconds: float = HANG) -> dict[str, Any]:
        """Wait for the response to request `identity`."""
        return self.wait(lambda message: message.get("id") == identity and "method" not in message, seconds)

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """Send a request and return its whole response."""
        return self.answer(self.post(method, params))

    def result(self, method: str, params: object = None) -> Any:
        """Send a request and return its result."""
        response = self.ask(method, params)
        assert "error" not in response, response
        return response["result"]

    def notification(self, method: str, seconds: float = HANG) -> dict[str, Any]:
        """Wait for the next notification of that name; returns its params."""
        params = self.wait(lambda message: message.get("method") == method, seconds)["params"]
        assert isinstance(params, dict)
        return params

    def wait(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = HANG) -> dict[str, Any]:
        """Wait for a message; what else arrives is kept for later waits."""
        deadline = time.monotonic() + seconds
        while True:
            for message in self.received:
                if wanted(message):
                    self.received.remove(message)
                    return message
            self.stream.settimeout(max(0.01, deadline - time.monotonic()))
            data = self.stream.recv(65536)
            assert data, f"the server hung up; unread: {self.received}"
            self._take(data)

    def ends(self, seconds: float = HANG) -> bool:
        """Whether the server hangs up; what it still says is kept in `received`."""
        self.stream.settimeout(seconds)
        try:
            while data := self.stream.recv(65536):
                self._take(data)
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        return True

    def initialize(self, root: Path | None = None, **params: object) -> dict[str, Any]:
        """Open the session."""
        folders = [{"uri": root.as_uri(), "name": root.name}] if root is not None else None
        given = {"processId": None, "rootUri": None, "workspaceFolders": folders, "capabilities": {}, **params}
        result = self.result("initialize", given)
        self.notify("initialized", {})
        assert isinstance(result, dict)
        return result

    def _take(self, data: bytes) -> None:
        for body in self._decoder.feed(data):
            message = json.loads(body)
            if "id" in message and "method" in message:
                self.asked.append(message)
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            else:
                self.received.append(message)
