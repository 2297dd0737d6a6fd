"""The blocking client, against a real socket that speaks real frames."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.address import Address
from aurora_protocol.client import METHOD_NOT_FOUND, Client
from aurora_protocol.connection import NobodyThere
from tests.fake_daemon import FakeDaemon, Refusal, Session
from tests.wait_limits import HANG


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(Address.of(tmp_path / "h")) as running:
        yield running


@pytest.fixture
def client(daemon: FakeDaemon) -> Iterator[Client]:
    with Client.connect(daemon.address, 30) as connected:
        yield connected


def test_nobody_there(tmp_path: Path) -> None:
    address = Address.of(tmp_path / "h")
    with pytest.raises(NobodyThere):
        Client.connect(address)
    with FakeDaemon(address):
        pass
    with pytest.raises(NobodyThere):
        Client.connect(address)


def test_a_session_from_initialize_to_exit(daemon: FakeDaemon, tmp_path: Path) -> None:
    daemon.handlers["aurora/echo"] = lambda session, params: params
    with Client.connect(daemon.address) as client:
        assert client.initialize(tmp_path, "aur", 77) == {"capabilities": {}}
        assert client.request("aurora/echo", {"word": "größe \ud800"}) == {"word": "größe ?"}
    daemon.wait_for("exit")
    opened = daemon.params("initialize")
    assert opened["rootUri"] == tmp_path.as_uri()
    assert opened["workspaceFolders"] == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    assert opened["processId"] == 77
    assert [m["method"] for m in daemon.received] == ["initialize", "initialized", "aurora/echo", "shutdown", "exit"]


def test_a_session_without_a_workspace(daemon: FakeDaemon, client: Client) -> None:
    client.initialize(None, "aur", None)
    assert daemon.params("initialize")["workspaceFolders"] is None


def test_an_error_answer_carries_its_code(daemon: FakeDaemon, client: Client) -> None:
    def refuse(session: Session, params: dict[str, Any]) -> None:
        raise Refusal(-32602, "query is empty")

    daemon.handlers["aurora/recall"] = refuse
    with pytest.raises(RequestFailed, match="query is empty") as caught:
        client.request("aurora/recall", {"query": ""})
    assert caught.value.code == -32602
    with pytest.raises(RequestFailed) as caught:
        client.request("aurora/unheard")
    assert caught.value.code == METHOD_NOT_FOUND


def test_progress_of_this_request_only(daemon: FakeDaemon, client: Client) -> None:
    def index(session: Session, params: dict[str, Any]) -> dict[str, Any]:
        session.progress(params, kind="begin", title="Indexing")
        session.send({"method": "$/progress", "params": {"token": "other", "value": {"kind": "report"}}})
        session.send({"method": "window/logMessage", "params": {"type": 3, "message": "hi"}})
        session.progress(params, kind="report", percentage=50)
        session.progress(params, kind="end")
        return {"files": 3}

    daemon.handlers["aurora/index"] = index
    seen: list[dict[str, Any]] = []
    assert client.request("aurora/index", on_progress=seen.append) == {"files": 3}
    assert [value["kind"] for value in seen] == ["begin", "report", "end"]


def test_what_the_daemon_asks_is_answered(daemon: FakeDaemon, client: Client) -> None:
    questions = [
        ("window/workDoneProgress/create", {"token": 1}),
        ("client/registerCapability", {}),
        ("workspace/configuration", {"items": [{}, {}]}),
        ("window/showDocument", {}),
    ]

    def ask(session: Session, params: dict[str, Any]) -> None:
        for number, (method, asked) in enumerate(questions):
            session.send({"id": f"q{number}", "method": method, "params": asked})

    daemon.handlers["ask"] = ask
    daemon.handlers["after"] = lambda session, params: None
    client.request("ask")
    client.request("after")
    answers = {m["id"]: m for m in daemon.received if str(m.get("id")).startswith("q")}
    assert answers["q0"]["result"] is None
    assert answers["q1"]["result"] is None
    assert answers["q2"]["result"] == [None, None]
    assert answers["q3"]["error"]["code"] == METHOD_NOT_FOUND


def test_a_late_answer_is_a_timeout_and_not_the_next_answer(daemon: FakeDaemon, client: Client) -> None:
    def slow(session: Session, params: dict[str, Any]) -> str:
        time.sleep(0.3)
        return "late"

    daemon.handlers["slow"] = slow
    daemon.handlers["quick"] = lambda session, params: "in time"
    with pytest.raises(DaemonUnreachable, match=r"did not answer slow within 0.1 s"):
        client.request("slow", timeout=0.1)
    assert client.request("quick", timeout=HANG) == "in time"
    assert daemon.wait_for("$/cancelRequest")["params"] == {"id": 1}


def test_ctrl_c_cancels_the_request_at_the_daemon(daemon: FakeDaemon, client: Client) -> None:
    def interrupted(session: Session, params: dict[str, Any]) -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(0.4)

    daemon.handlers["long"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        client.request("long", timeout=HANG)
    assert daemon.wait_for("$/cancelRequest")["params"] == {"id": 1}


def test_a_daemon_that_dies_while_asked(daemon: FakeDaemon, client: Client) -> None:
    def die(session: Session, params: dict[str, Any]) -> None:
        daemon.stop()

    daemon.handlers["die"] = die
    with pytest.raises(DaemonUnreachable, match="closed the connection"):
        client.request("die", timeout=HANG)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"Content-Length: 3\r\n\r\n{x}"])
def test_something_else_at_the_socket(daemon: FakeDaemon, client: Client, answer: bytes) -> None:
    def garble(session: Session, params: dict[str, Any]) -> None:
        session.stream.sendall(answer)

    daemon.handlers["ask"] = garble
    with pytest.raises(DaemonUnreachable, match=r"protocol|not JSON"):
        client.request("ask", timeout=HANG)


def test_a_large_answer_arrives_whole(daemon: FakeDaemon, client: Client) -> None:
    daemon.handlers["large"] = lambda session, params: "x" * (8 * 2**20)
    assert len(client.request("large", timeout=HANG)) == 8 * 2**20
