"""Notification `aurora/deliverableChanged` (throttled), for status bars and views: what became of deliverables, to
sessions that asked for it.

Events can come by the thousand; a session is told of each deliverable at most a few times a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_protocol import deliverable_methods as methods
from aurora_server.lsp.deliverable_text import summary
from aurora_server.lsp.spec_files import may_be_spec

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_deliverables.events import Event
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

INTERVAL = 0.2
"""Seconds that changes are gathered for."""


def register(server: AuroraServer) -> None:
    """Follow the deliverables of every workspace of the session."""
    server.on_workspace.append(partial(_follow, server))
    server.on_deliverables.append(partial(_tell, server))
    server.on_deliverables.append(partial(_refresh_lenses, server))


def _follow(ls: AuroraServer, workspace: Workspace) -> Callable[[], None]:
    return workspace.deliverables.listen(_Gathering(ls, workspace).heard)


class _Gathering:
    """Changes of one workspace, coalesced: told together a moment later."""

    def __init__(self, ls: AuroraServer, workspace: Workspace) -> None:
        self._ls = ls
        self._workspace = workspace
        self._changed: dict[str, Deliverable] = {}

    def heard(self, _: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        """Change gathered (coalesced); the first begins the interval."""
        if not self._changed and changed:
            self._ls.spawn(self._tell(), "tell of deliverables")
        self._changed.update((each.change_id, each) for each in changed)

    async def _tell(self) -> None:
        """Notification of what was gathered, after the interval."""
        await asyncio.sleep(INTERVAL)
        changed, self._changed = tuple(self._changed.values()), {}
        for callback in self._ls.on_deliverables:
            callback(self._workspace, changed)


def _tell(ls: AuroraServer, workspace: Workspace, changed: Sequence[Deliverable]) -> None:
    if not ls.wants_deliverables:
        return
    from aurora_deliverables.documents import state_document

    for each in changed:
        params = {
            "workspace": workspace.root.as_uri(),
            "summary": summary(each),
            "deliverable": state_document(each),
        }
        ls.protocol.push(methods.CHANGED, params, droppable=True)


def _refresh_lenses(ls: AuroraServer, _: Workspace, __: Sequence[Deliverable]) -> None:
    """Refresh of code lenses asked of the client, where it supports that."""
    lenses = ls.client.workspace.code_lens if ls.client.workspace is not None else None
    shown = any(may_be_spec(document.uri) for document in ls.documents.text_documents.values())
    if shown and lenses is not None and lenses.refresh_support and ls.preferences.code_lens:
        ls.spawn(_ask(ls, types.WORKSPACE_CODE_LENS_REFRESH), "refresh lenses")


async def _ask(ls: AuroraServer, method: str) -> None:
    try:
        await ls.protocol.ask(method, None)
    except JsonRpcException:
        return  # it said it could, and now does not want to
