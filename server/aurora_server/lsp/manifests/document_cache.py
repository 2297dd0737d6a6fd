"""Document cache: what is open in the editor, parsed as JSON and checked once per version, off the event loop, and
shared by all features.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_manifest.json.scan_state import MAX_BYTES
from aurora_manifest.kinds import MANIFEST, DocumentKind, kind_of
from aurora_protocol.positions import Encoding, LineIndex
from aurora_server.lsp.documents import OpenDocument, path_of
from aurora_server.lsp.ranges import offset_of, range_of

if TYPE_CHECKING:
    from aurora_manifest.check import Checker
    from aurora_manifest.findings import Edit, Finding
    from aurora_manifest.json.document import JsonDocument as Json
    from aurora_manifest.model import Manifest
    from aurora_manifest.violations import SchemaCheck
    from aurora_server.lsp.server import AuroraServer

_FIRST_USED = (
    "aurora_manifest.editing.completion",
    "aurora_manifest.editing.hover",
    "aurora_manifest.editing.actions",
    "httpx2",
    "uritemplate",
    "jsonschema",
)
"""Imports that the first hover, completion and finding by the schema would otherwise wait for: some 50 ms each."""


class Snapshot:
    """Snapshot of a document's text, and the severities it is checked with.

    `version` is None for a file that is not open; `findings` is None until it is checked. `fix_all` are the edits that
    mend all that can be mended without asking; None until they were looked for.
    """

    def __init__(
        self,
        uri: str,
        version: int | None,
        kind: DocumentKind,
        json: Json,
        index: LineIndex,
        encoding: Encoding,
        severities: Mapping[str, str],
    ) -> None:
        self.uri = uri
        self.version = version
        self.kind = kind
        self.json = json
        self.index = index
        self.encoding = encoding
        self.severities = severities
        self.findings: list[Finding] | None = None
        self.fix_all: list[Edit] | None = None

    @property
    def text(self) -> str:
        """The text itself."""
        return self.index.text

    def fingerprint(self) -> str:
        """Fingerprint of the text and of the severities. Takes milliseconds per MB."""
        digest = hashlib.blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=8)
        digest.update(repr(sorted(self.severities.items())).encode())
        return digest.hexdigest()

    @property
    def is_manifest(self) -> bool:
        """Whether it is a manifest, and not another kind of document that is checked."""
        return self.kind is MANIFEST

    @cached_property
    def manifest(self) -> Manifest:
        """The document as a manifest."""
        from aurora_manifest.model import Manifest

        return Manifest(self.json)

    @cached_property
    def schema(self) -> SchemaCheck:
        """The schema of its kind."""
        from aurora_manifest.kind_checks import schema_of

        return schema_of(self.kind, self.json)

    def offset(self, position: types.Position) -> int:
        """A client's position as an offset."""
        return offset_of(self.index, position, self.encoding)

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return range_of(self.index, start, end, self.encoding)

    def check_again(self) -> Callable[[str], list[Finding]]:
        """What checks a later text of the same document."""
        if self.is_manifest:
            from aurora_manifest.check import Checker

            checker = Checker(self.severities)
            return lambda text: checker.check(checker.read(text))
        from aurora_manifest.json.parser import parse
        from aurora_manifest.kind_checks import against_schema

        return lambda text: against_schema(parse(text), self.kind)

    def edits(self, edits: list[Edit] | tuple[Edit, ...]) -> list[types.TextEdit]:
        """Edits as the client takes them."""
        return [types.TextEdit(self.range(each.start, each.end), each.text) for each in edits]


class DocumentReader:
    """Reader and checker of one open document, again and again as it changes. Its methods may run in any thread."""

    def __init__(self, kind: DocumentKind, severities: Mapping[str, str]) -> None:
        self.kind = kind
        self.severities = severities
        self._reading = threading.Lock()
        self._checking = threading.Lock()
        self._last: Snapshot | None = None

    @cached_property
    def _checker(self) -> Checker:
        """Made where a text is read, off the event loop: it brings the rules, which most sessions never need."""
        from aurora_manifest.check import Checker

        return Checker(self.severities)

    def known(self, text: str) -> Snapshot | None:
        """Snapshot that was read last, if that was of this very text."""
        last = self._last
        return last if last is not None and last.text is text else None

    def read(self, uri: str, version: int | None, index: LineIndex, encoding: Encoding) -> Snapshot:
        """Read a text. Takes some 50 ms per MB, much less where it differs a little from the last one."""
        with self._reading:
            found = self.known(index.text)
            if found is None:
                json = self._checker.read(index.text)
                found = self._last = Snapshot(uri, version, self.kind, json, index, encoding, self.severities)
            return found

    def check(self, snapshot: Snapshot, stopped: Callable[[], bool] = lambda: False) -> list[Finding]:
        """Everything that is wrong with a text; found once. Raises CheckStopped soon after `stopped` says so."""
        with self._checking:
            if snapshot.findings is None:
                snapshot.findings = self._check(snapshot, stopped)
            return snapshot.findings

    def _check(self, snapshot: Snapshot, stopped: Callable[[], bool]) -> list[Finding]:
        """Findings of a document, by its kind: rules of a manifest, else its schema."""
        if snapshot.is_manifest:
            return self._checker.check(snapshot.json, stopped, snapshot.manifest)
        from aurora_manifest.kind_checks import against_schema

        return against_schema(snapshot.json, self.kind)


def checked_kind(ls: AuroraServer, uri: str) -> DocumentKind | None:
    """Kind of document that a URI names; None for those that are not checked, and for what is no file."""
    path = path_of(uri)
    return kind_of(path.as_posix(), ls.core.settings.home.as_posix()) if path is not None else None


async def snapshot_of(ls: AuroraServer, uri: str) -> Snapshot | None:
    """The document at `uri` as it is now, saved or not; None where it is of no kind that is checked.

    Raises RequestError for a file that is not open and cannot be read.
    """
    found = await _read(ls, uri)
    return found[1] if found else None


async def manifest_of(ls: AuroraServer, uri: str) -> Snapshot | None:
    """As `snapshot_of`, for manifests only."""
    kind = checked_kind(ls, uri)
    return await snapshot_of(ls, uri) if kind is MANIFEST else None


async def checked(ls: AuroraServer, uri: str) -> tuple[Snapshot, list[Finding]] | None:
    """As `snapshot_of`, with everything that is wrong with it."""
    found = await _read(ls, uri)
    if found is None:
        return None
    reader, snapshot = found
    findings = snapshot.findings
    if findings is None:
        findings = await check_in_thread(reader, snapshot)
        if _FIRST_USED[0] not in sys.modules:  # what opens a document comes first; the user looks at it now
            ls.spawn(asyncio.to_thread(_load_features), "load for manifests")
    return snapshot, findings


async def check_in_thread(reader: DocumentReader, snapshot: Snapshot) -> list[Finding]:
    """Findings in it, looked for in a thread, which stops when nobody waits for it any more."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(reader.check, snapshot, stopped.is_set)
    except asyncio.CancelledError:
        stopped.set()
        raise


def _load_features() -> None:
    for name in _FIRST_USED:
        importlib.import_module(name)


async def _read(ls: AuroraServer, uri: str) -> tuple[DocumentReader, Snapshot] | None:
    """Document read and parsed: the open one once per version, else the file."""
    kind, path = checked_kind(ls, uri), path_of(uri)
    if kind is None or path is None:
        return None
    document, encoding = ls.documents.open(uri), ls.documents.encoding
    if document is None:
        reader = await asyncio.to_thread(DocumentReader, kind, ls.core.settings.manifest.severities)
        index = await asyncio.to_thread(ls.documents.line_index, uri, path, MAX_BYTES)
        return reader, await asyncio.to_thread(reader.read, uri, None, index, encoding)
    reader = _reader(document, kind, ls)
    known = reader.known(document.text)
    if known is not None:
        return reader, known
    version, text = document.version, document.text
    return reader, await asyncio.to_thread(lambda: reader.read(uri, version, document.index_of(text), encoding))


def _reader(document: OpenDocument, kind: DocumentKind, ls: AuroraServer) -> DocumentReader:
    """Reader of an open document, kept with it (cache); a new one where kind or severities changed."""
    severities = ls.core.settings.manifest.severities  # they may have changed since it was read last
    reader = document.reader
    if reader is None or reader.kind is not kind or reader.severities != severities:
        reader = document.reader = DocumentReader(kind, severities)
    return reader


def workspace_edit(client: types.ClientCapabilities, snapshot: Snapshot, edits: list[Edit]) -> types.WorkspaceEdit:
    """Edits of one document as the client takes them: for a certain version of it, where it knows versions."""
    changes = snapshot.edits(edits)
    workspace = client.workspace.workspace_edit if client.workspace is not None else None
    if workspace is None or not workspace.document_changes:
        return types.WorkspaceEdit(changes={snapshot.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
