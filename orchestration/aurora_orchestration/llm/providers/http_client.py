"""The HTTP client under the providers' SDKs: bounded answers, no redirects, no connection kept behind a call."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 16_000_000
"""Bytes of an answer that are read; a stream of 128,000 tokens is less."""
_CONNECT_SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def open_client(base_url: str, timeout: float) -> httpx2.AsyncClient:
    """A client for one provider. Takes a while the first time (certificates): not for the event loop.

    It keeps no idle connection, so that nothing is left to close; it follows no redirect, so that a key goes where it
    was configured to go; it asks for no compression and takes none, so that the bound on bytes holds.
    """
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MAX_BYTES
            async for piece in self._inner:
                left -= len(piece)
                if left < 0:
                    raise httpx2.DecodingError(f"the answer is longer than {MAX_BYTES} bytes")
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the answer is compressed, which was not asked for")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Bounded(response.stream)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
        limits=httpx2.Limits(max_keepalive_connections=0),
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [bound]},
        follow_redirects=False,
        trust_env=urlsplit(base_url).hostname not in _LOOPBACK,
        verify=_certificates(),
    )


@cache
def _certificates() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
