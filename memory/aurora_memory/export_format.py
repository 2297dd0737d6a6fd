"""Learned memory on its way to another machine: one header, then one line of JSON for each thing that was learned.

Row ids mean nothing elsewhere, so chunks are named by what they are: path, qualified name, ordinal and shape. A reader
trusts nothing of it: every field has its type and bounds, and `read_line` says what is wrong with which line.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from aurora_memory import MemoryError_
from aurora_memory.chunks import REASONING, ChunkKind
from aurora_memory.documents import ReasoningDocument
from aurora_protocol import typed

FORMAT = "aurora-memory"
VERSION = 2
"""What is written. Version 1, which is read too, had no events of deliverables."""

MAX_LINE = 4 << 20
"""Bytes of one line: more than the largest document there can be."""

MAX_EVENT = 64 << 10
"""Bytes of one deliverable's event."""

_KINDS = frozenset({*get_args(ChunkKind), REASONING})

_Time = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Path = Annotated[str, Meta(max_length=4096)]
_Number = Annotated[int, Meta(ge=0, le=1 << 31)]
_Hash = Annotated[str, Meta(pattern="^([0-9a-f]{2}){0,64}$")]
_Query = Annotated[str, Meta(max_length=20_000)]


class InvalidExport(MemoryError_):
    """What should be imported is no export of ours, or only part of one; the message names the line."""


class Header(Struct, frozen=True, kw_only=True):
    """The first line. `git_root` is the repository's first commit, "" where there is none; `lines` come after it."""

    format: str
    version: int
    workspace: str
    git_root: str
    exported_at: str
    lines: Annotated[int, Meta(ge=0)]


class ChunkKey(Struct, frozen=True, forbid_unknown_fields=True):
    """What a chunk is known by anywhere. `shape` in hex; of a reasoning chunk, which has no path, its fingerprint."""

    path: _Path
    name: Annotated[str, Meta(min_length=1, max_length=4096)]
    kind: str
    shape: _Hash
    ordinal: _Number = 0

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"{self.kind[:40]!r} is no kind of chunk")
        if (self.path == "") != (self.kind == REASONING):
            raise ValueError("a chunk has a path unless it is a reasoning chunk")


class _Line(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """What every line after the first is."""


class Reasoning(_Line, frozen=True, tag="reasoning"):
    """A reasoning chunk: its document, and when it was learned. It comes before every line that names it."""

    at: _Time
    document: ReasoningDocument


class Access(_Line, frozen=True, tag="access"):
    """A chunk was of use."""

    chunk: ChunkKey
    at: _Time
    kind: _Name


class Boost(_Line, frozen=True, tag="boost"):
    """What one run added to a chunk's activation, or took from it."""

    chunk: ChunkKey
    run: _Name
    at: _Time
    amount: Annotated[float, Meta(ge=-1, le=1)]


class Use(_Line, frozen=True, tag="use"):
    """A chunk that a reasoning chunk was made with, and how surely."""

    reasoning: ChunkKey
    chunk: ChunkKey
    weight: _Share


class Run(_Line, frozen=True, tag="run"):
    """A run that was learned from; reported again it teaches nothing."""

    id: _Name
    at: _Time
    outcome: Literal["success", "partial", "failure"]
    score: _Share
    query: _Query
    reasoning: ChunkKey | None = None


class Difficult(_Line, frozen=True, tag="difficult"):
    """A kind of question that failed and did not succeed since."""

    signature: Annotated[str, Meta(max_length=20_000)]
    query: _Query
    failures: Annotated[int, Meta(ge=1, le=1 << 31)]
    last_score: _Share
    last_at: _Time


class Archived(_Line, frozen=True, tag="archived"):
    """A chunk that was put into the archive."""

    chunk: ChunkKey
    at: _Time


class Escalated(_Line, frozen=True, tag="escalated"):
    """A chunk that was flagged, and what for."""

    chunk: ChunkKey
    action: _Name
    at: _Time


class LogEntry(_Line, frozen=True, tag="log"):
    """A word of a conversation log's section. `file` is the log's path below the folder of logs."""

    term: _Name
    file: Annotated[str, Meta(min_length=1, max_length=4096)]
    line_start: _Number
    line_end: _Number
    section: Annotated[str, Meta(max_length=4096)]
    phase: _Number | None
    keyword: Annotated[str, Meta(max_length=4096)]
    topic: Annotated[str, Meta(max_length=4096)]
    query_id: Annotated[str, Meta(max_length=200)]


class DeliverableEvent(_Line, frozen=True, tag="deliverable"):
    """Something that happened to a deliverable; `body` is the event's JSON, as it was kept."""

    id: _Name
    change_id: _Name
    at: _Time
    received_at: _Time
    source: _Name
    body: msgspec.Raw

    def __post_init__(self) -> None:
        if len(bytes(self.body)) > MAX_EVENT:
            raise ValueError(f"an event is longer than {MAX_EVENT >> 10} KiB")


Line = Reasoning | Access | Boost | Use | Run | Difficult | Archived | Escalated | LogEntry | DeliverableEvent

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_encoder = msgspec.json.Encoder()
_header_decoder = typed.decoder(Header)
_line_decoder = typed.decoder(Line)


def write_line(line: Line | Header) -> bytes:
    """One line, with its end."""
    return _encoder.encode(line) + b"\n"


def read_header(raw: bytes) -> Header:
    """The first line. Raises InvalidExport."""
    try:
        header = _header_decoder.decode(raw)
    except _UNREADABLE as error:
        raise invalid(1, f"this is no export of memory ({error})") from error
    if header.format != FORMAT:
        raise invalid(1, f"this is no export of memory (its format is {header.format[:40]!r})")
    if not 1 <= header.version <= VERSION:
        raise invalid(1, f"it has format version {header.version}, and this AURORA reads up to {VERSION}")
    return header


def read_line(number: int, raw: bytes) -> Line:
    """A line after the first. `number` is 1-based. Raises InvalidExport."""
    try:
        line: Line = _line_decoder.decode(raw)
    except _UNREADABLE as error:
        raise invalid(number, str(error)) from error
    return line


def invalid(number: int, problem: str) -> InvalidExport:
    """What to say of a line that cannot be used."""
    return InvalidExport(f"line {number}: {problem}; nothing was imported, export it anew with 'aurora memory export'")
