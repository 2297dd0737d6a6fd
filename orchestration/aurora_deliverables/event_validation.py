"""Validation of events as they come from outside: held against their types and bounds (size) before anything is kept of
them.
"""

from __future__ import annotations

import msgspec

from aurora_deliverables.events import Event
from aurora_protocol import typed

MAX_BYTES = 64 << 10
"""Of one event's JSON."""

_encoder = msgspec.json.Encoder()
_decoder = typed.decoder(Event)


class InvalidEvent(ValueError):
    """Error of an event that is none; the message says where it is wrong."""


def written(event: Event) -> str:
    """Serialization of an event, its JSON as it is kept. Raises InvalidEvent where a field is out of bounds."""
    try:
        raw = _encoder.encode(event)
        read(raw)
        return raw.decode()
    except (msgspec.MsgspecError, UnicodeError, TypeError, OverflowError) as error:
        raise InvalidEvent(f"event {str(event.id)[:80]!r} cannot be kept: {error}") from error


def read(raw: bytes | str) -> Event:
    """Deserialization of an event from its JSON. Raises InvalidEvent."""
    if len(raw) > MAX_BYTES:
        raise InvalidEvent(f"an event is longer than {MAX_BYTES >> 10} KiB; shorten its texts")
    try:
        return _decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidEvent(f"this is no event of a deliverable: {error}") from error
