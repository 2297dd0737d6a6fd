"""Composition root (dependency injection): where the rooms come together: how a workspace is opened, and the worker
processes and embedding model that all of them share.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from aurora_protocol.address import in_home
from aurora_server.configuration.live_settings import SettingsSource
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.registry import canonical

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.sender import Sender
    from aurora_indexer.embedding.model_process import ModelProcess
    from aurora_indexer.workers.pool import WorkerPool
    from aurora_protocol.methods import DoctorFinding
    from aurora_server.workspace.shared_records import SharedRecords
    from aurora_server.workspace.team_exchange import TeamExchange
    from aurora_server.workspace.workspace import Workspace

MOST_WORKERS = 4
"""Worker processes unless told otherwise: more would be felt in the editor."""
LOGS_KEPT_AFTER = 60.0
"""Seconds after the first workspace was opened until conversation logs are looked through: nobody waits for it."""


class WorkspaceOpener:
    """Opener of workspaces around one worker pool and one model, which are made when the first of them is opened."""

    def __init__(self, source: SettingsSource, environment: Mapping[str, str]) -> None:
        self._source = source
        self._settings = source.started
        self._environment = environment
        self._pool: WorkerPool | None = None
        self._mending = asyncio.Lock()
        self._model: ModelProcess | None = None
        self.records: SharedRecords | None = None
        self._teams: TeamExchange | None = None
        self._sender: Sender | None = None
        self._sender_known = False
        self._opened: WeakSet[Workspace] = WeakSet()
        self._keeping_logs: asyncio.Task[None] | None = None

    async def open(self, root: Path) -> Workspace:
        """Factory: open the workspace at the canonical `root`. Raises what its memory and its indexer raise."""
        # The imports are slow; sessions are answered meanwhile.
        workspace_class, pool_class, shared_records_class, teams_class = await asyncio.to_thread(_classes)
        if self._pool is None:
            self._pool = pool_class(
                self._settings.indexing.workers or min(MOST_WORKERS, os.cpu_count() or 1),
                folder=self._settings.home,
                environment=self._environment,
                max_file_bytes=self._settings.indexing.max_file_bytes,
            )
        semantic = self._settings.memory.semantic
        if self._model is None and semantic.model and semantic.enabled:
            self._model = await asyncio.to_thread(_model_process, self._settings, semantic.model, self._environment)
        if self.records is None:
            self.records = shared_records_class(self._settings.home)
            self._teams = teams_class(self.records, self._environment, self._settings.team.sync_seconds)
        if not self._sender_known:
            self._sender_known, self._sender = True, _sender(self._settings, self._environment)
        workspace = await workspace_class.open(
            root,
            self._settings,
            self._pool,
            self._model,
            self._sender,
            self._source,
            self._environment,
            self.records,
        )
        self._opened.add(workspace)
        if self._keeping_logs is None:
            self._keeping_logs = asyncio.create_task(self._keep_logs(), name="keep conversation logs")
        return workspace

    async def repair(self, folder: Path) -> list[DoctorFinding]:
        """Set the damaged memory of a workspace that cannot be opened aside; says what was done."""
        from aurora_server.workspace.repair import mend_unopened

        root = await asyncio.to_thread(canonical, folder, Path.home())
        async with self._mending:
            return await mend_unopened(root, self._settings)

    async def send_rest(self) -> None:
        """Send what telemetry still has to send, for half a second at most. Comes before workspaces close."""
        if self._sender is not None:
            await asyncio.to_thread(self._sender.close)

    async def close(self) -> None:
        """End the worker processes, and what is done in the background."""
        if self._keeping_logs is not None:
            self._keeping_logs.cancel()
            await asyncio.wait({self._keeping_logs})
        if self._teams is not None:
            await self._teams.close()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()
        model, self._model = self._model, None
        if model is not None:
            await model.aclose()

    async def _keep_logs(self) -> None:
        """Look after the conversation logs, once nobody waits for a start any more."""
        await asyncio.sleep(LOGS_KEPT_AFTER)
        from aurora_server.workspace.maintenance import LogRetention  # a workspace is open: it is imported already

        memory = self._settings.home / "memory"
        await LogRetention(lambda: self._source.current().soar.conversations, self._forget_logs, memory).go_on()

    async def _forget_logs(self, files: Sequence[str]) -> None:
        for workspace in list(self._opened):
            await workspace.forget_logs(files)


def _sender(settings: Settings, environment: Mapping[str, str]) -> Sender | None:
    from aurora_server.workspace.telemetry import sender_of

    return sender_of(settings.telemetry, environment)


def _model_process(settings: Settings, model: str, environment: Mapping[str, str]) -> ModelProcess:
    """Process of the embedding model, by its name or path."""
    from aurora_indexer.embedding.model_process import ModelProcess

    name = (
        model if model.startswith("package:") else str(settings.home / Path(in_home(model, settings.home)).expanduser())
    )
    return ModelProcess(name, folder=settings.home, environment=environment)


def _classes() -> tuple[type[Workspace], type[WorkerPool], type[SharedRecords], type[TeamExchange]]:
    from aurora_indexer.workers.pool import WorkerPool
    from aurora_server.workspace.shared_records import SharedRecords
    from aurora_server.workspace.team_exchange import TeamExchange
    from aurora_server.workspace.workspace import Workspace

    return Workspace, WorkerPool, SharedRecords, TeamExchange
