"""What a message says of the session's last answer is acted on before anything else (AURORA Appendix E)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from aurora_memory import MemoryError_
from aurora_memory.learning import Judged, Judgement
from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.answer_cache import KeptAnswers
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.follow_up_signals import detect
from aurora_orchestration.soar.run_trace import Course
from aurora_orchestration.soar.sessions import Continuation, clarified, continuation
from aurora_orchestration.types import AskUser, Assessment, ContextBundle, Given, LogSection, Nobody, VerificationOption

logger = logging.getLogger(__name__)


class FollowUp:
    """The signal of one message, and what it leads to. Before `hear`, and without a session, it leads to nothing.

    `stop_current` ends the session's run that is under way, if there is one, and says whether there was.
    """

    def __init__(self, bench: Workbench, settings: SignalSettings, stop_current: Callable[[], bool]) -> None:
        self._bench = bench
        self._settings = settings
        self._stop_current = stop_current
        self._found: Continuation | None = None

    @property
    def query(self) -> str:
        """What is to be asked instead of the message; "" for the message itself."""
        return self._found.query if self._found is not None else ""

    @property
    def assessment(self) -> Assessment | None:
        """The assessment that the session goes on with."""
        return self._found.assessment if self._found is not None else None

    @property
    def option(self) -> VerificationOption | None:
        """The least verification."""
        return self._found.option if self._found is not None else None

    @property
    def given(self) -> tuple[Given, ...]:
        """Facts from the session."""
        return self._found.given if self._found is not None else ()

    @property
    def fresh(self) -> bool:
        """Whether nothing of the earlier answer may be used again."""
        return self._found is not None and self._found.fresh

    async def hear(self, request: RunRequest, course: Course, ask_user: AskUser, kept: KeptAnswers) -> str | None:
        """Act on a signal. What is returned is the answer, where the message asks nothing; None where it does."""
        workspace = str(self._bench.workspace)
        if not request.session or request.resume is not None:
            return None
        previous = self._bench.sessions.last(workspace, request.session)
        signal = detect(request.query, self._settings, has_previous=previous is not None)
        if signal is None or previous is None:
            return None
        found = self._found = continuation(signal, previous)
        course.tell("assess", "in_progress", f"the message is a {signal.kind} signal", signal=signal.kind)
        course.notice(*found.notices)
        if found.abort:
            self._stop_current()
            return found.say
        if found.boost > 0:
            await self._judge("praised", request)
        if found.mark is not None:
            await self._judge(found.mark, request)
            await asyncio.to_thread(kept.forget, previous.query)
        if found.ask:
            try:
                found = self._found = clarified(found, await ask_user(found.ask))
            except Nobody:
                if not found.query:
                    return found.ask
        return None if found.query else found.say

    async def _judge(self, verdict: Judged, request: RunRequest) -> None:
        assert self._found is not None, "judged is what was found"
        previous = self._found.previous
        if previous.reasoning_id is None:
            return
        judgement = Judgement(
            run=previous.run_id,
            reasoning_id=previous.reasoning_id,
            verdict=verdict,
            query=previous.query,
            at=self._bench.now(),
        )
        try:
            await self._bench.memory.judge(judgement)
        except MemoryError_ as error:
            logger.warning("a judgement could not be kept", extra={"run": previous.run_id, "error": str(error)})


def with_givens(context: ContextBundle, given: Sequence[Given]) -> ContextBundle:
    """The context with what the session knows, before everything else."""
    if not given:
        return context
    sections = tuple(
        LogSection(
            file=f"session:{each.source}",
            section=each.id,
            line_start=1,
            line_end=each.fact.count("\n") + 1,
            content=each.fact,
            tokens=estimated_tokens(each.fact.encode("utf-8", "replace")),
            score=1.0,
        )
        for each in given
    )
    tokens = context.tokens + sum(section.tokens for section in sections)
    return replace(context, logs=(*sections, *context.logs), tokens=tokens)
