"""Events as JSON Lines: our own form (`model.Event`) and the published one (AURA-M §5.3, `event_type`).

In our own form `id` and `at` may be left out (the line's content and `now` stand for them) and `at` may be ISO 8601.
A line of the published form has no id: it is known by what it says, and by how often the same was said before it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from aurora_orchestration.deliverables.detection.moments import seconds
from aurora_orchestration.deliverables.model import Event

MAX_LINE = 64 << 10
SOURCE = "jsonl"


class BadLine(Struct, frozen=True):
    """A line that tells no event: its number, from 1, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class _NoEvent(ValueError):
    """Why a line tells none."""


class Lines:
    """Decodes lines one by one, as they come; `now` (Unix seconds) is given per line."""

    def __init__(self, source: str = SOURCE) -> None:
        self.number = 0
        self._source = source
        self._said: Counter[bytes] = Counter()

    def decode(self, line: bytes | str, now: float) -> Event | BadLine | None:
        """The event of the next line; None for an empty one."""
        self.number += 1
        if len(line) > MAX_LINE:
            return BadLine(self.number, f"longer than {MAX_LINE >> 10} KiB; an event is a few hundred bytes")
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        if not text.strip():
            return None
        try:
            document = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            return BadLine(self.number, f"not valid JSON: {error}")
        if not isinstance(document, dict):
            return BadLine(self.number, "not a JSON object")
        try:
            given = _published(document) if "event_type" in document else _own(document, now)
            given.setdefault("source", self._source)
            given.setdefault("id", self._id(document))
            return msgspec.convert(given, Event)
        except _NoEvent as error:
            return BadLine(self.number, str(error))
        except (msgspec.ValidationError, RecursionError) as error:
            return BadLine(self.number, f"not an event: {error}")

    def _id(self, document: Mapping[str, Any]) -> str:
        content = json.dumps(document, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(content, digest_size=12).digest()
        self._said[digest] += 1
        return f"line-{digest.hex()}-{self._said[digest]}"


def events_from_lines(lines: Iterable[bytes | str], now: float) -> Iterator[Event | BadLine]:
    """The events of some lines, and for those that tell none why."""
    decoder = Lines()
    for line in lines:
        decoded = decoder.decode(line, now)
        if decoded is not None:
            yield decoded


def _own(document: Mapping[str, Any], now: float) -> dict[str, Any]:
    given = dict(document)
    if "what" not in given:
        raise _NoEvent("neither 'what' (our own form) nor 'event_type' (the published one) is in it")
    given["at"] = now if given.get("at") is None else _moment(given["at"], "at")
    return given


def _published(document: Mapping[str, Any]) -> dict[str, Any]:
    data = document.get("data") or {}
    if not isinstance(data, Mapping):
        raise _NoEvent("'data' must be an object")
    kind, phase = document["event_type"], document.get("phase")
    what: dict[str, Any] = {"event": kind}
    match kind:
        case "phase_start" | "phase_end":
            if phase is None:
                raise _NoEvent(f"{kind} needs a 'phase'")
            what["phase"] = phase
        case "tool_call":
            what["tool"] = data.get("tool") or data.get("tool_name") or data.get("name")
            if what["tool"] is None:
                raise _NoEvent("tool_call needs 'data.tool'")
            what |= _taken(data, "count", "succeeded", "duration_seconds")
            if "succeeded" not in what and isinstance(data.get("success"), bool):
                what["succeeded"] = data["success"]
        case "recovery":
            what |= _taken(data, "reason", "failure_type")
        case "deliverable_start":
            what |= _taken(data, "description", "type", "complexity", "spec_source", "agent")
        case "deliverable_end":
            what |= {"status": "completed", **_taken(data, "status", "failure_type", "reason")}
        case _:
            raise _NoEvent(
                f"event_type {str(kind)[:40]!r} is none of phase_start, phase_end, tool_call, recovery, "
                "deliverable_start, deliverable_end"
            )
    given: dict[str, Any] = {"change_id": document.get("change_id"), "what": what}
    given["at"] = _moment(document.get("timestamp"), "timestamp")
    for name in ("session", "agent"):
        if name in data and name not in what:
            given[name] = {"name": data[name]} if name == "agent" and isinstance(data[name], str) else data[name]
    description = document.get("_description")
    if isinstance(description, str):
        given["evidence"] = description[:1000]
    return given


def _taken(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: data[name] for name in names if data.get(name) is not None}


def _moment(given: object, name: str) -> float:
    at = seconds(given)
    if at is None:
        raise _NoEvent(f"{name!r} must be a date-time such as 2026-02-26T10:05:00Z")
    return at
