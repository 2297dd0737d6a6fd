"""Who is refused, left out or cut off where a limit of sessions is reached, and who is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from aurora_protocol.frames import encode
from aurora_server.daemon.connection import DROP_FROM, MAX_UNSENT, ClientConnection
from aurora_server.daemon.listener import MAX_SESSIONS
from aurora_server.session.dispatch import MAX_IN_FLIGHT
from tests.server.daemons import Daemon, Wire, until


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def test_the_last_to_come_is_refused_and_nobody_who_is_there_has_to_go(daemon: Daemon) -> None:
    assert MAX_SESSIONS == 256
    with ExitStack() as everybody:
        first = everybody.enter_context(daemon.wire())
        first.initialize()
        until(lambda: first.result("aurora/status")["connections"] == 1, "those who looked whether it listens are gone")
        others = [everybody.enter_context(daemon.wire()) for _ in range(MAX_SESSIONS - 2)]
        last = everybody.enter_context(daemon.wire())
        last.initialize()
        assert last.result("aurora/status")["connections"] == MAX_SESSIONS
        with daemon.wire() as one_more:
            told = one_more.wait(lambda message: True)
            assert told["error"] == {
                "code": -32803,
                "message": "the daemon has 256 sessions open; close an editor or two",
            }
            assert one_more.ends()
        assert first.result("aurora/status")["pid"] and last.result("aurora/status")["pid"]
        others[0].stream.close()
        until(lambda: first.result("aurora/status")["connections"] == MAX_SESSIONS - 1, "one has left")
        with daemon.wire() as in_its_place:
            in_its_place.initialize()
            assert in_its_place.result("aurora/status")["connections"] == MAX_SESSIONS


class Outlet:
    """A writer with so many bytes still unsent."""

    def __init__(self, unsent: int) -> None:
        self.unsent = unsent
        self.written: list[bytes] = []
        self.aborted = False
        self.transport = self

    def is_closing(self) -> bool:
        return self.aborted

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def abort(self) -> None:
        self.aborted = True


class Speaking(ClientConnection):
    """A session of which only the way out is there."""

    def __init__(self, outlet: Outlet) -> None:
        self._writer = cast("Any", outlet)
        self._ending = None
        self._ended = asyncio.Event()

    @property
    def ending(self) -> str | None:
        return self._ending


@pytest.mark.parametrize(
    ("unsent", "droppable", "sent", "ending"),
    [
        pytest.param(0, True, True, None, id="all is sent to who reads"),
        pytest.param(DROP_FROM, True, True, None, id="a report at just the limit"),
        pytest.param(DROP_FROM + 1, True, False, None, id="reports are left out first"),
        pytest.param(DROP_FROM + 1, False, True, None, id="but no answer"),
        pytest.param(MAX_UNSENT, False, True, None, id="an answer at just the limit"),
        pytest.param(MAX_UNSENT + 1, False, False, "the client does not read", id="beyond it the client is cut off"),
        pytest.param(MAX_UNSENT + 1, True, False, None, id="no report cuts anybody off"),
    ],
)
async def test_a_client_that_does_not_read_loses_reports_first_and_then_the_session(
    unsent: int, droppable: bool, sent: bool, ending: str | None
) -> None:
    outlet = Outlet(unsent)
    session = Speaking(outlet)
    session._send(b"{}", droppable)
    assert (bool(outlet.written), outlet.aborted, session.ending) == (sent, ending is not None, ending)
    session._send(b"{}", False)
    assert len(outlet.written) <= 1 or ending is None, "nothing is sent to who was cut off"


def test_how_many_requests_are_under_way_is_limited_for_each_session_by_itself(daemon: Daemon, tmp_path: Path) -> None:
    assert MAX_IN_FLIGHT == 256
    (tmp_path / "only.py").write_text("def only(): ...\n")

    def floods(wire: Wire) -> list[int]:
        """Ask in one piece, faster than anything can be answered; returns the ids."""
        wire.initialize(tmp_path)
        identities = list(range(1_000, 1_000 + MAX_IN_FLIGHT + 100))
        asked = [{"jsonrpc": "2.0", "id": identity, "method": "aurora/index"} for identity in identities]
        wire.stream.sendall(b"".join(encode(json.dumps(each).encode()) for each in asked))
        return identities

    with daemon.wire() as flooding, daemon.wire() as beside:
        beside.initialize(tmp_path)
        asked = floods(flooding)
        assert "result" in beside.ask("aurora/index"), "another session is served"
        answers = [flooding.answer(identity) for identity in asked]
        refused = [answer["error"] for answer in answers if "error" in answer]
        assert {each["code"] for each in refused} == {-32803}
        assert {each["message"] for each in refused} == {"256 requests are under way; wait for their answers"}
        assert "result" in answers[0], "the first to be asked is answered"
        assert "result" in flooding.ask("aurora/index"), "and so is what is asked after the answers"
