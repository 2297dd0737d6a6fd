"""Health check of a session's folders (`aurora/doctor`), and repair of what can be mended (`aurora/repair`)."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aurora_memory import StoreCorrupt, StoreForeign
from aurora_protocol import methods, plugins
from aurora_protocol.closed_paths import closed_on_way, opening
from aurora_protocol.methods import DoctorFinding, DoctorResult
from aurora_server.workspace.doctor import unopened
from aurora_server.workspace.telemetry import choice_of
from aurora_server.workspace.telemetry_status import telemetry_findings

if TYPE_CHECKING:
    from aurora_orchestration.settings import ConversationSettings
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.workspace import Workspace

MAX_EXAMPLES = 1000

OF_CLIENTS = ("aurora.commands", "aurora.mcp_tools")
"""Groups of plug-ins that the daemon does not load: the processes that do can say what is wrong with them."""


def register(server: AuroraServer) -> None:
    """Answer `aurora/doctor` and `aurora/repair`."""
    server.feature(methods.DOCTOR)(doctor)
    server.feature(methods.REPAIR)(repair)


async def doctor(ls: AuroraServer, _: object) -> DoctorResult:
    """Checkup of this session's folders, its configuration and plug-ins: what is wrong, and how to mend it."""
    try:
        workspaces = await ls.folders.opened()
    except StoreCorrupt as error:
        return unopened(error)
    return await _configured(ls, _together([await workspace.doctor() for workspace in workspaces]), workspaces)


async def repair(ls: AuroraServer, _: object) -> DoctorResult:
    """Mend what can be mended in this session's folders, then say what doctor says."""
    begun: list[DoctorFinding] = []
    for root, error in await ls.folders.failed():
        if isinstance(error, StoreCorrupt) and not isinstance(error, StoreForeign):
            begun += await ls.core.repair(root)
            ls.folders.again(root)
    results = [await workspace.repair() for workspace in await ls.folders.opened()]
    whole = await _configured(ls, _together(results), await ls.folders.opened())
    return msgspec.structs.replace(whole, findings=[*begun, *whole.findings])


async def _configured(ls: AuroraServer, result: DoctorResult, workspaces: Sequence[Workspace]) -> DoctorResult:
    """The same, and what is to be said of configuration and of plug-ins."""

    def look() -> list[DoctorFinding]:
        roots = {workspace.root: ls.core.trust.is_trusted(workspace.root) for workspace in workspaces}
        return [
            *closed_logs(ls.core.log, ls.core.settings.soar.conversations),
            *ls.core.source.findings(roots),
            *_plugins(),
        ]

    exported = [each for workspace in workspaces if (each := await workspace.telemetry()) is not None]
    problems = choice_of(ls.core.settings.telemetry, os.environ).problems
    sender = exported[0][0] if exported else None
    told = telemetry_findings(sender, sum(waiting for _, waiting in exported), problems)
    return msgspec.structs.replace(result, findings=[*result.findings, *told, *await asyncio.to_thread(look)])


def closed_logs(log: Path, conversations: ConversationSettings) -> list[DoctorFinding]:
    """What is closed to us of the daemon's log and of the folder of conversation logs, with the command that opens it.

    Nothing else stops for that.
    """
    from aurora_orchestration.conversations.log_names import logs_folder

    places = {"the daemon's log": closed_on_way(log)}
    if conversations.enabled:
        places["conversation logs"] = closed_on_way(logs_folder(conversations), folder=True)
    kept: dict[Path, list[str]] = {}
    for what, closed in places.items():
        if closed is not None:
            kept.setdefault(closed, []).append(what)
    return [
        DoctorFinding(
            level="warning",
            what=f"{closed} is closed: {' and '.join(what)} cannot be written there",
            fix=opening(closed),
        )
        for closed, what in kept.items()
    ]


def _plugins() -> list[DoctorFinding]:
    """Plug-ins that this daemon leaves out. Imports those that nobody has needed yet."""
    # With the first doctor, or when files are looked at and questions asked.
    from aurora_indexer import documents, languages
    from aurora_orchestration.agents.executors import plugin_executors
    from aurora_orchestration.llm.providers import endpoints
    from aurora_server.workspace import spec_files

    languages.all_languages()
    documents.plugged_formats()
    endpoints.names()
    plugin_executors.plugged()
    spec_files.plugged_detectors()
    for group in plugins.groups():
        if group not in OF_CLIENTS:
            plugins.load(group)
    return [
        DoctorFinding(level="warning", what=each.line, fix=f"{each.fix}, then: aurora daemon stop")
        for each in plugins.left_out()
        if each.group not in OF_CLIENTS
    ]


def _together(results: list[DoctorResult]) -> DoctorResult:
    """Results of several folders merged into one."""
    if len(results) == 1:
        return results[0]
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    return DoctorResult(
        findings=[finding for result in results for finding in result.findings],
        skipped=dict(skipped),
        examples=[example for result in results for example in result.examples][:MAX_EXAMPLES],
    )
