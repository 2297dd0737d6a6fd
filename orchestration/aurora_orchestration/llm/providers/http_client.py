"""HTTP client under the providers' SDKs: a size limit on responses, no redirects, no keep-alive connection kept."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 16_000_000
"""Bytes of an answer that are read; a stream of 128,000 tokens is less."""
WEB_PAGE = (
    "a web page came where an answer of its API should; check base_url (most end with /v1), or sign in to the network"
)
"""What is said of HTML: a sign-in page between, or an address that is a site's."""
_WHOLE = "aurora_whole_answer"
_BLANK = b" \t\r\n\xef\xbb\xbf"
_CONNECT_SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def open_client(base_url: str, timeout: float) -> httpx2.AsyncClient:
    """HTTP client for one provider. Takes a while the first time (certificates): not for the event loop.

    It keeps no idle connection, so that nothing is left to close; it follows no redirect, so that a key goes where it
    was configured to go; it asks for no compression and takes none, so that the bound on bytes holds. An answer that is
    a web page ends with a DecodingError `WEB_PAGE`.
    """
    import httpx2

    stream = _bounded_stream()

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the answer is compressed, which was not asked for")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            whole = response.extensions[_WHOLE] = bytearray()
            response.stream = stream(response.stream, whole, response.status_code == 200)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        limits=httpx2.Limits(max_keepalive_connections=0),
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [bound]},
        follow_redirects=False,
        trust_env=urlsplit(base_url).hostname not in _LOOPBACK,
        verify=certificates(),
    )


@cache
def _bounded_stream() -> Callable[[httpx2.AsyncByteStream, bytearray, bool], httpx2.AsyncByteStream]:
    """Response size limit: bodies that end at MAX_BYTES. One class, made once: classes are garbage cycles."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream, whole: bytearray, answered: bool) -> None:
            self._inner = inner
            self._whole = whole
            self._answered = answered

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MAX_BYTES
            keeps = False
            pieces = aiter(self._inner)
            try:
                async for piece in pieces:
                    left -= len(piece)
                    if left < 0:
                        raise httpx2.DecodingError(f"the answer is longer than {MAX_BYTES} bytes")
                    if left + len(piece) == MAX_BYTES:
                        first = piece.lstrip(_BLANK)[:1]
                        if first == b"<" and self._answered:
                            raise httpx2.DecodingError(WEB_PAGE)
                        keeps = first == b"{"
                    if keeps:
                        self._whole += piece
                    yield piece
            finally:  # here and now, not by a collector in whichever thread
                if isinstance(pieces, AsyncGenerator):
                    await pieces.aclose()

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded


def whole_answer(response: httpx2.Response) -> bytes:
    """The JSON object that a server answered with where a stream of events was asked for; empty where it did not."""
    return bytes(response.extensions.get(_WHOLE, b""))


@cache
def certificates() -> ssl.SSLContext:
    """TLS context with trusted certificates, made once."""
    import httpx2

    return httpx2.create_ssl_context()
