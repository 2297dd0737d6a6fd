"""Budget ledger (write-ahead log): what was reserved, spent and released as events, and the state they add up to
(AURORA §9.4.2).

Events are appended to a history (JSON Lines), which is what counts; the tracking file is what they came to, as of so
many bytes of the history. So a process that dies between the two loses and doubles nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from aurora_deliverables.timestamps import seconds_of
from aurora_orchestration.guardrails.budget_periods import Period, period_of

Usd = Annotated[float, Meta(ge=0, le=1e12)]
Name = Annotated[str, Meta(max_length=500)]
EventKind = Literal["reserved", "spent", "uncertain", "released", "query", "reset", "period"]


class LedgerEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Event of the ledger (write-ahead log of spending), a line of its history; `at` is RFC 3339 in UTC.

    `uncertain` stands for a reservation whose process ended without a word: it counts as spent, until the same key is
    settled. `period` closes a period (`usd` and `queries` are its sums), `query` ends a run (`usd` of what was
    `estimated`, for a run of that `way`; the money itself is in its calls), `reset` begins anew.
    """

    at: Name
    kind: EventKind
    key: Name = ""
    run: Name = ""
    usd: Usd = 0.0
    phase: Name = ""
    model: Name = ""
    pid: int | None = None
    started: float | None = None
    queries: Annotated[int, Meta(ge=0)] = 0
    first: Name = ""
    last: Name = ""
    way: Name = ""
    estimated: Usd = 0.0


class Reservation(Struct, frozen=True, kw_only=True):
    """Reservation: dollars held for a call that is being made by process `pid`, which started at `started` (Unix
    seconds).
    """

    run: Name
    usd: Usd
    at: Name
    pid: int | None = None
    started: float | None = None


class Uncertain(Struct, frozen=True, kw_only=True):
    """Uncertain spending: dollars that were perhaps spent, and are counted."""

    run: Name
    usd: Usd


class Tracker(Struct, frozen=True, kw_only=True):
    """Tracker of a budget ledger: the file with the members of §9.4.2, then ours. US dollars, to a billionth.

    `consumed_usd` includes what is uncertain and not what is reserved. `history_bytes` is how much of the history is in
    it; without that member, the sums are taken as they stand.
    """

    period_start: Name
    period_end: Name
    limit_usd: Usd = 0.0
    consumed_usd: Usd = 0.0
    remaining_usd: Usd = 0.0
    query_count: Annotated[int, Meta(ge=0)] = 0
    last_updated: Name = ""
    period: Literal["daily", "weekly", "monthly"] | None = None
    soft_limit_usd: Usd = 0.0
    reserved_usd: Usd = 0.0
    reservations: dict[str, Reservation] = {}
    uncertain: dict[str, Uncertain] = {}
    history_bytes: Annotated[int, Meta(ge=0)] | None = None

    @property
    def span(self) -> Period:
        """Its period. Raises ValueError."""
        return period_of(self.period_start, self.period_end)

    @property
    def held(self) -> float:
        """Dollars that are reserved."""
        return dollars(sum(each.usd for each in self.reservations.values()))

    @property
    def used(self) -> float:
        """Dollars that are spent or reserved: what limits are compared with."""
        return dollars(self.consumed_usd + self.held)


def dollars(amount: float) -> float:
    """`amount` to a billionth of a dollar, so that sums do not drift."""
    return max(0.0, round(amount, 9))


def begin(period: Period, name: Literal["daily", "weekly", "monthly"]) -> Tracker:
    """A period in which nothing happened yet."""
    return Tracker(period_start=period.first, period_end=period.last, period=name)


def apply(tracker: Tracker, event: LedgerEvent) -> Tracker:
    """`tracker` after `event`."""
    reservations, uncertain = dict(tracker.reservations), dict(tracker.uncertain)
    consumed, queries = tracker.consumed_usd, tracker.query_count
    if event.kind in ("reserved", "spent", "uncertain") and event.key in uncertain:
        consumed -= uncertain.pop(event.key).usd
    if event.kind == "reserved":
        reservations[event.key] = Reservation(
            run=event.run, usd=event.usd, at=event.at, pid=event.pid, started=event.started
        )
    elif event.kind in ("spent", "uncertain"):
        reservations.pop(event.key, None)
        consumed += event.usd
        if event.kind == "uncertain":
            uncertain[event.key] = Uncertain(run=event.run, usd=event.usd)
    elif event.kind == "released":
        reservations.pop(event.key, None)
    elif event.kind == "query":
        queries += 1
    else:  # a period ended, or was ended by hand; calls that are being made go on
        consumed, queries, uncertain = 0.0, 0, {}
    return msgspec.structs.replace(
        tracker, reservations=reservations, uncertain=uncertain, consumed_usd=dollars(consumed), query_count=queries
    )


def since(events: Iterable[LedgerEvent], tracker: Tracker) -> Tracker:
    """`tracker`, a period that begins, after all of a history: sums of its own time, and what is still reserved."""
    span = tracker.span
    for event in events:
        if event.kind != "period" and (event.kind in ("reserved", "released") or moment(event) >= span.start):
            tracker = apply(tracker, event)
        elif event.kind in ("spent", "uncertain") and event.key in tracker.reservations:
            tracker = apply(tracker, LedgerEvent(at=event.at, kind="released", key=event.key))
    return tracker


def moment(event: LedgerEvent) -> float:
    """Time of an event, Unix seconds; 0 where its time cannot be read."""
    try:
        return seconds_of(event.at)
    except ValueError:
        return 0.0
