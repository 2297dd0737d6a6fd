"""Cost budget: what may be spent, and what was: one budget for all daemons, windows and commands of a user (AURORA
§9.4.2).

Two thresholds: from `warn_at_percent` of `soft_limit_usd` on a question is warned of, beyond `block_at_percent` of
`hard_limit_usd` none begins and no call is made. What is compared is what was spent, what is reserved by calls that are
being made, and what is about to be. Everything is written ahead (`ledger`) of being done, under a lock between
processes; what cannot be written down is not spent. A killed process loses nothing of it; should the power fail, what
the last moments wrote may be missing (`syncing`), and the journal of the run has what was answered.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock

import msgspec
from filelock import FileLock, Timeout

from aurora_deliverables.timestamps import timestamp
from aurora_orchestration.guardrails import budget_files as files
from aurora_orchestration.guardrails.blocked import OverBudget, Unrecorded
from aurora_orchestration.guardrails.budget_history import History, history_of
from aurora_orchestration.guardrails.budget_periods import period_at
from aurora_orchestration.guardrails.budget_status import BudgetStatus, status_of, too_much, warning
from aurora_orchestration.guardrails.ledger import EventKind, LedgerEvent, Tracker, apply, begin, dollars, since
from aurora_orchestration.settings import BudgetSettings
from aurora_protocol import typed
from aurora_protocol.strict_modes import make_private_folder

LOCK_SECONDS = 30.0
_POLL_SECONDS = 0.005
_PAST_RUNS = 20
"""Runs of a kind that its estimate is corrected by, the latest ones."""
_SAME_START_SECONDS = 2.0
_log = logging.getLogger(__name__)


class Budget:
    """Budget whose tracking file is `path`. Any number of these, in any number of processes, are one.

    `now` gives Unix seconds. With `settings.enabled` off nothing is read, written or held back. All methods block: call
    them through `asyncio.to_thread`.
    """

    def __init__(self, path: Path, settings: BudgetSettings, now: Callable[[], float]) -> None:
        self.path = path
        self.settings = settings
        self._history = files.history_path(path)
        self._now = now
        self._notices: list[str] = []
        self._settled: set[str] = set()
        self._past: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_PAST_RUNS))
        self._seen: tuple[int, int] = (0, 0)
        """Which history, by its inode, `_settled` and `_past` know, and up to which byte."""
        self._kept: tuple[tuple[int, int, int], Tracker] | None = None
        """The tracking file as this process read or wrote it last, and what that is known by."""
        self._lock = FileLock(
            f"{path}.lock", timeout=LOCK_SECONDS, mode=0o600, poll_interval=_POLL_SECONDS, thread_local=False
        )
        self._apart = True
        """Whether the tracking file is none that the history can be told from: then it is written at once."""
        self._mutex = Lock()

    def status(self) -> BudgetStatus:
        """State of the budget now. Writes nothing, and works where nothing can be written. Raises Unrecorded."""
        with self._errors_translated("read"):
            tracker = self._current(read_only=True)
        return status_of(tracker, self.settings, self.path, tuple(self._notices))

    def check(self, estimated_usd: float, *, force: bool = False) -> str | None:
        """Check before a question that will cost about so much: None, or a warning. Raises OverBudget, Unrecorded.

        What is warned of and costs something wants its user's word first (`soft_limit`).
        """
        if not self.settings.enabled:
            return None
        status = self.status()
        self._enforce_limit(status, estimated_usd, force=force)
        return warning(status, estimated_usd, self.settings)

    def reserve(self, key: str, run: str, usd: float, *, force: bool = False) -> None:
        """Hold `usd` for the call `key` of `run`, before it is made. Raises OverBudget, Unrecorded.

        The same key again changes what it holds; a key that was settled holds nothing any more.
        """
        with self._locked() as tracker:
            if tracker is None or key in self._settled:
                return
            others = tracker
            if key in tracker.reservations:
                others = apply(tracker, self._event("released", key=key))
            elif key in tracker.uncertain:
                others = apply(tracker, self._event("spent", key=key))
            self._enforce_limit(status_of(others, self.settings, self.path), usd, force=force)
            pid, started = _this_process(os.getpid())
            self._record(tracker, "reserved", key=key, run=run, usd=dollars(usd), pid=pid, started=started)

    def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> None:
        """Settlement: the call `key` cost `usd`, once, however often said. Raises Unrecorded: it stays reserved."""
        with self._locked() as tracker:
            if tracker is None or key in self._settled:
                return
            held = tracker.reservations.get(key) or tracker.uncertain.get(key)
            run = held.run if held is not None else ""
            self._record(tracker, "spent", key=key, run=run, usd=dollars(usd), phase=phase, model=model)

    def release(self, key: str) -> None:
        """Refund of a reservation: the call `key` was not made: what it held is free again. Raises Unrecorded."""
        with self._locked() as tracker:
            if tracker is not None and key in tracker.reservations:
                self._record(tracker, "released", key=key)

    def past(self, way: str) -> tuple[float, ...]:
        """What the latest runs of a kind cost, in shares of what was estimated for each. Raises Unrecorded."""
        if not self.settings.enabled:
            return ()
        with self._errors_translated("read"), self._mutex:
            self._learn_history()
            return tuple(self._past.get(way, ()))

    def end_run(
        self, run: str, *, query_counted: bool = True, way: str = "", estimated: float = 0.0, usd: float = 0.0
    ) -> None:
        """`run` is over. What it still holds counts as spent, for its calls may have been made. Raises Unrecorded.

        `estimated` dollars were expected for a run that went its `way`, and it did cost `usd`: the next of its kind is
        estimated by that.
        """
        with self._locked() as tracker:
            if tracker is None:
                return
            for key, held in tracker.reservations.items():
                if held.run == run:
                    tracker = self._record(tracker, "uncertain", key=key, run=run, usd=held.usd)
            if query_counted:
                self._record(tracker, "query", run=run, way=way, estimated=dollars(estimated), usd=dollars(usd))

    def reset(self) -> BudgetStatus:
        """Reset: count anew, within the period; what was spent stays in the history. Raises Unrecorded."""
        with self._locked(always=True) as tracker:
            if tracker is not None:
                tracker = self._record(
                    tracker,
                    "reset",
                    usd=tracker.consumed_usd,
                    queries=tracker.query_count,
                    first=tracker.period_start,
                    last=tracker.period_end,
                )
                period = period_at(self._now(), self.settings.period)
                self._store(
                    msgspec.structs.replace(
                        tracker, period_start=period.first, period_end=period.last, period=self.settings.period
                    )
                )
        return self.status()

    def history(self, month: str | None = None) -> History:
        """History of `month` (`2025-12`, in UTC), or ever. Raises Unrecorded, ValueError for no month."""
        with self._errors_translated("read"):
            kept = files.all_histories(self._history)
            return history_of((event for path in kept for event, _ in files.events_from(path)), month)

    def _enforce_limit(self, status: BudgetStatus, usd: float, *, force: bool) -> None:
        """Enforcement of the hard limit. Raises OverBudget, unless force is given and allowed."""
        over = too_much(status, usd, self.settings)
        if over is None or (force and self.settings.allow_force_override):
            return
        if force:
            over += "; --force is off (cost_budgets.allow_force_override)"
        raise OverBudget(over)

    @contextmanager
    def _locked(self, *, always: bool = False) -> Iterator[Tracker | None]:
        """State as of now, under a file lock (critical section); None where no budget is kept."""
        if not self.settings.enabled and not always:
            yield None
            return
        with self._errors_translated("write"), self._mutex:
            make_private_folder(self.path.parent)
            with self._lock:
                tracker = self._current(read_only=False)
                self._learn_history()
                yield tracker

    @contextmanager
    def _errors_translated(self, doing: str) -> Iterator[None]:
        """Exception translation: a lock held or a disk error becomes Unrecorded, in one line."""
        try:
            yield
        except Timeout as error:
            raise Unrecorded(
                f"{self.path}.lock is held by another process for {LOCK_SECONDS:.0f} s; see which: aurora doctor"
            ) from error
        except OSError as error:
            place = error.filename or self.path
            raise Unrecorded(
                f"cannot {doing} the budget, {place}: {error.strerror}; nothing is spent that cannot be written down:"
                " mend that, or name another cost_budgets.tracking_file"
            ) from error

    def _current(self, *, read_only: bool) -> Tracker:
        """The state as of now: the tracking file, what the history has beyond it, dead processes and ended periods."""
        tracker = self._read(read_only=read_only)
        for key, held in list(tracker.reservations.items()):
            if held.pid is not None and not _lives(held.pid, held.started):
                tracker = self._told(tracker, read_only, "uncertain", key=key, run=held.run, usd=held.usd)
        return self._in_period(tracker, read_only=read_only)

    def _read(self, *, read_only: bool) -> Tracker:
        """The tracker as of now: the tracking file (checkpoint), and events of the history since, replayed over it."""
        try:
            tracker = self._tracking_file()
        except files.Corrupt as error:
            notice = f"{self.path} could not be read ({error}): what was spent is taken from {self._history.name}"
            if not read_only:
                notice += f", the file is kept as {files.put_aside(self.path).name}"
            self._notice(notice)
            tracker = None
        size = files.history_size(self._history)
        self._apart = tracker is None or tracker.history_bytes is None or tracker.history_bytes > size
        if tracker is None:
            fresh = begin(period_at(self._now(), self.settings.period), self.settings.period)
            events = list(files.events_from(self._history))
            tracker = since((event for event, _ in events), fresh)
            return msgspec.structs.replace(tracker, history_bytes=events[-1][1] if events else 0)
        if tracker.history_bytes is None or tracker.history_bytes > size:
            # Written by hand or by another program, or the history is gone: the sums are what there is.
            return msgspec.structs.replace(tracker, history_bytes=size)
        if tracker.history_bytes == size:
            return tracker
        at = tracker.history_bytes
        for event, end in files.events_from(self._history, at):
            tracker, at = apply(tracker, event), end
        return msgspec.structs.replace(tracker, history_bytes=at)

    def _tracking_file(self) -> Tracker | None:
        """What the tracking file says; read again only where somebody replaced it."""
        known_by = files.known_by(self.path)
        if self._kept is None or self._kept[0] != known_by:
            tracker = files.read_tracker(self.path)
            self._kept = None if tracker is None else (known_by, tracker)
            return tracker
        return self._kept[1]

    def _in_period(self, tracker: Tracker, *, read_only: bool) -> Tracker:
        """Rollover: `tracker`, or the period after it. A clock that was set back begins none."""
        name, now = self.settings.period, self._now()
        over = now >= tracker.span.after
        changed = tracker.period is not None and tracker.period != name
        if changed and not over:
            fresh = begin(period_at(now, name), name)
            fresh = msgspec.structs.replace(fresh, reservations=tracker.reservations)
            events = (event for event, _ in files.events_from(self._history))
            return msgspec.structs.replace(since(events, fresh), history_bytes=tracker.history_bytes)
        if not over or not self.settings.auto_reset:
            return tracker
        tracker = self._told(
            tracker,
            read_only,
            "period",
            usd=tracker.consumed_usd,
            queries=tracker.query_count,
            first=tracker.period_start,
            last=tracker.period_end,
        )
        ended, period = tracker.period_end, period_at(now, name)
        tracker = msgspec.structs.replace(tracker, period_start=period.first, period_end=period.last, period=name)
        if not read_only:
            if (tracker.history_bytes or 0) > files.ROTATE_BYTES:
                files.rotate(self._history, ended[:10])
                tracker = msgspec.structs.replace(tracker, history_bytes=0)
            self._store(tracker)
        return tracker

    def _learn_history(self) -> None:
        """Read which keys were settled and which runs ended since last time; all of them in a history that is new."""
        inode, _, size = files.known_by(self._history)
        known, at = self._seen
        if inode != known or size < at:
            self._settled, at = set(), 0
            self._past.clear()
        if size == at:
            self._seen = (inode, at)
            return
        for event, end in files.events_from(self._history, at):
            at = end
            if event.kind == "spent":
                self._settled.add(event.key)
            elif event.kind == "query" and event.way and event.estimated > 0 and event.usd > 0:
                self._past[event.way].append(event.usd / event.estimated)
        self._seen = (inode, at)

    def _record(self, tracker: Tracker, kind: EventKind, **more: object) -> Tracker:
        """Write an event down, then what it leads to: with the next settlement, where nothing is spent yet."""
        tracker = self._told(tracker, False, kind, **more)
        return tracker if kind in ("reserved", "released") and not self._apart else self._store(tracker)

    def _told(self, tracker: Tracker, read_only: bool, kind: EventKind, **more: object) -> Tracker:
        """Tracker after an event, which is appended to the history."""
        event = self._event(kind, **more)
        after = apply(tracker, event)
        if read_only:
            return after
        return msgspec.structs.replace(after, history_bytes=files.append(self._history, event))

    def _event(self, kind: EventKind, **more: object) -> LedgerEvent:
        return typed.convert({"at": timestamp(self._now()), "kind": kind, **more}, LedgerEvent)

    def _store(self, tracker: Tracker) -> Tracker:
        """Tracking file (checkpoint) written, with limits and remaining sums as they are now."""
        limit = dollars(self.settings.hard_limit_usd * self.settings.block_at_percent / 100)
        tracker = msgspec.structs.replace(
            tracker,
            limit_usd=limit,
            soft_limit_usd=self.settings.soft_limit_usd,
            remaining_usd=dollars(limit - tracker.consumed_usd),
            reserved_usd=tracker.held,
            last_updated=timestamp(int(self._now())),
            period=tracker.period or self.settings.period,
        )
        files.write_tracker(self.path, tracker)
        self._kept = files.known_by(self.path), tracker
        self._apart = False
        return tracker

    def _notice(self, notice: str) -> None:
        if notice not in self._notices:
            self._notices.append(notice)
            _log.warning("%s", notice)


@lru_cache(maxsize=4)
def _this_process(pid: int) -> tuple[int, float]:
    """This process and when it started; `pid` is asked for, since a fork has the cache of its parent."""
    import psutil  # 30 ms that reading a status need not pay

    return pid, psutil.Process(pid).create_time()


def _lives(pid: int, started: float | None) -> bool:
    """Whether the process that reserved is still there: a later one may have its number (PID reuse)."""
    if pid == os.getpid():
        return started is None or abs(_this_process(pid)[1] - started) < _SAME_START_SECONDS
    import psutil

    try:
        return started is None or abs(psutil.Process(pid).create_time() - started) < _SAME_START_SECONDS
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
