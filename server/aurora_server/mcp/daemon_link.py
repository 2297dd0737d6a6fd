"""Link of the MCP server to the daemon (client, multiplexed): many requests at once, cancellation, requests the other
way round; reconnects after a daemon's end, and gives one up that does not answer a heartbeat.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from aurora_protocol import DaemonUnreachable, FrameError, RequestFailed
from aurora_protocol.address import Address
from aurora_protocol.frames import Decoder, encode
from aurora_protocol.launch import ensure_daemon
from aurora_protocol.process_state import is_stopped

logger = logging.getLogger(__name__)

CLIENT_NAME = "aurora-mcp"
READ_SIZE = 256 * 1024
METHOD_NOT_FOUND, INTERNAL_ERROR = -32601, -32603
OPENINGS = 4
"""Tries at beginning a session: a daemon that was killed accepts connections until the system has taken it down."""
OPEN_AGAIN_AFTER = 0.2
"""Seconds before the second try, twice that before the third, and so on."""

LOOK_EVERY = 2.0
"""Seconds between looks at a daemon that somebody waits for; found stopped in two, it will not answer."""
SILENT_AFTER = 12.0
"""Seconds without one byte after a ping: it hangs, and will not answer."""

Heard = Callable[[dict[str, Any]], None]
"""Takes the value of one `$/progress`."""
Answerer = Callable[[dict[str, Any], Heard | None], Awaitable[Any]]
"""Answers a request of the daemon: its params, and who hears of the request of ours that it is asked for."""


_STOPPED = "the daemon was stopped (SIGSTOP); 'aurora daemon stop' ends it, and the next question starts another"
_SILENT = "the daemon does not answer; 'aurora daemon stop' ends it, and the next question starts another"


class LinkLost(DaemonUnreachable):
    """The daemon ended in the middle of a request; the next one starts another."""


class DaemonLink:
    """Multiplexed session for one workspace, opened with the first request and opened anew when the daemon went away.

    `options` are the `initializationOptions`; `answerers` have the daemon's own requests by method.
    """

    def __init__(
        self,
        address: Address,
        root: Path,
        environ: Mapping[str, str],
        options: Mapping[str, Any],
        answerers: Mapping[str, Answerer],
    ) -> None:
        self._address = address
        self.root = root
        self._environ = environ
        self._options = options
        self._answerers = answerers
        self._opening = asyncio.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._heard_at = 0.0
        self._waiting: dict[int, tuple[asyncio.StreamWriter | None, asyncio.Future[Any]]] = {}
        self._listening: dict[str, Heard] = {}
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._last_id = 0
        self._last_token = 0

    async def request(
        self, method: str, params: Mapping[str, Any], *, heard: Heard | None = None, again: bool = False
    ) -> Any:
        """Request to the daemon. `heard` gets what is told under the request's `partialResultToken`.

        With `again` it is asked once more where the daemon ended meanwhile: for what changes nothing and costs nothing.
        Raises RequestFailed for an answer that is an error, DaemonUnreachable where none comes. Cancelling cancels it.
        """
        try:
            return await self._request(method, params, heard)
        except LinkLost:
            if not again:
                raise
        return await self._request(method, params, heard)

    async def _request(self, method: str, params: Mapping[str, Any], heard: Heard | None) -> Any:
        """Request with a token for partial results, where somebody listens."""
        await self.open()
        if heard is None:
            return await self._send_request(method, dict(params))
        self._last_token += 1
        token = f"mcp-{self._last_token}"
        self._listening[token] = heard
        try:
            return await self._send_request(method, {**params, "partialResultToken": token})
        finally:
            del self._listening[token]

    async def close(self) -> None:
        """Take leave of the daemon."""
        writer, self._writer = self._writer, None
        if self._watching is not None:
            self._watching.cancel()
        if writer is None:
            return
        if self._reading is not None:
            self._reading.cancel()
        with contextlib.suppress(OSError):
            writer.write(_frame({"method": "exit"}))
            await asyncio.wait_for(writer.drain(), 1.0)
        writer.close()

    async def open(self) -> None:
        """Begin the session, with a daemon that is started where none runs. Raises DaemonUnreachable."""
        async with self._opening:
            if self._writer is not None and not self._writer.is_closing():
                return
            for tried in range(1, OPENINGS + 1):
                try:
                    await self._open()
                except LinkLost:
                    if tried == OPENINGS:
                        raise
                    await asyncio.sleep(tried * OPEN_AGAIN_AFTER)
                else:
                    break
            logger.info("session with the daemon began for %s", self.root)

    async def _open(self) -> None:
        """Connection opened, the daemon started where none runs; reader and heartbeat begin."""
        client = await asyncio.to_thread(ensure_daemon, self._address, environ=dict(self._environ))
        process = client.peer
        stream = client.detach()
        stream.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=stream)
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader, writer), name="daemon link")
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.create_task(self._watch(writer, process), name="daemon pings")
        try:
            await self._begin()
        except BaseException:  # half begun: the call was cancelled, the daemon ends; the next begins anew
            writer.close()
            raise

    async def _begin(self) -> None:
        """Handshake: `initialize`, then `initialized`."""
        uri = self.root.as_uri()
        await self._send_request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": CLIENT_NAME},
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": self.root.name or str(self.root)}],
                "capabilities": {},
                "initializationOptions": dict(self._options),
            },
        )
        self._write({"method": "initialized", "params": {}})

    async def _send_request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Request sent and awaited; cancelled at the daemon when its caller is (`$/cancelRequest`)."""
        self._last_id += 1
        identity = self._last_id
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[identity] = (self._writer, future)
        try:
            self._write({"id": identity, "method": method, "params": params})
            return await future
        except asyncio.CancelledError:
            with contextlib.suppress(DaemonUnreachable):  # a gone daemon has nothing left to cancel
                self._write({"method": "$/cancelRequest", "params": {"id": identity}})
            raise
        finally:
            self._waiting.pop(identity, None)

    def _write(self, message: Mapping[str, Any]) -> None:
        """Message framed and written. Raises LinkLost on a closed connection."""
        if self._writer is None or self._writer.is_closing():
            raise LinkLost("the daemon closed the connection; ask again")
        self._writer.write(_frame(message))

    async def _watch(self, writer: asyncio.StreamWriter, process: int | None) -> None:
        """Heartbeat: ask a daemon that somebody waits for whether it is there; one stopped or silent is given up."""
        loop = asyncio.get_running_loop()
        asked_at: float | None = None
        stopped = 0
        while not writer.is_closing():
            await asyncio.sleep(LOOK_EVERY)
            waiting = [future for asked, future in self._waiting.values() if asked is writer and not future.done()]
            found_stopped = bool(waiting) and await asyncio.to_thread(is_stopped, process)
            stopped = stopped + 1 if found_stopped else 0
            if stopped > 1:
                self._give_up(writer, _STOPPED)
            elif not waiting:
                asked_at = None
            elif asked_at is None or self._heard_at >= asked_at:
                asked_at = loop.time()
                with contextlib.suppress(LinkLost):
                    self._write({"id": "ping", "method": "aurora/status"})
            elif loop.time() - asked_at >= SILENT_AFTER:
                self._give_up(writer, _SILENT)

    def _give_up(self, writer: asyncio.StreamWriter, reason: str) -> None:
        """Connection given up: all pending requests fail."""
        logger.warning("the session with the daemon is given up: %s", reason)
        for asked, future in list(self._waiting.values()):
            if asked is writer and not future.done():
                future.set_exception(DaemonUnreachable(reason))
        if self._writer is writer:
            self._writer = None
        writer.transport.abort()  # what it was told and did not read is not waited for

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reader loop: frames decoded and dispatched until the connection ends."""
        decoder = Decoder()
        reason = "the daemon closed the connection; ask again"
        try:
            while data := await reader.read(READ_SIZE):
                self._heard_at = asyncio.get_running_loop().time()
                for body in decoder.feed(data):
                    self._take(json.loads(body))
        except ConnectionError as error:
            logger.info("the connection broke: %s", error)
        except (OSError, FrameError, ValueError) as error:
            reason = f"the daemon's answer could not be read: {error}"
        finally:
            logger.info("session with the daemon ended: %s", reason)
            writer.close()
            if self._writer is writer:
                self._writer = None
            for task in self._answering.values():
                task.cancel()
            for asked, future in list(self._waiting.values()):
                if asked is writer and not future.done():
                    future.set_exception(LinkLost(reason))

    def _take(self, message: dict[str, Any]) -> None:
        """Dispatch of a message: response, progress, or request of the daemon's."""
        method, identity = message.get("method"), message.get("id")
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if method is None:
            _, future = self._waiting.get(identity, (None, None)) if isinstance(identity, int) else (None, None)
            if future is not None and not future.done():
                _settle(future, message)
        elif identity is not None:
            task = asyncio.create_task(self._answer(identity, method, params))
            self._answering[identity] = task
            task.add_done_callback(lambda _: self._answering.pop(identity, None))
        elif method == "$/cancelRequest":
            asked = self._answering.get(params.get("id", ""))
            if asked is not None:
                asked.cancel()
        elif method == "$/progress":
            heard = self._listening.get(str(params.get("token")))
            value = params.get("value")
            if heard is not None and isinstance(value, dict):
                heard(value)

    async def _answer(self, identity: int | str, method: str, params: dict[str, Any]) -> None:
        """Answer to a request of the daemon's (reverse direction)."""
        answerer = self._answerers.get(method)
        reply: dict[str, Any] = {"id": identity}
        if answerer is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"this client does not answer {method}"}
        else:
            try:
                heard = self._listening.get(str(params.get("partialResultToken")))
                reply["result"] = await answerer(params, heard)
            except Exception as error:  # noqa: BLE001 - the boundary: whatever the MCP client's side raises is an error reply
                reply["error"] = {"code": INTERNAL_ERROR, "message": str(error) or type(error).__name__}
        with contextlib.suppress(LinkLost):
            self._write(reply)


def _settle(future: asyncio.Future[Any], message: dict[str, Any]) -> None:
    """Future resolved by a response: its result, or RequestFailed."""
    error = message.get("error")
    if not isinstance(error, dict):
        future.set_result(message.get("result"))
        return
    code, data = error.get("code"), error.get("data")
    kind = data.get("kind") if isinstance(data, dict) else None
    future.set_exception(
        RequestFailed(
            str(error.get("message") or "the request failed"),
            code if isinstance(code, int) else 0,
            kind if isinstance(kind, str) else None,
        )
    )


def _frame(message: Mapping[str, Any]) -> bytes:
    return encode(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace"))
