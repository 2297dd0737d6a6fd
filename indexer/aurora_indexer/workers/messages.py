"""Messages (IPC protocol) of the parsing workers: what the daemon and a parsing worker say to each other: msgpack, each
message after its 4-byte length.
"""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from aurora_indexer.files.skips import Skip
from aurora_memory.chunks import ParsedFile

LENGTH_BYTES = 4
MAX_FRAME = 256 << 20
"""A longer message is not one of ours."""


class WorkItem(Struct, frozen=True, array_like=True):
    """A file to parse. `known_hash` is the content hash it was indexed with (b"" for never); `size` is for batching."""

    path: str
    size: int = 0
    known_hash: bytes = b""


class ParseRequest(Struct, frozen=True, array_like=True):
    """Request to parse a batch of files, answered by one `Reply` for each item, in their order. `root` is absolute."""

    root: str
    items: tuple[WorkItem, ...]
    max_file_bytes: int


class ReadStat(Struct, frozen=True, array_like=True):
    """Stat of the content that was read, not of what the file became since. `mark` as of `settled_mark`."""

    size: int
    mtime_ns: int
    mark: int = 0


class Ready(Struct, frozen=True, array_like=True, tag="ready"):
    """Ready message, a worker's first: it has loaded what it needs."""

    pid: int


class Parsed(Struct, frozen=True, array_like=True, tag="parsed"):
    """Reply with a parsed file's chunks. `file.content_hash` is `content_hash` of what was read."""

    file: ParsedFile
    stat: ReadStat

    @property
    def path(self) -> str:
        """The file this is about, as in every reply."""
        return self.file.path


class Unchanged(Struct, frozen=True, array_like=True, tag="unchanged"):
    """Reply for an unchanged file: the content still has the known hash: only the stat is news."""

    path: str
    stat: ReadStat


class FileSkipped(Struct, frozen=True, array_like=True, tag="skipped"):
    """Reply for a skipped file, looked into and left out; `gone` where the file no longer exists. `stat` is None where
    nothing could be read.
    """

    skip: Skip
    stat: ReadStat | None = None

    @property
    def path(self) -> str:
        """The file this is about, as in every reply."""
        return self.skip.path


class ParseFailed(Struct, frozen=True, array_like=True, tag="failed"):
    """Reply for a failed parse: it broke, or took the worker with it. `message` says how, in one line."""

    path: str
    message: str
    stat: ReadStat | None = None


Reply = Parsed | Unchanged | FileSkipped | ParseFailed

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(ParseRequest)
_replies: msgspec.msgpack.Decoder[Reply | Ready] = msgspec.msgpack.Decoder(Reply | Ready)


def content_hash(source: bytes) -> bytes:
    """16 bytes that tell one content from another."""
    return hashlib.blake2b(source, digest_size=16).digest()


def frame(message: ParseRequest | Reply | Ready) -> bytes:
    """Length-prefixed frame: a message as it goes over the pipe."""
    body = _encoder.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def decode_request(body: bytes) -> ParseRequest:
    """Raises msgspec.DecodeError."""
    return _requests.decode(body)


def decode_reply(body: bytes) -> Reply | Ready:
    """Raises msgspec.DecodeError."""
    return _replies.decode(body)
