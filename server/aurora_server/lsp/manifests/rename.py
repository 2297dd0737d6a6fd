"""Rename provider (rename symbol in a manifest): a capability id or a parameter, everywhere it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_manifest.json.value_text import sendable
from aurora_server.lsp.manifests.document_cache import workspace_edit
from aurora_server.lsp.manifests.references import named_at
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer


def register(server: AuroraServer) -> None:
    """Answer `textDocument/prepareRename` and `textDocument/rename`."""
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare_rename)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(rename)


async def prepare_rename(ls: AuroraServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """The name under the cursor; None where nothing can be renamed."""
    snapshot, named = await named_at(ls, params.text_document.uri, params.position)
    if snapshot is None or named is None:
        return None
    return types.PrepareRenamePlaceholder(snapshot.range(named.here.start, named.here.end), sendable(named.name))


async def rename(ls: AuroraServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """The edits that rename. Raises RequestError for a name that is taken or cannot be."""
    from aurora_manifest.editing.occurrences import CannotRename, renamed

    snapshot, named = await named_at(ls, params.text_document.uri, params.position)
    if snapshot is None or named is None:
        return None
    try:
        return workspace_edit(ls.client, snapshot, renamed(named, params.new_name))
    except CannotRename as error:
        raise RequestError(INVALID_PARAMS, str(error)) from error
