"""Documents that an editor has open (buffers), with its unsaved changes: incremental synchronization.

pygls splits lines where Python does (form feeds, U+2028), LSP does not; an edit below such a character would go to the
wrong place. So edits are applied by our own line index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_protocol.positions import Encoding, LineIndex, Pos
from aurora_server.session.errors import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from aurora_protocol.methods import Position
    from aurora_server.lsp.manifests.document_cache import DocumentReader

MAX_PARSED = 1024 * 1024
"""Characters; larger buffers are kept but not parsed."""


class OpenDocument(TextDocument):
    """Open document of an editor (unsaved buffer). `reader` reads it as JSON, where it is a manifest or the like."""

    reader: DocumentReader | None = None
    _index: LineIndex | None = None

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Incremental sync of one change: replace a range, or everything."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            index, encoding = self.index, encoding_of(self.position_codec.encoding)
            start = index.offset(_pos(change.range.start), encoding)
            end = index.offset(_pos(change.range.end), encoding)
            self._index = index.edited(start, max(start, end), change.text)
            self._source = self._index.text
        else:
            self._source = change.text

    @property
    def text(self) -> str:
        """The buffer as the editor shows it."""
        return self._source or ""

    @property
    def index(self) -> LineIndex:
        """The lines of the buffer as it is now."""
        return self.index_of(self.text)

    def index_of(self, text: str) -> LineIndex:
        """The lines of the buffer as it was when it held `text`. For any thread: the buffer may change meanwhile."""
        known = self._index
        if known is None or known.text is not text:
            known = self._index = LineIndex(text)
        return known

    @property
    def lines(self) -> Sequence[str]:
        """The buffer's lines, each with its line end."""
        index = self.index
        starts = [index.line_start(line) for line in range(index.line_count)]
        return [self.text[start:end] for start, end in zip(starts, [*starts[1:], len(self.text)], strict=True)]


class Documents(Workspace):
    """Documents that are open in a session, by URI."""

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> OpenDocument:
        return OpenDocument(doc_uri, source, version, language_id, position_codec=self._position_codec)

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply one change. Raises RequestError for a document that was never opened."""
        if self.open(text_doc.uri) is None:
            raise RequestError(INVALID_PARAMS, f"{text_doc.uri} was changed without having been opened")
        super().update_text_document(text_doc, change)

    def open(self, uri: str) -> OpenDocument | None:
        """The open document at `uri`; None when it is not open."""
        document = self.text_documents.get(unquote(uri))
        return document if isinstance(document, OpenDocument) else None

    @property
    def encoding(self) -> Encoding:
        """Position encoding of this session: what columns are counted in."""
        return encoding_of(self.position_encoding)

    def line_index(self, uri: str, path: Path, limit: int = MAX_PARSED) -> LineIndex:
        """The lines of the buffer at `uri`, or of the file when it is not open. Reads the disk then.

        Raises RequestError when the file cannot be read or is too large to be looked into, and for a pipe or device.
        """
        document = self.open(uri)
        if document is not None:
            return document.index
        try:
            content = read_prefix(os.fspath(path), limit + 1, follow=True)
        except OSError as error:
            raise RequestError(INVALID_PARAMS, f"cannot read {path}: {error.strerror}; open it first") from error
        except NotARegularFile as error:
            raise RequestError(INVALID_PARAMS, f"{error}; open it first") from error
        if len(content) > limit:
            raise RequestError(INVALID_PARAMS, f"{path} is larger than {limit} bytes and not looked into")
        return LineIndex(content.decode("utf-8", "replace"))


def path_of(uri: str) -> Path | None:
    """URI to path: the file a URI names; None for anything but `file:` (unsaved buffers, archives, remote files)."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path)
    return Path(path) if path.startswith("/") and "\0" not in path else None


def encoding_of(negotiated: object) -> Encoding:
    """Position encoding by LSP's name; UTF-16 is what LSP means by silence."""
    match negotiated:
        case types.PositionEncodingKind.Utf8:
            return "utf-8"
        case types.PositionEncodingKind.Utf32:
            return "utf-32"
        case _:
            return "utf-16"


def code_points(index: LineIndex, position: types.Position | Position, encoding: Encoding) -> Pos:
    """Client's position with its column in code points (from UTF-16) and within its line."""
    return index.position(index.offset(_pos(position), encoding), "utf-32")


def _pos(position: types.Position | Position) -> Pos:
    return Pos(position.line, position.character)
