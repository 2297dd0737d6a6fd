"""Follow-up in a multi-turn conversation: a message's signal about the last answer comes first (AURORA App. E)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from aurora_memory import StoreError
from aurora_memory.learning import Feedback, Judged
from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.settings import SignalSettings
from aurora_orchestration.soar.follow_up_signals import acknowledges, detect
from aurora_orchestration.soar.run_trace import RunTrace
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.sessions import Continuation, Remembered, acknowledged, clarified, continuation
from aurora_orchestration.types import AskUser, ContextBundle, Given, LogSection, Nobody

logger = logging.getLogger(__name__)


async def follow_up(
    query: str,
    request: RunRequest,
    services: Services,
    settings: SignalSettings,
    excluded: Sequence[str],
    trace: RunTrace,
    *,
    ask_user: AskUser,
    cancel_earlier: Callable[[], bool],
) -> Continuation | None:
    """Act on the signal in a message; None where there is none, or no session to follow up.

    Where nothing is left to ask (`query` is empty), `say` is the answer; so it is to a message that is one of the
    `excluded` (`aurora.exclude_patterns`) or says no more. `cancel_earlier` ends the session's run that
    is under way.
    """
    workspace = str(services.workspace)
    if not request.session or request.resume is not None:
        return None
    previous = services.sessions.last(workspace, request.session)
    signal = detect(query, settings, has_previous=previous is not None)
    if signal is None and acknowledges(query, excluded):
        return acknowledged(previous)
    if signal is None or previous is None:
        return None
    found = continuation(signal, previous)
    trace.tell("assess", "in_progress", f"the message is a {signal.kind} signal", signal=signal.kind)
    trace.notice(*found.notices)
    if found.abort:
        cancel_earlier()
        return replace(found, query="")
    if found.boost > 0:
        await _judge("praised", previous, services)
    if found.mark is not None:
        await _judge(found.mark, previous, services)
        await asyncio.to_thread(services.store.answers.forget, previous.query)
    if found.ask:
        try:
            return clarified(found, await ask_user(found.ask))
        except Nobody:
            return found if found.query else replace(found, say=found.ask)
    return found


async def _judge(verdict: Judged, previous: Remembered, services: Services) -> None:
    """User feedback (thumbs up or down) on the last answer, told to memory."""
    if previous.reasoning_id is None:
        return
    judgement = Feedback(
        run=previous.run_id,
        reasoning_id=previous.reasoning_id,
        verdict=verdict,
        query=previous.query,
        at=services.now(),
    )
    try:
        await services.memory.judge(judgement)
    except StoreError as error:
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
