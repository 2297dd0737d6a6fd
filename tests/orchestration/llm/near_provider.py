"""A provider as near as the SDKs' own transport: what they send is answered where it would go out, without sockets.

For tests that are about what is made of answers, not about how these arrive: a run of nine phases costs a third less
of the CPU time, since no thread serves it and no connection is made for each question. The SDKs, and what is ours, are
the same down to the bytes; what only a socket can do (hang up, cut off, pause) is `LoopbackProvider`'s.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import anthropic  # noqa: F401 - takes 2.7 s: with all tests it is imported once, before the workers are forked
import httpx2

from tests.orchestration.llm.loopback import ScriptedProvider
from tests.orchestration.llm.wire_formats import JSON, Request, Scripted, counted, failure, streamed, whole


class NearProvider(ScriptedProvider):
    """The provider without a network. Its address is one at which nobody listens."""

    _ports = itertools.cycle(range(1, 80))
    _open: dict[int, NearProvider] = {}  # noqa: RUF012 - of all
    _afar = httpx2.AsyncHTTPTransport.handle_async_request

    def __init__(self) -> None:
        super().__init__()
        self._port = next(self._ports)

    def __enter__(self) -> NearProvider:
        self._open[self._port] = self
        httpx2.AsyncHTTPTransport.handle_async_request = _handled  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        del self._open[self._port]
        if not self._open:
            httpx2.AsyncHTTPTransport.handle_async_request = NearProvider._afar  # type: ignore[method-assign]

    @property
    def port(self) -> int:
        return self._port

    async def respond(self, asked: httpx2.Request) -> httpx2.Response:
        """What it says to a request of an SDK's."""
        headers = {name.lower(): value for name, value in asked.headers.items()}
        request = Request(asked.url.path, headers, json.loads(await asked.aread()))
        with self.busy():
            answer = self.answer_to(request)
            is_plain = answer.rewritten is iter and answer.cut is None and not answer.drop and not answer.pause
            assert is_plain, "it takes a socket"
            try:
                await self._wait(answer.delay, asked)
            except asyncio.CancelledError:
                self.dropped.append(request)
                raise
            said, more = self._body(request, answer)
            return httpx2.Response(answer.status, headers={**more, **answer.headers}, stream=_Body(said))

    async def _wait(self, seconds: float, asked: httpx2.Request) -> None:
        patience = asked.extensions["timeout"]["read"]
        await asyncio.sleep(min(seconds, patience))
        if seconds > patience:
            raise httpx2.ReadTimeout("")

    def _body(self, request: Request, answer: Scripted) -> tuple[bytes, dict[str, str]]:
        if answer.status != 200:
            return failure(request, answer)
        if answer.garbage is not None:
            return answer.garbage, JSON
        answer = replace(answer, usage=counted(request, answer), pieces=1)
        if request.streamed and not answer.unstreamed:
            return b"".join(streamed(request, answer)), {"content-type": "text/event-stream"}
        return whole(request, answer), JSON


class _Body(httpx2.AsyncByteStream):
    def __init__(self, said: bytes) -> None:
        self._said = said

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._said


async def _handled(transport: httpx2.AsyncHTTPTransport, asked: httpx2.Request) -> httpx2.Response:
    near = NearProvider._open.get(asked.url.port or 0) if asked.url.host == "127.0.0.1" else None
    return await (near.respond(asked) if near is not None else NearProvider._afar(transport, asked))
