"""Requests with bounds, over real sockets: what a redirect takes along, what of a body is kept, what a wait is."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_manifest.client.transport import Request, RequestPolicy, SiteReply, send
from aurora_protocol import CallBlocked, SiteError
from tests.server.sites import Site, reply, running

TOKEN = (("Authorization", "Bearer t"), ("X-Kept", "yes"))


def found(site: Site, handler: Any, body: bytes) -> None:
    reply(handler, 200, {"there": True})


@pytest.mark.parametrize("near", [True, False])
async def test_who_asks_is_told_to_the_site_it_was_given_for_alone(near: bool) -> None:
    with running(found) as other:

        def answer(site: Site, handler: Any, body: bytes) -> None:
            if handler.path == "/old":
                reply(handler, 307, Location="/new" if near else f"{other.url}/new")
            else:
                found(site, handler, body)

        with running(answer) as site:
            policy = RequestPolicy(cross_origin=True)
            got = await send(Request("GET", f"{site.url}/old", TOKEN), policy)
            assert got.fine and got.redirects == (got.url,)
            _, _, headers, _ = (site if near else other).asked[-1]
            told = {name.lower(): value for name, value in headers.items()}
            assert told["x-kept"] == "yes" and ("authorization" in told) is near
            if not near:
                with pytest.raises(CallBlocked, match="another site"):
                    await send(Request("GET", f"{site.url}/old", TOKEN), RequestPolicy())


@pytest.mark.parametrize(
    ("length", "whole", "kept"), [(10, True, 10), (11, True, None), (10, False, 10), (11, False, 10)]
)
async def test_what_of_a_long_body_is_kept(length: int, whole: bool, kept: int | None) -> None:
    with running(lambda site, handler, body: reply(handler, 200, "x" * length)) as site:
        asked = send(Request("GET", f"{site.url}/"), RequestPolicy(max_bytes=10, whole=whole))
        if kept is None:
            with pytest.raises(SiteError, match="larger than 10 bytes"):
                await asked
        else:
            got = await asked
            assert len(got.body) == kept and bool(got.cut) is (length > 10)


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("17", "17 s"),
        (" 0 ", "0 s"),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ("-1", ""),
        ("1.5", ""),
        ("soon", ""),
        ("1" * 10, ""),
        (None, ""),
    ],
)
def test_how_long_a_site_asks_to_wait(said: str | None, wait: str) -> None:
    headers = () if said is None else (("retry-after", said), ("retry-after", "5"))
    assert SiteReply(url="https://a.b/", status=429, headers=headers, body=b"", took_ms=1.0).wait == wait
