"""Documents opened, changed, saved and closed in the editor. pygls keeps their text; this is what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.documents import path_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/didSave`; opening, changing and closing are pygls' and the diagnostics' affair."""
    server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))(did_save)


async def did_save(ls: AuroraServer, params: types.DidSaveTextDocumentParams) -> None:
    """Have the saved file indexed without waiting for the watcher to notice."""
    for callback in ls.on_save:
        callback(params.text_document.uri)
    path = path_of(params.text_document.uri)
    if path is None:
        return
    for workspace, paths in (await ls.folders.group([path])).items():
        workspace.files_changed(paths)
