"""Dashboards for tests: processes of their own, asked over real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.programs import COMMAND, start
from tests.wait_limits import HANG

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")


class Dashboard:
    """`aurora dashboard` for a workspace. Use as a context manager."""

    def __init__(self, home: Path, root: Path, *options: str) -> None:
        command = [*COMMAND, "--workspace", str(root), "dashboard", "--no-open"]
        self.process = start(
            [*command, *options, "--json"],
            env={**os.environ, "AURORA_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, f"it ended: {said}"
            said += line
        self.url: str = json.loads(said)["url"]
        self.port: int = json.loads(said)["port"]
        self.place = urlsplit(self.url).path.rstrip("/")
        self.cookie = ""
        self.streams: list[Stream] = []

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self.streams:
            stream.close()
        self.process.send_signal(signal.SIGINT)
        self.code = self.process.wait(HANG)
        assert self.process.stdout is not None and self.process.stderr is not None
        self.process.stdout.close()
        self.process.stderr.close()

    def get(self, path: str, **headers: str) -> tuple[http.client.HTTPResponse, str]:
        """Ask for a path below its place, with the cookie if there is one; the answer and its text."""
        return self.get_outside(f"{self.place}{path}", **headers)

    def get_outside(self, path: str, **headers: str) -> tuple[http.client.HTTPResponse, str]:
        """Ask for any path."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        connection.request("GET", path, headers={"Cookie": self.cookie, **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def errors(self) -> str:
        """What it said on standard error, once it has ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read()

    def log_in(self) -> None:
        """Open the address that was printed; the cookie is kept."""
        parts = urlsplit(self.url)
        answer, _ = self.get(f"/?{parts.query}")
        assert answer.status == 303 and answer.getheader("Location") == f"{self.place}/"
        self.cookie = str(answer.getheader("Set-Cookie")).split(";")[0]

    def stream(self, path: str = "/events") -> Stream:
        """The live stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        connection.request("GET", f"{self.place}{path}", headers={"Cookie": self.cookie})
        self.streams.append(Stream(connection))
        return self.streams[-1]


class Stream:
    """Server-sent events, one after another."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._answer = connection.getresponse()
        assert self._answer.getheader("Content-Type", "").startswith("text/event-stream")

    def next(self) -> dict[str, Any]:
        """The sections of the next event."""
        while True:
            line = self._answer.readline().decode()
            assert line, "the stream ended"
            if line.startswith("data: "):
                told = json.loads(line.removeprefix("data: "))
                assert isinstance(told, dict)
                return told

    def close(self) -> None:
        self._answer.close()
        self._connection.close()
