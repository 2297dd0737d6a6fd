"""Choices of which bodies are read from a provider, a rule each: no page where an answer was due, none without end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from aurora_orchestration.llm.providers import http_client
from aurora_orchestration.llm.providers.http_client import WEB_PAGE, _bounded_stream


class Body(httpx2.AsyncByteStream):
    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


async def read(*pieces: bytes, answered: bool) -> tuple[bytes, bytes]:
    """What of a body is handed on, and what of it is kept whole."""
    whole = bytearray()
    passed = [piece async for piece in _bounded_stream()(Body(*pieces), whole, answered)]
    return b"".join(passed), bytes(whole)


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        pytest.param((b'{"a":', b"1}"), b'{"a":1}', id="an object is kept whole"),
        pytest.param((b"data: {}\n", b"\n"), b"", id="a stream of events is not"),
        pytest.param((b"x", b"<html>"), b"", id="a sign within an answer is no page"),
    ],
)
async def test_what_of_an_answer_is_kept(pieces: tuple[bytes, ...], kept: bytes) -> None:
    assert await read(*pieces, answered=True) == (b"".join(pieces), kept)


async def test_a_page_is_no_answer_and_may_be_what_comes_with_a_refusal() -> None:
    with pytest.raises(httpx2.DecodingError, match=WEB_PAGE[:20]):
        await read(b" \n<html>", answered=True)
    assert (await read(b" \n<html>", answered=False))[0] == b" \n<html>"


async def test_a_body_of_just_the_size_that_may_be_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_BYTES", 4)
    assert (await read(b"ab", b"cd", answered=True))[0] == b"abcd"
    with pytest.raises(httpx2.DecodingError, match="longer than 4 bytes"):
        await read(b"ab", b"cde", answered=True)
