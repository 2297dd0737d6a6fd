"""Request `aurora/deliverable` (record, list, show): what happened to a deliverable is recorded, and what it amounts to
is told.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from aurora_deliverables import InvalidRequest
from aurora_deliverables.event_request import (
    CriteriaRequest,
    DeliverableRequest,
    EventRequest,
    EventsRequest,
    ExportRequest,
    IngestRequest,
    ListRequest,
    event_of,
    read_request,
)
from aurora_protocol import deliverable_methods as methods
from aurora_server.lsp.documents import path_of
from aurora_server.session.errors import REQUEST_FAILED, RequestError
from aurora_server.workspace.deliverable_ingest import ingest
from aurora_server.workspace.repository_changes import each_once

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

ENDED = frozenset({"completed", "failed"})
NAMED = 8
"""Deliverables that an error lists."""


def register(server: AuroraServer) -> None:
    """Answer `aurora/deliverable`."""
    server.feature(methods.DELIVERABLE)(deliverable)


async def deliverable(ls: AuroraServer, value: object) -> Any:
    """Record what an action says happened, or tell what is known."""
    request = read_request(value)
    workspaces = await _workspaces(ls, request)
    match request:
        case EventRequest():
            return _state(await _record(workspaces, request, ls.source))
        case ListRequest():
            return await _listed(workspaces, request)
        case IngestRequest():
            return await ingest(_only(workspaces), request)
        case EventsRequest():
            return await _events(*await _known(workspaces, request), request)
        case ExportRequest():
            _, found = await _known(workspaces, request)
            return _final(found)
        case CriteriaRequest():
            _, found = await _known(workspaces, request)
            return _criteria(found)
        case _:
            _, found = await _known(workspaces, request)
            return _state(found)


async def _record(workspaces: Sequence[Workspace], request: EventRequest, source: str) -> Deliverable:
    """Keep the event that an action stands for, and give what its deliverable is now."""
    for each in workspaces:
        await each.catch_up()
    if request.action == "start":
        workspace, change_id = await _starting(workspaces, request)
    else:
        workspace, known = await _known(workspaces, request)
        change_id = known.change_id
    if request.action == "complete":  # what its spec shows by then belongs to it
        await workspace.deliverables.record(await workspace.detecting.check_spec(change_id))
    now = await workspace.deliverables.moment(change_id)
    event = event_of(request, change_id, new_id=uuid.uuid4().hex, now=now, source=source)
    recorded = await workspace.deliverables.record([event])
    if recorded.refused:
        raise RequestError(REQUEST_FAILED, recorded.refused[0].reason, {"kind": methods.REFUSED})
    after = await workspace.deliverables.get(change_id)
    assert after is not None, "an event that was taken belongs to a deliverable"
    return after


async def _starting(workspaces: Sequence[Workspace], request: EventRequest) -> tuple[Workspace, str]:
    """Workspace and id of a change that begins. Raises InvalidRequest."""
    if request.change_id is None:
        raise InvalidRequest("`change_id` is missing; name the change that begins")
    if len(workspaces) > 1:
        for workspace in workspaces:
            if (known := await workspace.deliverables.get(request.change_id)) is not None:
                return workspace, known.change_id
    only = _only(workspaces)
    known = await only.deliverables.get(request.change_id)
    return only, request.change_id if known is None else known.change_id


async def _known(workspaces: Sequence[Workspace], request: DeliverableRequest) -> tuple[Workspace, Deliverable]:
    """The deliverable that is meant, and where it is. Raises RequestError that names those there are."""
    if request.change_id is not None:
        found = [
            (workspace, each)
            for workspace in workspaces
            if (each := await workspace.deliverables.get(request.change_id)) is not None
        ]
        if len(found) > 1:
            once = [each for each in await each_once(workspaces) if each[1].change_id == found[0][1].change_id]
            found = once if len(once) == 1 else found
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidRequest(f"{len(found)} folders have a {request.change_id}; name one in `workspace`")
        raise RequestError(REQUEST_FAILED, f"no deliverable {request.change_id} here; {await _others(workspaces)}")
    opened = [
        (workspace, each)
        for workspace in workspaces
        for each in await workspace.deliverables.all()
        if each.status not in ENDED and each.kind == "change"
    ]
    if len(opened) == 1:
        return opened[0]
    if not opened:
        raise InvalidRequest(
            "`change_id` is missing and no deliverable is open; begin one with `start`, or name an ended one"
        )
    names = ", ".join(each.change_id for _, each in opened[:NAMED])
    more = f" and {len(opened) - NAMED} more" if len(opened) > NAMED else ""
    raise InvalidRequest(f"`change_id` is missing and {len(opened)} deliverables are open: {names}{more}; name one")


async def _others(workspaces: Sequence[Workspace]) -> str:
    names = [each.change_id for _, each in await each_once(workspaces) if each.kind == "change"]
    if not names:
        return "none was started yet; begin it with `start`"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"there are {', '.join(names[:NAMED])}{more}; begin a new one with `start`"


async def _listed(workspaces: Sequence[Workspace], request: ListRequest) -> dict[str, Any]:
    """List reply: filtered, one page (offset, limit)."""
    from aurora_deliverables.selection import doers, select

    every = [each for _, each in await each_once(workspaces)]

    def told() -> dict[str, Any]:
        found = select(every, request)
        agents, models = doers(every)
        shown = found[request.offset : request.offset + request.limit]
        return {
            "deliverables": [_state(each) for each in shown],
            "total": len(found),
            "names": {each.change_id: each.name for each in shown if each.names},
            "agents": agents,
            "models": models,
        }

    return await asyncio.to_thread(told)


async def _events(workspace: Workspace, found: Deliverable, request: EventsRequest) -> dict[str, Any]:
    """Events reply: the latest, as JSON."""
    from aurora_deliverables.event_lines import event_document

    events = await workspace.deliverables.events(found.change_id)
    latest = events[-request.limit :]
    documents = await asyncio.to_thread(lambda: [event_document(each) for each in latest])
    return {"change_id": found.change_id, "events": documents, "total": len(events)}


async def _workspaces(ls: AuroraServer, request: DeliverableRequest) -> list[Workspace]:
    """The session's workspaces, or the one that is named. Raises RequestError when that is not one of them."""
    workspaces = await ls.folders.opened()
    if request.workspace is None:
        return workspaces
    path = path_of(request.workspace) if request.workspace.startswith("file:") else None
    wanted = request.workspace if path is None else str(path)
    named = [each for each in workspaces if wanted in (str(each.root), each.root.name)]
    if len(named) != 1:
        roots = ", ".join(str(each.root) for each in workspaces)
        raise InvalidRequest(f"`workspace` is {request.workspace[:200]!r}; this session has {roots}")
    return named


def _only(workspaces: Sequence[Workspace]) -> Workspace:
    """Only workspace of the session. Raises InvalidRequest where it is ambiguous."""
    if len(workspaces) > 1:
        roots = ", ".join(str(each.root) for each in workspaces)
        raise InvalidRequest(f"this session has several folders ({roots}); name one in `workspace`")
    return workspaces[0]


def _state(found: Deliverable) -> dict[str, Any]:
    from aurora_deliverables.documents import state_document

    return state_document(found)


def _criteria(found: Deliverable) -> dict[str, Any]:
    """What its spec asks for, and what shows whether it is met, None where no spec was looked at; what of the metrics
    nothing tells.
    """
    from aurora_deliverables.measurement_gaps import gaps_of

    return {
        "change_id": found.change_id,
        "name": found.name,
        "status": found.status,
        "conformance": msgspec.to_builtins(found.conformance),
        "criteria": None
        if found.criteria is None
        else [
            {"kind": each.kind, "name": each.name, "met": each.met, "by": each.by, "evidence": each.evidence}
            for each in found.criteria
        ],
        "gaps": [{"metric": each.metric, "what": each.what, "fix": each.fix} for each in gaps_of(found)],
    }


def _final(found: Deliverable) -> dict[str, Any]:
    """The final record of one that has ended, the state of one that has not (AURA-M §5.1, §5.2)."""
    from aurora_deliverables.documents import metrics_document

    return metrics_document(found) if found.status in ENDED else _state(found)
