"""Deliverables of one workspace that are open (in progress), what was told of each, and the record of what is noticed
of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.detection.recorded_state import RecordedState, state_of
from aurora_deliverables.events import Event, ToolCalled
from aurora_memory.store import Store, deliverable_log

logger = logging.getLogger(__name__)

KEPT_TOLD = 256


class OpenDeliverables:
    """Open deliverables of a workspace, and what was told of those that were asked for last.

    `edited_at` has when files were last edited for an open one.
    """

    def __init__(self, deliverables: Deliverables) -> None:
        self.deliverables = deliverables
        self.edited_at: dict[str, float] = {}
        self._told: OrderedDict[str, RecordedState] = OrderedDict()
        self._open: dict[str, Deliverable] = {}
        self._heard: set[str] = set()

    async def begin(self, store: Store) -> None:
        """Read which are open.

        What was told of in another work tree first, or by a colleague, is none of this folder unless its spec is here.
        """
        self._heard = await store.read(deliverable_log.heard_changes)
        self._open = {
            each.change_id: each
            for each in await self.deliverables.all()
            if each.status not in ("completed", "failed") and each.kind == "change"
            if each.change_id not in self._heard
        }

    def __iter__(self) -> Iterator[Deliverable]:
        return iter(self._open.values())

    def __contains__(self, change_id: object) -> bool:
        return change_id in self._open

    def __len__(self) -> int:
        return len(self._open)

    @property
    def ids(self) -> list[str]:
        """Their names."""
        return list(self._open)

    def get(self, change_id: str) -> Deliverable | None:
        """The open one of this name."""
        return self._open.get(change_id)

    async def is_here(self, change_id: str) -> None:
        """Note that the spec of one is in this folder: told of by another work tree first, it is open here too."""
        if change_id in self._heard:
            known = await self.deliverables.get(change_id)
            if known is not None and known.status not in ("completed", "failed"):
                self._open.setdefault(change_id, known)

    def hear(self, events: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        """Note what was told, by whomever."""
        for deliverable in changed:
            if deliverable.status in ("completed", "failed") or deliverable.kind == "run":
                self._open.pop(deliverable.change_id, None)
                self.edited_at.pop(deliverable.change_id, None)
            else:
                self._open[deliverable.change_id] = deliverable
        for event in events:
            if not isinstance(event.what, ToolCalled):
                self._told.pop(event.change_id, None)

    def forget(self) -> None:
        """Read anew what was told: the memory file was exchanged, or more came into it."""
        self._told.clear()

    async def known(self, change_id: str) -> RecordedState:
        """Recorded state of a deliverable: what was told of it so far."""
        state = self._told.get(change_id)
        if state is None:
            events = await self.deliverables.events(change_id)
            state = (
                await asyncio.to_thread(state_of, change_id, events)
                if len(events) > 500
                else state_of(change_id, events)
            )
            self._told[change_id] = state
            while len(self._told) > KEPT_TOLD:
                self._told.popitem(last=False)
        return state

    async def record(self, events: Sequence[Event]) -> None:
        """Record what was noticed; what is refused goes into the daemon's log."""
        if events:
            recorded = await self.deliverables.record(events)
            for refusal in recorded.refused:
                logger.info("event refused", extra={"event": refusal.event_id, "reason": refusal.reason})
