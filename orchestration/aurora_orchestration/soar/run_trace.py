"""Trace of a run: its phases timed, told to the client as progress (stages), written to conversation log and
deliverable.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace

from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.run_record import PhaseRecord, RunRecord
from aurora_orchestration.soar.phase_log import plain
from aurora_orchestration.soar.run_deliverable import RunDeliverable
from aurora_orchestration.soar.stages import Stage, StageName, Status
from aurora_orchestration.types import Complexity, ModelCall, SubgoalResult

logger = logging.getLogger(__name__)

SPANS: dict[StageName, tuple[float, float]] = {
    "guard": (0.0, 0.02),
    "assess": (0.02, 0.06),
    "retrieve": (0.06, 0.1),
    "decompose": (0.1, 0.2),
    "verify": (0.2, 0.3),
    "route": (0.3, 0.32),
    "collect": (0.32, 0.8),
    "synthesize": (0.8, 0.95),
    "record": (0.95, 0.98),
    "respond": (0.98, 0.99),
    "done": (1.0, 1.0),
}
"""Where in a run's progress each stage begins and ends."""


class RunTrace:
    """Trace of one run: its phases, calls and notices so far.

    Four hear of what goes on: the client by `client` (a stage each), the conversation log, the deliverable, and the
    record of the run by `added_to`. `results` are what the agents gave: the log has them with their phase. `begun` is
    the record as it was at the beginning: the log's header. `log_file` is the log that a resumed run goes on with.
    `now` in Unix seconds.
    """

    def __init__(
        self,
        begun: RunRecord,
        log: ConversationLog,
        deliverable: RunDeliverable,
        *,
        client: Callable[[Stage], None],
        now: Callable[[], float],
        log_file: str | None = None,
    ) -> None:
        self.log = log
        self.deliverable = deliverable
        self.phases: list[PhaseRecord] = []
        self.calls: list[ModelCall] = []
        self.notices: list[str] = []
        self.results: Sequence[SubgoalResult] = ()
        self._begun = begun
        self._log_file = log_file
        self._log_begun = False
        self._written: asyncio.Task[None] | None = None
        self._client = client
        self._now = now
        self._began = now()
        self._progress = 0.0
        self._stage: str | None = None
        self._since = self._began
        self._spent: dict[str, float] = {}
        self._first: dict[str, float] = {}

    def tell(self, stage: StageName, status: Status, detail: str = "", **data: Any) -> None:
        """Tell the client of a stage (`stages.Tell`). `done` and `total` in `data` move the progress within it.

        With `notice` in `data`, what is said is a notice of the run too: something went wrong that it goes on without.
        """
        if data.pop("notice", False):
            self.notice(detail)
        self._switch(stage, status)
        if status == "in_progress" and stage in ("synthesize", "verify"):
            # Within a phase these take turns; sent back from one to the other, an answer is mended.
            phase = "verify_synthesis" if data.get("of") == "synthesis" else stage
            self.deliverable.phase(phase, self._now())
        begin, end = SPANS[stage]
        reached = end if status in ("complete", "skipped") else begin
        done, total = data.get("done"), data.get("total")
        if isinstance(done, int) and isinstance(total, int) and 0 < done <= total:
            reached = begin + (end - begin) * done / total
        self._progress = max(self._progress, reached)
        event = Stage(
            stage=stage,
            status=status,
            detail=plain(detail),
            data=plain(data),
            progress=round(self._progress, 4),
            cost_usd=round(self.cost, 6),
            elapsed_ms=round(max(0.0, self._now() - self._began) * 1000, 3),
            run=self._begun.id,
        )
        try:
            self._client(event)
        except Exception:  # whoever listens is no reason to lose a run that is paid for
            logger.exception("a stage could not be told", extra={"stage": stage})

    def notice(self, *texts: str) -> None:
        """Say something to the user that is no part of the answer; once."""
        for text in texts:
            clean = plain(text)
            if clean and clean not in self.notices:
                self.notices.append(clean)

    def heard(self, call: ModelCall) -> None:
        """Take in a call to a model."""
        self.calls.append(call)
        self.deliverable.called(call)

    async def begin_deliverable(self, query: str, level: Complexity, model: str) -> None:
        """Begin the deliverable, now that there is work to do: phases and calls before this took place earlier."""
        await self.deliverable.begin(query, level, model, self._begun.started_at, self._now())
        for record in self.phases:
            self.deliverable.phase(record.phase, record.at)
        for call in self.calls:
            self.deliverable.called(call)

    def added_to(self, record: RunRecord) -> RunRecord:
        """The record of the run with the phases, calls and notices so far, and where its log is."""
        return replace(
            record,
            phases=tuple(self.phases),
            calls=tuple(self.calls),
            notices=tuple(self.notices),
            log=None if self.log.path is None else str(self.log.path),
        )

    @property
    def cost(self) -> float:
        """Dollars paid by this run so far."""
        return sum(call.cost_usd or 0.0 for call in self.calls if not call.replayed)

    def spent(self, part: str) -> tuple[float | None, float]:
        """When a part of a phase first began, in Unix seconds, and how many milliseconds it took in all."""
        return self._first.get(part), self._spent.get(part, 0.0) * 1000

    @asynccontextmanager
    async def phase(self, name: str, part: str | None = None, /, **given: Any) -> AsyncIterator[dict[str, Any]]:
        """Time a phase and write down what it was given and what its block puts into the dict; also where it fails.

        `part` is a stage told of meanwhile whose time is not this phase's: it gets a record of its own.
        """
        at = self._now()
        if part is not None:
            self._first.pop(part, None)
            self._spent.pop(part, None)
        self.deliverable.phase(name, at)
        found: dict[str, Any] = {}
        try:
            yield found
        except BaseException as error:
            found.setdefault("error", str(error) or type(error).__name__)
            raise
        finally:
            self._switch(None, "complete")
            took = max(0.0, self._now() - at) * 1000
            if part is not None:
                took = max(0.0, took - self.spent(part)[1])
            await self.record(name, at, took, given, found)

    async def record(self, name: str, at: float, took_ms: float, given: dict[str, Any], found: dict[str, Any]) -> None:
        """Keep a phase's record. It is written to the log in its turn, while the next phase begins (`written`)."""
        shown, gave = await asyncio.to_thread(lambda: (plain(given), plain(found)))
        record = PhaseRecord(phase=name, at=at, duration_ms=round(took_ms, 3), input=shown, output=gave)
        self.phases.append(record)
        self._written = asyncio.ensure_future(self._write_after(self._written, record))

    async def written(self) -> None:
        """Wait until all that was recorded is in the log. Raises what writing raised."""
        if self._written is not None:
            await asyncio.shield(self._written)

    async def _write_after(self, earlier: asyncio.Task[None] | None, record: PhaseRecord) -> None:
        if earlier is not None:
            await earlier
        await asyncio.to_thread(self._write, record)

    def _write(self, record: PhaseRecord) -> None:
        """Into the log; its header comes with the first phase, when the query has passed the guardrails."""
        if not self._log_begun:
            self._log_begun = True
            run, file = self._begun, self._log_file
            if file is None or not self.log.resume(file, run.query, run.started_at, record.at):
                self.log.begin(run.id, run.query, run.started_at)
        self.log.phase(record, self.results if record.phase == "collect" else ())

    def _switch(self, stage: str | None, status: Status) -> None:
        """The time since the last event belongs to the stage that was under way then."""
        now = self._now()
        whose = self._stage if self._stage is not None else stage
        if whose is not None:
            self._spent[whose] = self._spent.get(whose, 0.0) + max(0.0, now - self._since)
        self._since = now
        if stage is not None:
            self._first.setdefault(stage, now)
        self._stage = stage if status == "in_progress" else None
