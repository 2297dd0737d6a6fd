"""Events as JSON: what `events` prints and `ingest` reads, one object each (AURA-M §5.3, and what it leaves out).

An object has `event_type`, `timestamp` (ISO 8601), `change_id`, perhaps `phase`, and the rest in `data`; beyond AURA-M
it may have `id`, `session`, `agent`, `source`, `evidence`, and the event types of the model that AURA-M has none for.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from aurora_orchestration.deliverables.detection.moments import seconds
from aurora_orchestration.deliverables.model import Event

MAX_LINE = 256 * 1024
"""Characters of one event; what is longer is no event but somebody's log."""

_OF_PHASES = frozenset({"phase_start", "phase_end"})
_ALIASES = {"tool_call": {"tool_name": "tool", "name": "tool"}}
"""How other tools spell what an event says, by event type."""


class BadEvent(ValueError):
    """A document is no event; the message names the field and what is expected."""


class BadLine(Struct, frozen=True):
    """A line that is no event: its number among those given, from 1, and why."""

    line: int
    reason: str


def event_document(event: Event) -> dict[str, Any]:
    """An event as a JSON object, `event_of` reads it back."""
    what = msgspec.to_builtins(event.what)
    document = {
        "id": event.id,
        "event_type": what.pop("event"),
        "timestamp": datetime.fromtimestamp(event.at, UTC).isoformat().replace("+00:00", "Z"),
        "change_id": event.change_id,
        "phase": what.pop("phase", None),
        "data": what or None,
        "session": event.session,
        "agent": msgspec.to_builtins(event.agent) if event.agent is not None else None,
        "source": event.source,
        "evidence": event.evidence,
    }
    return {key: value for key, value in document.items() if value is not None}


def event_of(document: object, *, fallback_id: str, source: str = "jsonl") -> Event:
    """The event a JSON object describes; `fallback_id` where it has no id. Raises BadEvent.

    The model's own form, `{"id", "change_id", "at", "what": {"event": …}}`, is read as well.
    """
    if not isinstance(document, Mapping):
        raise BadEvent("an event is a JSON object")
    agent = document.get("agent")
    told = {
        "id": document.get("id", document.get("event_id", fallback_id)),
        "change_id": document.get("change_id"),
        "at": _time(document, "timestamp" if "event_type" in document else "at"),
        "what": _happening(document),
        "session": document.get("session", document.get("session_id")),
        "agent": {"name": agent} if isinstance(agent, str) else agent,
        "source": document.get("source", source),
        "evidence": document.get("evidence"),
    }
    try:
        return msgspec.convert(told, Event)
    except msgspec.ValidationError as error:
        raise BadEvent(_in_its_own_words(str(error))) from error


def events_of(lines: Sequence[str], *, source: str = "jsonl") -> tuple[list[Event], list[BadLine]]:
    """The events of JSON lines, empty ones left out, and the lines that are none.

    A line without an id is known by its content, and how often that came before: a file taken in twice changes nothing.
    """
    events: list[Event] = []
    bad: list[BadLine] = []
    seen: Counter[str] = Counter()
    decoder = msgspec.json.Decoder()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        if len(text) > MAX_LINE:
            bad.append(BadLine(number, f"longer than {MAX_LINE} characters"))
            continue
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        seen[digest] += 1
        try:
            events.append(event_of(decoder.decode(text), fallback_id=f"{digest}-{seen[digest]}", source=source))
        except (BadEvent, msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
            bad.append(BadLine(number, str(error) or "nested too deeply"))
    return events, bad


def _happening(document: Mapping[str, Any]) -> object:
    """What happened, in the words of the model, not yet held against it."""
    if "event_type" not in document and "what" in document:
        return document["what"]
    kind, data = document.get("event_type"), document.get("data")
    if not isinstance(kind, str):
        raise BadEvent("`event_type` is missing")
    if data is not None and not isinstance(data, Mapping):
        raise BadEvent("`data` must be an object")
    aliases = _ALIASES.get(kind, {})
    told: dict[str, Any] = {aliases.get(str(key), str(key)): value for key, value in (data or {}).items()}
    if kind == "deliverable_end":
        told.setdefault("status", "completed")
    if kind in _OF_PHASES:
        told["phase"] = document.get("phase", told.get("phase"))
    return {**told, "event": kind}


def _in_its_own_words(said: str) -> str:
    return said.replace("$.what.event", "$.event_type").replace("$.what.phase", "$.phase").replace("$.what", "$.data")


def _time(document: Mapping[str, Any], field: str) -> float:
    at = seconds(document.get(field))
    if at is None:
        raise BadEvent(f"`{field}` must be a date-time such as 2026-02-26T10:00:00Z")
    return at
