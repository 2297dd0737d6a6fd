"""Format of exports (JSON Lines), learned memory on its way to another machine: one header, then one line of JSON a
learned row.

Row ids mean nothing elsewhere, so chunks are named by what they are: path, qualified name, ordinal and shape. A reader
trusts nothing of it: every field has its type and bounds, and the reader says what is wrong with which line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from aurora_memory import StoreError
from aurora_memory.chunks import REASONING, ChunkKind
from aurora_memory.documents import ReasoningDocument
from aurora_protocol import typed

FORMAT = "aurora-memory"
VERSION = 2
"""Version that is written. Version 1, which is read too, had no events of deliverables."""

MAX_LINE = 4 << 20
"""Bytes of one line: more than the largest document there can be."""

MAX_EVENT = 64 << 10
"""Bytes of one deliverable's event."""

_KINDS = frozenset({*get_args(ChunkKind), REASONING})

# Bounds of what lines hold: wide enough for all that any version of the writer ever wrote, so that an export is never
# refused for a long word in it. Times are Unix seconds up to the year 9999.
Moment = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
Share = Annotated[float, Meta(ge=0, le=1)]
Name = Annotated[str, Meta(min_length=1, max_length=4096)]
_Word = Annotated[str, Meta(max_length=1 << 20)]
_Path = Annotated[str, Meta(max_length=4096)]
Number = Annotated[int, Meta(ge=0, le=1 << 31)]
_Hash = Annotated[str, Meta(pattern="^([0-9a-f]{2}){0,64}$")]
Query = Annotated[str, Meta(max_length=1 << 20)]


class InvalidExport(StoreError):
    """Error of a file that is no export of ours, or only part of one; the message names the line."""


class ExportHeader(Struct, frozen=True, kw_only=True):
    """The first line. `git_root` is the repository's first commit, "" where there is none; `lines` come after it."""

    format: str
    version: int
    workspace: str
    git_root: str
    exported_at: str
    lines: Annotated[int, Meta(ge=0)]


class ChunkKey(Struct, frozen=True, forbid_unknown_fields=True):
    """Identity of a chunk on any machine. `shape` in hex; of a reasoning chunk, which has no path, its fingerprint."""

    path: _Path
    name: Annotated[str, Meta(min_length=1, max_length=4096)]
    kind: str
    shape: _Hash
    ordinal: Number = 0

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"{self.kind[:40]!r} is no kind of chunk")
        if (self.path == "") != (self.kind == REASONING):
            raise ValueError("a chunk has a path unless it is a reasoning chunk")


class ExportLine(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Line after the first: a learned row, of the type that its table names (`aurora_memory.store.tables`)."""


class ReasoningLine(ExportLine, frozen=True, tag="reasoning"):
    """Reasoning chunk: its document, and when it was learned. It comes before every line that names it."""

    at: Moment
    document: ReasoningDocument


class AccessLine(ExportLine, frozen=True, tag="access"):
    """Use of a chunk."""

    chunk: ChunkKey
    at: Moment
    kind: Name


class BoostLine(ExportLine, frozen=True, tag="boost"):
    """Amount that one run added to a chunk's activation, or took from it."""

    chunk: ChunkKey
    run: Name
    at: Moment
    amount: Annotated[float, Meta(ge=-1, le=1)]


class UseLine(ExportLine, frozen=True, tag="use"):
    """Chunk that a reasoning chunk was made with, and how surely."""

    reasoning: ChunkKey
    chunk: ChunkKey
    weight: Share


class RunLine(ExportLine, frozen=True, tag="run"):
    """Run that was learned from; reported again it teaches nothing."""

    id: Name
    at: Moment
    outcome: Literal["success", "partial", "failure"]
    score: Share
    query: Query
    reasoning: ChunkKey | None = None


class DifficultLine(ExportLine, frozen=True, tag="difficult"):
    """Kind of question that failed and did not succeed since."""

    signature: Query
    query: Query
    failures: Annotated[int, Meta(ge=1, le=1 << 31)]
    last_score: Share
    last_at: Moment


class ArchivedLine(ExportLine, frozen=True, tag="archived"):
    """Chunk that was put into the archive."""

    chunk: ChunkKey
    at: Moment


class EscalatedLine(ExportLine, frozen=True, tag="escalated"):
    """Chunk that was flagged, and what for."""

    chunk: ChunkKey
    action: Name
    at: Moment


class LogLine(ExportLine, frozen=True, tag="log"):
    """Word of a conversation log's section. `file` is the log's path below the folder of logs."""

    term: _Word
    file: Annotated[str, Meta(min_length=1, max_length=4096)]
    line_start: Number
    line_end: Number
    section: _Word
    phase: Number | None
    keyword: _Word
    topic: _Word
    query_id: _Word


class DeliverableLine(ExportLine, frozen=True, tag="deliverable", omit_defaults=True):
    """Event of a deliverable; `body` is its JSON, as it was kept. `folder`, in a record only: the workspace's place in
    the repository, "" for the top, as changes of one name in two of them are two.
    """

    id: Name
    change_id: Name
    at: Moment
    received_at: Moment
    source: Name
    body: msgspec.Raw
    folder: _Path = ""

    def __post_init__(self) -> None:
        if len(bytes(self.body)) > MAX_EVENT:
            raise ValueError(f"an event is longer than {MAX_EVENT >> 10} KiB")


_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_encoder = msgspec.json.Encoder()
_header_decoder = typed.decoder(ExportHeader)


def write_line(line: ExportLine | ExportHeader) -> bytes:
    """Line as bytes, with its end."""
    return _encoder.encode(line) + b"\n"


def read_header(raw: bytes) -> ExportHeader:
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


def line_reader(types: Iterable[type[ExportLine]]) -> Callable[[int, bytes], ExportLine]:
    """Reader of the lines after the first, by their 1-based number; it raises InvalidExport."""
    decoder = typed.decoder(reduce(or_, types))

    def read_line(number: int, raw: bytes) -> ExportLine:
        try:
            line: ExportLine = decoder.decode(raw)
        except _UNREADABLE as error:
            raise invalid(number, str(error)) from error
        return line

    return read_line


def invalid(number: int, problem: str) -> InvalidExport:
    """Error of a line that cannot be used."""
    return InvalidExport(f"line {number}: {problem}; nothing was imported, export it anew with 'aurora memory export'")
