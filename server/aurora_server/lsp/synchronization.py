"""Text document synchronization (didOpen, didChange, didSave, didClose): documents opened, changed, saved and closed in
the editor. pygls keeps their text; this is what follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.documents import path_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Hear of documents that are opened, changed, saved and closed, and tell who wants to know."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))(did_save)


async def did_open(ls: AuroraServer, params: types.DidOpenTextDocumentParams) -> None:
    """Tell who follows open documents, and memory that what it recalled there is of use."""
    for callback in ls.on_open:
        callback(params.text_document.uri)
    path = path_of(params.text_document.uri)
    workspace = await ls.folders.owner(path) if path is not None else None
    if path is not None and workspace is not None:
        workspace.uses.opened(workspace.relative(path))


def did_change(ls: AuroraServer, params: types.DidChangeTextDocumentParams) -> None:
    """Tell who follows what is typed."""
    for callback in ls.on_change:
        callback(params.text_document.uri)


def did_close(ls: AuroraServer, params: types.DidCloseTextDocumentParams) -> None:
    """Tell who follows open documents that one is not open any more."""
    for callback in ls.on_close:
        callback(params.text_document.uri)


async def did_save(ls: AuroraServer, params: types.DidSaveTextDocumentParams) -> None:
    """Have the saved file indexed without waiting for the watcher to notice."""
    for callback in ls.on_save:
        callback(params.text_document.uri)
    path = path_of(params.text_document.uri)
    if path is None:
        return
    for workspace, paths in (await ls.folders.group([path])).items():
        workspace.files_changed(paths)
