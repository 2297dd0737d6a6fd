"""What `ingest` takes in: JSON lines of events, whole documents, issues, hooks. Nothing of it is trusted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aurora_protocol.deliverable_methods import DeliverableParams
from aurora_server.deliverable_actions import invalid

if TYPE_CHECKING:
    from aurora_orchestration.deliverables.event_documents import BadLine
    from aurora_orchestration.deliverables.model import Event
    from aurora_server.workspace import Workspace


async def ingest(workspace: Workspace, params: DeliverableParams) -> dict[str, Any]:
    """Record what params bring; says what was taken, known and refused. Raises RequestError for what is none of it."""
    if params.lines is not None and params.document is not None:
        raise invalid("give `lines` or a `document`, not both")
    bad: Sequence[BadLine] = ()
    if params.lines is not None:
        from aurora_orchestration.deliverables.event_documents import events_of

        events, bad = await asyncio.to_thread(events_of, params.lines)
    elif params.document is not None:
        events = await _of_document(workspace, params)
    else:
        raise invalid("give `lines` (JSON, an event each) or a `document`")
    recorded = await workspace.deliverables.record(events)
    refused: list[dict[str, Any]] = [{"line": each.line, "reason": each.reason} for each in bad]
    refused += [{"eventId": each.event_id, "reason": each.reason} for each in recorded.refused]
    return {
        "accepted": recorded.accepted,
        "duplicates": recorded.duplicates,
        "refused": refused,
        "changeIds": list(dict.fromkeys(event.change_id for event in events)),
    }


async def _of_document(workspace: Workspace, params: DeliverableParams) -> list[Event]:
    raise invalid("not yet")
