"""Features of a session (registry of handlers, server capabilities), and a server object that has all of them."""

from __future__ import annotations

from collections.abc import Callable

from aurora_server.lsp import (
    budget,
    code_lens,
    commands,
    configuration,
    deliverable_changes,
    deliverable_diagnostics,
    deliverable_metrics,
    deliverables,
    diagnostics,
    doctor,
    document_symbol,
    explain,
    hover,
    index,
    lifecycle,
    memory,
    progress,
    query,
    recall,
    soar_steps,
    status,
    synchronization,
    watched_files,
    who,
    workspace_symbol,
)
from aurora_server.lsp.manifests import (
    code_action,
    completion,
    document_link,
    folding_range,
    formatting,
    inlay_hint,
    references,
    rename,
    selection_range,
)
from aurora_server.lsp.manifests import commands as manifest_commands
from aurora_server.lsp.server import AuroraServer
from aurora_server.session.core import Core

FEATURES = (
    lifecycle,
    progress,
    synchronization,
    configuration,
    watched_files,
    hover,
    document_symbol,
    workspace_symbol,
    code_lens,
    diagnostics,
    completion,
    code_action,
    references,
    rename,
    folding_range,
    selection_range,
    formatting,
    document_link,
    inlay_hint,
    manifest_commands,
    deliverable_changes,
    deliverable_diagnostics,
    recall,
    query,
    soar_steps,
    budget,
    index,
    status,
    explain,
    who,
    doctor,
    memory,
    deliverables,
    deliverable_metrics,
    commands,
)


def create_server(core: Core, end: Callable[[str], None]) -> AuroraServer:
    """A server object for one session, with all features. `end` ends that session."""
    server = AuroraServer(core, end)
    for feature in FEATURES:
        feature.register(server)
    return server
