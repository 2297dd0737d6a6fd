"""Site of the demo as an ASGI web application: what holds for every request (rate limit, CSRF, session cookie), then
the capability's own answer.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import socket
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from aurora_manifest.model import Capability
from aurora_server.demo_site.capabilities import HANDLERS, RateLimit, Site, Visit
from aurora_server.demo_site.manifest import NEEDS_LOGIN, Contract
from aurora_server.demo_site.people import SESSION_SECONDS
from aurora_server.demo_site.request_arguments import RequestRefused, read_arguments

HOST = "127.0.0.1"
_HEADERS = 16 * 1024
COOKIE = "session"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SAFE_METHODS = frozenset({"GET", "HEAD"})
logger = logging.getLogger(__name__)


class Door:
    """Middleware that every request to the API comes through: request id, limits, origin, session, state, log."""

    def __init__(self, contract: Contract, origin: str, per_minute: int) -> None:
        self._contract = contract
        self._origin = origin
        self._host = origin.partition("://")[2]
        self._rate = RateLimit(per_minute)
        self._site = Site()

    async def answer(self, request: Request) -> Response:
        """Answer a call of the API."""
        started = time.monotonic()
        named = request.headers.get("x-request-id", "")
        request_id = named if _REQUEST_ID.fullmatch(named) else uuid.uuid4().hex
        capability = self._contract.routes.get(request.scope["route"].path, {}).get(request.method)
        token = request.cookies.get(COOKIE)
        client = request.client.host if request.client else "?"
        visit = Visit(client, self._site.people.of(token, started), token)
        try:
            response = await self._call(request, capability, visit)
        except RequestRefused as refusal:
            response = JSONResponse(refusal.document(request_id), refusal.status, headers=refusal.headers)
        if visit.token != token:
            _set_cookie(response, visit.token)
        response.headers["X-Request-Id"] = request_id
        response.headers["AURA-State"] = self._state(request, visit)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        logger.info(
            "%s %s %s %s %s as %s: %d, %.0f ms",
            request_id,
            client,
            request.method,
            request.url.path,
            capability.name if capability else "-",
            visit.person.id if visit.person else "-",
            response.status_code,
            1000 * (time.monotonic() - started),
        )
        return response

    def manifest(self, request: Request) -> Response:
        """The manifest, for everybody; with it, to whom may do what now. What a session may is kept by nobody."""
        token = request.cookies.get(COOKIE)
        client = request.client.host if request.client else "?"
        visit = Visit(client, self._site.people.of(token, time.monotonic()), token)
        headers = {
            "ETag": self._contract.etag,
            "Cache-Control": "public, max-age=300" if visit.person is None else "private, no-cache",
            "Vary": "Cookie",
            "AURA-State": self._state(request, visit),
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "AURA-State",
            "X-Content-Type-Options": "nosniff",
        }
        if self._contract.matches(request.headers.get("if-none-match")):
            return Response(status_code=304, headers=headers)
        return Response(self._contract.body, headers=headers, media_type="application/json")

    async def _call(self, request: Request, capability: Capability | None, visit: Visit) -> Response:
        """Call routed to its capability: login, arguments, answer; 405 for a wrong method."""
        self._admit(request, visit)
        if capability is None:
            allowed = ", ".join(sorted(self._contract.routes[request.scope["route"].path]))
            raise RequestRefused(405, "wrong_method", f"use {allowed} here", headers={"Allow": allowed})
        if capability.name in NEEDS_LOGIN and visit.person is None:
            raise RequestRefused(401, "not_logged_in", "log in first, with the capability login")
        arguments = await read_arguments(request, capability)
        answer = await HANDLERS[capability.name](self._site, visit, arguments)
        return Response(status_code=204) if answer.status == 204 else JSONResponse(answer.body, answer.status)

    def _admit(self, request: Request, visit: Visit) -> None:
        """Rate limit (429) and CSRF check: Refused for a request too many, or one that another site's page sent."""
        wait = self._rate.wait(visit.client, time.monotonic())
        if wait:
            detail = f"too many requests; try again in {wait} s"
            raise RequestRefused(429, "too_many_requests", detail, headers={"Retry-After": str(wait)})
        if request.headers.get("host", "") not in self._hosts():
            raise RequestRefused(421, "wrong_host", f"this is {self._origin}")
        if request.method in _SAFE_METHODS:
            return
        origin = request.headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2] not in self._hosts()
        if foreign or request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            raise RequestRefused(403, "foreign_origin", "a page of another site may not do this")

    def _hosts(self) -> tuple[str, str]:
        return self._host, self._host.replace("127.0.0.1", "localhost")

    def _state(self, request: Request, visit: Visit) -> str:
        """Advice for the next call. No names, no secrets: whether logged in, and what is open."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        document = {
            "isAuthenticated": visit.person is not None,
            "context": {"path": request.url.path[:200], "timestamp": moment},
            "capabilities": self._contract.allowed(visit.person is not None),
        }
        return base64.b64encode(json.dumps(document, separators=(",", ":")).encode()).decode()


def _set_cookie(response: Response, token: str | None) -> None:
    """Session cookie set. No `Secure`: the demo site speaks http, on this machine only."""
    if token is None:
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    else:
        response.set_cookie(COOKIE, token, max_age=SESSION_SECONDS, httponly=True, samesite="strict")


def make_site(origin: str, per_minute: int) -> Starlette:
    """The application for `origin`, `http://127.0.0.1:8765`."""
    contract = Contract(origin, per_minute)
    door = Door(contract, origin, per_minute)

    async def manifest(request: Request) -> Response:
        return door.manifest(request)

    async def front(request: Request) -> Response:
        return PlainTextResponse(f"The AURORA demo site. Its manifest: {origin}/.well-known/aura.json\n")

    async def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return JSONResponse({"code": "not_found" if status == 404 else "refused", "detail": "nothing here"}, status)

    routes = [Route("/.well-known/aura.json", manifest), Route("/", front)]
    methods = ["GET", "POST", "PUT", "DELETE", "PATCH"]
    routes += [Route(path, door.answer, methods=methods) for path in contract.routes]
    return Starlette(routes=routes, exception_handlers={HTTPException: missing})


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes a free one. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def serve_site(listener: socket.socket, per_minute: int, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, which uvicorn raises again once it has ended well."""
    origin = f"http://{HOST}:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        make_site(origin, per_minute),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        http="h11",
        ws="none",
        lifespan="off",
        limit_concurrency=100,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=_HEADERS,
    )
    on_ready(origin)
    uvicorn.Server(config).run(sockets=[listener])
