"""Web application (ASGI) of the dashboard, with its authentication: a page, its files, and server-sent events of what
changed, for whoever has the token.

A page of another origin cannot read it (no CORS), frame it, or make the browser send the cookie (SameSite=Strict); a
name that resolves to 127.0.0.1 (DNS rebinding) is refused by its Host header. To a browser all ports are one site,
another user's too, so the page is in a folder that nobody can guess: the cookie is sent there and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aurora_server.dashboard.page import Page
from aurora_server.dashboard.picture_cache import PictureCache
from aurora_server.dashboard.view import View, view_of
from aurora_server.unauthenticated_connections import UnauthenticatedConnections

MOST_VIEWERS = 16
HEARTBEAT = 15.0
"""Seconds of silence after which a line is sent all the same, so that a viewer who left is noticed."""

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(
    pictures: PictureCache, page: Page, token: str, port: int, place: str, unauthenticated: UnauthenticatedConnections
) -> Starlette:
    """Web application with token login: the dashboard for whoever has `token`, at 127.0.0.1:`port`/`place`/."""
    cookie = f"aurora_dashboard_{port}"  # cookies do not tell ports apart
    viewers = asyncio.Semaphore(MOST_VIEWERS)

    def admitted(request: Request) -> bool:
        known = secrets.compare_digest(request.cookies.get(cookie, "").encode(), token.encode())
        if known and request.client is not None:
            unauthenticated.know(tuple(request.client))
        return known

    def refused(request: Request) -> Response:
        return PlainTextResponse("This page opens with the address that `aurora dashboard` prints.\n", 403)

    async def index(request: Request) -> Response:
        given = request.query_params.get("token")
        if given is not None and secrets.compare_digest(given.encode(), token.encode()):
            answer = RedirectResponse(f"/{place}/", 303)
            answer.set_cookie(cookie, token, httponly=True, samesite="strict", path=f"/{place}/")
            return answer
        if not admitted(request):
            return refused(request)
        picture, problem = await pictures.picture(view_of(request.query_params))
        html = await asyncio.to_thread(page.whole, picture, problem)
        return HTMLResponse(html)

    async def events(request: Request) -> Response:
        if not admitted(request):
            return PlainTextResponse("Forbidden\n", 403)
        if viewers.locked():
            return PlainTextResponse("too many open pages; close one\n", 503)
        return StreamingResponse(_stream(view_of(request.query_params)), media_type="text/event-stream")

    async def _stream(view: View) -> AsyncIterator[str]:
        """Server-sent events: sections whose HTML has changed, and a heartbeat while none has."""
        async with viewers:
            shown: dict[str, str] = {}
            last_problem: str | None = ""
            quiet = 0.0
            while not pictures.ending.is_set():
                picture, problem = await pictures.picture(view)
                told: dict[str, str | None] = {}
                if picture is not None:
                    fresh = await asyncio.to_thread(page.sections, picture)
                    told = {name: html for name, html in fresh.items() if shown.get(name) != html}
                    shown = fresh
                if problem != last_problem:
                    told["problem"] = last_problem = problem
                if told:
                    yield f"event: sections\ndata: {json.dumps(told)}\n\n"
                    quiet = 0.0
                elif quiet >= HEARTBEAT:
                    yield ": still here\n\n"
                    quiet = 0.0
                quiet += pictures.interval
                await pictures.pause()

    return Starlette(
        routes=[
            Route("/", refused),
            Route(f"/{place}/", index),
            Route(f"/{place}/events", events),
            Mount(f"/{place}/static", StaticFiles(directory=Path(__file__).with_name("static"))),
        ],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False),
        ],
    )


class SafeHeaders:
    """Security headers (Content-Security-Policy and others), on every answer, that keep a page to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Security headers added to every HTTP response (middleware)."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
