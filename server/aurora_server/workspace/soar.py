"""Questions to one workspace that the orchestrator works on: settings and services of a run, made as it begins. What
that takes is imported with the first of them.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from aurora_protocol.address import in_home
from aurora_protocol.query_methods import QueryParams, QueryResult
from aurora_server.configuration.trust import Trust

if TYPE_CHECKING:
    from aurora_deliverables.tracking import Tracking
    from aurora_orchestration.guardrails.budget import Budget
    from aurora_orchestration.llm.providers.editor import EditorModel
    from aurora_orchestration.run_record import RunRecord
    from aurora_orchestration.settings import SoarSettings
    from aurora_orchestration.soar.services import Memory, Services
    from aurora_orchestration.soar.sessions import Sessions
    from aurora_orchestration.soar.stages import Stage
    from aurora_orchestration.types import AskUser
    from aurora_server.configuration.layers import Notice
    from aurora_server.configuration.model_selection import ModelChoice
    from aurora_server.workspace.soar_steps import Steps

logger = logging.getLogger(__name__)


class Configured(Protocol):
    """Settings for a run that begins now, and notices of what in a workspace's configuration does not count."""

    def __call__(self, *, trusted: bool, flags: Mapping[str, str] | None = None) -> tuple[SoarSettings, list[Notice]]:
        """Reads files: not for the event loop's thread, but for the little there is.

        `flags` are those of `configuration.layers.settings_for`; what is wrong with them raises SettingsError.
        """


MACHINERY = ("aurora_orchestration.soar.orchestrator", "aurora_server.workspace.query_documents")


class Soar:
    """The nine phases for the workspace at `root`. Belongs to the event loop's thread. `ended` hears of every run.

    What the workspace itself configures counts as far as its user trusts it: by `aurora trust`, or as the editor that
    asks says.
    """

    def __init__(
        self,
        root: Path,
        home: Path,
        configured: Configured,
        memory: Memory,
        tracking: Tracking,
        environ: Mapping[str, str],
        ended: Callable[[RunRecord], None] = lambda _: None,
    ) -> None:
        self._ended = ended
        self._root = root
        self._configured = configured
        self._memory = memory
        self._tracking = tracking
        self._environ = environ
        self._home = home
        self._trust = Trust(home)
        self._sessions: Sessions | None = None
        self._budget: Budget | None = None

    async def query(
        self,
        params: QueryParams,
        tell: Callable[[Stage], None],
        ask_user: AskUser,
        editor: EditorModel | None,
        *,
        trusted: bool,
        choice: ModelChoice | None = None,
    ) -> QueryResult:
        """Work on a question. Raises CannotResume, SettingsError for a model that cannot be named so, and RunCancelled
        when cancelled; all else is in the result."""
        trusted = trusted or await asyncio.to_thread(self._trust.is_trusted, self._root)
        _, found = await asyncio.to_thread(self._configured, trusted=trusted, flags=_flags(choice))
        await _import_machinery()

        from aurora_orchestration.run_record import RunRequest
        from aurora_orchestration.soar.orchestrator import orchestrate
        from aurora_server.workspace.query_documents import result_of

        query, auto = params.query, params.auto
        if params.if_called and params.resume is None:
            from aurora_orchestration.soar.invocation import called

            activation = called(query, self.settings(trusted=trusted).aurora)
            if activation is None:
                return QueryResult(id="", query="", state="complete", notices=("not for AURORA: nobody called it",))
            query, auto = activation.query, auto or activation.mode == "always_on"
        request = RunRequest(
            query=query,
            session=params.session,
            verification=params.verification,
            dry_run=params.dry_run,
            force=params.force,
            auto=auto,
            mode=params.mode,
            resume=params.resume,
            llm_provider=params.llm_provider,
            llm_model=params.llm_model,
        )
        services = self.services(trusted=trusted, choice=choice)
        record = await orchestrate(services, request, tell=tell, ask_user=ask_user, editor=editor)
        self._ended(record)
        return result_of(record, [notice.line for notice in found])

    async def steps(self, editor: EditorModel | None, *, trusted: bool, choice: ModelChoice | None = None) -> Steps:
        """Single steps, for whoever puts them together in an own way. Raises SettingsError as `query` does."""
        trusted = trusted or await asyncio.to_thread(self._trust.is_trusted, self._root)
        await _import_machinery()
        steps = await asyncio.to_thread(importlib.import_module, "aurora_server.workspace.soar_steps")
        made: Steps = steps.Steps(self.services(trusted=trusted, choice=choice), editor)
        return made

    async def look_for_interrupted(self) -> None:
        """Mark runs that a daemon before this one did not finish."""
        if not await asyncio.to_thread(_has_files, self._home / "runs"):
            return
        await _import_machinery()

        from aurora_orchestration.soar.interrupted_runs import sweep

        for run in await sweep(self.services(trusted=False)):
            logger.info("a run can be gone on with", extra={"run": run.id, "root": str(self._root)})

    def logs_folder(self) -> Path:
        """Where conversation logs are."""
        return Path(in_home(self.settings(trusted=False).conversations.path, self._home))

    def settings(self, *, trusted: bool) -> SoarSettings:
        """Settings for a run that begins now."""
        return self._configured(trusted=trusted)[0]

    def services(self, *, trusted: bool, choice: ModelChoice | None = None) -> Services:
        """The services of a run that begins now: it may, or may not, run what the workspace brings."""
        from aurora_orchestration.agents.registry import Registry
        from aurora_orchestration.guardrails.budget import Budget
        from aurora_orchestration.soar.services import Services
        from aurora_orchestration.soar.sessions import Sessions

        if self._sessions is None:
            self._sessions = Sessions()
        chosen = _flags(choice) or {}
        limits = self.settings(trusted=False).cost_budgets
        if self._budget is None or self._budget.settings != limits:  # a limit that changed holds at once
            self._budget = Budget(Path(in_home(limits.tracking_file, self._home)), limits, time.time)
        return Services(
            workspace=self._root,
            home=self._home,
            memory=self._memory,
            registry=lambda: Registry(
                self._home,
                self._root,
                self.settings(trusted=trusted).agents,
                time.time,
                trusted=trusted,
                environ=self._environ,
            ),
            budget=self._budget,
            tracking=self._tracking,
            sessions=self._sessions,
            settings=lambda flags: self._configured(trusted=trusted, flags={**chosen, **flags} or None)[0],
            trusted=trusted,
            environ=self._environ if choice is None else choice.variables(self._environ),
            now=time.time,
            random=random.random,
        )


async def _import_machinery() -> None:
    """Import what a run takes in a thread: tenths of a second, the first time."""
    for name in MACHINERY:
        await asyncio.to_thread(importlib.import_module, name)


def _flags(choice: ModelChoice | None) -> dict[str, str] | None:
    return None if choice is None else choice.flags


def _has_files(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entries)
    except OSError:
        return False
