"""Diagnostics of manifests and AURORA's other documents, pushed as the user types and saves, or pulled.

A client that announces pull diagnostics is not pushed to as well: it would show everything twice.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_protocol.manifest.kinds import DocumentKind, kind_of
from aurora_protocol.positions import Encoding, LineIndex
from aurora_server.lsp.documents import MAX_PARSED, Document, path_of

if TYPE_CHECKING:
    from aurora_protocol.manifest.findings import Finding
    from aurora_server.lsp.server import AuroraServer

DEBOUNCE = 0.15
"""Seconds without typing before a document is checked again."""
SOURCE = "aurora"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def register(server: AuroraServer) -> None:
    """Follow open manifests, and answer `textDocument/diagnostic`."""
    pushing = _Pushing(server)
    # pygls marks what it registers, and bound methods cannot be marked.
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(partial(pushing.opened))
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(partial(pushing.changed))
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(partial(pushing.closed))
    server.on_save.append(pushing.saved)
    server.on_preferences.append(pushing.preferences_changed)
    options = types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier=SOURCE)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(pull)


async def pull(
    ls: AuroraServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """The diagnostics of one document; "unchanged" when its text is the one the client last got them for."""
    uri = params.text_document.uri
    path = path_of(uri)
    kind = checked_kind(ls, uri)
    if not ls.preferences.diagnostics or kind is None or path is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    index = await asyncio.to_thread(ls.documents.line_index, uri, path)
    result_id = hashlib.sha256(index.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    items = await asyncio.to_thread(diagnostics_of, index, kind, uri, ls.documents.encoding, severities_of(ls))
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def checked_kind(ls: AuroraServer, uri: str) -> DocumentKind | None:
    """What kind of document a URI names; None for those that are not checked, and for what is no file."""
    path = path_of(uri)
    return kind_of(path.as_posix(), ls.core.settings.home.as_posix()) if path is not None else None


def severities_of(ls: AuroraServer) -> Mapping[str, str]:
    """The severities of rules as the user has configured them."""
    return ls.core.settings.manifest.severities


def diagnostics_of(
    index: LineIndex, kind: DocumentKind, uri: str, encoding: Encoding, severities: Mapping[str, str]
) -> list[types.Diagnostic]:
    """Check one text. Runs in a thread: a large manifest takes a while."""
    from aurora_protocol.manifest.kind_checks import check_text  # brings the checks, which most sessions never need

    if len(index.text) > MAX_PARSED:
        note = f"not checked: a document of more than {MAX_PARSED} characters"
        start = types.Position(0, 0)
        severity = types.DiagnosticSeverity.Information
        return [types.Diagnostic(types.Range(start, start), note, severity, code="too-large", source=SOURCE)]
    return [
        _diagnostic(finding, index, encoding)
        for finding in check_text(index.text, kind, uri=uri, severities=severities)
    ]


def _diagnostic(finding: Finding, index: LineIndex, encoding: Encoding) -> types.Diagnostic:
    found = index.range(finding.start, finding.end, encoding)
    return types.Diagnostic(
        range=types.Range(
            types.Position(found.start.line, found.start.character), types.Position(found.end.line, found.end.character)
        ),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        source=SOURCE,
    )


class _Pushing:
    """Checks a session's open documents and publishes what it finds, at most one check per document at a time."""

    def __init__(self, server: AuroraServer) -> None:
        self._ls = server
        self._checks: dict[str, asyncio.Task[None]] = {}

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._schedule(params.text_document.uri, 0.0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._schedule(params.text_document.uri, DEBOUNCE)

    def saved(self, uri: str) -> None:
        self._schedule(uri, 0.0)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if self._wanted(uri):
            self._drop(uri)
            self._publish(uri, None, [])

    def preferences_changed(self) -> None:
        for document in self._ls.documents.text_documents.values():
            if self._ls.preferences.diagnostics:
                self._schedule(document.uri, 0.0)
            elif checked_kind(self._ls, document.uri) is not None and not self._pulls():
                self._drop(document.uri)
                self._publish(document.uri, document.version, [])

    def _wanted(self, uri: str) -> bool:
        return self._ls.preferences.diagnostics and checked_kind(self._ls, uri) is not None and not self._pulls()

    def _pulls(self) -> bool:
        client = self._ls.client.text_document
        return client is not None and client.diagnostic is not None

    def _schedule(self, uri: str, delay: float) -> None:
        kind = checked_kind(self._ls, uri)
        if kind is None or not self._wanted(uri) or (document := self._ls.documents.open(uri)) is None:
            return
        self._drop(uri)
        self._checks[uri] = self._ls.spawn(self._check(document, kind, delay), f"check {kind.name}")

    def _drop(self, uri: str) -> None:
        check = self._checks.pop(uri, None)
        if check is not None:
            check.cancel()

    async def _check(self, document: Document, kind: DocumentKind, delay: float) -> None:
        await asyncio.sleep(delay)
        # A change cancels this task, so the index and the version still belong together afterwards.
        index, version = document.index, document.version
        items = await asyncio.to_thread(
            diagnostics_of, index, kind, document.uri, self._ls.documents.encoding, severities_of(self._ls)
        )
        self._publish(document.uri, version, items)
        self._checks.pop(document.uri, None)

    def _publish(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=version)
        self._ls.protocol.push(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
