"""How long `aurora mcp` lives, what it survives, and what passes through it in the middle of a call."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.orchestration.llm.loopback import Request
from tests.orchestration.soar.minds import Mind
from tests.processes import lives
from tests.server.agents import COMMAND, agent, environment, raw, said
from tests.server.client_requests import MEDIUM, TWO, asked, workspace
from tests.server.daemons import Daemon, until
from tests.shares import long
from tests.wait_limits import HANG


async def patiently(condition: Any, what: str) -> None:
    await asyncio.to_thread(until, condition, what)


async def test_a_cancelled_call_is_cancelled_all_the_way_to_the_provider(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.waits = 20.0
    with asked(tmp_path, mind) as (_, provider, root), raw(tmp_path / "home", root, **provider.environ) as client:
        client.initialize()
        question = {"name": "aurora_query", "arguments": {"query": MEDIUM}}
        client.say({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": question})
        await patiently(lambda: provider.requests, "the provider is asked")
        client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        await patiently(lambda: provider.dropped, "the provider sees the client leave")
        assert client.ask("after", "ping")["result"] == {}
        assert not any(json.loads(line).get("id") == "long" for line in client.lines)


@pytest.mark.parametrize("mode", [long("legacy"), "auto"])
async def test_the_clients_model_answers_by_sampling_and_is_told_of_a_cancellation(tmp_path: Path, mode: str) -> None:
    root, home, mind = workspace(tmp_path / "ws"), tmp_path / "home", Mind(TWO)
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {"provider": "editor", "model": "own"}}}))
    hanging = asyncio.Event()
    asked_again = asyncio.Event()
    left = asyncio.Event()

    async def sample(_: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        if hanging.is_set():
            asked_again.set()
            try:
                await asyncio.sleep(2 * HANG)
            finally:
                left.set()
        content = params.messages[0].content
        assert isinstance(content, types.TextContent) and params.system_prompt
        assert params.system_prompt.count("JSON Schema") <= 1
        request = Request("/v1/messages", {}, {"messages": [{"role": "user", "content": content.text}]})
        answer = types.TextContent(type="text", text=mind(request).said)
        return types.CreateMessageResult(role="assistant", content=answer, model="the client's")

    with Daemon(home) as daemon:
        with daemon.client(root) as plain:
            plain.request("aurora/index", {})
        async with agent(home, root, mode=mode, sampling_callback=sample) as client:
            result = await client.call_tool("aurora_query", {"query": MEDIUM})
            assert not result.is_error and "state complete" in said(result), said(result)
            assert mind.asked.count("work") == 2
            hanging.set()
            call = asyncio.create_task(client.call_tool("aurora_decompose", {"query": MEDIUM}))
            await asyncio.wait_for(asked_again.wait(), HANG)
            call.cancel()
            await asyncio.wait_for(left.wait(), HANG)
        async with agent(home, root, mode=mode) as client:
            without = await client.call_tool(
                "aurora_query", {"query": "explain how login makes a token and compare it"}
            )
            assert "editor" in said(without) and "no_provider" in said(without)


@pytest.mark.parametrize("mode", ["legacy", long("auto")])
async def test_a_clarifying_question_reaches_the_clients_user(tmp_path: Path, mode: str) -> None:
    mind = Mind(TWO)

    def work(request: Request) -> Any:
        if "RFC 6570" in json.dumps(request.json):
            return None
        return {"status": "partial", "summary": "unclear", "data": {}, "confidence": 0.3, "needs_user": "Which RFC?"}

    mind.instead["work"] = work
    questions: list[str] = []

    async def elicit(_: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "RFC 6570"})

    with asked(tmp_path, mind) as (_, provider, root):
        home = tmp_path / "home"
        async with agent(home, root, provider.environ, mode=mode, elicitation_callback=elicit) as client:
            result = await client.call_tool("aurora_query", {"query": MEDIUM})
            assert "state complete" in said(result), said(result)
        assert sum("Which RFC?" in each for each in questions) == 2
        assert any("RFC 6570" in json.dumps(request.json) for request in provider.requests)


async def test_a_daemon_that_died_between_two_calls_is_not_noticed(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    with Daemon(home) as daemon:
        with daemon.client(root) as plain:
            plain.request("aurora/index", {})
        async with agent(home, root) as client:
            assert "src/template.py" in said(await client.call_tool("aurora_recall", {"query": "expand template"}))
            for _ in range(2):
                pid = _daemon_of(home)
                os.kill(pid, signal.SIGKILL)
                found = await client.call_tool("aurora_recall", {"query": "expand template"})
                assert not found.is_error and "src/template.py" in said(found), said(found)
                assert _daemon_of(home) != pid
    os.kill(_daemon_of(home), signal.SIGTERM)


async def test_a_daemon_that_dies_during_a_call_makes_an_error_of_it_and_the_next_works(tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.waits = 30.0
    with asked(tmp_path, mind) as (daemon, provider, root):
        home = tmp_path / "home"
        async with agent(home, root, provider.environ) as client:
            call = asyncio.create_task(client.call_tool("aurora_query", {"query": MEDIUM}))
            await patiently(lambda: provider.requests, "the provider is asked")
            daemon.process.kill()
            result = await asyncio.wait_for(call, HANG)
            assert result.is_error and "the daemon closed the connection; ask again" in said(result)
            found = await client.call_tool("aurora_recall", {"query": "expand template"})
            assert not found.is_error
    os.kill(_daemon_of(home), signal.SIGTERM)


async def test_without_a_daemon_that_can_start_every_tool_says_why(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text("{ not json")
    async with agent(home, root) as client:
        result = await client.call_tool("aurora_recall", {"query": "expand"})
        assert result.is_error and "config.json" in said(result) and "\n" not in said(result)
        with pytest.raises(MCPError, match=r"config\.json"):
            await client.read_resource("aurora://chunk/code%3Aa%3Ab")


def _daemon_of(home: Path) -> int:
    document = json.loads(next(home.rglob("daemon*.json")).read_text())
    return int(document["pid"])


LAUNCHER = (
    "import os, subprocess, sys, time\n"
    "p = subprocess.Popen(sys.argv[1:], stdin=int(os.environ['HELD']), stdout=open(os.environ['SAID'], 'wb'))\n"
    "print(p.pid, flush=True)\n"
    "time.sleep(600)\n"
)


def test_it_ends_with_its_parent_even_where_standard_input_stays_open(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    reading, writing = os.pipe()
    answers = tmp_path / "said"
    variables = {**environment(home, {}), "HELD": str(reading), "SAID": str(answers)}
    command = [*COMMAND, "--workspace", str(root), "mcp"]
    parent = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, *command],
        env=variables, stdout=subprocess.PIPE, pass_fds=(reading,), text=True,
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.write(writing, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        until(lambda: answers.exists() and b"result" in answers.read_bytes(), "it has begun to serve")
        assert lives(pid)
        parent.kill()
        parent.wait(HANG)
        until(lambda: not lives(pid), "it ends after its parent")
    finally:
        parent.kill()
        assert parent.stdout is not None
        parent.stdout.close()
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("busy", [False, True])
async def test_it_ends_when_standard_input_does(tmp_path: Path, busy: bool) -> None:
    mind = Mind(TWO)
    mind.waits = 20.0
    with asked(tmp_path, mind) as (_, provider, root), raw(tmp_path / "home", root, **provider.environ) as client:
        client.initialize()
        if busy:
            question = {"name": "aurora_query", "arguments": {"query": MEDIUM}}
            client.say({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": question})
            await patiently(lambda: provider.requests, "the provider is asked")
            assert client.process.stdin is not None
            client.process.stdin.close()
            assert await asyncio.to_thread(client.process.wait, HANG) == 0
            await patiently(lambda: provider.dropped, "what nobody waits for any more is not paid on")


def test_a_client_that_reads_no_more_ends_it_without_a_word(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    with Daemon(home):
        command = [*COMMAND, "--workspace", str(root), "mcp"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment(home, {}), stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            process.stdout.close()
            for number in range(3):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n")
                process.stdin.flush()
            until(lambda: process.poll() is not None, "it ends")
            assert b"Traceback" not in process.stderr.read()


@pytest.mark.long
def test_a_client_that_never_reads_cannot_keep_it_from_ending(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    with Daemon(home):
        command = [*COMMAND, "--workspace", str(root), "mcp"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment(home, {}), stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin is not None and process.stderr is not None
            who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "deaf", "version": "1"}}
            process.stdin.write(
                json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": who}).encode() + b"\n"
            )
            for number in range(60):  # each answer has some 15 KB, and a pipe holds 64
                listing = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {}}
                process.stdin.write(json.dumps(listing).encode() + b"\n")
            process.stdin.close()
            until(lambda: process.poll() is not None, "it ends")
            assert b"Traceback" not in process.stderr.read()


async def test_a_workspace_that_was_never_indexed_is_indexed_before_the_first_answer(tmp_path: Path) -> None:
    home, told = tmp_path / "home", []
    root = workspace(tmp_path / "ws")
    for number in range(150):
        (root / f"part_{number}.py").write_text(f"def collect_{number}(rows):\n    return sum(rows) + {number}\n" * 20)

    async def heard(progress: float, _: float | None, message: str | None) -> None:
        told.append((progress, message))

    with Daemon(home):
        async with agent(home, root) as client:
            found = await client.call_tool("aurora_recall", {"query": "collect_149"}, progress_callback=heard)
            assert "part_149.py" in said(found), said(found)
    assert [message for _, message in told] == ["index: in_progress", "index: completed"]


def test_what_is_no_message_is_answered_and_harms_nothing(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    with Daemon(home), raw(home, root) as client:
        assert client.ask(0, "ping")["result"] == {}
        assert "error" in client.ask(1, "tools/call", name="aurora_recall", arguments={"query": "too early"})
        for line, code in (("garbage", -32700), ("[" * 100_000, -32700), ("[]", -32600), ("5", -32600)):
            client.say(line)
            assert client.answer(None)["error"]["code"] == code
        for message in (
            {"jsonrpc": "2.0", "id": 2},
            {"jsonrpc": "2.0", "id": 3, "method": 5},
            {"id": 4, "method": "ping"},
        ):
            client.say(message)
            assert client.answer(message["id"])["error"]["code"] == -32600
        client.say("")
        client.initialize("1999-01-01")
        assert client.ask("s", "nope/nope")["error"]["code"] == -32601
        client.say([{"jsonrpc": "2.0", "id": 5, "method": "ping"}, {"jsonrpc": "2.0", "id": 6, "method": "ping"}, 7])
        assert client.answer(5)["result"] == client.answer(6)["result"] == {}
        assert client.ask(8, "tools/call", name="aurora_nope", arguments={})["error"]["code"] == -32602
        assert client.ask(9, "tools/call", name="aurora_recall", arguments=[1])["error"]["code"] == -32602
        client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}})
        client.say({"jsonrpc": "2.0", "method": "notifications/unheard-of"})
        half = {"name": "aurora_recall", "arguments": {"query": "\ud83d x"}}  # JSON has it as an escape
        client.say({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": half})
        assert "result" in client.answer(10)
        assert client.initialize()["serverInfo"]["name"] == "aurora"


def test_a_client_that_forgets_to_say_that_it_is_initialized_is_served(tmp_path: Path) -> None:
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    with Daemon(home), raw(home, root) as client:
        who = {"name": "hasty", "version": "0"}
        client.ask(1, "initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo=who)
        assert client.ask(2, "tools/list")["result"]["tools"]
        assert "result" in client.ask(3, "tools/call", name="aurora_recall", arguments={"query": "expand"})
