"""Formatting provider: of a whole document, or of some lines (range formatting)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp.manifests.document_cache import Snapshot, snapshot_of

if TYPE_CHECKING:
    from aurora_server.lsp.server import AuroraServer

_WIDEST_TAB = 16


def register(server: AuroraServer) -> None:
    """Answer `textDocument/formatting` and `textDocument/rangeFormatting`."""
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(formatting)
    server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)(range_formatting)


async def formatting(ls: AuroraServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """The edits that lay the document out; none while it has syntax errors."""
    snapshot = await snapshot_of(ls, params.text_document.uri)
    return await asyncio.to_thread(_edits, snapshot, params.options, None) if snapshot is not None else None


async def range_formatting(
    ls: AuroraServer, params: types.DocumentRangeFormattingParams
) -> list[types.TextEdit] | None:
    """As `formatting`, of the lines of a range."""
    snapshot = await snapshot_of(ls, params.text_document.uri)
    return await asyncio.to_thread(_edits, snapshot, params.options, params.range) if snapshot is not None else None


def _edits(snapshot: Snapshot, options: types.FormattingOptions, part: types.Range | None) -> list[types.TextEdit]:
    """Edits of the formatter, by the client's options (tabs or spaces, final newline)."""
    from aurora_manifest.editing.layout import LayoutStyle, laid_out

    width = max(1, min(options.tab_size, _WIDEST_TAB))
    final = True if options.insert_final_newline else None
    style = LayoutStyle(" " * width if options.insert_spaces else "\t", final)
    if part is None:
        return snapshot.edits(laid_out(snapshot.json, style))
    # Whole lines; a selection of lines ends before the first character of the next one.
    last = part.end.line - 1 if part.end.line > part.start.line and not part.end.character else part.end.line
    start = snapshot.offset(types.Position(part.start.line, 0))
    end = snapshot.index.line_end(min(last, snapshot.index.line_count - 1))
    return snapshot.edits(laid_out(snapshot.json, style, start, end))
