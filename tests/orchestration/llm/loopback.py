"""A provider on loopback that says what a test told it to, in the providers' own wire formats (ruling 12).

The real SDKs talk to it: Anthropic Messages at `/v1/messages`, OpenAI chat completions at `/v1/chat/completions`,
both as JSON and as server-sent events, whichever the request wants.

    with LoopbackProvider() as provider:
        provider.script({"complexity": "simple"}, Scripted(status=529), "plain text")  # one after the other
        provider.on("words of the system text", {"subgoals": []})                      # whatever the order
        provider.otherwise = lambda request: {"echo": request.json}                    # for all the rest
        settings, environ = provider.llm_settings(), provider.environ

Every request is kept in `provider.requests`; `provider.transcript()` is their byte-stable text for golden files.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic  # noqa: F401 - takes 2.7 s: with all tests it is imported once, before the workers are forked

from aurora_orchestration.model_settings import LlmSettings, ModelSettings
from tests.orchestration.llm.wire_formats import JSON, Kind, Request, Scripted, counted, failure, streamed, whole

KEY = "loopback-key-of-tests"
"""The one key it takes; anything else is answered with 401."""


Answer = Scripted | str | dict[str, Any] | list[Any] | Callable[[Request], Any]


class LoopbackProvider:
    """The provider on a socket. `refuses` are ways of asking for JSON it does not know (`Request.how`) and
    answers with 400.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.dropped: list[Request] = []
        """Requests whose client hung up before the answer was out."""
        self.most_at_once = 0
        self.refuses: set[str] = set()
        self.otherwise: Answer | None = None
        self._queue: list[Answer] = []
        self._rules: list[tuple[str, list[Answer]]] = []
        self._at_once = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> LoopbackProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join(5)

    def script(self, *answers: Answer) -> None:
        """Answers for the next requests, one each, after those scripted before."""
        with self._lock:
            self._queue.extend(answers)

    def on(self, words: str, *answers: Answer) -> None:
        """Answers for requests whose system text has `words` in it (case aside), one each; the last one repeats."""
        with self._lock:
            self._rules.append((words.casefold(), list(answers)))

    @property
    def port(self) -> int:
        """Of the address that it is asked at."""
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        """As configuration carries it, `/v1` included."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def environ(self) -> dict[str, str]:
        """An environment with the key in it."""
        return {"LOOPBACK_API_KEY": KEY}

    def settings(self, kind: Kind = "anthropic", **chosen: Any) -> ModelSettings:
        """One model of this provider."""
        model = "claude-sonnet-4.5" if kind == "anthropic" else "gpt-4o"
        given = {"model": model, "base_url": self.base_url, "api_key_env": "LOOPBACK_API_KEY", "timeout_seconds": 10.0}
        return ModelSettings(**{"provider": kind, **given, **chosen})

    def llm_settings(self, kind: Kind = "anthropic", **chosen: Any) -> LlmSettings:
        """Settings with this provider for both models; `chosen` are further fields of `LlmSettings`."""
        return LlmSettings(**{"reasoning_llm": self.settings(kind), "retry_seconds": 2.0, **chosen})

    def transcript(self) -> str:
        """All requests, in order, without what differs between machines: for golden files."""
        told = [{"path": request.path, "body": request.body} for request in self.requests]
        return json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def answer_to(self, request: Request) -> Scripted:
        """What a request gets: a refusal, or what is scripted for it; a 418 where nothing is, which none retries."""
        refusal = self._refusal(request)
        if refusal is not None:
            self.requests.append(request)
            return refusal
        with self._lock:
            self.requests.append(request)
            system = request.system.casefold()
            rule = next((answers for words, answers in self._rules if words in system), None)
            if rule:
                chosen: Any = rule.pop(0) if len(rule) > 1 else rule[0]
            else:
                chosen = self._queue.pop(0) if self._queue else self.otherwise
        if callable(chosen):
            chosen = chosen(request)
        if chosen is None:
            return Scripted(status=418, error=f"nothing is scripted for: {request.system[:120]}")
        if isinstance(chosen, Scripted):
            return chosen
        return Scripted(text=chosen) if isinstance(chosen, str) else Scripted(json=chosen)

    def _refusal(self, request: Request) -> Scripted | None:
        if request.path not in ("/v1/messages", "/v1/chat/completions"):
            return Scripted(status=404, error=f"no such path: {request.path}")
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if key != KEY:
            return Scripted(status=401, error="invalid x-api-key")
        if request.how in self.refuses:
            field_name = {"output_config": "output_config.format", "tool": "tool_choice"}.get(request.how)
            return Scripted(status=400, error=f"{field_name or 'response_format'}: {request.how} not supported")
        return None

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Counts how many requests are being answered at once."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1

    def wait(self, seconds: float, connection: socket.socket) -> bool:
        """Let time pass; False as soon as the client has hung up or the provider is closed."""
        end = time.monotonic() + seconds
        while not self._closing.is_set():
            readable, _, _ = select.select([connection], [], [], max(0.0, min(0.02, end - time.monotonic())))
            if readable:
                try:
                    if connection.recv(1, socket.MSG_PEEK) == b"":
                        return False
                except OSError:
                    return False
                time.sleep(0.005)  # a pipelined request: not ours yet
            if time.monotonic() >= end:
                return True
        return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, provider: LoopbackProvider) -> None:
        self.provider = provider
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is what some tests are about."""

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    connection: socket.socket

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        provider = self.server.provider
        with provider.busy():
            answer = provider.answer_to(request)
            if answer.delay and not provider.wait(answer.delay, self.connection):
                provider.dropped.append(request)
                self.close_connection = True
                return None
            if answer.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return None
            if answer.status != 200:
                return self._fail(request, answer)
            if answer.garbage is not None:
                return self._send(200, answer.garbage, JSON, answer.cut)
            answer = replace(answer, usage=counted(request, answer))
            if request.streamed and not answer.unstreamed:
                return self._stream(request, answer)
            return self._send(200, whole(request, answer), {**JSON, **answer.headers}, answer.cut)

    def _fail(self, request: Request, answer: Scripted) -> None:
        self._send(answer.status, *failure(request, answer))

    def _send(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        self.wfile.flush()
        if cut is not None:
            self.close_connection = True

    def _stream(self, request: Request, answer: Scripted) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        sent = 0
        for piece in streamed(request, answer):
            if answer.cut is not None and sent + len(piece) > answer.cut:
                self.close_connection = True
                return
            try:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            except OSError:
                self.server.provider.dropped.append(request)
                raise
            sent += len(piece)
            if answer.pause and not self.server.provider.wait(answer.pause, self.connection):
                self.server.provider.dropped.append(request)
                self.close_connection = True
                return
        self.wfile.write(b"0\r\n\r\n")
