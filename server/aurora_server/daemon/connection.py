"""Connection of one client: bytes in, frames, messages, replies out; backpressure; and its end, however it comes.

No more is read of a client that does not take what was sent to it (`HIGH_WATER`); one that never does is disconnected.
Whatever a client does — garbage, half a frame, `exit`, never reading — ends its own session at most.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from typing import Any, NoReturn, Protocol

import msgspec

from aurora_protocol import FrameError, typed
from aurora_protocol.frames import Body, Decoder, encode
from aurora_server.daemon.large_messages import LARGE, MAX_VALUES, envelope_of, holds_too_much
from aurora_server.lsp.features import create_server
from aurora_server.session.converter import get_ready_for
from aurora_server.session.core import Core
from aurora_server.session.errors import INVALID_REQUEST, PARSE_ERROR, REQUEST_FAILED, RequestError


class BadJson(Exception):
    """A body that is not JSON, not UTF-8, or nested too deep; the message says which."""


def decode(body: Body) -> Any:
    """The value of one message body. Raises BadJson."""
    try:
        return typed.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"\\ud" in body or b"\\uD" in body:
            return _decode_lone_surrogates(body)
        raise BadJson(f"the message is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise BadJson("the message is nested too deep") from error


def _decode_lone_surrogates(body: Body) -> Any:
    """JSON decoded by the slower standard parser, lone surrogates replaced. Raises BadJson."""
    try:
        return _mended(json.loads(body.decode("utf-8"), parse_constant=_refuse))
    except ValueError as error:
        raise BadJson(f"the message is not JSON in UTF-8: {error}") from error
    except RecursionError as error:
        raise BadJson("the message is nested too deep") from error


def _mended(value: Any) -> Any:
    """Value with lone surrogates (invalid UTF-16) replaced, at any depth."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


logger = logging.getLogger(__name__)

READ_SIZE = 256 * 1024
SHORT = 1024
"""Bytes of an `initialize` that is handled at once. An editor's is longer: the first such takes long to be read."""
SLICE = 0.01
"""Seconds of one session's messages before the other sessions get their turn."""
HIGH_WATER = 8 * 1024 * 1024
"""Unsent bytes from which on no more is read from this client, until it has taken some."""
DROP_FROM = 1024 * 1024
"""Unsent bytes from which on progress reports are left out."""
MAX_UNSENT = 64 * 1024 * 1024
"""Unsent bytes at which a client counts as stuck and is disconnected. One more message, at most, comes on top."""
GOODBYE = 0.3
"""Seconds a client gets, at the end, to take what is still unsent."""


class ByteSource(Protocol):
    """Source of a session's bytes: `asyncio.StreamReader`, or something that reads like it."""

    async def read(self, n: int = -1, /) -> bytes:
        """At most `n` bytes, at least one; none at the end."""


class ClientConnection:
    """Connection of one client, served until it ends. `number` tells sessions apart in the log."""

    def __init__(self, source: ByteSource, writer: asyncio.StreamWriter, core: Core, number: int) -> None:
        self._source = source
        self._writer = writer
        self._core = core
        self._number = number
        self._ending: str | None = None
        self._ended = asyncio.Event()
        self._server = create_server(core, self.end)
        protocol = self._server.protocol
        protocol.outlet = self._send
        protocol.on_exit = lambda: self.end("exit")
        protocol.log_name = str(core.log)
        writer.transport.set_write_buffer_limits(high=HIGH_WATER)

    def end(self, reason: str) -> None:
        """Ask this session to end; `reason` is for the log. Safe to call again."""
        if self._ending is None:
            self._ending = reason
            self._ended.set()

    async def run(self) -> None:
        """Serve until the client leaves, breaks the protocol or is told to go. Does not raise for what clients do."""
        began = time.monotonic()
        reading = asyncio.create_task(self._read(), name=f"session {self._number}")
        waiting = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, waiting):
                task.cancel()
            await asyncio.gather(reading, waiting, return_exceptions=True)
            self._server.close(self._ending or "the session was cut off")
            await self._server.protocol.settled(GOODBYE)
            await self._hang_up()
            self._server.take_apart()
            lasted = round(time.monotonic() - began, 3)
            logger.info("session ended", extra={"session": self._number, "reason": self._ending, "lasted_s": lasted})

    async def _read(self) -> None:
        """Read to the end, with backpressure: of a client that takes nothing, no more is read meanwhile."""
        decoder = Decoder()
        try:
            while data := await self._source.read(READ_SIZE):
                await self._take(decoder.feed(data))
                await self._writer.drain()
            self.end("the client hung up" if not decoder.pending else "the client hung up within a message")
        except FrameError as error:
            self._server.protocol.refuse(None, RequestError(INVALID_REQUEST, str(error)))
            self.end(f"bad frame: {error}")
        except BadJson as error:
            self._server.protocol.refuse(None, RequestError(PARSE_ERROR, str(error)))
            self.end("bad JSON")
        except OSError as error:
            self.end(f"connection lost: {error.strerror or error}")
        except Exception:  # the boundary of the session: a mistake of ours ends this one, not the others
            logger.exception("session failed", extra={"session": self._number})
            self.end("internal error")

    async def _take(self, bodies: list[Body]) -> None:
        """Time slicing: hand messages on, so that other sessions have their turn (fairness)."""
        slice_began = time.monotonic()
        for body in bodies:
            if self._ending is not None:
                return
            if len(body) > LARGE and await asyncio.to_thread(holds_too_much, body):
                self._refuse_whole(body)
                continue
            message = decode(body)
            if self._server.protocol.phase == "new" and len(body) > SHORT:
                await asyncio.to_thread(get_ready_for, message)
            self._server.protocol.receive(message)
            if time.monotonic() - slice_began > SLICE:
                await asyncio.sleep(0)
                slice_began = time.monotonic()

    def _refuse_whole(self, body: Body) -> None:
        """Answer a message that holds too much without looking into it. What an open document would lose ends us."""
        envelope = envelope_of(body)
        told = f"the message holds more than {MAX_VALUES:,} values; send it in parts"
        identity = envelope.id if isinstance(envelope.id, (int, str)) else None
        self._server.protocol.refuse(identity, RequestError(REQUEST_FAILED, told))
        if identity is None and (envelope.method is None or str(envelope.method).startswith("textDocument/")):
            self.end("a change of a document that holds too much")

    def _send(self, body: bytes, droppable: bool) -> None:
        """Send of a reply; droppable ones are dropped, and a slow consumer is hung up on."""
        if self._writer.is_closing():
            return
        unsent = self._writer.transport.get_write_buffer_size()
        if droppable and unsent > DROP_FROM:
            return
        if unsent > MAX_UNSENT:
            self.end("the client does not read")
            self._writer.transport.abort()
            return
        self._writer.write(encode(body))

    async def _hang_up(self) -> None:
        """Close of the connection, what is unsent flushed for a moment."""
        with contextlib.suppress(OSError, TimeoutError):  # a client that is gone has nothing left to be told
            async with asyncio.timeout(GOODBYE):
                self._writer.transport.set_write_buffer_limits(high=0)
                await self._writer.drain()  # with that limit: until all is sent
        if self._writer.transport.get_write_buffer_size():
            self._writer.transport.abort()
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self._writer.wait_closed()
