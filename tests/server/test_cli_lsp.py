"""`aurora lsp`: bytes through, exit codes as LSP has them, and no bridge that outlives its editor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.address import Address
from aurora_protocol.frames import Decoder, encode
from tests.fake_daemon import FakeDaemon
from tests.processes import lives
from tests.programs import COMMAND, start
from tests.wait_limits import HANG


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    handlers = {"echo": lambda session, params: params}
    with FakeDaemon(Address.of(tmp_path / "h"), handlers) as running:
        yield running


@pytest.fixture
def editor(daemon: FakeDaemon, tmp_path: Path) -> Iterator[Editor]:
    opened = Editor(tmp_path, [*COMMAND, "lsp"])
    yield opened
    opened.process.kill()
    opened.process.communicate()


class Editor:
    def __init__(self, tmp_path: Path, command: list[str]) -> None:
        environ = {**os.environ, "AURORA_HOME": str(tmp_path / "h")}
        pipe = subprocess.PIPE
        self.process = start(command, cwd=tmp_path, env=environ, stdin=pipe, stdout=pipe, stderr=pipe)
        self.decoder = Decoder()

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode(json.dumps({"jsonrpc": "2.0", **message}).encode()))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, "the bridge closed its output"
            for body in self.decoder.feed(data):
                message: dict[str, Any] = json.loads(body)
                return message

    def end(self) -> tuple[int, str]:
        self.process.wait(HANG)  # with its input still open
        _, complaint = self.process.communicate(timeout=HANG)
        return self.process.returncode, complaint.decode()


def test_a_whole_session(editor: Editor) -> None:
    editor.send(id=1, method="initialize", params={})
    assert editor.receive()["result"] == {"capabilities": {}}
    large = {"text": "x" * 3_000_000}
    sender = threading.Thread(target=editor.send, kwargs={"id": 2, "method": "echo", "params": large})
    sender.start()
    assert editor.receive()["result"] == large
    sender.join()
    editor.send(id=3, method="shutdown")
    assert editor.receive()["id"] == 3
    editor.send(method="exit")
    assert editor.end() == (0, "")


def test_exit_without_shutdown_is_1(editor: Editor) -> None:
    editor.send(method="exit")
    assert editor.end() == (1, "")


def test_an_editor_that_just_goes_is_1_and_gets_what_was_on_its_way(editor: Editor) -> None:
    editor.send(id=1, method="echo", params={"word": "shutdown", "other": "exit"})
    out, complaint = editor.process.communicate(timeout=HANG)
    assert (editor.process.returncode, complaint) == (1, b"")
    assert json.loads(Decoder().feed(out)[0])["result"]["word"] == "shutdown"


def test_a_daemon_that_dies_is_3_and_one_line(editor: Editor, daemon: FakeDaemon) -> None:
    editor.send(id=1, method="echo", params={})
    editor.receive()
    daemon.stop()
    code, complaint = editor.end()
    assert code == 3
    assert complaint.count("\n") == 1
    assert "the daemon ended this session" in complaint


def test_garbage_reaches_the_daemon_as_it_is(editor: Editor, daemon: FakeDaemon) -> None:
    assert editor.process.stdin is not None
    editor.send(id=1, method="echo", params={"a": 1})
    editor.receive()
    editor.process.stdin.write(b"GET / HTTP/1.1\r\n\r\n")
    editor.process.stdin.flush()
    code, complaint = editor.end()
    assert code == 3
    assert "the daemon ended this session" in complaint


def test_the_bridge_goes_when_its_editor_is_killed(daemon: FakeDaemon, tmp_path: Path) -> None:
    """The editor's pipes stay open in a third process, so only the parent watch can notice."""
    script = (
        "import subprocess, sys, time\n"
        "bridge = subprocess.Popen([sys.executable, '-P', '-m', 'aurora_cli', 'lsp'], stdin=0)\n"
        "print(bridge.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    environ = {**os.environ, "AURORA_HOME": str(tmp_path / "h")}
    holder, held = os.pipe()
    editor = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env=environ, stdin=holder, stdout=subprocess.PIPE, text=True
    )
    assert editor.stdout is not None
    bridge = int(editor.stdout.readline())
    while not daemon.sessions:
        threading.Event().wait(0.02)
    threading.Event().wait(0.5)
    editor.kill()
    editor.wait()
    for _ in range(100):
        if not lives(bridge):
            break
        threading.Event().wait(0.05)
    else:
        os.kill(bridge, 9)
        pytest.fail("the bridge outlived its editor")
    editor.stdout.close()
    os.close(holder)
    os.close(held)
