"""MCP clients for tests: the official SDK's over standard input and output, and one that says anything at all."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from aurora_memory.token_cost import estimated_tokens
from tests.programs import COMMAND, Started, start
from tests.wait_limits import HANG

LINE_BYTES = 64 << 20
"""Longest message of a server."""


def environment(home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """What the MCP server is started with; nothing of the tests' own configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AURORA_")}
    return {**kept, **variables, "AURORA_HOME": str(home)}


@asynccontextmanager
async def agent(
    home: Path,
    root: Path | None,
    variables: Mapping[str, str] | None = None,
    *arguments: str,
    cwd: Path | None = None,
    **client: Any,
) -> AsyncIterator[Client]:
    """An SDK client of a real `aurora mcp`; its standard error must stay empty."""
    project = () if root is None else ("--project", str(root))
    home.mkdir(parents=True, exist_ok=True)
    with (home / "stderr").open("w+") as errors:
        command = [*COMMAND, "mcp", *project, *arguments]
        pipe = subprocess.PIPE
        program = start(
            command, env=environment(home, variables or {}), cwd=cwd, stdin=pipe, stdout=pipe, stderr=errors
        )
        async with Client(_transport(program), **client) as connected:
            yield connected
        if "--verbosity" not in arguments:
            assert (home / "stderr").read_text() == ""


@asynccontextmanager
async def _transport(program: Started) -> AsyncIterator[TransportStreams]:
    """What the SDK's `stdio_client` does with a program of its own: a line for each message, and its input's end."""
    assert program.stdin is not None and program.stdout is not None
    arriving, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LINE_BYTES)
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), program.stdout)

    async def hear() -> None:
        async with arriving:
            async for line in lines:
                with suppress(anyio.BrokenResourceError):  # nobody listens any more
                    await arriving.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(line)))

    async def say() -> None:
        async with leaving:
            async for message in leaving:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await asyncio.to_thread(program.stdin.write, f"{text}\n".encode())
                except BrokenPipeError:
                    break

    hearing, speaking = asyncio.create_task(hear()), asyncio.create_task(say())
    try:
        yield read, write
    finally:
        read.close()
        write.close()
        await speaking
        program.stdin.close()
        async with asyncio.timeout(HANG):
            await hearing
        pipe.close()
        await asyncio.to_thread(program.wait, HANG)


def said(result: types.CallToolResult) -> str:
    """The text of an answer."""
    return "\n".join(each.text for each in result.content if isinstance(each, types.TextContent))


def links(result: types.CallToolResult) -> list[str]:
    """The addresses of the resources that an answer links to."""
    return [str(each.uri) for each in result.content if isinstance(each, types.ResourceLink)]


def price(result: types.CallToolResult) -> int:
    """What the whole answer costs a model, in tokens."""
    parts = [
        each.text if isinstance(each, types.TextContent) else each.model_dump_json(by_alias=True, exclude_none=True)
        for each in result.content
    ]
    if result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))
    return sum(estimated_tokens(part.encode()) for part in parts)


class Raw:
    """`aurora mcp` on which anything can be said, line by line."""

    def __init__(self, process: Started) -> None:
        self.process = process
        self.lines: list[str] = []
        self._arriving: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def say(self, message: object) -> None:
        """Send one line: a text as it is, everything else as JSON."""
        assert self.process.stdin is not None
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def ask(self, identity: object, method: str, **params: object) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.say({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return self.answer(identity)

    def answer(self, identity: object, seconds: float = HANG) -> dict[str, Any]:
        """The next message with this id; every line must be a JSON object of JSON-RPC 2.0."""
        deadline = time.monotonic() + seconds
        while True:
            line = self._arriving.get(timeout=max(0.01, deadline - time.monotonic()))
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0", line
            if message.get("id", "none") == identity and "method" not in message:
                assert isinstance(message, dict)
                return message

    def initialize(self, version: str = "2025-06-18", **capabilities: object) -> dict[str, Any]:
        """Shake hands."""
        client = {"name": "raw", "version": "1"}
        given = self.ask("hello", "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=client)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result = given["result"]
        assert isinstance(result, dict)
        return result

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._arriving.put(line)


@contextmanager
def raw(home: Path, root: Path, *arguments: str, **variables: str) -> Iterator[Raw]:
    """A raw connection to `aurora mcp`; at the end its standard input closes, and it must end by itself."""
    command = [*COMMAND, "--workspace", str(root), "mcp", *arguments]
    pipe = subprocess.PIPE
    with start(
        command, env=environment(home, variables), stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
    ) as process:
        client = Raw(process)
        try:
            yield client
            assert process.stdin is not None and process.stderr is not None
            process.stdin.close()
            assert process.wait(HANG) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
