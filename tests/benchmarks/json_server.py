"""Another editor's JSON language server (`vscode-json-language-server`, of the npm package
vscode-langservers-extracted), which manifests' answers are compared with where it is installed.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

PROGRAM = "vscode-json-language-server"


class JsonServer:
    """A session with it, for manifests. Use as a context manager."""

    def __init__(self, program: str, schema: Path) -> None:
        self._process = subprocess.Popen([program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        pulls = {"textDocument": {"diagnostic": {}}}
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": pulls})
        self.notify("initialized", {})
        known = {"fileMatch": ["**/aura.json"], "schema": json.loads(schema.read_text()), "url": "bench://manifest"}
        settings = {"json": {"validate": {"enable": True}, "schemas": [known]}}
        self.notify("workspace/didChangeConfiguration", {"settings": settings})

    def __enter__(self) -> JsonServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def notify(self, method: str, params: Any) -> None:
        """Say something that has no answer."""
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any, timeout: float = 60) -> Any:
        """Ask, and wait for the answer."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while (answer := self._answers.get(timeout=timeout))["id"] != self._number:
            pass
        return answer.get("result")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            size = 0
            while line.strip():
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
                line = self._process.stdout.readline()
            message = json.loads(self._process.stdout.read(size))
            if "method" in message and "id" in message:  # it asks for settings, and to be told of files
                self._send({"id": message["id"], "result": None})
            elif "id" in message:
                self._answers.put(message)


def found() -> str | None:
    """The program, where it is installed."""
    return shutil.which(PROGRAM)
