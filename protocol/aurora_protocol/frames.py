"""Frames of the LSP base protocol (JSON-RPC bodies behind `Content-Length` header lines), encoded and parsed without
input or output: bytes in, bodies out (LSP 3.17, "Base Protocol").
"""

from __future__ import annotations

from aurora_protocol import FrameError

MAX_FRAME = 64 * 1024 * 1024
"""Largest body, in bytes, that is sent or accepted."""

MAX_HEADERS = 8 * 1024
"""Largest header block, in bytes, its closing blank line included."""

LARGE_BODY = 1024 * 1024
"""Bytes from which on a body is given as it was gathered, not copied: the copy of 45 MB takes 40 ms."""

Body = bytes | bytearray
"""One message's text. A large one is a bytearray, nobody else's."""

_END = b"\r\n\r\n"
_MAX_DIGITS = 12


def encode(body: bytes) -> bytes:
    """Put one message body into a frame. Raises FrameError when the body is larger than MAX_FRAME."""
    if len(body) > MAX_FRAME:
        raise FrameError(f"a message of {len(body)} bytes exceeds the limit of {MAX_FRAME} bytes per frame")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Decoder (framing) of a byte stream into message bodies; one per connection and direction.

    Bytes are copied in once and out once, large bodies in only, however they are sliced on arrival. After a FrameError
    the stream has no known frame border any more, so every later `feed` raises the same error.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._buffer = bytearray()
        self._body_length: int | None = None
        self._failure: FrameError | None = None

    @property
    def pending(self) -> int:
        """Bytes received that do not make a whole frame yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Body]:
        """Take in `data`; return the bodies it completes, in order. Raises FrameError when it cannot be a frame."""
        if self._failure is not None:
            raise self._failure
        self._buffer += data
        try:
            return self._cut()
        except FrameError as failure:
            self._failure = failure
            self._buffer.clear()
            raise

    def _cut(self) -> list[Body]:
        """Reassembly of whole frames from what is in the buffer."""
        bodies: list[Body] = []
        start = 0
        while True:
            if self._body_length is None:
                end = self._buffer.find(_END, start, start + MAX_HEADERS)
                if end < 0:
                    self._check_unfinished(start)
                    break
                self._body_length = _content_length(bytes(self._buffer[start:end]), self._max_frame)
                start = end + len(_END)
            if len(self._buffer) - start < self._body_length:
                break
            if self._body_length >= LARGE_BODY:
                bodies.append(self._taken_out(start, self._body_length))
                start, self._body_length = 0, None
                continue
            with memoryview(self._buffer) as view:
                bodies.append(bytes(view[start : start + self._body_length]))
            start += self._body_length
            self._body_length = None
        if start:
            del self._buffer[:start]
        return bodies

    def _taken_out(self, start: int, length: int) -> bytearray:
        """The buffer itself, cut to the body in it; what follows is the new buffer."""
        body, self._buffer = self._buffer, self._buffer[start + length :]
        del body[start + length :]
        del body[:start]
        return body

    def _check_unfinished(self, start: int) -> None:
        """Refuse early what can no longer become a header block, rather than wait for an end that never comes."""
        unfinished = bytes(self._buffer[start : start + MAX_HEADERS])
        if len(unfinished) >= MAX_HEADERS:
            raise FrameError(f"a frame's header block exceeds {MAX_HEADERS} bytes")
        first, newline, _ = unfinished.partition(b"\n")
        if newline and not first.endswith(b"\r"):
            raise FrameError(f"a frame's header line must end with CR LF: {_quote(first)}")
        if newline or unfinished[:1] in (b"{", b"["):
            _field(first.removesuffix(b"\r"))


def _content_length(block: bytes, max_frame: int) -> int:
    """Parser of a header block: the value of `Content-Length`. Raises FrameError."""
    length: int | None = None
    for line in block.split(b"\r\n"):
        name, value = _field(line)
        if name != b"content-length":
            continue
        if length is not None:
            raise FrameError("a frame has two Content-Length headers")
        if not value.isdigit() or len(value) > _MAX_DIGITS:
            raise FrameError(f"a frame's Content-Length must be a whole number of bytes, not {_quote(value)}")
        length = int(value)
    if length is None:
        raise FrameError(f"a frame has no Content-Length header: {_quote(block)}")
    if length > max_frame:
        raise FrameError(f"a frame announces {length} bytes; the limit is {max_frame}")
    return length


def _field(line: bytes) -> tuple[bytes, bytes]:
    """Header line as name, in lower case, and value. Raises FrameError."""
    name, colon, value = line.partition(b":")
    if not colon or not name or not name.replace(b"-", b"").isalnum():
        raise FrameError(f"a frame's header line must read 'Name: value', not {_quote(line)}")
    return name.lower(), value.strip(b" \t")


def _quote(raw: bytes) -> str:
    text = raw.decode("ascii", "backslashreplace")
    return repr(text if len(text) <= 60 else text[:60] + "…")
