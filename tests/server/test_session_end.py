"""End of a session: what it was made of is gone at once, and not when all there is is collected."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aurora_server.lsp.features import create_server
from aurora_server.lsp.server import AuroraServer


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Nothing is collected meanwhile: what goes, goes as nobody refers to it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _session() -> AuroraServer:
    return create_server(cast("Any", SimpleNamespace(workspaces=None)), lambda _: None)


async def test_a_session_that_is_taken_apart_goes_at_once(uncollected: None) -> None:
    server = _session()
    parts: list[weakref.ref[Any]] = [weakref.ref(server), weakref.ref(server.protocol), weakref.ref(server.protocol.fm)]
    server.close()
    assert server.take_apart()
    del server
    assert [part() for part in parts] == [None, None, None]


@pytest.mark.parametrize("spawned", [True, False], ids=["beside its messages", "for a message"])
async def test_a_session_in_which_something_runs_stays_whole(spawned: bool) -> None:
    server = _session()
    held = asyncio.Event()

    async def waits() -> None:
        await held.wait()

    task = server.spawn(waits(), "waits") if spawned else server.protocol._in_background(waits())
    assert not server.take_apart()
    assert server.protocol.fm.features, "its features are there"
    held.set()
    await task
    await asyncio.sleep(0)
    assert server.take_apart()
