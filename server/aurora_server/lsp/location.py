"""Location of a request (URI to path, UTF-16 to code points): from a client's URI and position to a workspace, a file,
and a column in code points.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from aurora_protocol.methods import Position
from aurora_server.lsp.documents import MAX_PARSED, code_points, path_of
from aurora_server.session.folders import real

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace


class DocumentPlace(NamedTuple):
    """Place in a document: `path` has its links resolved; `text` is the open buffer, None when the file is not open."""

    workspace: Workspace
    path: Path
    text: str | None


async def place_of(ls: AuroraServer, uri: str) -> DocumentPlace | None:
    """Workspace and file of `uri`; None outside of the session's folders, and for buffers too large to be parsed."""
    path = path_of(uri)
    if path is None:
        return None
    document = ls.documents.open(uri)
    if document is not None and len(document.text) > MAX_PARSED:
        return None
    workspace = await ls.folders.owner(path)
    if workspace is None:
        return None
    return DocumentPlace(
        workspace, await asyncio.to_thread(real, path), document.text if document is not None else None
    )


async def in_code_points(ls: AuroraServer, uri: str, position: types.Position | Position) -> Position:
    """`position` with its column in code points. Raises RequestError when the text it is in cannot be read."""
    path = path_of(uri)
    documents = ls.documents
    if path is None or documents.encoding == "utf-32":
        return Position(line=position.line, character=position.character)
    index = await asyncio.to_thread(documents.line_index, uri, path)
    found = code_points(index, position, documents.encoding)
    return Position(line=found.line, character=found.character)
