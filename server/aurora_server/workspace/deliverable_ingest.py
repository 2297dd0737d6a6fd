"""Ingest of deliverables: what `ingest` takes in: JSON lines of events, whole documents, issues, hooks. Nothing of it
is trusted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aurora_deliverables import InvalidRequest

if TYPE_CHECKING:
    from aurora_deliverables.event_request import IngestRequest
    from aurora_deliverables.events import Event
    from aurora_server.workspace.workspace import Workspace


class Brought(Struct, frozen=True):
    """What a request brings: events, what of it is none, as it is told back, and words on what was left out."""

    events: Sequence[Event] = ()
    refused: Sequence[dict[str, Any]] = ()
    notes: Sequence[str] = ()


async def ingest(workspace: Workspace, request: IngestRequest) -> dict[str, Any]:
    """Record what a request brings; says what was taken, known and refused. Raises InvalidRequest for other things."""
    if request.lines is not None and request.document is not None:
        raise InvalidRequest("give `lines` or a `document`, not both")
    if request.lines is not None:
        brought = await asyncio.to_thread(_of_lines, request.lines)
    elif request.document is None:
        raise InvalidRequest("give `lines` (JSON, an event each) or a `document`")
    elif request.format == "claude-code-hook":
        events = await _of_hook(workspace, request.document)
        note = None if events else workspace.hooks.unattributed(request.document)
        brought = Brought(events, notes=[note] if note is not None else ())
    else:
        brought = await _of_document(workspace, request.document)
    recorded = await workspace.deliverables.record(brought.events)
    illegal = [{"event_id": each.event_id, "reason": each.reason} for each in recorded.refused]
    return {
        "accepted": recorded.accepted,
        "duplicates": recorded.duplicates,
        "refused": [*brought.refused, *illegal],
        "change_ids": list(dict.fromkeys(event.change_id for event in brought.events)),
        "notes": list(brought.notes),
    }


def _of_lines(lines: Sequence[str]) -> Brought:
    from aurora_deliverables.event_lines import events_of

    events, bad = events_of(lines)
    return Brought(events, [{"line": each.line, "reason": each.reason} for each in bad])


async def _of_document(workspace: Workspace, document: object) -> Brought:
    """What a deliverable's state or final record brings, or several, or issues. Raises InvalidRequest."""
    from aurora_deliverables.detection.issues import UnknownIssue
    from aurora_deliverables.document_diff import beyond
    from aurora_deliverables.document_import import UnreadableDocument, read_document

    several: list[Any] = document if isinstance(document, list) else [document]
    try:
        if not several or not all(isinstance(each, dict) and "change_id" in each for each in several):
            return await _of_issues(workspace, document)
        events: list[Event] = []
        for each in several:
            told = await asyncio.to_thread(read_document, each, "document")
            known = await workspace.deliverables.get(told[0].change_id) if told else None
            events += beyond(told, known)
        return Brought(events)
    except UnreadableDocument as error:
        raise InvalidRequest(str(error)) from error
    except UnknownIssue as error:
        raise InvalidRequest(f"{error}; a deliverable's document has change_id, status and started_at") from error


async def _of_issues(workspace: Workspace, document: object) -> Brought:
    """What issues bring beyond what ended already: a ticket may be opened again, a deliverable may not."""
    from aurora_deliverables.detection.issues import read_issues
    from aurora_deliverables.detection.tickets import events_of, since_the_end

    now = time.time()
    issues = await asyncio.to_thread(read_issues, document, now)
    known = {each.change_id: each for each in await workspace.deliverables.all() if each.completed_at is not None}

    def brought() -> Brought:
        events: list[Event] = []
        notes: list[str] = []
        if issues.pull_requests:
            are = "pull request is" if issues.pull_requests == 1 else "pull requests are"
            notes.append(f"{issues.pull_requests:,} {are} left out: only issues are deliverables")
        for ticket in issues.tickets:
            over = known.get(ticket.change_id)
            told, note = (events_of(ticket), None) if over is None else since_the_end(ticket, over, now)
            events += told
            notes += [note] if note is not None else []
        return Brought(events, [{"issue": each.issue, "reason": each.reason} for each in issues.bad], notes)

    return await asyncio.to_thread(brought)


async def _of_hook(workspace: Workspace, payload: object) -> list[Event]:
    """The events of a Claude Code hook; none where no deliverable is worked on. Raises InvalidRequest."""
    from aurora_deliverables.detection.claude_code import NotAHook

    try:
        return await workspace.hooks.events_of(payload)
    except NotAHook as error:
        raise InvalidRequest(str(error)) from error
