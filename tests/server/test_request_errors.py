"""Errors as clients see them: what the system refuses is no fault within."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import weakref
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_deliverables import InvalidRequest
from aurora_server.lsp.deliverable_metrics import report
from aurora_server.lsp.server import AuroraServer
from aurora_server.session.converter import get_ready_for
from aurora_server.session.errors import REQUEST_CANCELLED, REQUEST_FAILED, as_request_error
from aurora_server.session.refusals import NO_THREAD


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC])
def test_what_the_system_refuses_is_said_with_its_words(number: int) -> None:
    told = as_request_error(OSError(number, os.strerror(number)))
    assert told is not None and told.code == REQUEST_FAILED and os.strerror(number) in told.message


def test_memory_that_is_refused_is_said() -> None:
    told = as_request_error(MemoryError())
    assert told is not None and told.code == REQUEST_FAILED and "memory" in told.message


def test_another_error_of_the_system_is_unexpected() -> None:
    assert as_request_error(OSError(errno.EISDIR, "Is a directory")) is None


def test_threads_that_are_refused_are_said() -> None:
    told = as_request_error(RuntimeError(NO_THREAD))
    assert told is not None and told.code == REQUEST_FAILED and "threads" in told.message
    assert as_request_error(RuntimeError("another")) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"period": "daily"}, "a daily report needs `start` and `end`"),
        ({"period": "daily", "start": "2026-02-26T00:00:00Z"}, "a daily report needs `start` and `end`"),
        ({"period": "monthly", "end": "2026-02-26T00:00:00Z"}, "a monthly report needs `start` and `end`"),
        ({"period": "daily", "start": "2026-02-26T00:00:00Z", "end": "2026-02-26T00:00:00Z"}, "must be before"),
        ({"period": "cumulative", "start": "2999-01-01T00:00:00Z"}, "must be before"),
    ],
)
async def test_a_report_without_the_bounds_it_needs_is_refused(asked: dict[str, str], told: str) -> None:
    server = AuroraServer(cast(Any, SimpleNamespace(workspaces=None)), lambda reason: None)
    with pytest.raises(InvalidRequest, match=told):
        await report(server, asked)


async def test_only_what_was_cancelled_is_told_as_cancelled() -> None:
    protocol = AuroraServer(cast(Any, SimpleNamespace(workspaces=None)), lambda reason: None).protocol
    waited: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def ask() -> None:
        await waited

    def told(task: asyncio.Task[None]) -> tuple[int, str]:
        error = protocol._given_up("aurora/recall", task)
        return error.code, error.message

    withdrawn, broken = asyncio.create_task(ask()), asyncio.create_task(ask())
    await asyncio.sleep(0)
    withdrawn.cancel()
    waited.cancel()
    await asyncio.wait({withdrawn, broken})
    assert withdrawn.cancelled() and broken.cancelled()
    assert told(withdrawn) == (REQUEST_CANCELLED, "aurora/recall was cancelled")
    code, message = told(broken)
    assert code == REQUEST_FAILED and "cancelled" not in message
    protocol.close("the daemon is stopping")
    assert told(withdrawn) == (REQUEST_CANCELLED, "aurora/recall was cancelled: the daemon is stopping; try again")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("initialize", {}),
        ("initialize", {"capabilities": {"textDocument": {"hover": {"contentFormat": 1}}}}),
        ("initialize", {"capabilities": 7, "workspaceFolders": [{"uri": 1}]}),
    ],
)
def test_a_message_of_a_wrong_shape_is_let_go_once_it_is_refused(method: str, params: dict[str, Any]) -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    protocol = AuroraServer(cast(Any, SimpleNamespace(workspaces=None)), lambda reason: None).protocol
    told: list[bytes] = []
    protocol.outlet = lambda body, droppable: told.append(body)
    large = Text("x" * 1000)
    kept = weakref.ref(large)
    gc.collect()
    gc.disable()
    try:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "x": large}}
        get_ready_for(message)
        protocol.receive(message)
        del large, message
        assert b"-32602" in told[0] and kept() is None
    finally:
        gc.enable()
