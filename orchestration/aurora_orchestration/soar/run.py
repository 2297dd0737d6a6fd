"""Run of a question: its state, its models and its checkpoint; `phases` take it to its answer (AURORA §7.1)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aurora_memory.documents import CitedSpan
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.llm.completion import Models
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metered_model import RunSpending
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.checkpoint import Checkpoint
from aurora_orchestration.soar.drift import cited_of
from aurora_orchestration.soar.run_budget import RunBudget
from aurora_orchestration.soar.run_deliverable import RunDeliverable
from aurora_orchestration.soar.run_trace import RunTrace
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.sessions import Continuation
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import AskUser, Complexity
from aurora_protocol.address import in_home


class Run:
    """Run of one question. `record` is its state: what was asked, and what the phases gave so far; `trace` hears of it.

    `checkpoint` is what it begins with; a resumed run has an assessment and a context in it. `file_digests` are those
    of the files the context shows, taken when it was; `resumable` says that there is a checkpoint on disk.
    """

    def __init__(
        self,
        services: Services,
        checkpoint: Checkpoint,
        *,
        tell: Callable[[Stage], None],
        ask_user: AskUser,
        editor: EditorModel | None,
    ) -> None:
        self.services = services
        self.store = services.store
        self.request = checkpoint.request
        self.settings = services.settings(self.request.flags)
        self.journal: Journal | None = None
        self.file_digests: dict[str, str] | None = None
        self.resumable = False
        self._begun = checkpoint
        self.ask_user = ask_user
        self.editor = editor
        self.continuation: Continuation | None = None
        self.began = time.monotonic()
        assessment = checkpoint.assessment
        self.record = RunRecord(
            id=checkpoint.id,
            query=redact(self.request.query).text,
            workspace=checkpoint.workspace,
            started_at=checkpoint.started_at,
            ended_at=checkpoint.started_at,
            state="failed",
            mode=self.request.mode,
            session=self.request.session,
            resumed=checkpoint.resumed,
            assessment=assessment,
            context=checkpoint.context,
            complexity=assessment.complexity if assessment is not None else None,
        )
        settings = self.settings.conversations
        self.trace = RunTrace(
            self.record,
            ConversationLog(Path(in_home(settings.path, services.home)), settings),
            RunDeliverable(
                services.tracking,
                checkpoint.id,
                self.request.session,
                change=checkpoint.deliverable,
                resumed=checkpoint.resumed,
            ),
            client=tell,
            now=services.now,
            log_file=checkpoint.log,
        )
        self.budget = RunBudget(
            services, self.request, self.settings.complexity, ask_user=ask_user, notice=self.trace.notice
        )
        if checkpoint.resumed:
            self.trace.notice(f"goes on with run {checkpoint.id}, begun {checkpoint.resumed + 1} times")

    def set(self, **changes: Any) -> None:
        """Change the state; fields of RunRecord."""
        self.record = replace(self.record, **changes)

    def checkpoint(self) -> Checkpoint:
        """Checkpoint to resume this run from here."""
        run = self.record
        return replace(
            self._begun,
            request=replace(self.request, query=run.query, resume=None),
            state="cancelled" if run.state == "cancelled" else "running",
            log=self.trace.log.file,
            assessment=run.assessment,
            context=run.context,
        )

    def models(self, complexity: Complexity | None, spending: RunSpending) -> Models:
        """The models for a complexity; None for assessing it."""
        services = self.services
        models = open_models(
            self.settings.llm,
            services.environ,
            complexity,
            run=self.record.id,
            budget=services.budget,
            journal=self.journal,
            heard=self.trace.heard,
            editor=self.editor,
            spending=spending,
            force=self.request.force,
            now=services.now,
        )
        self.trace.notice(*models.notices)
        return models

    async def save(self) -> None:
        """Save a checkpoint."""
        self.resumable = True
        await self.trace.written()  # the log has its name from its first phase on
        await asyncio.to_thread(self.store.save, self.checkpoint())

    async def cited_spans(self) -> tuple[CitedSpan, ...]:
        """The lines that the answer rests on, as they were when it was worked out; none where that is not known."""
        answer, context, files = self.record.answer, self.record.context, self.file_digests
        if context is None or files is None or not answer:
            return ()
        return await cited_of(answer, context, files, self.store.answers, WorkspaceText(self.services.workspace))
