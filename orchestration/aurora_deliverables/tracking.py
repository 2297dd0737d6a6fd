"""Tracking port: what whoever records or follows a workspace's deliverables asks of them, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Event


class Refusal(Struct, frozen=True):
    """Why an event was not taken: one sentence, the legal next steps named."""

    event_id: str
    reason: str


class Recorded(Struct, frozen=True):
    """What became of some events: taken, known already, refused."""

    accepted: int = 0
    duplicates: int = 0
    refused: tuple[Refusal, ...] = ()


class Tracking(Protocol):
    """What detection, commands, editors and telemetry see of a workspace's deliverables."""

    async def record(self, events: Sequence[Event]) -> Recorded:
        """Keep events; when this returns, those accepted are on disk. Illegal transitions are refused, never raised."""

    async def get(self, change_id: str) -> Deliverable | None:
        """One deliverable as it stands."""

    async def all(self) -> Sequence[Deliverable]:
        """Every deliverable, the latest updated first."""

    async def events(self, change_id: str) -> Sequence[Event]:
        """The events of one deliverable, in the order in which they count."""

    def listen(self, hear: Callable[[Sequence[Event], Sequence[Deliverable]], None]) -> Callable[[], None]:
        """Have `hear` called, on the event loop, with new events and what they changed; returns how to stop."""
