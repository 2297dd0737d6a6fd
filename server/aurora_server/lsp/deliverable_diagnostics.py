"""Diagnostics of spec and task files: their deliverable is stuck, fails its tests, goes in circles, or has failed.

Manifests have diagnostics of their own (`diagnostics.py`); no document is both. These follow what happens to the
deliverable as well as what is typed, and a quiet deliverable is looked at again when it would count as stuck.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from aurora_protocol.positions import Encoding
from aurora_server.lsp.deliverable_text import lasting, stage
from aurora_server.lsp.documents import OpenDocument
from aurora_server.lsp.memory_text import ago, counted
from aurora_server.lsp.spec_files import SpecFile, may_be_spec, spec_file

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_deliverables.events import Event
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

__all__ = ["may_be_spec", "pull", "register", "troubles"]

DEBOUNCE = 0.3
SOURCE = "aurora"
CIRCLES = 3
"""Recoveries from which a deliverable seems to go in circles (AURA-M §4 `infinite_loop`)."""

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
Report = types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport


class Trouble(msgspec.Struct, frozen=True):
    """Trouble of a deliverable that a person should look at; `code` names what."""

    code: str
    message: str
    severity: types.DiagnosticSeverity


def register(server: AuroraServer) -> None:
    """Follow open spec files and their deliverables."""
    following = _DiagnosticsFollower(server)
    server.on_open.append(lambda uri: following.look(uri, 0.0))
    server.on_change.append(lambda uri: following.look(uri, DEBOUNCE))
    server.on_save.append(lambda uri: following.look(uri, 0.0))
    server.on_close.append(following.closed)
    server.on_preferences.append(following.look_at_all)
    server.on_deliverables.append(following.changed)


async def pull(ls: AuroraServer, uri: str, previous: str | None = None) -> Report:
    """The diagnostics of one spec file, for clients that ask; "unchanged" when they are those they have."""
    items, _ = await _diagnose(ls, uri) if ls.preferences.diagnostics else ([], None)
    told = "\n".join(f"{item.range.start.line}:{item.code}" for item in items)
    result_id = hashlib.sha256(told.encode()).hexdigest()[:16]
    if previous == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def troubles(deliverable: Deliverable, events: Sequence[Event], now: float, stuck_hours: float) -> list[Trouble]:
    """Diagnostics of a deliverable; none, mostly."""
    if deliverable.status == "completed":
        return []
    name = deliverable.change_id
    if deliverable.status == "failed":
        why = f": {deliverable.failure_type.replace('_', ' ')}" if deliverable.failure_type else ""
        return [Trouble("deliverable-failed", f"{name} has failed{why}", types.DiagnosticSeverity.Warning)]
    found: list[Trouble] = []
    if (failing := _failing_tests(events, now)) is not None:
        found.append(Trouble("deliverable-failing", f"{name}: {failing}", types.DiagnosticSeverity.Warning))
    if deliverable.recovery_attempts >= CIRCLES:
        message = f"{name} goes in circles: {deliverable.recovery_attempts} recoveries so far"
        found.append(Trouble("deliverable-circles", message, types.DiagnosticSeverity.Warning))
    quiet = now - deliverable.updated_at
    if quiet >= stuck_hours * 3600:
        message = f"{name} seems stuck in {stage(deliverable)}: nothing happened for {lasting(quiet)}"
        found.append(Trouble("deliverable-stuck", message, types.DiagnosticSeverity.Hint))
    return found


def _failing_tests(events: Sequence[Event], now: float) -> str | None:
    """Trouble of a last test run that failed; None where it passed."""
    from aurora_deliverables.events import TestsRan

    for event in reversed(events):
        if isinstance(event.what, TestsRan):
            run = event.what
            if run.succeeded is True or not (run.failed or run.succeeded is False):
                return None
            what = f"{counted(run.failed, 'test')} failed" if run.failed else "the tests failed"
            command = f" ({run.command})" if run.command else ""
            return f"{what} {ago(datetime.fromtimestamp(event.at, UTC), datetime.fromtimestamp(now, UTC))}{command}"
    return None


async def _diagnose(ls: AuroraServer, uri: str) -> tuple[list[types.Diagnostic], float | None]:
    """The diagnostics of the file at `uri`, and in how many seconds its deliverable would count as stuck."""
    found = await spec_file(ls, uri)
    if found is None:
        return [], None
    hours = ls.core.settings.deliverables.stuck_hours
    now = time.time()
    events = await found.place.workspace.deliverables.events(found.deliverable.change_id)
    left = hours * 3600 - (now - found.deliverable.updated_at)
    ended = found.deliverable.status in ("completed", "failed")
    where = _range(found, ls.documents.encoding)
    items = [
        types.Diagnostic(range=where, message=each.message, severity=each.severity, code=each.code, source=SOURCE)
        for each in troubles(found.deliverable, events, now, hours)
    ]
    return items, left if left > 0 and not ended else None


def _range(found: SpecFile, encoding: Encoding) -> types.Range:
    """The first open task, or the first line where there is none."""
    line = found.boxes.first_open or 0
    text = found.lines[line].rstrip("\r") if line < len(found.lines) else ""
    codec, width = _UNITS[encoding]
    begin = len(text) - len(text.lstrip())
    end = len(text.encode(codec, "surrogatepass")) // width
    return types.Range(types.Position(line, begin), types.Position(line, end))


class _DiagnosticsFollower:
    """Debounced checks, one at a time per open document; a new reason to look replaces the check that waits."""

    def __init__(self, server: AuroraServer) -> None:
        self._ls = server
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._shown: set[str] = set()

    def look(self, uri: str, delay: float) -> None:
        """Check a document after `delay` seconds."""
        if may_be_spec(uri) and not self._ls.pulls_diagnostics and self._ls.documents.open(uri) is not None:
            self._drop(uri)
            self._looking[uri] = self._ls.spawn(self._check(uri, delay), "look after a deliverable")

    def look_at_all(self) -> None:
        for document in list(self._ls.documents.text_documents.values()):
            self.look(document.uri, 0.0)

    def changed(self, _: Workspace, __: Sequence[Deliverable]) -> None:
        """Recheck after a change: pushed, or asked to be pulled (diagnostic refresh)."""
        if not self._ls.pulls_diagnostics:
            self.look_at_all()
        elif (workspace := self._ls.client.workspace) is not None:
            support = workspace.diagnostics
            if support is not None and support.refresh_support:
                self._ls.spawn(self._ask_to_pull(), "refresh diagnostics")

    def closed(self, uri: str) -> None:
        """End of a document: its diagnostics are cleared."""
        self._drop(uri)
        if uri in self._shown:
            self._publish(uri, None, [])

    def _drop(self, uri: str) -> None:
        """Cancellation of the check that waits (debounce)."""
        check = self._looking.pop(uri, None)
        if check is not None:
            check.cancel()

    async def _check(self, uri: str, delay: float) -> None:
        """Delayed check, repeated when the deliverable would count as stuck."""
        while True:
            await asyncio.sleep(delay)
            document = self._ls.documents.open(uri)
            if not isinstance(document, OpenDocument):
                return
            version = document.version
            items, left = await _diagnose(self._ls, uri) if self._ls.preferences.diagnostics else ([], None)
            if items or uri in self._shown:
                self._publish(uri, version, items)
            if left is None:
                return
            delay = left + 1.0

    async def _ask_to_pull(self) -> None:
        """Request that the client pulls diagnostics again (refresh)."""
        try:
            await self._ls.protocol.ask(types.WORKSPACE_DIAGNOSTIC_REFRESH, None)
        except JsonRpcException:
            return  # it said it could, and now does not want to

    def _publish(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        """Diagnostics published to the client."""
        if items:
            self._shown.add(uri)
        else:
            self._shown.discard(uri)
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=version)
        self._ls.protocol.push(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
