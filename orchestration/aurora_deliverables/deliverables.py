"""Deliverables of one workspace (event sourcing: append, replay), kept in its memory file: events are appended,
what they amount to is remembered.

Nothing is read before the first question. What was told is committed before `record` returns. An event that may not
follow where its time puts it is told back as refused and counts for nothing; it stays in the log, as an event that is
still on its way may yet make it count: so agents may be heard in any order.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import insort
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import TypeVar

import msgspec

from aurora_deliverables.conformance import THRESHOLD
from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_validation import InvalidEvent, read, written
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import Reducer, fold, order
from aurora_deliverables.snapshots import decode_snapshot, encode_snapshot, snapshot_mark
from aurora_deliverables.tracking import Recorded, Refusal
from aurora_memory import StoreError
from aurora_memory.store import FoldedDeliverable, LoggedEvent, Store, deliverable_log
from aurora_protocol.secret_mask import masked_struct

logger = logging.getLogger(__name__)

T = TypeVar("T")
_Placed = tuple[tuple[float, int, int, str], Event]
_KEY = itemgetter(0)
Hear = Callable[[Sequence[Event], Sequence[Deliverable]], None]

PAGE = 5000
"""Events that are read from the log at once."""

KEPT_EVENTS = 10_000
"""Events that stay in mind, of deliverables of which some came late, so that others can be put between them too: some
8 MB. Those of a deliverable with more are read again for each that is late."""

KEPT_FOLDS = 64
"""Deliverables whose folding stays in mind, at 4 KB each: those that were told of last. Of others, what they amount to
stays, and their events are read again when something more is told of them."""

KEPT_STAMPS = 1000
TICK = 1e-6
"""Seconds between two events that the clock does not tell apart: what times are written to."""

FEW = 50
"""Deliverables whose events are asked for one by one; of more the whole log is read."""

SAVE_EVERY = 10_000
"""Events after which what deliverables amount to is kept, should the process be killed."""

TOGETHER = 1000
"""Events of several tellings that are committed together: the disk is waited for once."""

INLINE = 100
"""Events that are folded on the event loop: more go to a thread."""


class _Telling:
    """Events that one caller told, as lines of the log, and what became of them once `is_kept`: those not known before
    by id, why some were refused, the deliverables they are of. `is_alone`: not to be kept with others.
    """

    def __init__(self, logged: Sequence[tuple[Event, LoggedEvent]]) -> None:
        self.logged = logged
        self.is_kept = False
        self.is_alone = False
        self.fresh: dict[str, Event] = {}
        self.reasons: dict[str, str | None] = {}
        self.deliverables: list[Deliverable] = []


class Deliverables:
    """Event store of a workspace's deliverables (`Tracking`). Its methods belong to the event loop's thread."""

    def __init__(self, store: Store, now: Callable[[], float], threshold: float = THRESHOLD) -> None:
        self._store = store
        self._now = now
        self._threshold = threshold
        self._turn = asyncio.Lock()
        self._waiting: deque[_Telling] = deque()
        self._folds: OrderedDict[str, Reducer] = OrderedDict()
        self._kept: OrderedDict[str, list[_Placed]] = OrderedDict()
        self._known: dict[str, Deliverable] = {}
        self._renamed: dict[str, str] = {}
        self._unread: set[str] = set()
        self._unsaved: set[str] = set()
        self._since_saved = 0
        self._numbers: dict[str, int] = {}
        self._last_number = 0
        self._writes = -1
        self._stamped: OrderedDict[str, float] = OrderedDict()
        self._listeners: list[Hear] = []

    async def record(self, events: Sequence[Event]) -> Recorded:
        """Keep events; when this returns, those accepted are on disk. What is illegal is refused, never raised."""
        # What is committed is folded in as well, even where who asked has gone meanwhile.
        return await asyncio.shield(asyncio.ensure_future(self._record(events)))

    async def get(self, change_id: str) -> Deliverable | None:
        """One deliverable as it stands."""
        await self._caught_up()
        return self._known.get(self.named(change_id))

    def named(self, name: str) -> str:
        """The id of the deliverable that is, or was, called so; the name itself where none is."""
        return name if name in self._known else self._renamed.get(name, name)

    async def all(self) -> Sequence[Deliverable]:
        """Every deliverable, the latest updated first."""
        await self._caught_up()
        return sorted(self._known.values(), key=lambda each: (-each.updated_at, each.change_id))

    async def as_of(self, at: float) -> Sequence[Deliverable]:
        """Point-in-time query: every deliverable as it stood at a time, of what had happened by then, whenever told."""
        await self._caught_up()
        known = [each for each in await self.all() if each.started_at <= at]
        later = {each.change_id for each in known if each.updated_at > at}
        if not later:
            return known
        async with self._turn:
            events = await self._events_of(later)
        cut = {name: [event for event in some if event.at <= at] for name, some in events.items()}
        many = sum(map(len, cut.values()))
        then = await _on_thread_if_many(many, lambda: {name: fold(some, self._threshold) for name, some in cut.items()})
        stood = [then[each.change_id] if each.change_id in later else each for each in known]
        return [each for each in stood if each is not None]

    async def events(self, change_id: str) -> Sequence[Event]:
        """The events of one deliverable that count, in the order in which they count."""
        await self._caught_up()
        async with self._turn:
            change_id = self.named(change_id)
            if change_id in self._unread:
                await self._read_again([change_id])
            reducer = self._folds.get(change_id)
            if reducer is None:
                return []
            self._drop_oldest()
            lines = await self._store.read(deliverable_log.events_of, change_id)
            placed = await _on_thread_if_many(len(lines), lambda: _placed(lines))
            return [event for _, event in placed if event.id not in reducer.refused]

    async def moment(self, change_id: str) -> float:
        """Timestamp for what happens to a deliverable now, whatever the clock skew: later than all that is known of it.

        Unix seconds. Where the clock was put back meanwhile, what happens is told in the order in which it happens.
        """
        await self._caught_up()
        async with self._turn:
            if change_id in self._unread:
                await self._read_again([change_id])
            reducer = self._folds.get(change_id)
            self._drop_oldest()
        latest = max(reducer.last_at if reducer is not None else 0.0, self._stamped.pop(change_id, 0.0))
        self._stamped[change_id] = stamp = max(self._now(), latest + TICK)
        while len(self._stamped) > KEPT_STAMPS:
            self._stamped.popitem(last=False)
        return stamp

    def listen(self, hear: Hear) -> Callable[[], None]:
        """Subscribe `hear`: called on the event loop with new events and what they changed; returns how to stop."""
        self._listeners.append(hear)

        def stop() -> None:
            if hear in self._listeners:
                self._listeners.remove(hear)

        return stop

    async def forget(self) -> None:
        """Read everything anew at the next question: the memory file was exchanged, or rows of it were forgotten."""
        async with self._turn:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Cache reset: nothing is in mind any more."""
        for known in (
            self._folds,
            self._kept,
            self._known,
            self._renamed,
            self._unread,
            self._unsaved,
            self._numbers,
        ):
            known.clear()
        self._last_number, self._writes = 0, -1

    async def close(self) -> None:
        """Keep what the next start would have to find out again. The store is closed by who opened it."""
        async with self._turn:
            try:
                await self._save()
            except StoreError as error:
                logger.warning("deliverables not remembered", extra={"error": str(error)})

    async def _record(self, events: Sequence[Event]) -> Recorded:
        """Append events, each once: duplicates are counted, refusals told back; listeners hear of those that count."""
        now = self._now()
        logged, refused = await _on_thread_if_many(len(events), lambda: _checked(events, now))
        telling = _Telling(logged)
        self._waiting.append(telling)
        try:
            async with self._turn:
                if not telling.is_kept:
                    await self._keep_together(telling)
        finally:
            if telling in self._waiting:
                self._waiting.remove(telling)
        refused += [Refusal(id_, reason) for id_, reason in telling.reasons.items() if reason is not None]
        counting = [event for event in telling.fresh.values() if telling.reasons[event.id] is None]
        if counting:
            self._tell(counting, telling.deliverables)
        return Recorded(len(counting), len(logged) - len(telling.fresh), tuple(refused))

    async def _keep_together(self, first: _Telling) -> None:
        """Group commit: a telling and those that wait behind it, in one transaction, wait for the disk once.

        Where that fails each is tried alone, in its turn, so that none is refused for what another said.
        """
        group = self._next_group(first)
        if len(group) > 1:
            try:
                await self._keep_group(group)
                return
            except Exception:
                logger.info("tellings are kept one by one", extra={"count": len(group)}, exc_info=True)
            for telling in group:
                telling.is_alone = True
        await self._keep_group([first])

    def _next_group(self, first: _Telling) -> list[_Telling]:
        """A telling and those behind it, at most `TOGETHER` events, up to one that tells an event of the same id."""
        if first.is_alone or first not in self._waiting:  # who took it along did not keep it
            return [first]
        self._waiting.remove(first)
        group, ids = [first], {event.id for event, _ in first.logged}
        while self._waiting and len(ids) + len(self._waiting[0].logged) <= TOGETHER:
            said = {event.id for event, _ in self._waiting[0].logged}
            if ids & said:
                break
            ids |= said
            group.append(self._waiting.popleft())
        return group

    async def _keep_group(self, group: Sequence[_Telling]) -> None:
        """Commit what a group of tellings said, with ids that differ, and fold it in. In turn."""
        await self._catch_up()
        lines = [line for telling in group for _, line in telling.logged]
        numbers = await self._store.log_deliverable_events(lines) if lines else {}
        for telling in group:
            telling.fresh = {}
            for event, _ in telling.logged:
                if event.id in numbers and (event.id not in telling.fresh or event.at < telling.fresh[event.id].at):
                    telling.fresh[event.id] = event
        fresh = [event for telling in group for event in telling.fresh.values()]
        if numbers and min(numbers.values()) == self._last_number + 1:
            self._numbers.update((event.change_id, numbers[event.id]) for event in fresh)
            await self._take(fresh)
            self._last_number = max(numbers.values())
        else:
            if numbers and min(numbers.values()) <= self._last_number:
                self._begin_anew()  # rows went, and nobody told us yet: their numbers are given again
            await self._catch_up()
        self._since_saved += len(fresh)
        if self._since_saved >= SAVE_EVERY:
            await self._save()
        for telling in group:
            changed = dict.fromkeys(event.change_id for event in telling.fresh.values())
            telling.deliverables = [self._known[each] for each in changed if each in self._known]
            telling.reasons = {
                each.id: self._folds[each.change_id].refused.get(each.id) for each in telling.fresh.values()
            }
            telling.is_kept = True
        self._drop_oldest()

    async def _caught_up(self) -> None:
        if self._writes != self._store.read.writes:
            await asyncio.shield(asyncio.ensure_future(self._catch_up_in_turn()))

    async def _catch_up_in_turn(self) -> None:
        async with self._turn:
            await self._catch_up()
            self._drop_oldest()

    async def _catch_up(self) -> None:
        """Catch-up with what came into the log by other ways: at first everything, later what was imported."""
        if self._writes < 0:
            await self._load()
        while self._writes != self._store.read.writes:
            writes = self._store.read.writes
            lines = await self._store.read(deliverable_log.events_since, self._last_number, PAGE)
            if lines:
                self._numbers.update((line.change_id, line.number) for line in lines)
                await self._take(await _on_thread_if_many(len(lines), lambda: _read(lines)))  # noqa: B023
                self._last_number = lines[-1].number
            if len(lines) < PAGE:
                self._writes = writes

    async def _load(self) -> None:
        """Read the snapshot of each deliverable, and the events of those that something was told of since."""
        writes = self._store.read.writes
        rules = await asyncio.to_thread(snapshot_mark, self._threshold)
        rows = await self._store.read(deliverable_log.folds, rules)
        stale = await _on_thread_if_many(len(rows), lambda: self._recall(rows))
        self._last_number = max(self._numbers.values(), default=0)
        await self._read_again(stale)
        self._writes = writes
        if len(stale) > FEW:
            await self._save()

    def _recall(self, rows: Sequence[FoldedDeliverable]) -> set[str]:
        """Deliverables of kept snapshots; those whose snapshot cannot be read are stale, and named."""
        stale: set[str] = set()
        for row in rows:
            self._numbers[row.change_id] = row.number
            try:
                deliverable = decode_snapshot(row.body)
            except ValueError:  # nothing was kept, or nothing that can be read: the events tell
                stale.add(row.change_id)
                continue
            self._unread.add(row.change_id)
            if deliverable is not None:
                self._known[row.change_id] = deliverable
                self._renamed.update(dict.fromkeys(deliverable.names, row.change_id))
        return stale

    async def _read_again(self, changes: Collection[str]) -> None:
        """Replay: fold some deliverables from all of their events."""
        by_change = await self._events_of(changes)
        await _on_thread_if_many(sum(map(len, by_change.values())), lambda: self._fold_anew(by_change))

    async def _events_of(self, changes: Collection[str]) -> dict[str, list[Event]]:
        """All events of some deliverables, in the order of their arrival."""
        by_change: dict[str, list[Event]] = {change_id: [] for change_id in changes}
        if len(changes) <= FEW:
            for change_id in changes:
                lines = await self._store.read(deliverable_log.events_of, change_id)
                by_change[change_id] = await _on_thread_if_many(len(lines), lambda: _read(lines))  # noqa: B023
        else:
            number = 0
            while lines := await self._store.read(deliverable_log.events_since, number, PAGE):
                for event in await _on_thread_if_many(len(lines), lambda: _read(lines)):
                    if event.change_id in by_change:
                        by_change[event.change_id].append(event)
                number = lines[-1].number
        return by_change

    def _fold_anew(self, by_change: dict[str, list[Event]]) -> None:
        """Replay of all events of some deliverables, each through a new reducer."""
        for change_id, events in by_change.items():
            reducer = self._folds[change_id] = Reducer()
            reducer.take(events)
            self._unread.discard(change_id)
            self._amounts_to(change_id, reducer)

    async def _save(self) -> None:
        """Keep snapshots of what deliverables amount to, so that the next start need not read their events."""
        changes, self._unsaved = self._unsaved, set()
        self._since_saved = 0
        rows = await _on_thread_if_many(
            len(changes),
            lambda: [
                FoldedDeliverable(each, self._numbers[each], encode_snapshot(self._known.get(each)))
                for each in changes
                if each in self._numbers
            ],
        )
        if rows:
            await self._store.keep_deliverable_folds(snapshot_mark(self._threshold), rows)

    def _amounts_to(self, change_id: str, reducer: Reducer) -> None:
        """State (projection) of a deliverable as its reducer has it now, to be saved."""
        self._unsaved.add(change_id)
        deliverable = reducer.deliverable(self._threshold)
        if deliverable is None:
            self._known.pop(change_id, None)
        else:
            self._known[change_id] = deliverable
            self._renamed.update(dict.fromkeys(deliverable.names, change_id))

    async def _take(self, events: Sequence[Event]) -> None:
        """Fold new events in."""
        by_change: dict[str, list[Event]] = {}
        for event in events:
            by_change.setdefault(event.change_id, []).append(event)
        unread = [change_id for change_id in by_change if change_id in self._unread]
        if unread:
            await self._read_again(unread)
            by_change = {change_id: new for change_id, new in by_change.items() if change_id not in unread}
        late = 0
        for change_id, new in by_change.items():
            reducer = self._folds.get(change_id)
            if reducer is not None and min(event.at for event in new) <= reducer.last_at:
                late += len(await self._keep(change_id))
        await _on_thread_if_many(len(events) + late, lambda: self._fold(by_change))

    def _fold(self, by_change: dict[str, list[Event]]) -> None:
        """Fold new events into the states: added on where they are the latest, else all are replayed in their order."""
        for change_id, new in by_change.items():
            reducer = self._folds.get(change_id) or Reducer()
            kept = self._kept.get(change_id)
            if kept is not None:
                # Some of them are in it already, where it was read from the log just now: they count once.
                for event in new:
                    insort(kept, (order(event), event), key=_KEY)
                self._kept.move_to_end(change_id)
            if min(event.at for event in new) > reducer.last_at:
                reducer.take(new)
            else:
                assert kept is not None, "read before anything is put between"
                reducer = Reducer()
                reducer.take_sorted(event for _, event in kept)
            self._folds[change_id] = reducer
            self._folds.move_to_end(change_id)
            self._amounts_to(change_id, reducer)

    async def _keep(self, change_id: str) -> list[_Placed]:
        """The events of a deliverable in their order, in mind from now on."""
        kept = self._kept.get(change_id)
        if kept is None:
            lines = await self._store.read(deliverable_log.events_of, change_id)
            kept = self._kept[change_id] = await _on_thread_if_many(len(lines), lambda: _placed(lines))
        return kept

    def _drop_oldest(self) -> None:
        """Evict from mind the foldings and events of deliverables that were least recently told of (LRU)."""
        while len(self._folds) > KEPT_FOLDS:
            change_id, _ = self._folds.popitem(last=False)
            self._kept.pop(change_id, None)
            self._unread.add(change_id)
        kept = sum(map(len, self._kept.values()))
        while kept > KEPT_EVENTS:
            _, dropped = self._kept.popitem(last=False)
            kept -= len(dropped)

    def _tell(self, events: Sequence[Event], changed: Sequence[Deliverable]) -> None:
        """Notification of subscribers (listeners); one that fails costs the others nothing."""
        for hear in tuple(self._listeners):
            try:
                hear(events, changed)
            except Exception:  # one listener must not cost the others, or who recorded, anything
                logger.exception("a listener to deliverables failed")


def _checked(events: Sequence[Event], now: float) -> tuple[list[tuple[Event, LoggedEvent]], list[Refusal]]:
    """Validation of events as they are told, secrets masked: those to log, and refusals."""
    logged: list[tuple[Event, LoggedEvent]] = []
    refused: list[Refusal] = []
    for told in events:
        try:
            event = masked_struct(told)
            body = written(event)
        except (InvalidEvent, msgspec.ValidationError) as error:
            refused.append(Refusal(str(told.id)[:200], str(error)))
        else:
            logged.append((event, LoggedEvent(event.id, event.change_id, event.at, now, event.source, body)))
    return logged, refused


def _read(lines: Sequence[LoggedEvent]) -> list[Event]:
    """The events of some lines; a line that says none, as a damaged or edited file may have, is left out."""
    events: list[Event] = []
    for line in lines:
        try:
            events.append(read(line.body))
        except InvalidEvent as error:
            logger.warning("event of a deliverable left out", extra={"id": line.id, "error": str(error)})
    return events


def _placed(lines: Sequence[LoggedEvent]) -> list[_Placed]:
    """The events of some lines sorted; of one that was told with two times the earlier."""
    placed = sorted(((order(event), event) for event in _read(lines)), key=_KEY)
    first: dict[str, _Placed] = {}
    for key, event in placed:
        first.setdefault(event.id, (key, event))
    return list(first.values())


async def _on_thread_if_many(many: int, work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work) if many > INLINE else work()
