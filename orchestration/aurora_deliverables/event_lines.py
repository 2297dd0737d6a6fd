"""Events as JSON Lines (JSONL, NDJSON): what `events` prints and `ingest` reads.

Where AURA-M §5.3 has a type for an event its form is that one (`event_type`, `timestamp`, `change_id`, `phase`,
`data`), else the model's own: `{"id", "change_id", "at", "what": {"event": "tokens", …}}`. Read are both, and `id`,
`session`, `agent`, `source` and `evidence` beside `data` as well as in it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from aurora_deliverables.document_import import UnreadableDocument, read_published
from aurora_deliverables.documents import PUBLISHED, published_event
from aurora_deliverables.event_validation import MAX_BYTES, InvalidEvent, read
from aurora_deliverables.events import Event
from aurora_deliverables.timestamps import seconds, timestamp
from aurora_protocol import typed

SOURCE = "jsonl"
_ABOUT = ("id", "session", "agent", "source", "evidence")
_PUBLISHED = frozenset(str(kind.__struct_config__.tag) for kind in PUBLISHED)


class BadLine(Struct, frozen=True):
    """A line that is no event: its number among those given, from 1, and why."""

    line: int
    reason: str


def event_document(event: Event) -> dict[str, Any]:
    """Serialization of an event as a JSON object, in the published form where there is one."""
    published = published_event(event)
    if published is not None:
        return published
    own: dict[str, Any] = msgspec.to_builtins(event)
    return {**own, "at": timestamp(event.at), "source": event.source}


def events_of(lines: Sequence[str]) -> tuple[list[Event], list[BadLine]]:
    """The events of lines, empty ones left out, and the lines that are none.

    A line without an id is known by its content, and how often that came before: a file taken in twice changes nothing.
    """
    events: list[Event] = []
    bad: list[BadLine] = []
    seen: Counter[str] = Counter()
    decoder = typed.decoder()
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("\ufeff")
        if not text:
            continue
        if len(text) > MAX_BYTES:
            bad.append(BadLine(number, f"an event is longer than {MAX_BYTES >> 10} KiB; shorten its texts"))
            continue
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        seen[digest] += 1
        try:
            events.append(_event(decoder.decode(text), f"line-{digest}-{seen[digest]}"))
        except (UnreadableDocument, InvalidEvent, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            bad.append(BadLine(number, str(error) or "nested too deeply"))
    return events, bad


def _event(document: object, fallback_id: str) -> Event:
    """Event of a JSON object (deserialization). Raises InvalidEvent."""
    if not isinstance(document, Mapping):
        raise InvalidEvent("an event is a JSON object")
    data = document.get("data")
    if data is not None and not isinstance(data, Mapping):
        raise InvalidEvent("`data` must be an object")
    kind = document.get("event_type")
    about = {name: document[name] for name in _ABOUT if document.get(name) is not None}
    if isinstance(about.get("agent"), str):
        about["agent"] = {"name": about["agent"]}
    if kind in _PUBLISHED:
        if kind == "deliverable_start" and "agent" in about:
            about["told_by"] = about.pop("agent")
        whole = {"id": fallback_id, **about, **(data or {})}
        return read_published({**document, "data": whole}, SOURCE)
    what = document.get("what") if kind is None else {**(data or {}), "event": kind}
    if what is None:
        raise InvalidEvent("neither `event_type` (AURA-M §5.3) nor `what` says what happened")
    at = seconds(document.get("timestamp", document.get("at")))
    if at is None:
        raise InvalidEvent("its time is missing: write `timestamp` (or `at`) as 2026-02-26T10:00:00Z")
    told = {
        "id": fallback_id,
        "source": SOURCE,
        **about,
        "change_id": document.get("change_id"),
        "at": at,
        "what": what,
    }
    return read(msgspec.json.encode(told))
