"""Token usage from an agent's transcript (JSON Lines): of each model call its numbers, of what was said nothing.

A transcript of Claude Code is JSON Lines. A line of `"type": "assistant"` has `message.id`, `message.model` and
`message.usage`; a call that answers in several blocks has several lines with the same id, of which the last counts.
`input_tokens` there are those that were neither read from nor written to the cache.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_deliverables.events import AgentIdentity, Event, TokensUsed
from aurora_deliverables.evidence import event_id
from aurora_deliverables.timestamps import seconds
from aurora_protocol import typed
from aurora_protocol.strict_modes import without_waiting

MAX_BYTES = 64 << 20
MAX_LINE = 4 << 20
MAX_CALLS = 5000


class _Usage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Message(Struct):
    id: str = ""
    model: str = ""
    usage: _Usage | None = None


class _TranscriptLine(Struct):
    type: str = ""
    timestamp: str = ""
    message: _Message | None = None


class TranscriptCall(Struct, frozen=True):
    """Model call of a transcript: when, of which model, and its tokens; `input_tokens` with those of the cache."""

    id: str
    at: float
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int


_decoder = typed.decoder(_TranscriptLine)


def calls_in(path: Path, offset: int = 0) -> tuple[list[TranscriptCall], int]:
    """The model calls in a growing transcript (tail) from `offset` on, at most the last `MAX_CALLS`, and where to go
    on. Blocks.

    None where there is no such file; of what is longer than `MAX_BYTES` the end is read.
    """
    if path.suffix != ".jsonl" or not path.is_absolute():
        return [], offset
    try:
        content, offset = _read(path, offset)
    except OSError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    return _calls(whole), offset + len(whole)


def _calls(content: bytes) -> list[TranscriptCall]:
    """Model calls of transcript lines (JSON Lines parser), each once; the last numbers of a call count."""
    calls: dict[str, TranscriptCall] = {}
    for line in content.split(b"\n"):
        if b'"usage"' not in line or len(line) > MAX_LINE:
            continue
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # a line half written
            call = _call(_decoder.decode(line))
            if call is not None:
                calls[call.id] = call
    return list(calls.values())[-MAX_CALLS:]


def events_of(
    calls: list[TranscriptCall], change_id: str, session: str, agent: AgentIdentity, since: float, source: str
) -> list[Event]:
    """Calls of a session as events of a deliverable that began at `since`.

    An id says session and call, not deliverable: tokens are spent once, whatever they are counted to later.
    """
    return [
        Event(
            id=event_id("", "tokens", session, call.id),
            change_id=change_id,
            at=call.at,
            what=TokensUsed(
                input_tokens=call.input_tokens,
                output_tokens=call.output_tokens,
                cached_tokens=call.cached_tokens,
                model=call.model,
                provider="anthropic",
            ),
            session=session,
            agent=msgspec.structs.replace(agent, model=call.model),
            source=source,
            evidence=f"usage of {call.id} in the transcript",
        )
        for call in calls
        if call.at >= since
    ]


def _read(path: Path, offset: int) -> tuple[bytes, int]:
    """A regular file's bytes from `offset` on, or from its beginning where it is shorter; and where they begin."""
    with open(path, "rb", opener=without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return b"", offset
        begin = max(offset if offset <= status.st_size else 0, status.st_size - MAX_BYTES)
        file.seek(begin)
        return file.read(MAX_BYTES), begin


def _call(line: _TranscriptLine) -> TranscriptCall | None:
    """Model call of one line; None for what is no assistant's message with usage."""
    message = line.message
    at = seconds(line.timestamp)
    if line.type != "assistant" or message is None or message.usage is None or at is None:
        return None
    if not message.id or not message.model or message.model == "<synthetic>":
        return None  # what the program says itself, about errors
    usage = message.usage
    numbers = (
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
        usage.output_tokens,
    )
    if min(numbers) < 0 or max(numbers) > 1 << 31:
        return None
    return TranscriptCall(message.id[:100], at, message.model[:100], sum(numbers[:3]), numbers[3], numbers[2])
