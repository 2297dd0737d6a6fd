"""Reading and checking what is open: a check that nobody waits for any more stops in its thread."""

from __future__ import annotations

import asyncio
import json

import pytest

from aurora_manifest.check import CheckStopped
from aurora_manifest.kinds import MANIFEST
from aurora_protocol.positions import LineIndex
from aurora_server.lsp.manifests.document_cache import DocumentReader, check_in_thread
from tests.manifests import check, manifest


async def test_a_check_stops_when_its_request_is_cancelled() -> None:
    text = json.dumps(manifest(600), indent=2).replace('"v": 1', '"v": 0')
    reader = DocumentReader(MANIFEST, {})
    snapshot = reader.read("file:///aura.json", 1, LineIndex(text), "utf-16")
    first = asyncio.create_task(check_in_thread(reader, snapshot))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(CheckStopped):  # it waits for the first to leave, which had not come to an end
        await asyncio.to_thread(reader.check, snapshot, lambda: True)
    assert await check_in_thread(reader, snapshot) == check(text)
