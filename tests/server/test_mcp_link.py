"""The MCP server's session with a daemon that is on its way out."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol import DaemonUnreachable
from aurora_protocol.address import Address
from aurora_server.mcp import daemon_link
from aurora_server.mcp.daemon_link import DaemonLink, LinkLost
from tests.fake_daemon import FakeDaemon, Session
from tests.wait_limits import HANG


async def test_a_daemon_that_ends_while_a_session_begins_is_tried_again(tmp_path: Path) -> None:
    begun: list[Session] = []
    broken = 2

    def begin(session: Session, _: dict[str, Any]) -> object:
        begun.append(session)
        if len(begun) <= broken:
            session.stream.shutdown(socket.SHUT_RDWR)
        return {"capabilities": {}}

    address = Address.of(tmp_path / "h")
    with FakeDaemon(address, {"initialize": begin, "aurora/recall": lambda session, params: {"results": []}}):
        link = DaemonLink(address, tmp_path, {}, {}, {})
        assert await link.request("aurora/recall", {"query": "x"}) == {"results": []}
        await link.close()
        begun.clear()
        broken = 100
        with pytest.raises(LinkLost, match="ask again"):
            await link.request("aurora/recall", {"query": "x"})


async def test_a_daemon_that_hangs_in_its_work_is_given_up_in_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_link, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(daemon_link, "SILENT_AFTER", 0.3)
    over = threading.Event()

    def hang(_: Session, __: dict[str, Any]) -> object:
        over.wait(HANG)
        return {"results": []}

    address = Address.of(tmp_path / "h")
    handlers = {"initialize": lambda session, params: {"capabilities": {}}, "aurora/recall": hang}
    with FakeDaemon(address, handlers):
        link = DaemonLink(address, tmp_path, {}, {}, {})
        with pytest.raises(DaemonUnreachable, match="does not answer"):
            await link.request("aurora/recall", {"query": "x"}, again=True)
        over.set()
        await link.close()


async def test_a_daemon_that_works_long_and_says_so_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_link, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(daemon_link, "SILENT_AFTER", 0.5)

    def slow(session: Session, _: dict[str, Any]) -> object:
        for _ in range(8):
            time.sleep(0.15)
            session.send({"method": "$/progress", "params": {"token": "x", "value": {}}})
        return {"results": []}

    address = Address.of(tmp_path / "h")
    handlers = {"initialize": lambda session, params: {"capabilities": {}}, "aurora/recall": slow}
    with FakeDaemon(address, handlers):
        link = DaemonLink(address, tmp_path, {}, {}, {})
        assert await link.request("aurora/recall", {"query": "x"}) == {"results": []}
        await link.close()
