"""`aurora mcp --http` from outside: the token, Host and Origin, sessions, bounded bodies, both kinds of revision."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from aurora_server.unauthenticated_connections import MAX_UNAUTHENTICATED, UnauthenticatedConnections
from tests.orchestration.soar.minds import Mind
from tests.programs import run, start
from tests.server.agents import COMMAND, environment, said
from tests.server.client_requests import TWO, asked
from tests.wait_limits import HANG

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


class Served:
    """A running server: its address, and the file with its token."""

    def __init__(self, url: str, token_file: Path) -> None:
        self.url = url
        self.token_file = token_file
        self.token = token_file.read_text().strip()

    def post(self, body: bytes, **headers: str) -> tuple[int, dict[str, str]]:
        """Status and headers of an answer; `headers` are over those of a client in order."""
        ours = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
        }
        given = {**ours, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            with urlopen(Request(self.url, body, given), timeout=HANG) as answer:
                return answer.status, {name.lower(): value for name, value in answer.headers.items()}
        except HTTPError as error:
            with error:
                return error.code, {name.lower(): value for name, value in error.headers.items()}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    with asked(folder, Mind(TWO)) as (_, provider, root):
        home = folder / "home"
        process = start(
            [*COMMAND, "--workspace", str(root), "mcp", "--http"],
            env=environment(home, provider.environ),
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.fullmatch(r"MCP at (http://127\.0\.0\.1:\d+/mcp); .* token in (.+)\n", line)
            assert found is not None, line
            yield Served(found[1], Path(found[2]))
            process.send_signal(signal.SIGINT)
            assert process.wait(HANG) in (0, -signal.SIGINT)
            assert process.stderr.read() == ""
        finally:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_agents_recall_over_http(served: Served, mode: str, version: str) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(served.url, http_client=http), mode=mode) as client,
    ):
        assert client.session.protocol_version == version
        found = await client.call_tool("aurora_recall", {"query": "expand template"})
        assert said(found).startswith("1. expand src/template.py:1-3")
        prompt = await client.get_prompt("explain", {"target": "expand"})
        assert "called by request" in prompt.model_dump_json()


def test_the_token_is_for_its_user_alone(served: Served) -> None:
    assert served.token_file.stat().st_mode & 0o777 == 0o600 and len(served.token) >= 32
    hello = json.dumps(HELLO).encode()
    for wrong in ("", "Bearer", "Bearer ", f"Bearer {served.token}x", f"Basic {served.token}", "Bearer \xe4"):
        status, told = served.post(hello, Authorization=wrong)
        assert status == 401 and told["www-authenticate"].startswith("Bearer"), wrong
        assert "mcp-session-id" not in told
    assert served.post(b"x" * 100, Authorization="Bearer wrong")[0] == 401


def test_pages_of_other_origins_and_names_are_refused(served: Served) -> None:
    hello = json.dumps(HELLO).encode()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"):
        assert served.post(hello, Origin=origin)[0] == 403, origin
    for host in ("evil.example", "evil.example:80", "127.0.0.1:1"):
        assert served.post(hello, Host=host)[0] == 421, host
    status, told = served.post(hello, Origin=served.url.removesuffix("/mcp"))
    assert status == 200 and told["mcp-session-id"]


def test_nobody_else_can_have_the_other_name_of_this_machine(served: Served) -> None:
    port = int(served.url.split(":")[2].partition("/")[0])
    hello = json.dumps(HELLO).encode()
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", 0))  # else this machine has no IPv6, and `localhost` is one address
        with pytest.raises(OSError, match="in use"), socket.socket(socket.AF_INET6) as theirs:
            theirs.bind(("::1", port))
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {served.token}\r\n"
        head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        with socket.create_connection(("::1", port), timeout=HANG) as connection:
            connection.sendall(f"{head}Content-Length: {len(hello)}\r\n\r\n".encode() + hello)
            assert connection.recv(15) == b"HTTP/1.1 200 OK"


def test_many_who_never_show_the_token_do_not_keep_its_user_out(served: Served) -> None:
    port = int(served.url.split(":")[2].partition("/")[0])
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", port), HANG)) for _ in range(300)]
        for each in held:
            with contextlib.suppress(OSError):  # it was turned away already
                each.sendall(b"POST /mcp HTTP/1.1\r\nX: ")
        assert served.post(json.dumps(HELLO).encode())[0] == 200
        turned_away = 0
        for each in held[: 300 - MAX_UNAUTHENTICATED]:
            with contextlib.suppress(ConnectionResetError):
                assert each.recv(1) == b""
            turned_away += 1
        assert turned_away == 300 - MAX_UNAUTHENTICATED


async def test_who_does_not_show_the_token_in_time_is_turned_away() -> None:
    unauthenticated, aborted = UnauthenticatedConnections(within=0.01), asyncio.Event()

    class Connection(asyncio.Transport):
        def abort(self) -> None:
            aborted.set()

    unauthenticated.come(("::1", 1), Connection())
    unauthenticated.know(("::1", 1))
    await asyncio.sleep(0.05)
    assert not aborted.is_set(), "it has shown it"
    unauthenticated.come(("::1", 1), Connection())
    await asyncio.wait_for(aborted.wait(), HANG)


def test_sessions_have_ids_and_bodies_a_bound(served: Served) -> None:
    first, second = (served.post(json.dumps(HELLO).encode())[1]["mcp-session-id"] for _ in range(2))
    assert first != second and len(first) >= 32
    listing = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode()
    assert served.post(listing, Mcp_Session_Id=first)[0] == 200
    assert served.post(listing, Mcp_Session_Id="none")[0] == 404
    assert served.post(listing)[0] == 400
    large = HTTPConnection("127.0.0.1", int(served.url.split(":")[2].partition("/")[0]), timeout=HANG)
    with closing(large):
        large.putrequest("POST", "/mcp")
        large.putheader("Authorization", f"Bearer {served.token}")
        large.putheader("Content-Length", str((4 << 20) + 1))
        large.endheaders()
        assert large.getresponse().status == 413, "before any of it is read"
    assert served.post(b"{", Mcp_Session_Id=first)[0] == 400


@pytest.mark.parametrize(("mode", "text"), [(0o644, "x" * 43), (0o600, "short"), (0o600, "")])
def test_a_token_that_others_may_read_or_guess_is_not_used(tmp_path: Path, mode: int, text: str) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "mcp-http-token").write_text(text)
    (home / "mcp-http-token").chmod(mode)
    command = [*COMMAND, "--workspace", str(tmp_path), "mcp", "--http"]
    ended = run(command, env=environment(home, {}), capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2 and "mcp-http-token" in ended.stderr and "remove it" in ended.stderr


def test_a_port_that_somebody_has_is_told_with_what_he_may_have_heard(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        command = [*COMMAND, "--workspace", str(tmp_path), "mcp", "--http", str(port)]
        ended = run(command, env=environment(tmp_path / "home", {}), capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2 and f"port {port} cannot be used: Address already in use" in ended.stderr
    assert f"remove {tmp_path / 'home' / 'mcp-http-token'}" in ended.stderr, ended.stderr
