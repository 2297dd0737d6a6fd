"""Edits of one document as a WorkspaceEdit: for a certain version of it, where the client knows versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot

if TYPE_CHECKING:
    from aurora_manifest.findings import Edit


def workspace_edit(client: types.ClientCapabilities, snapshot: Snapshot, edits: list[Edit]) -> types.WorkspaceEdit:
    """The edits, as the client can take them."""
    changes = snapshot.edits(edits)
    workspace = client.workspace.workspace_edit if client.workspace is not None else None
    if workspace is None or not workspace.document_changes:
        return types.WorkspaceEdit(changes={snapshot.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
