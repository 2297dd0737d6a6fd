"""Large messages (denial of service by size): looked at in slices, so that other sessions are answered meanwhile.

One look over 45 MB is one call that keeps the interpreter's lock, for 0.1 to 0.3 s; whoever looks here lets go of it
after each slice.
"""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec

from aurora_protocol import typed
from aurora_protocol.frames import Body

LARGE = 1024 * 1024
"""Bytes of a body whose values are counted before it is decoded."""
MAX_VALUES = 250_000
"""Values of one message: 0.1 s to decode. Texts may be as long as a frame; nobody sends so many parts."""
SLICE_BYTES = 128 * 1024
"""Bytes that are looked at, 1 ms at most, before the other threads get their turn."""
SLICE_STEPS = 1000
"""Steps from quote to quote after which they get it too."""
PAUSE = 1e-4
"""Seconds of such a turn; of none at all the system may make nothing."""
ENDS = 64 * 1024
"""Bytes at either end of a message in which its method and id are looked for."""

_QUOTE = ord('"')
_INSIDE = re.compile(rb'(?s)[^"\\]*+(?:\\.[^"\\]*+)*+')
"""What is left of a JSON string after its first quote, without the last one."""
_SCALAR = rb'"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*+|true|false|null'
_MEMBER = rb'"(?:jsonrpc|id|method)"\s*+:\s*+(?:' + _SCALAR + rb")"
_FIRST = re.compile(rb"(?s)\s*+\{\s*+((?:" + _MEMBER + rb"\s*+,\s*+){0,3}+)")
_LAST = re.compile(rb"(?s)[\]}\"\w]\s*+((?:,\s*+" + _MEMBER + rb"\s*+){1,3}+)\}\s*+\Z")


class Envelope(msgspec.Struct):
    """Envelope of a message: whose it is. Its params are not looked into."""

    method: Any = None
    id: Any = None


def holds_too_much(body: Body) -> bool:
    """Whether a body holds more than MAX_VALUES values. What stands in its strings is passed over; blocks.

    Decoding that many would hold up every session: a value of two letters becomes an object of fifty bytes and more.
    """
    at = values = strings = steps = 0
    pause_at, inside = SLICE_BYTES, False
    while at < len(body):
        steps += 1
        if at >= pause_at or steps % SLICE_STEPS == 0:
            time.sleep(PAUSE)
            pause_at = at + SLICE_BYTES
        until = min(at + SLICE_BYTES, len(body))
        if inside:
            string = _INSIDE.match(body, at, until)
            end = string.end() if string else at
            if end < len(body) and body[end] == _QUOTE:
                inside, end = False, end + 1
            elif end == at:
                return False  # a text that ends within an escape, which decoding tells of
            at = end
            continue
        quote = body.find(b'"', at, until)
        end = quote if quote >= 0 else until
        values += body.count(b",", at, end) + body.count(b"[", at, end) + body.count(b"{", at, end)
        inside, at = quote >= 0, end + (quote >= 0)
        strings += inside
        if values > MAX_VALUES or strings > 2 * MAX_VALUES:
            return True
    return False


def envelope_of(body: Body) -> Envelope:
    """The method and id of a large message, where they stand before or behind its params; None where they do not.

    The rest is not looked at, so that nothing is said of whether it is JSON.
    """
    head, tail = bytes(body[:ENDS]), bytes(body[-ENDS:])
    first, last = _FIRST.match(head), _LAST.search(tail)
    said = (first[1] if first else b"") + (last[1].lstrip(b",") if last else b"")
    try:
        return typed.decode(b"{%b}" % said.strip().rstrip(b","), Envelope)
    except msgspec.DecodeError:
        return Envelope()
