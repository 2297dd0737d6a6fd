"""Stdio lines (transport): what arrives on standard input and is no message of MCP, malformed JSON too: answered as
JSON-RPC says, and batches taken apart.

The SDK drops both without a word, and a client that waits for its answer waits for ever. Batches belong to revision
2025-03-26; their answers are sent one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

MAX_BATCH = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

Incoming = Any
"""A stream of `SessionMessage | Exception`, as the SDK's transports give it."""


@asynccontextmanager
async def mended(reading: Incoming, writing: Any, ended: Callable[[], object]) -> AsyncIterator[Incoming]:
    """The messages of `reading`; what is none is answered on `writing`. Calls `ended` when the client says no more."""
    passing_on, passed_on = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def pass_on() -> None:
        async with passing_on:
            try:
                async for item in reading:
                    for each in _messages(item):
                        if isinstance(each, types.JSONRPCError):
                            await writing.send(SessionMessage(each))
                        else:
                            await passing_on.send(each)
                ended()
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return  # the server has ended

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        yield passed_on
        tasks.cancel_scope.cancel()


def _messages(item: SessionMessage | Exception) -> list[SessionMessage | types.JSONRPCError]:
    """Messages of a line: parsed, repaired, or an error response; batches taken apart."""
    if isinstance(item, SessionMessage):
        return [item]
    given = item.errors(include_url=False)[0] if isinstance(item, ValidationError) else None
    if given is None or given["type"] == "json_invalid":
        if given is not None and not str(given["input"]).strip():
            return []
        mended_line = _without_lone_surrogates(given["input"]) if given is not None else None
        if mended_line is not None:
            return _messages(mended_line)
        return [_error(types.PARSE_ERROR, "this line is not JSON", None)]
    whole = _whole(item)
    if not isinstance(whole, list):
        return [_refused(whole)]
    if not whole or len(whole) > MAX_BATCH:
        return [_error(types.INVALID_REQUEST, f"a batch has 1 to {MAX_BATCH} messages", None)]
    return [_member(each) for each in whole]


def _without_lone_surrogates(line: object) -> SessionMessage | Exception | None:
    """The message of a line with halves of characters, as JavaScript's JSON has them of a text that was cut."""
    if not isinstance(line, str) or not _SURROGATE.search(line):
        return None
    try:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except ValidationError as error:
        return None if error.errors(include_url=False)[0]["type"] == "json_invalid" else error
    except (ValueError, RecursionError):
        return None


def _whole(error: Exception) -> Any:
    """The message that was refused: what the error says of its outermost part, else the largest part it names."""
    assert isinstance(error, ValidationError)
    found: Any = None
    for each in error.errors(include_url=False):
        depth = [part for part in each["loc"] if not str(part).startswith("JSONRPC")]
        if not depth or (each["type"] == "missing" and len(depth) == 1):
            return each["input"]
        found = found if found is not None else each["input"]
    return None


def _member(value: Any) -> SessionMessage | types.JSONRPCError:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValidationError:
        return _refused(value)


def _refused(value: Any) -> types.JSONRPCError:
    """Error response (invalid request) to what is no JSON-RPC message."""
    identity = value.get("id") if isinstance(value, dict) else None
    known = identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    return _error(types.INVALID_REQUEST, "this is not a JSON-RPC 2.0 message", known)


def _error(code: int, message: str, identity: str | int | None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=identity, error=types.ErrorData(code=code, message=message))
