"""Lifecycle of a session: `initialize` (capability negotiation, handshake), `initialized`, and workspace folders that
come and go (LSP 3.17).
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_protocol import typed
from aurora_protocol.process_state import may_live
from aurora_server.configuration.model_selection import ModelChoice
from aurora_server.configuration.trust import trusted_by_editor
from aurora_server.lsp import configuration, watched_files
from aurora_server.lsp.documents import Documents, path_of
from aurora_server.session.converter import warm_up_for_editing

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

logger = logging.getLogger(__name__)

COMMAND_LINE = "aurora-cli"
"""The client name of our own commands, which hang up when they end: their process is not watched."""

PARENT_PERIOD = 5.0
"""Seconds between two looks at the editor's process."""

PRELOADED_AFTER = 2.0
"""Seconds in which nothing is loaded that a session's first requests do without."""


def register(server: AuroraServer) -> None:
    """Answer `initialize`, `initialized` and `workspace/didChangeWorkspaceFolders`, after pygls' own part in them."""
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(did_change_workspace_folders)


def initialize(ls: AuroraServer, params: types.InitializeParams) -> None:
    """Capability negotiation: begin to open the folders, and answer without waiting for them."""
    pygls_documents = ls.protocol.workspace
    ls.protocol.use_documents(Documents(pygls_documents.root_uri, position_encoding=pygls_documents.position_encoding))
    if isinstance(params.initialization_options, dict):
        configuration.take(ls, params.initialization_options)
        ls.wants_deliverables = params.initialization_options.get("deliverableChanges") is True
        ls.asks_user = params.initialization_options.get("askUser") is True
        ls.offers_model = params.initialization_options.get("languageModel") is True
        llm = params.initialization_options.get("llm")
        ls.model_choice = typed.convert(llm, ModelChoice) if llm is not None else None
    ls.trusted = trusted_by_editor(params.initialization_options)
    for root in _roots(params):
        ls.folders.add(root)
    by_hand = params.client_info is not None and params.client_info.name == COMMAND_LINE
    if by_hand:
        ls.source = "cli"
    if params.process_id is not None and params.process_id > 0 and not by_hand:
        was_there = sys.platform != "win32" and may_live(params.process_id)
        gone = partial(ls.end, "the editor's process is gone")
        watching = watch_parent(params.process_id, gone, was_there=was_there)
        ls.spawn(watching, f"watch process {params.process_id}")


async def initialized(ls: AuroraServer, _: types.InitializedParams) -> None:
    """Ask the editor for what may only be asked for now."""
    await watched_files.subscribe(ls)
    await configuration.fetch(ls)
    if ls.source != "cli":
        ls.spawn(_preload_for_editing(), "preload for editing")


def did_change_workspace_folders(ls: AuroraServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Workspace folders changed: open and leave them. A folder in both lists was renamed, not moved, and stays."""
    added = {path for folder in params.event.added if (path := path_of(folder.uri)) is not None}
    removed = {path for folder in params.event.removed if (path := path_of(folder.uri)) is not None}
    for path in removed - added:
        ls.folders.remove(path)
    for path in added:
        ls.folders.add(path)


async def _preload_for_editing() -> None:
    """Get ready, a little later, for what an editor's user does first: open, hover, type, save."""
    await asyncio.sleep(PRELOADED_AFTER)
    await asyncio.to_thread(warm_up_for_editing)


def _roots(params: types.InitializeParams) -> list[Path]:
    """Root folders of `initialize`: workspace folders, else `rootUri`, else `rootPath`."""
    uris = [folder.uri for folder in params.workspace_folders or []]
    if not uris and params.root_uri is not None:
        uris = [params.root_uri]
    if not uris and params.root_path:
        return [Path(params.root_path)] if Path(params.root_path).is_absolute() else []
    roots = [path_of(uri) for uri in uris]
    if None in roots:
        logger.info("session has folders that are not files on this machine")
    return [root for root in roots if root is not None]


def _born(pid: int) -> float | None:
    """When process `pid` started, in seconds since the epoch; None when there is none (or only its zombie)."""
    import psutil  # only sessions of editors need it

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return 0.0


async def watch_parent(
    pid: int, gone: Callable[[], None], period: float = PARENT_PERIOD, *, was_there: bool = False
) -> None:
    """Watch of the parent process, the editor (LSP 3.17, `processId`): call `gone` once it is no more.

    A number that is reused by a later process counts as gone.
    Returns at once when there is no such process to begin with: an editor in another container or on another machine
    names one that means nothing here, and its connection tells us enough. One that `was_there` when the session began
    may have ended since.
    """
    first = await asyncio.to_thread(_born, pid)
    if first is None and not was_there:
        return
    if first is None:
        gone()
        return
    while await asyncio.to_thread(_born, pid) == first:  # noqa: ASYNC110 - nothing tells us when a stranger dies
        await asyncio.sleep(period)
    gone()
