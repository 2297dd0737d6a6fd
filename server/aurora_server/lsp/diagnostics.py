"""Diagnostics of manifests and AURORA's other documents, pushed as the user types (debounced) and saves, or pulled.

A client that announces pull diagnostics is not pushed to as well: it would show everything twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types

from aurora_server.lsp import deliverable_diagnostics
from aurora_server.lsp.documents import OpenDocument
from aurora_server.lsp.manifests.document_cache import Snapshot, checked, checked_kind, snapshot_of

if TYPE_CHECKING:
    from aurora_manifest.findings import Finding
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
    snapshot = await snapshot_of(ls, uri) if ls.preferences.diagnostics else None
    if snapshot is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result_id = await asyncio.to_thread(snapshot.fingerprint)
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=await _diagnostics(ls, uri), result_id=result_id)


async def _diagnostics(ls: AuroraServer, uri: str) -> list[types.Diagnostic]:
    """Diagnostics of one document as it is now."""
    found = await checked(ls, uri)
    if found is None:
        return []
    return await asyncio.to_thread(lambda: [_diagnostic(each, found[0]) for each in found[1]])


def _diagnostic(finding: Finding, snapshot: Snapshot) -> types.Diagnostic:
    """LSP diagnostic of a finding: range, severity, rule, link to its documentation."""
    from aurora_manifest import rules

    return types.Diagnostic(
        range=snapshot.range(finding.start, finding.end),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(rules.link(finding.rule)),
        source=SOURCE,
    )


class _Pushing:
    """Publisher of diagnostics: checks a session's open documents, debounced, one check per document at a time."""

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
        """End of a document: its diagnostics are cleared."""
        if self._wanted(uri):
            self._drop(uri)
            self._publish(uri, None, [])

    def preferences_changed(self) -> None:
        """Diagnostics shown or cleared when a preference is switched."""
        for document in self._ls.documents.text_documents.values():
            if self._ls.preferences.diagnostics:
                self._schedule(document.uri, 0.0)
            elif checked_kind(self._ls, document.uri) is not None and not self._pulls():
                self._drop(document.uri)
                self._publish(document.uri, document.version, [])

    def _wanted(self, uri: str) -> bool:
        return self._ls.preferences.diagnostics and checked_kind(self._ls, uri) is not None and not self._pulls()

    def _pulls(self) -> bool:
        return self._ls.pulls_diagnostics

    def _schedule(self, uri: str, delay: float) -> None:
        """Debounced check: scheduled after a delay, in place of the one that waits."""
        kind = checked_kind(self._ls, uri)
        if kind is None or not self._wanted(uri) or (document := self._ls.documents.open(uri)) is None:
            return
        self._drop(uri)
        self._checks[uri] = self._ls.spawn(self._check(document, delay), f"check {kind.name}")

    def _drop(self, uri: str) -> None:
        """Cancellation of the check that waits (debounce)."""
        check = self._checks.pop(uri, None)
        if check is not None:
            check.cancel()

    async def _check(self, document: OpenDocument, delay: float) -> None:
        """Check after the delay, published with the version it is of."""
        await asyncio.sleep(delay)
        # A change cancels this task, so what is found and the version still belong together afterwards.
        version = document.version
        self._publish(document.uri, version, await _diagnostics(self._ls, document.uri))
        self._checks.pop(document.uri, None)

    def _publish(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=version)
        self._ls.protocol.push(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
