"""The public conformance suite (npm `@modelcontextprotocol/conformance`) against the MCP server, in both revisions.

`AURORA_TEST_MCP_CONFORMANCE` names a folder in which npm has installed it (`make mcp-conformance` does). Some of its
scenarios call tools and prompts of a server that is made for the suite (`test_…`), which AURORA has none of: those
fail, each with its reason below.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn

from aurora_protocol.address import Address
from aurora_server.mcp.http_server import PATH, application, bind
from aurora_server.mcp.server import McpFront, Serving
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import TWO, asked

SUITE = Path(os.environ.get("AURORA_TEST_MCP_CONFORMANCE", ""), "node_modules/@modelcontextprotocol/conformance")
NODE = shutil.which("node", path=f"{SUITE.parents[1] / '.bin'}{os.pathsep}{os.environ.get('PATH', '')}")
FIXTURE = "it calls a tool, prompt or resource that only a server made for the suite has"
LOGGING = "AURORA offers no `logging`: what is wrong is in its answers, and its log is standard error"
SUBSCRIPTIONS = "AURORA offers no subscription of resources: a chunk is looked up when it is needed"

DEPENDENT = ("Expected InputRequiredResult with inputRequests", "could not get initial InputRequiredResult")
"""What scenarios say that need the first answer of such a tool."""

COMMON = dict.fromkeys(
    (
        "completion-complete",
        "json-schema-2020-12-tool-found",
        "prompts-get-embedded-resource",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-with-image",
        "resources-read-binary",
        "resources-read-text",
        "resources-templates-read",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "tools-call-image",
        "tools-call-mixed-content",
        "tools-call-simple-text",
        "tools-call-with-progress",
    ),
    FIXTURE,
)
OLDER = {
    "logging-set-level": LOGGING,
    "tools-call-with-logging": LOGGING,
    "resources-subscribe": SUBSCRIPTIONS,
    "resources-unsubscribe": SUBSCRIPTIONS,
    "elicitation-sep1034-general": FIXTURE,
    "elicitation-sep1330-general": FIXTURE,
    "tools-call-elicitation": FIXTURE,
    "tools-call-sampling": FIXTURE,
}
NEWER = dict.fromkeys(
    (
        "sep-2243-server-no-xmcp-tool",
        "sep-2243-server-decode-base64",
        "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars",
        "sep-2243-server-reject-param-mismatch",
        "sep-2322-elicitation-incomplete",
        "sep-2322-list-roots-incomplete",
        "sep-2322-sampling-incomplete",
        "sep-2322-respect-client-capabilities",
        "sep-2322-multi-round-r1",
        "sep-2322-multiple-inputs-incomplete",
        "sep-2322-non-tool-incomplete",
        "sep-2322-request-state-incomplete",
        "sep-2322-result-type-included",
        "sep-2322-reject-tampered-state",
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    ),
    FIXTURE,
)
WHOLE = 300
"""Seconds for all scenarios of a revision."""


def _missing() -> str | None:
    if not (SUITE / "dist/index.js").is_file():
        return "the suite is not installed: make mcp-conformance"
    if NODE is None:
        return "node is not installed"
    version = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return None if int(version.lstrip("v").partition(".")[0]) >= 22 else f"the suite needs Node 22, this is {version}"


pytestmark = [
    pytest.mark.skipif((reason := _missing()) is not None, reason=str(reason)),
    pytest.mark.timeout(WHOLE + 60),
]


def _connected(address: str) -> None:
    """Have the server open its one session with the daemon, which is the whole module's and no test's."""
    asks = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "first", "version": "1"}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    session = ""
    for method, params in (
        ("initialize", asks),
        ("tools/call", {"name": "aurora_assess", "arguments": {"query": "x"}}),
    ):
        told = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        more = {"mcp-session-id": session} if session else {}
        with urllib.request.urlopen(urllib.request.Request(address, told, {**headers, **more})) as answer:
            session = answer.headers.get("mcp-session-id") or session
            answer.read()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over HTTP that asks for no token, since the suite sends none."""
    folder = tmp_path_factory.mktemp("conformance")
    with asked(folder, Mind(TWO)) as (_, provider, root), ExitStack() as claimed:
        listening = [claimed.enter_context(each) for each in bind(0)]
        port = listening[0].getsockname()[1]
        serving = Serving(
            address=Address.of(folder / "home"),
            root=root,
            settled=True,
            environ={**os.environ, **provider.environ},
            verbosity="normal",
            parent=os.getpid(),
            asks=False,
        )
        ready = threading.Event()
        servers: list[uvicorn.Server] = []

        async def run() -> None:
            front = McpFront(serving)
            server = uvicorn.Server(
                uvicorn.Config(application(front, port), log_config=None, timeout_graceful_shutdown=1)
            )
            servers.append(server)
            ready.set()
            await server.serve(sockets=listening)
            await front.close()

        thread = threading.Thread(target=asyncio.run, args=(run(),))
        thread.start()
        ready.wait()
        address = f"http://127.0.0.1:{port}{PATH}"
        _connected(address)
        yield address
        servers[0].should_exit = True
        thread.join()


@pytest.mark.parametrize(
    ("revision", "expected", "passed"),
    [("2025-11-25", {**COMMON, **OLDER}, 43), ("2026-07-28", {**COMMON, **NEWER}, 91)],
)
def test_nothing_fails_but_what_is_expected(
    url: str, revision: str, expected: dict[str, str], passed: int, tmp_path: Path
) -> None:
    chosen = ["--spec-version", revision, "--suite", "all"]
    command = [str(NODE), str(SUITE / "dist/index.js"), "server", "--url", url, *chosen, "-o", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WHOLE)
    checks = [check for path in tmp_path.glob("*/checks.json") for check in json.loads(path.read_text())]
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] == "FAILURE"}
    assert {name: why for name, why in failed.items() if name not in expected} == {}, ran.stderr
    assert sorted(set(expected) - set(failed)) == [], "these pass now: take them from the list"
    unclear = {name for name in failed if expected[name] is FIXTURE and not _wants_fixture(failed[name] or "")}
    assert unclear == set(), "these are told to want something of the suite's own, and fail for something else"
    assert sum(check["status"] == "SUCCESS" for check in checks) >= passed


def _wants_fixture(message: str) -> bool:
    """Whether a scenario failed since it found nothing of what a server made for the suite has."""
    return any(each in message for each in ("test_", "test://", "json_schema_2020_12_tool", "Not testable", *DEPENDENT))
