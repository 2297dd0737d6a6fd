"""Ingest (import, webhook payloads) of deliverables: what `ingest` takes in: JSON lines of events, whole documents,
issues, hooks. Nothing of it is trusted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aurora_deliverables import InvalidRequest
from aurora_deliverables.events import Event
from aurora_deliverables.evidence import event_id, shown

if TYPE_CHECKING:
    from aurora_deliverables.event_request import IngestRequest
    from aurora_server.workspace.workspace import Workspace


class Brought(Struct, frozen=True):
    """Import of a request: events, what of it is none, as it is told back, and words on what was left out."""

    events: Sequence[Event] = ()
    refused: Sequence[dict[str, Any]] = ()
    notes: Sequence[str] = ()


async def ingest(workspace: Workspace, request: IngestRequest) -> dict[str, Any]:
    """Record what a request brings; says what was taken, known and refused. Raises InvalidRequest for other things."""
    if request.lines is not None and request.document is not None:
        raise InvalidRequest("give `lines` or a `document`, not both")
    await workspace.catch_up()
    if request.lines is not None:
        brought = await asyncio.to_thread(_of_lines, request.lines)
    elif request.document is None:
        raise InvalidRequest("give `lines` (JSON, an event each) or a `document`")
    elif request.format == "claude-code-hook":
        events = await _of_hook(workspace, request.document)
        note = None if events else workspace.hooks.unattributed(request.document)
        brought = Brought(events, notes=[note] if note is not None else ())
    elif request.format == "junit":
        return await _of_reports(workspace, request)
    else:
        brought = await _of_document(workspace, request.document)
    return await _recorded(workspace, brought)


async def _recorded(workspace: Workspace, brought: Brought) -> dict[str, Any]:
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
    """Import of event lines (JSON Lines); bad ones are told by number."""
    from aurora_deliverables.event_lines import events_of

    events, bad = events_of(lines)
    return Brought(events, [{"line": each.line, "reason": each.reason} for each in bad])


async def _of_document(workspace: Workspace, document: object) -> Brought:
    """What a deliverable's state or final record brings, or several, or issues. Raises InvalidRequest."""
    from aurora_deliverables.detection.issues import UnknownIssue
    from aurora_deliverables.document_diff import document_diff
    from aurora_deliverables.document_import import UnreadableDocument, read_document

    several: list[Any] = document if isinstance(document, list) else [document]
    try:
        if not several or not all(isinstance(each, dict) and "change_id" in each for each in several):
            return await _of_issues(workspace, document)
        events: list[Event] = []
        for each in several:
            told = await asyncio.to_thread(read_document, each, "document")
            known = await workspace.deliverables.get(told[0].change_id) if told else None
            events += document_diff(told, known)
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


async def _of_reports(workspace: Workspace, request: IngestRequest) -> dict[str, Any]:
    """Take in a test run by its JUnit reports, then look which of the spec's criteria it shows.

    Raises InvalidRequest.
    """
    from aurora_deliverables.detection.junit import SOURCE, UnreadableReport, read_reports
    from aurora_deliverables.event_request import moment
    from aurora_deliverables.timestamps import timestamp

    given = request.document if isinstance(request.document, list) else [request.document]
    if not given or not all(isinstance(each, str) for each in given):
        raise InvalidRequest("a JUnit `document` is the text of an XML report, or a list of them")
    change_id = await _meant(workspace, request.change_id)
    try:
        report = await asyncio.to_thread(read_reports, given)
    except UnreadableReport as error:
        raise InvalidRequest(str(error)) from error
    if not report.passed and not report.failed:
        return await _recorded(workspace, Brought(notes=["the report has no test that ran"]))
    said = request.at
    at = moment(said, "at") if said is not None else report.ended_at
    tested = await workspace.deliverables.get(change_id)
    if said is None and at is not None and tested is not None and at < tested.started_at:
        began = f"{change_id} began at {timestamp(tested.started_at)}"
        raise InvalidRequest(f"these tests ended at {timestamp(at)}, and {began}; give `at` where they are of it")
    now = await workspace.deliverables.moment(change_id)
    digest = await asyncio.to_thread(lambda: event_id(change_id, "tests", *sorted(given)))
    known = {each.id for each in await workspace.deliverables.events(change_id)}
    run = Event(
        digest, change_id, now if at is None else min(at, now), report.ran, source=SOURCE, evidence=shown(report.said)
    )
    reply = await _recorded(workspace, Brought([run]))
    if digest not in known:
        found = await workspace.detecting.check_spec(change_id, report.titles)
        checked = await _recorded(workspace, Brought(found))
        reply["accepted"] += checked["accepted"]
        reply["refused"] += checked["refused"]
    return reply


async def _meant(workspace: Workspace, change_id: str | None) -> str:
    """The deliverable that tests are of: the one that is named, else that of the branch, else the only open one."""
    if change_id is not None:
        known = await workspace.deliverables.get(change_id)
        if known is None:
            raise InvalidRequest(f"no deliverable {change_id} here; begin it with `start`")
        return known.change_id
    found = await workspace.detecting.at_work()
    if found is None:
        open_ = workspace.detecting.open_ids
        why = f"{len(open_)} deliverables are open, and no branch names one" if open_ else "no deliverable is open"
        raise InvalidRequest(f"`change_id` is missing: {why}; name the one that was tested")
    return found.change_id


async def _of_hook(workspace: Workspace, payload: object) -> list[Event]:
    """The events of a Claude Code hook; none where no deliverable is worked on. Raises InvalidRequest."""
    from aurora_deliverables.detection.claude_code import NotAHook

    try:
        return await workspace.hooks.events_of(payload)
    except NotAHook as error:
        raise InvalidRequest(str(error)) from error
