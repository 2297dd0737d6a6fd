"""`aurora lsp --standalone`: one session over pipes or redirected files, with no daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.frames import Decoder, encode
from tests import programs
from tests.programs import Started
from tests.wait_limits import HANG

COMMAND = (*programs.COMMAND, "lsp", "--standalone")


def frame(method: str, params: object = None, identity: int | None = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return encode(json.dumps(message if identity is None else {**message, "id": identity}).encode())


def start(home: Path, **streams: Any) -> Started:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return programs.start(COMMAND, env={**os.environ, "AURORA_HOME": str(home)}, **pipes)


def messages(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(body) for body in Decoder().feed(output)]


@pytest.fixture
def conversation(tmp_path: Path) -> bytes:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text("def lighthouse():\n    return 1\n")
    folders = [{"uri": root.as_uri(), "name": "work"}]
    return b"".join(
        [
            frame("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders}, 1),
            frame("initialized", {}),
            frame("aurora/index", {}, 2),
        ]
    )


def test_a_session_over_pipes(tmp_path: Path, conversation: bytes) -> None:
    """The one here that starts from nothing: what it imports, it imports in its own order."""
    environment, pipe = {**os.environ, "AURORA_HOME": str(tmp_path / "home")}, subprocess.PIPE
    process = subprocess.Popen(COMMAND, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(conversation)
    process.stdin.flush()
    decoder, answers = Decoder(), {}
    while 2 not in answers:
        for body in decoder.feed(os.read(process.stdout.fileno(), 65536)):
            answers.update({json.loads(body).get("id"): json.loads(body)})
    assert answers[2]["result"]["files"] == 1
    rest, complaints = process.communicate(
        frame("aurora/recall", {"query": "lighthouse"}, 3) + frame("shutdown", None, 4) + frame("exit"), timeout=HANG
    )
    assert process.returncode == 0
    found = {message["id"]: message for message in messages(rest)}
    assert found[4]["result"] is None
    assert complaints == b""
    assert not list((tmp_path / "home" / "run").glob("*.sock"))


def test_a_redirected_file_is_read_to_its_end(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(frame("initialize", {"capabilities": {}}, 1) + frame("aurora/status", None, 2))
    with script.open("rb") as stdin:
        process = start(tmp_path / "home", stdin=stdin)
        output, complaints = process.communicate(timeout=HANG)
    assert [message["id"] for message in messages(output)] == [1, 2]
    assert (process.returncode, complaints) == (0, b"")


def test_no_input_at_all_is_a_short_session(tmp_path: Path) -> None:
    process = start(tmp_path / "home", stdin=subprocess.DEVNULL)
    assert process.communicate(timeout=HANG) == (b"", b"")
    assert process.returncode == 0


def test_it_ends_on_sigterm_and_leaves_no_worker(tmp_path: Path, conversation: bytes) -> None:
    process = start(tmp_path / "home")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(conversation)
    process.stdin.flush()
    os.read(process.stdout.fileno(), 65536)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=HANG)
    assert process.returncode == 0
