"""Orchestrator: a question goes in, the record of its run comes out, whatever happens in between (AURORA §7.1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from aurora_deliverables.detection.prompts import change_of
from aurora_memory import StoreError
from aurora_orchestration import OrchestrationError
from aurora_orchestration.guardrails.blocked import QuestionBlocked
from aurora_orchestration.llm.completion import CapReached
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.run_record import RunCancelled, RunRecord, RunRequest, State
from aurora_orchestration.soar.checkpoint import Checkpoint
from aurora_orchestration.soar.finalize import finalize, to_its_end
from aurora_orchestration.soar.phases import go_through
from aurora_orchestration.soar.respond import from_results
from aurora_orchestration.soar.run import Run
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.types import AskUser

logger = logging.getLogger(__name__)


async def orchestrate(
    services: Services,
    request: RunRequest,
    *,
    tell: Callable[[Stage], None],
    ask_user: AskUser,
    editor: EditorModel | None = None,
) -> RunRecord:
    """Entry point of a run: work on a question, or resume an unfinished run (`request.resume`), under its lock.

    What goes wrong is said by the record's state and error. Raises CannotResume, and RunCancelled when cancelled.
    """
    store = services.store
    run_id = request.resume or _new_id(services)
    lock = await asyncio.to_thread(store.lock, run_id)
    try:
        if request.resume is not None:
            before = await asyncio.to_thread(store.load, run_id)
            checkpoint = before.continued(services.now(), force=request.force)
        else:
            checkpoint = Checkpoint(
                id=run_id,
                workspace=str(services.workspace),
                request=request,
                started_at=services.now(),
                deliverable=change_of(run_id),
            )
        run = Run(services, checkpoint, tell=tell, ask_user=ask_user, editor=editor)
        with services.sessions.current(str(services.workspace), request.session) as cancel_earlier:
            return await _to_its_record(run, cancel_earlier)
    finally:
        store.release(run_id, lock)


async def _to_its_record(run: Run, cancel_earlier: Callable[[], bool]) -> RunRecord:
    """Take a run through its phases, name what stopped it, and finalize it."""
    limited = cancelled = False
    seconds = run.settings.llm.caps.run_seconds
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await go_through(run, cancel_earlier)
    except asyncio.CancelledError:
        cancelled = True
        run.set(state="cancelled", error="cancelled; go on with it by its id")
    except (OrchestrationError, StoreError) as error:
        limited = isinstance(error, CapReached)
        held_back = isinstance(error, QuestionBlocked) or (limited and not _has_findings(run.record))
        run.set(state="blocked" if held_back else _state_without_end(run.record), error=str(error))
    except Exception as error:
        if limit.expired() and isinstance(error, TimeoutError):
            limited, said = True, f"not done within llm.caps.run_seconds ({seconds:g} s)"
        else:
            logger.exception("a run failed", extra={"run": run.record.id})
            said = f"internal error, {type(error).__name__}: {error}"
        run.set(state=_state_without_end(run.record), error=said)
    if run.record.state == "partial" and not run.record.answer:
        run.set(answer=from_results(run.record.results))
    record = await to_its_end(finalize(run, limited=limited))
    if cancelled:
        raise RunCancelled(record)
    return record


def _has_findings(run: RunRecord) -> bool:
    return bool(run.answer or from_results(run.results))


def _state_without_end(run: RunRecord) -> State:
    """The state of a run that an error ended: partial where something was found."""
    return "partial" if _has_findings(run) else "failed"


def _new_id(services: Services) -> str:
    at = datetime.fromtimestamp(services.now(), UTC)
    return f"aurora-{at:%Y%m%d-%H%M%S}-{int(services.random() * 16**6):06x}"
