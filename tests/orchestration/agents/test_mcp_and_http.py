"""MCP servers and HTTP endpoints as agents: real servers, some written with the SDK, and a real site on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mcp_types
import psutil
import pytest

from aurora_orchestration.agents import mcp_tools
from aurora_orchestration.agents.executors.mcp import best_tool, plain_arguments
from aurora_orchestration.agents.mcp_tools import ask_servers
from aurora_orchestration.types import Agent
from tests.orchestration.agents.programs import MCP_SERVER, TASK, WITH_SDK, mcp_server
from tests.orchestration.agents.test_executables import ENVIRON, gone, run, written
from tests.shares import long
from tests.wait_limits import HANG


@pytest.mark.parametrize("code", [MCP_SERVER, long(WITH_SDK)], ids=["plain", "with the SDK"])
async def test_the_tool_that_fits_is_called_with_the_subgoal(tmp_path: Path, code: str) -> None:
    response = await run(mcp_server(tmp_path, code), tmp_path)
    assert response.output is not None, response.error
    assert response.output.summary.startswith("found: Find who expands url templates")
    assert response.metadata.tools_used == ("mcp:notes/search_templates",)


async def test_a_tool_whose_arguments_need_thought_is_not_called_without_a_model(tmp_path: Path) -> None:
    response = await run(mcp_server(tmp_path, tool="weather"), tmp_path)
    assert "arguments that only a model could choose" in (response.error or "")
    response = await run(mcp_server(tmp_path, tool="nothing"), tmp_path)
    assert "has no tool nothing" in (response.error or "")


async def test_a_server_asks_the_user_by_elicitation(tmp_path: Path) -> None:
    async def user(question: str) -> str:
        return "2000"

    response = await run(mcp_server(tmp_path, WITH_SDK, tool="ask_budget"), tmp_path, user)
    assert response.output is not None, response.error
    assert response.output.summary == "accept: 2000"
    assert response.user_interactions[0].agent_question.startswith("what may it cost?")
    response = await run(mcp_server(tmp_path, tool="ask_budget"), tmp_path)
    assert response.output is not None and response.output.summary == "decline: unknown"


async def test_a_server_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    environment = {"MARK": str(tmp_path / "pid")}
    agent = mcp_server(tmp_path, tool="hang", timeout_seconds=8.0, environment=environment)
    running = asyncio.create_task(run(agent, tmp_path))
    (pid,) = await written(tmp_path, "pid")
    response = await running
    assert "within 8 s" in (response.error or "")
    assert not psutil.pid_exists(pid)


async def test_a_cancelled_server_is_gone(tmp_path: Path) -> None:
    agent = mcp_server(tmp_path, tool="hang", environment={"MARK": str(tmp_path / "pid")})
    running = asyncio.create_task(run(agent, tmp_path))
    (pid,) = await written(tmp_path, "pid")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(pid)


async def test_a_server_that_floods_is_ended(tmp_path: Path) -> None:
    response = await run(mcp_server(tmp_path, tool="flood"), tmp_path)
    assert response.status == "error" and "it was ended" in (response.error or "")
    for code in ("while True: print('x' * 65536)", "import sys\nwhile True: sys.stdout.write('x' * 65536)"):
        agent = Agent(id="notes", type="mcp", command="python3", arguments=("-c", code))
        response = await run(agent, tmp_path)
        assert response.status == "error", code
        assert "is not MCP" in (response.error or "") or "it was ended" in (response.error or "")


async def test_what_is_no_server_is_one_clear_error(tmp_path: Path) -> None:
    agent = Agent(id="notes", type="mcp", command="python3", arguments=("-c", "raise SystemExit('no module mcp')"))
    response = await run(agent, tmp_path)
    assert "its MCP server broke off" in (response.error or "") and "no module mcp" in (response.error or "")


async def test_servers_are_asked_what_they_offer_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_tools, "SECONDS", HANG)  # a server that tests ask does answer, on a busy machine too
    agent = mcp_server(tmp_path)
    offers = await ask_servers([agent], {}, tmp_path, ENVIRON, None)
    assert "search_templates" in offers["notes"].tools and "Search where url templates" in offers["notes"].description
    (tmp_path / "mcp_server.py").unlink()
    assert await ask_servers([agent], offers, tmp_path, ENVIRON, None) == offers
    broken = await ask_servers([agent], {}, tmp_path, ENVIRON, None)
    assert "broke off" in broken["notes"].trouble
    assert await ask_servers([mcp_server(tmp_path, trusted=False)], {}, tmp_path, ENVIRON, None) == {}


def test_arguments_are_filled_only_where_it_is_plain_what_is_meant() -> None:
    def filled(*required: str, **properties: dict[str, Any]) -> dict[str, Any] | None:
        schema = {"type": "object", "properties": properties, "required": list(required)}
        return plain_arguments(schema, TASK, Path("/w"))

    text = {"type": "string"}
    assert filled("query", query=text, limit={"type": "integer"}) is not None
    assert filled("root", "query", root=text, query=text) == {
        "root": "/w",
        "query": "Find who expands url templates\nExpected: file:line",
    }
    assert filled("owner", "repo", owner=text, repo=text) is None
    assert filled("issue", issue={"type": "integer"}) is None
    assert filled("state", state={"type": "string", "enum": ["open"]}) is None
    assert filled() == {}


@pytest.mark.parametrize(
    ("tools", "best"),
    [
        pytest.param({"sing": ""}, "sing", id="the only one, whatever it is"),
        pytest.param({"sing": "", "find_templates": ""}, "find_templates", id="the one whose name is about it"),
        pytest.param({"sing": "Find url templates", "dance": ""}, "sing", id="or whose description is"),
        pytest.param({"sing": "Find it", "dance": ""}, None, id="one word of a description is too little"),
        pytest.param({"find": "", "dance": ""}, "find", id="one of a name is enough: it counts twice"),
        pytest.param({"find_url": "", "url_find": ""}, None, id="of two as likely, a model chooses"),
        pytest.param({"find": "", "other": "Find templates"}, None, id="also where they are so by other words"),
    ],
)
def test_a_tool_is_taken_unasked_only_where_it_is_clear_which(tools: dict[str, str], best: str | None) -> None:
    offered = [mcp_types.Tool(name=name, description=said, input_schema={}) for name, said in tools.items()]
    found = best_tool(offered, TASK)
    assert (found.name if found else None) == best


Handler = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Site:
    """A site on loopback whose endpoints are given by path."""

    def __init__(self) -> None:
        self.endpoints: dict[str, Handler] = {}
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        site = self

        class Handling(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                site.requests.append((self.path, dict(self.headers), told))
                site.endpoints[self.path](self, told)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handling)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def site() -> Iterator[Site]:
    running = Site()
    yield running
    running.server.shutdown()
    running.server.server_close()


def answering(body: bytes | dict[str, Any], status: int = 200, **headers: str) -> Handler:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def handle(request: BaseHTTPRequestHandler, told: dict[str, Any]) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    return handle


def at(url: str, **more: Any) -> Agent:
    return Agent(id="remote", type="http", endpoint=url, **more)


async def test_an_endpoint_is_posted_the_task_with_its_own_headers(site: Site, tmp_path: Path) -> None:
    site.endpoints["/a"] = answering({"summary": "it is expand()", "confidence": 0.8})
    response = await run(at(f"{site.url}/a", headers={"Authorization": "Bearer ${ANTHROPIC_API_KEY}"}), tmp_path)
    assert response.output is not None, response.error
    assert (response.output.summary, response.output.confidence) == ("it is expand()", 0.8)
    ((_, headers, told),) = site.requests
    assert headers["Authorization"] == "Bearer sk-ant-secret" and told["subgoal"]["id"] == "SG1"
    assert told["workspace"] == tmp_path.name, "where it lies on this machine is nobody else's business"


async def test_an_endpoint_asks_the_user_and_is_asked_again(site: Site, tmp_path: Path) -> None:
    def handle(request: BaseHTTPRequestHandler, told: dict[str, Any]) -> None:
        said = told["interactions"]
        reply = {"summary": said[0]["answer"], "confidence": 1} if said else {"question": "how much?"}
        answering(reply)(request, told)

    async def user(question: str) -> str:
        return "little"

    site.endpoints["/a"] = handle
    response = await run(at(f"{site.url}/a"), tmp_path, user)
    assert response.output is not None and response.output.summary == "little"


@pytest.mark.parametrize(("questions", "calls"), [(["how much?"] * 9, 2), ([f"{n}?" for n in range(9)], 3)])
async def test_an_endpoint_that_asks_instead_of_answering_is_given_up(
    site: Site, tmp_path: Path, questions: list[str], calls: int
) -> None:
    """At the same question once more, or after three calls."""
    left = iter(questions)
    site.endpoints["/a"] = lambda request, told: answering({"question": next(left)})(request, told)

    async def user(question: str) -> str:
        return "little"

    response = await run(at(f"{site.url}/a"), tmp_path, user)
    assert "asks again and again" in (response.error or "") and len(site.requests) == calls


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (answering(b"", 302, Location="http://example.com/steal"), "redirects to another site"),
        (answering(b"x" * (5 << 20)), "larger than"),
        (answering(b"nope", 500), "answered 500"),
        (answering(b""), "answered nothing"),
    ],
)
async def test_what_an_endpoint_may_not_do_is_one_clear_error(
    site: Site, tmp_path: Path, handler: Handler, said: str
) -> None:
    site.endpoints["/a"] = handler
    response = await run(at(f"{site.url}/a"), tmp_path)
    assert response.status == "error" and said in (response.error or "")
    assert len(site.requests) == 1


async def test_plain_http_to_elsewhere_and_tls_that_is_none_are_refused(site: Site, tmp_path: Path) -> None:
    response = await run(at("http://example.com/a"), tmp_path)
    assert "plain http is only used on this machine" in (response.error or "")
    response = await run(at(site.url.replace("http:", "https:")), tmp_path)
    assert response.status == "error" and "cannot be reached" in (response.error or "")


async def test_an_endpoint_that_does_not_answer_is_left_in_time(site: Site, tmp_path: Path) -> None:
    let_go = threading.Event()
    site.endpoints["/a"] = lambda request, told: let_go.wait(HANG) and None
    response = await run(at(f"{site.url}/a", timeout_seconds=0.5), tmp_path)
    let_go.set()
    assert "0.5 s" in (response.error or "")
