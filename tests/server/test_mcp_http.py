"""`aurora mcp --http` from outside: the token, Host and Origin, sessions, bounded bodies, both kinds of revision."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.orchestration.soar.minds import Mind
from tests.patience import HANG
from tests.programs import run, start
from tests.server.agents import COMMAND, environment, said
from tests.server.client_requests import TWO, asked

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
