"""Progress and cancellation while a real, larger workspace is indexed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.index_runs import IndexProgress
from aurora_protocol.frames import encode
from aurora_server.lsp.progress import INTERVAL, Reporter, words
from tests.server.daemons import Daemon
from tests.wait_limits import HANG

FILES = 200


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture
def large(tmp_path: Path) -> Path:
    return filled(tmp_path, functions=6)


def filled(root: Path, functions: int) -> Path:
    body = "".join(f"def function_{n}(value):\n    return value + {n}\n\n\n" for n in range(functions))
    for n in range(FILES):
        (root / f"module_{n}.py").write_text(body)
    return root


def test_background_indexing_is_shown_to_clients_that_can(daemon: Daemon, tmp_path: Path) -> None:
    """It takes some seconds: what is over in half a second is not shown."""
    large = filled(tmp_path, functions=50)
    with daemon.wire() as wire:
        wire.initialize(large, capabilities={"window": {"workDoneProgress": True}})
        began = wire.notification("$/progress", 30)
        assert began["value"]["kind"] == "begin"
        assert began["value"]["title"] == f"Indexing {large.name}"
        assert [asked["params"]["token"] for asked in wire.asked] == [began["token"]]
        percentages = []
        while (value := wire.notification("$/progress", 60)["value"])["kind"] == "report":
            percentages.append(value["percentage"])
        assert value["kind"] == "end"
        assert percentages == sorted(percentages)


def test_clients_that_cannot_are_not_asked(daemon: Daemon, large: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(large)
        wire.result("aurora/index")
        assert wire.asked == []
        assert [message for message in wire.received if message.get("method") == "$/progress"] == []


def test_a_request_can_be_cancelled_and_the_session_goes_on(daemon: Daemon, large: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(large)
        request = wire.post("aurora/index")
        wire.notify("$/cancelRequest", {"id": request})
        assert wire.answer(request)["error"]["code"] == -32800
        wire.notify("$/cancelRequest", {"id": request})
        wire.notify("$/cancelRequest", {"id": "never sent"})
        wire.notify("$/cancelRequest", 5)
        assert wire.result("aurora/index")["files"] == FILES


@pytest.mark.parametrize("command", [False, True])
def test_closing_the_progress_cancels_the_request(daemon: Daemon, large: Path, command: bool) -> None:
    with daemon.wire() as wire:
        wire.initialize(large)
        params: dict[str, Any] = {"workDoneToken": 7}
        if command:
            request = wire.post("workspace/executeCommand", {"command": "aurora.index", "arguments": [params]})
        else:
            request = wire.post("aurora/index", params)
        assert wire.notification("$/progress")["value"]["kind"] == "begin"
        wire.notify("window/workDoneProgress/cancel", {"token": 7})
        assert wire.answer(request)["error"]["code"] == -32800
        kinds = [message["params"]["value"]["kind"] for message in wire.received if message["method"] == "$/progress"]
        assert kinds[-1] == "end"


def test_shutdown_cancels_what_is_under_way(daemon: Daemon, large: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(large)
        request = wire.post("aurora/index")
        leaving = wire.post("shutdown")
        assert wire.answer(request)["error"]["code"] == -32800
        assert wire.answer(leaving)["result"] is None


def test_a_daemon_that_stops_answers_what_is_under_way(tmp_path: Path, large: Path) -> None:
    with Daemon(tmp_path / "home") as daemon, daemon.wire() as wire:
        wire.initialize(large)
        request = wire.post("aurora/index")
        wire.result("aurora/status")
        daemon.process.terminate()
        error = wire.answer(request)["error"]
        assert error["code"] == -32800
        assert "stopping" in error["message"]
        assert daemon.process.wait(HANG) == 0


def test_too_many_requests_at_once_are_refused_not_queued(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "only.py").write_text("def only(): ...\n")
    with daemon.wire() as wire:
        wire.initialize(tmp_path)
        requests = [{"jsonrpc": "2.0", "id": number, "method": "aurora/index"} for number in range(1000, 1300)]
        wire.stream.sendall(b"".join(encode(json.dumps(request).encode()) for request in requests))
        answers = [wire.answer(request["id"]) for request in requests]
        refused = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert set(refused) == {-32803}
        assert len(refused) <= 300 - 256
        assert all(answer["result"]["files"] == 1 for answer in answers if "result" in answer)


class _Recorder:
    def __init__(self) -> None:
        self.protocol = self
        self.values: list[dict[str, Any]] = []

    def push(self, method: str, params: dict[str, Any], *, droppable: bool = False) -> None:
        assert method == "$/progress"
        self.values.append(params["value"])


def test_reports_come_at_most_five_times_a_second_and_never_fall_back() -> None:
    recorder, now = _Recorder(), [0.0]
    reporter = Reporter(recorder, "token", "Indexing x", clock=lambda: now[0])  # type: ignore[arg-type]
    reporter.begin(cancellable=False)
    for step in range(1000):
        now[0] += 0.001
        reporter.report(IndexProgress(step, 1000, step * 3, "indexing"))
    assert len(recorder.values) == pytest.approx(1 + 1.0 / INTERVAL, abs=1)
    reporter.report(IndexProgress(1000, 1000, 3000, "indexing"))
    assert recorder.values[-1]["percentage"] == 100
    now[0] += 1
    reporter.report(IndexProgress(1, 1000, 0, "linking"))
    assert (recorder.values[-1]["percentage"], recorder.values[-1]["message"]) == (100, "linking 1 of 1,000")
    reporter.end()
    assert recorder.values[-1] == {"kind": "end"}


def test_words_leave_out_what_is_not_known_yet() -> None:
    assert words(IndexProgress(0, 0, 0, "scanning")) == "scanning"
    assert words(IndexProgress(12, 1200, 3911, "indexing")) == "indexing 12 of 1,200 · 3,911 chunks"
