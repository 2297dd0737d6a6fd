"""The MCP server's session with a daemon that is on its way out."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.address import Address
from aurora_server.mcp.daemon_link import DaemonLink, LinkLost
from tests.fake_daemon import FakeDaemon, Session


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
