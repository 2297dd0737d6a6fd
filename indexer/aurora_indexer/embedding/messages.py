"""Messages (IPC protocol) of the embedding process: what the daemon and the model's process say to each other: msgpack,
each message after its 4-byte length.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

LENGTH_BYTES = 4
MAX_FRAME = 64 << 20
"""A longer message is not one of ours."""


class Embed(Struct, frozen=True, array_like=True):
    """Texts to embed, answered by `VectorRows` or `TextsRefused`. Some models are told questions from documents."""

    texts: tuple[str, ...]
    question: bool = False


class Loaded(Struct, frozen=True, array_like=True, tag="loaded"):
    """Ready message: the first of a process whose model can be used.

    `key` changes with anything that changes its vectors; `batch` is how many texts it takes at a time.
    """

    key: str
    name: str
    runs_on: str
    dimensions: int
    batch: int


class ModelUnusable(Struct, frozen=True, array_like=True, tag="unusable"):
    """The first and last message where the model cannot be used: why, and the next step, in one line."""

    why: str


class VectorRows(Struct, frozen=True, array_like=True, tag="vectors"):
    """Vectors, a row for each text: little-endian float16, of length 1 (or 0 where a text says nothing)."""

    rows: bytes


class TextsRefused(Struct, frozen=True, array_like=True, tag="refused"):
    """Refusal: these texts could not be embedded."""

    why: str


Reply = Loaded | ModelUnusable | VectorRows | TextsRefused

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Embed)
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def frame(message: Embed | Reply) -> bytes:
    """Length-prefixed frame: a message as it goes over the pipe."""
    body = _encoder.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def decode_request(body: bytes) -> Embed:
    """Raises msgspec.DecodeError."""
    return _requests.decode(body)


def decode_reply(body: bytes) -> Reply:
    """Raises msgspec.DecodeError."""
    return _replies.decode(body)
