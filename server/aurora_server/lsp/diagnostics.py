"""Diagnostics of manifests (`aura.json`), pushed as the user types and saves, or pulled by editors that prefer that.

A client that announces pull diagnostics is not pushed to as well: it would show everything twice.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_protocol.positions import Encoding, LineIndex
from aurora_server.lsp import deliverable_diagnostics
from aurora_server.lsp.documents import MAX_PARSED, Document, path_of

if TYPE_CHECKING:
    from aurora_protocol.manifest.findings import Finding
    from aurora_server.lsp.server import AuroraServer

MANIFEST = "aura.json"
DEBOUNCE = 0.15
"""Seconds without typing before a manifest is checked again."""
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
    server.on_open.append(pushing.opened)
    server.on_change.append(pushing.changed)
    server.on_close.append(pushing.closed)
    server.on_save.append(pushing.saved)
    server.on_preferences.append(pushing.preferences_changed)
    options = types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier=SOURCE)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(pull)


async def pull(
    ls: AuroraServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """The diagnostics of one document; "unchanged" when its text is the one the client last got them for."""
    uri = params.text_document.uri
    if deliverable_diagnostics.may_be_spec(uri):
        return await deliverable_diagnostics.pull(ls, uri, params.previous_result_id)
    path = path_of(uri)
    if not ls.preferences.diagnostics or not is_manifest(uri) or path is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    index = await asyncio.to_thread(ls.documents.line_index, uri, path)
    result_id = hashlib.sha256(index.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    items = await asyncio.to_thread(diagnostics_of, index, uri, ls.documents.encoding)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def is_manifest(uri: str) -> bool:
    """Whether a document is checked: `aura.json`, wherever it lies."""
    path = path_of(uri)
    return path is not None and path.name == MANIFEST


def diagnostics_of(index: LineIndex, uri: str, encoding: Encoding) -> list[types.Diagnostic]:
    """Check one text. Runs in a thread: a large manifest takes a while."""
    from aurora_protocol.manifest.check import check  # brings jsonschema, which most sessions never need

    if len(index.text) > MAX_PARSED:
        note = f"not checked: a manifest of more than {MAX_PARSED} characters"
        start = types.Position(0, 0)
        severity = types.DiagnosticSeverity.Information
        return [types.Diagnostic(types.Range(start, start), note, severity, code="too-large", source=SOURCE)]
    return [_diagnostic(finding, index, encoding) for finding in check(index.text, uri=uri)]


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
    """Checks a session's open manifests and publishes what it finds, at most one check per document at a time."""

    def __init__(self, server: AuroraServer) -> None:
        self._ls = server
        self._checks: dict[str, asyncio.Task[None]] = {}

    def opened(self, uri: str) -> None:
        self._schedule(uri, 0.0)

    def changed(self, uri: str) -> None:
        self._schedule(uri, DEBOUNCE)

    def saved(self, uri: str) -> None:
        self._schedule(uri, 0.0)

    def closed(self, uri: str) -> None:
        if self._wanted(uri):
            self._drop(uri)
            self._publish(uri, None, [])

    def preferences_changed(self) -> None:
        for document in self._ls.documents.text_documents.values():
            if self._ls.preferences.diagnostics:
                self._schedule(document.uri, 0.0)
            elif is_manifest(document.uri) and not self._pulls():
                self._drop(document.uri)
                self._publish(document.uri, document.version, [])

    def _wanted(self, uri: str) -> bool:
        return self._ls.preferences.diagnostics and is_manifest(uri) and not self._pulls()

    def _pulls(self) -> bool:
        return self._ls.pulls_diagnostics

    def _schedule(self, uri: str, delay: float) -> None:
        if not self._wanted(uri) or (document := self._ls.documents.open(uri)) is None:
            return
        self._drop(uri)
        self._checks[uri] = self._ls.spawn(self._check(document, delay), f"check {MANIFEST}")

    def _drop(self, uri: str) -> None:
        check = self._checks.pop(uri, None)
        if check is not None:
            check.cancel()

    async def _check(self, document: Document, delay: float) -> None:
        await asyncio.sleep(delay)
        # A change cancels this task, so the index and the version still belong together afterwards.
        index, version = document.index, document.version
        items = await asyncio.to_thread(diagnostics_of, index, document.uri, self._ls.documents.encoding)
        self._publish(document.uri, version, items)
        self._checks.pop(document.uri, None)

    def _publish(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=version)
        self._ls.protocol.push(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
