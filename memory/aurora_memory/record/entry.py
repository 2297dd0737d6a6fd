"""Entry of a record (replicated log), content-addressed by a hash: one thing learned, named where it arose, so that
records merge by union and none counts twice.
"""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from aurora_memory import StoreError
from aurora_memory.store.export_format import MAX_LINE, Moment, Name
from aurora_protocol import typed

FORGET = "forget"
"""Kind of an entry that says what is to be forgotten (`Forget`); the others are types of an export's lines."""

Sequence = Annotated[int, Meta(ge=1, le=(1 << 63) - 1)]
_DOUBLE, _BITS = struct.Struct(">d"), struct.Struct(">Q")
_Id = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


class InvalidEntry(StoreError):
    """Error of an entry that is not what it says it is, or that belongs to another repository's record."""


class EntryDraft(Struct, frozen=True):
    """Entry before it is appended: `kind` and `body` as in `Entry`, `at` in Unix seconds."""

    kind: str
    body: str
    at: float


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Entry of a record.

    `id`: 32 hexadecimal digits, the hash of author, machine, sequence, kind and body (`entry_id`). `author` is a
    person, `machine` where he worked; `sequence` counts from 1 what he appended there to this repository's record. `at`
    is when it was appended, in Unix seconds. `body` is one line of an export as JSON text, its paths below the top of
    the repository; of kind "forget" it is a `Forget`.
    """

    id: _Id
    repository: Name
    author: Name
    machine: Name
    sequence: Sequence
    at: Moment
    kind: Name
    body: str


class Forget(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Forgetting (erasure) of what is meant, of all that was appended until then: one pattern, by its id without
    version, of everyone; or, where `pattern` is "", everything of the entry's author.
    """

    pattern: Annotated[str, Meta(max_length=4096)] = ""


def entry_id(author: str, machine: str, sequence: int, kind: str, body: str) -> str:
    """Content hash of an entry, its id: the same everywhere, and another one if a byte of it were different."""
    content = msgspec.json.encode((author, machine, sequence, kind, body))
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def moment_sum(id_: str, at: float) -> int:
    """Sum of when an entry was appended, which its id says nothing of: by it a changed bit on the disk is known."""
    told = b"%b|%b" % (id_.encode(), _DOUBLE.pack(at))
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big", signed=True)


def mended_moment(id_: str, at: float, told: int) -> float | None:
    """Single-bit error correction: when an entry was appended, where one bit of that or of its sum `told` changed; None
    where more did.
    """
    if (moment_sum(id_, at) ^ told).bit_count() <= 1:
        return at
    (bits,) = _BITS.unpack(_DOUBLE.pack(at))
    tries = [float(_DOUBLE.unpack(_BITS.pack(bits ^ 1 << bit))[0]) for bit in range(64)]
    if at.is_integer() and abs(at) < 1 << 52:  # SQLite keeps a whole number as one
        tries += [float(int(at) ^ 1 << bit) for bit in range(52)]
    return next((each for each in tries if math.isfinite(each) and moment_sum(id_, each) == told), None)


def checked(entry: Entry, repository: str) -> Entry:
    """Entry that came from elsewhere, for the record of `repository`. Raises InvalidEntry."""
    problem = ""
    if entry.repository != repository:
        problem = f"it belongs to the repository {entry.repository[:80]!r}"
    elif len(entry.body) > MAX_LINE:
        problem = f"it is longer than {MAX_LINE >> 20} MiB"
    elif entry.id != entry_id(entry.author, entry.machine, entry.sequence, entry.kind, entry.body):
        problem = "its id is not that of its content"
    elif entry.kind == FORGET:
        try:
            forget_of(entry.body)
        except msgspec.DecodeError as error:
            problem = str(error)
    if problem:
        raise InvalidEntry(f"entry {entry.id[:32]!r} cannot be taken into the record: {problem}")
    return entry


def forget_of(body: str) -> Forget:
    """What an entry of kind "forget" says. Raises msgspec.DecodeError."""
    return typed.decode(body, Forget)
