"""What one client may do wrong, and that it only hurts itself. One real daemon, raw sockets."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_protocol.frames import MAX_FRAME
from tests.server.daemons import Daemon, Wire
from tests.wait_limits import HANG

NOT_INITIALIZED, INVALID_REQUEST, NO_METHOD, BAD_PARAMS, PARSE_ERROR = -32002, -32600, -32601, -32602, -32700
FAILED, CANCELLED = -32803, -32800


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture
def bystander(daemon: Daemon) -> Iterator[Wire]:
    """Another session, which must not notice anything."""
    with daemon.wire() as wire:
        wire.initialize()
        yield wire
        assert wire.result("aurora/status")["pid"] == daemon.process.pid


@pytest.fixture
def wire(daemon: Daemon, bystander: Wire) -> Iterator[Wire]:
    with daemon.wire() as wire:
        yield wire


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01" * 2000,
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n',
        b"X" * 100_000,
        b"Content-Length: %d\r\n\r\n" % (MAX_FRAME + 1),
        b"Content-Length: 99999999999999999999\r\n\r\n",
    ],
)
def test_what_is_no_frame_ends_the_session_with_an_error(wire: Wire, garbage: bytes) -> None:
    wire.stream.sendall(garbage)
    assert wire.ends()
    assert [message["error"]["code"] for message in wire.received] == [INVALID_REQUEST]
    assert wire.received[0]["id"] is None


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"\xff\xfe", b'{"jsonrpc": NaN}', b"[" * 100_000, b'{"x": "\\ud83d', b'"' + b"\xed\xa0\x80" + b'"'],
)
def test_what_is_no_json_ends_the_session_with_a_parse_error(wire: Wire, body: bytes) -> None:
    wire.initialize()
    wire.stream.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert wire.ends()
    assert [message["error"]["code"] for message in wire.received] == [PARSE_ERROR]


def test_a_message_of_very_many_values_is_refused_unread_and_the_session_goes_on(wire: Wire) -> None:
    """45 MB of empty lists took ten seconds to decode, in which no session was answered."""
    wire.initialize()
    filler = b",".join([b"[]"] * 1_000_000)
    body = b'{"jsonrpc":"2.0","id":77,"method":"aurora/recall","params":{"query":"x","context":[' + filler + b"]}}"
    wire.stream.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    answer = wire.answer(77)
    assert answer["error"]["code"] == FAILED and "send it in parts" in answer["error"]["message"]
    assert wire.result("aurora/status")["pid"] > 0


def test_a_long_text_is_not_taken_for_many_values(wire: Wire, tmp_path: Path) -> None:
    wire.initialize()
    text = 'a,[{"b\\' * 500_000
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": (tmp_path / "t.csv").as_uri(), "languageId": "csv", "version": 1, "text": text}},
    )
    assert wire.result("aurora/status")["pid"] > 0


@pytest.mark.parametrize(
    "part", [b"Content-Le", b"Content-Length: 100\r\n\r\n", b'Content-Length: 100\r\n\r\n{"jsonrpc"']
)
def test_hanging_up_within_a_frame_is_no_trouble(wire: Wire, part: bytes) -> None:
    wire.initialize()
    wire.stream.sendall(part)
    wire.stream.close()


def test_a_frame_may_arrive_byte_by_byte(wire: Wire) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
    for byte in b"content-length:%d\r\nContent-Type: x\r\n\r\n%b" % (len(body), body):
        wire.stream.sendall(bytes([byte]))
    assert "capabilities" in wire.answer(1)["result"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "aurora/status"}], INVALID_REQUEST),
        ([], INVALID_REQUEST),
        (7, INVALID_REQUEST),
        (None, INVALID_REQUEST),
        ({}, INVALID_REQUEST),
        ({"jsonrpc": "2.0"}, INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 1, "method": "aurora/status"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "aurora/status"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": True, "method": "aurora/status"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": None, "method": "aurora/status"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": {}, "method": "aurora/status"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_refused_and_the_session_goes_on(wire: Wire, message: object, code: int) -> None:
    wire.initialize()
    wire.send(message)
    assert wire.answer(None)["error"]["code"] == code
    assert wire.result("aurora/status")["connections"] >= 1


def test_requests_have_their_time(wire: Wire) -> None:
    assert wire.ask("aurora/status")["error"]["code"] == NOT_INITIALIZED
    assert wire.ask("no/such")["error"]["code"] == NOT_INITIALIZED
    wire.notify("textDocument/didOpen", {"nonsense": 1})
    assert wire.ask("initialize", {"capabilities": 3})["error"]["code"] == BAD_PARAMS
    wire.initialize()
    assert wire.ask("initialize", {"capabilities": {}})["error"]["code"] == INVALID_REQUEST
    assert wire.ask("no/such")["error"]["code"] == NO_METHOD
    assert wire.result("shutdown") is None
    assert wire.ask("aurora/status")["error"]["code"] == INVALID_REQUEST
    wire.notify("exit")
    assert wire.ends()


def test_exit_without_shutdown_ends_this_session_only(wire: Wire) -> None:
    wire.initialize()
    wire.notify("exit")
    assert wire.ends()


def test_exit_before_initialize_ends_the_session(wire: Wire) -> None:
    wire.notify("exit")
    assert wire.ends()


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("aurora/recall", {"query": 3}, "$.query"),
        ("aurora/recall", {}, "query"),
        ("aurora/recall", [1], "object"),
        ("aurora/recall", "text", "object"),
        ("aurora/recall", {"query": "  "}, "query"),
        ("aurora/recall", {"query": "x", "limit": 0}, "limit"),
        ("aurora/recall", {"query": "x", "limit": 2.5}, "$.limit"),
        ("aurora/recall", {"query": "x", "types": ["code", "dream"]}, "types"),
        ("aurora/recall", {"query": "x", "context": {"uri": 5}}, "$.context.uri"),
        ("aurora/recall", {"query": "x" * 100_000}, "query"),
        ("aurora/index", {"paths": "src"}, "$.paths"),
        ("aurora/explain", {}, "id"),
        ("aurora/explain", {"uri": "file:///x", "position": {"line": "a"}}, "$.position.line"),
        ("textDocument/hover", {"textDocument": {"uri": "file:///x"}}, "position"),
        ("textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": "a"}}, "position"),
        ("textDocument/hover", {"textDocument": 3, "position": {"line": 0, "character": 0}}, "textDocument"),
        ("textDocument/hover", None, "params"),
        ("workspace/executeCommand", {"command": "aurora.recall", "arguments": [1, 2]}, "one object"),
        ("workspace/executeCommand", {"command": "aurora.recall", "arguments": [{"query": 3}]}, "$.query"),
        ("workspace/executeCommand", {"command": "aurora.nothing"}, "aurora.nothing"),
    ],
)
def test_wrong_params_are_named_and_the_session_goes_on(wire: Wire, method: str, params: object, field: str) -> None:
    wire.initialize()
    error = wire.ask(method, params)["error"]
    assert error["code"] == BAD_PARAMS
    assert field in error["message"]
    assert "\n" not in error["message"]
    wire.result("aurora/status")


def test_no_workspace_is_said_in_one_line(wire: Wire) -> None:
    wire.initialize()
    error = wire.ask("aurora/recall", {"query": "anything"})["error"]
    assert (error["code"], error["data"]) == (FAILED, {"kind": "WorkspaceError"})
    assert "no workspace" in error["message"]


@pytest.mark.parametrize(
    ("root", "reason"),
    [(Path("/"), "too much"), (Path.home(), "home folder"), (Path("/no/such/folder"), "No such file")],
)
def test_folders_that_cannot_be_workspaces_are_refused_with_the_reason(wire: Wire, root: Path, reason: str) -> None:
    wire.initialize(root)
    error = wire.ask("aurora/recall", {"query": "anything"})["error"]
    assert error["code"] == FAILED
    assert reason in error["message"]


def test_half_a_surrogate_pair_from_an_editor_is_taken(wire: Wire, tmp_path: Path) -> None:
    wire.initialize()
    uri = (tmp_path / "aura.json").as_uri()
    document = {"uri": uri, "languageId": "json", "version": 1, "text": '{"a": "\ud83d", "b": x}'}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    found = wire.notification("textDocument/publishDiagnostics")["diagnostics"]
    (broken,) = [each for each in found if each["code"] == "json-syntax"]
    assert broken["range"]["start"] == {"line": 0, "character": 16}


def test_a_client_that_never_reads_is_not_read_either_and_nobody_waits_for_it(daemon: Daemon, wire: Wire) -> None:
    """It asks for 400 MB of answers and takes none."""
    wire.initialize()
    filler = "x" * 1000
    request = json.dumps({"jsonrpc": "2.0", "id": filler, "method": "no/such" + filler}).encode()
    frame = b"Content-Length: %d\r\n\r\n%b" % (len(request), request)
    wire.stream.settimeout(HANG)
    sent: list[int] = []
    flood = threading.Thread(target=_flood, args=(wire, frame * 1000, sent), daemon=True)
    flood.start()
    held = count = 0
    with daemon.wire() as other:
        other.initialize()
        while held < 40:
            rss = other.result("aurora/status")["rss_bytes"]
            held, count = (held + 1, count) if len(sent) == count else (0, len(sent))
            assert count < FLOOD, "all of it was taken"
    assert rss < 400 * 1024 * 1024
    wire.stream.shutdown(socket.SHUT_RDWR)
    flood.join(HANG)
    assert not flood.is_alive()


FLOOD = 200


def _flood(wire: Wire, data: bytes, sent: list[int]) -> None:
    try:
        for number in range(FLOOD):
            wire.stream.sendall(data)
            sent.append(number)
    except OSError:
        pass  # cut off, or closed by the test: either is fine


def test_the_session_ends_with_the_editor_that_opened_it(daemon: Daemon) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with daemon.wire() as wire:
        wire.initialize(processId=editor.pid)
        wire.result("aurora/status")
        editor.kill()
        editor.wait(HANG)
        assert wire.ends(HANG)
