"""Sites for tests: one in the style of AURA-P's reference server, and one that answers whatever a test wants."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.programs import COMMAND, Started, run, start
from tests.wait_limits import HANG

EMAIL, PASSWORD = "demo@aura.dev", "password123"


def manifest_command(
    home: Path, *arguments: str, said: str | None = None, seconds: float = HANG, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `aurora manifest …` in a process of its own; standard input is `said`, or empty."""
    environment = {**os.environ, "AURORA_HOME": str(home), "NO_COLOR": "1", **variables}
    return run(
        [*COMMAND, "manifest", *arguments],
        env=environment,
        input=said if said is not None else "",
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=home.parent,
    )


def simple_manifest(**actions: dict[str, Any]) -> dict[str, Any]:
    """A valid manifest whose capabilities have these actions; every mapped parameter is a free one."""
    capabilities = {
        name: {
            "id": name,
            "v": 1,
            "description": f"Does {name}",
            "parameters": {"type": "object", "properties": {each: {} for each in action.get("parameterMapping", {})}},
            "action": {"type": "HTTP", "parameterMapping": {}, **action},
        }
        for name, action in actions.items()
    }
    return {
        "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
        "protocol": "AURA",
        "version": "1.0",
        "site": {"name": "Test", "url": "https://elsewhere.example"},
        "resources": {},
        "capabilities": capabilities,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what these tests are about."""


class Site:
    """A running HTTP server; `asked` are the requests it got: method, path with query, headers, body."""

    def __init__(self, answer: Callable[[Site, BaseHTTPRequestHandler, bytes], None]) -> None:
        site = self
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.stopping = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                site.asked.append((self.command, self.path, headers, body))
                self.close_connection = True
                with suppress(OSError):
                    answer(site, self, body)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def paths(self) -> list[str]:
        """What was asked, shortly: `GET /api/posts`."""
        return [f"{method} {path}" for method, path, _, _ in self.asked]


@contextmanager
def running(answer: Callable[[Site, BaseHTTPRequestHandler, bytes], None]) -> Iterator[Site]:
    """A site that answers every request with `answer(site, handler, body)`."""
    site = Site(answer)
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.stopping.set()
        site.server.shutdown()
        site.server.server_close()
        thread.join(5)


def reply(
    handler: BaseHTTPRequestHandler,
    status: int = 200,
    body: bytes | str | dict[str, Any] | list[Any] = b"",
    *,
    kind: str = "application/json",
    **headers: str,
) -> None:
    """Answer with a body; header names are written with _ for -."""
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    handler.send_response(status)
    if kind and status not in (204, 304):
        handler.send_header("Content-Type", kind)
    if status not in (204, 304):
        handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if status not in (204, 304):
        handler.wfile.write(data)


class Lighthouse:
    """The reference server's behaviour, written anew: cookie `auth-token`, posts, AURA-State in standard Base64."""

    def __init__(self, manifest: bytes) -> None:
        self.manifest = manifest
        self.posts = [{"id": "1", "title": "First", "content": "…", "tags": ["aura", "a b"], "published": True}]
        self.last = 1

    def __call__(self, site: Site, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        url = urlsplit(handler.path)
        cookies = SimpleCookie(handler.headers.get("Cookie", ""))
        known = "auth-token" in cookies and cookies["auth-token"].value == "MTox"
        headers: dict[str, str] = {}
        status, answer = self.act(handler.command, url.path, parse_qs(url.query), body, known, headers)
        if url.path == "/api/auth/login" and status == 200:
            known = True
        capabilities = ["login", "list_posts", "read_post", *(["create_post"] if known else [])]
        state = {"isAuthenticated": known, "context": {"path": url.path}, "capabilities": capabilities}
        headers["AURA_State"] = base64.b64encode(json.dumps(state).encode()).decode()
        reply(handler, status, answer, **headers)

    def act(
        self, method: str, path: str, query: dict[str, list[str]], body: bytes, known: bool, headers: dict[str, str]
    ) -> tuple[int, Any]:
        """Status and body for one request; adds to `headers`."""
        if path == "/.well-known/aura.json":
            headers |= {"ETag": '"v1"', "Cache_Control": "public, max-age=3600"}
            return 200, self.manifest
        if (method, path) == ("POST", "/api/auth/login"):
            if json.loads(body) != {"email": EMAIL, "password": PASSWORD}:
                return 401, {"code": "INVALID_CREDENTIALS"}
            headers["Set_Cookie"] = "auth-token=MTox; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax"
            return 200, {"success": True}
        if (method, path) == ("GET", "/api/posts"):
            tags = query.get("tags", [])
            found = [post for post in self.posts if not tags or set(tags) & set(post["tags"])]
            start, limit = int(query.get("offset", ["0"])[0]), int(query.get("limit", ["100"])[0])
            return 200, {"posts": found[start : start + limit], "total": len(found)}
        if not known:
            return 401, {"code": "UNAUTHORIZED"}
        if (method, path) == ("POST", "/api/posts"):
            self.last += 1
            self.posts.append({"tags": [], **json.loads(body), "id": str(self.last)})
            return 201, self.posts[-1]
        post = next((each for each in self.posts if path == f"/api/posts/{each['id']}"), None)
        if post is None:
            return 404, {"code": "NOT_FOUND"}
        if method == "PUT":
            post |= json.loads(body)
        elif method == "DELETE":
            self.posts.remove(post)
            return 204, b""
        return 200, post


@contextmanager
def demo_site(home: Path, *options: str) -> Iterator[tuple[str, Started]]:
    """`aurora manifest serve` in a process of its own: its URL, and the process."""
    environment = {**os.environ, "AURORA_HOME": str(home)}
    command = [*COMMAND, "manifest", "serve", "--port", "0", "--json", *options]
    process = start(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        yield json.loads(line)["url"], process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=HANG)


@contextmanager
def raw_site(answer: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A server below HTTP: `answer(connection, stopping)` may send any bytes once a request's head has come."""
    stopping = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)

    def serve() -> None:
        while not stopping.is_set():
            with suppress(TimeoutError, OSError):
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.settimeout(10)
                    head = b""
                    while b"\r\n\r\n" not in head:
                        part = connection.recv(65536)
                        if not part:
                            break
                        head += part
                    answer(connection, stopping)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopping.set()
        thread.join(5)
        listener.close()


def drip(connection: socket.socket, stopping: threading.Event, data: bytes, pause: float) -> None:
    """Send `data` again and again, slowly, until the other side or the test has had enough."""
    while not stopping.is_set():
        connection.sendall(data)
        time.sleep(pause)
