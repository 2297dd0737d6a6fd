"""Sender: OTLP exporter thread with retry while a collector is away, so that nobody waits for one.

Retry is by signal: a collector that took the traces is not sent them again because it refuses metrics.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Event
from aurora_deliverables.telemetry.export_record import ExportRecord, SignalOutcome
from aurora_deliverables.telemetry.export_settings import Choice, Exporter
from aurora_deliverables.telemetry.instruments import Measurement, measurements
from aurora_deliverables.telemetry.repository import Repository
from aurora_deliverables.telemetry.span_tree import tree_of

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.providers import ExportAttempt, Providers

logger = logging.getLogger(__name__)

Signal = Literal["traces", "metrics"]

MOST_WAITING = 1000
"""Deliverables that wait at once; more stay where they are remembered until the next start."""
AGAIN_AFTER = 300.0
"""Seconds after which what could not be delivered is tried again, unless another deliverable ends before."""
CLOSE_WITHIN = 0.5
"""Seconds that ending may take. What is not sent by then is remembered as not sent."""
INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
INTERVAL_MS = 60_000


class Leaving(Struct, frozen=True):
    """A deliverable that ended, to be sent; `sent` is called from the thread when a collector has all of it.

    `origin` is what its repository is known by in every work tree and clone: of two that are open a change goes out
    once. Without one that is the workspace.
    """

    workspace: str
    deliverable: Deliverable
    events: Sequence[Event]
    sent: Callable[[], None]
    repository: Repository = Repository()
    origin: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """What is taken note of it under: each name it had, and what records were kept by before `origin` was."""
        names = (self.deliverable.change_id, *self.deliverable.names)
        everywhere = [f"{self.origin}\0{name}" for name in names if self.origin]
        return tuple(dict.fromkeys((*everywhere, f"{self.workspace}\0{names[0]}")))


class SignalStatus(Struct, frozen=True):
    """Status of one signal: where it goes, and how that went last."""

    exporter: Exporter
    outcome: SignalOutcome


class Sender:
    """Exporter thread, with retry: what a collector that is away did not take is sent again.

    It starts with the first deliverable, or at once where Prometheus is to fetch.

    `record` is the file in which it takes note of what went out; without one that is forgotten with the process.
    """

    def __init__(
        self,
        choice: Choice,
        version: str,
        record: Path | None = None,
        environ: Mapping[str, str] = os.environ,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._choice = choice
        self._version = version
        self._now = now
        self._record = ExportRecord(record, now())
        self._wanted = _wanted(choice.exporters)
        self._interval = interval_of(environ)
        self._told_at = time.monotonic()
        self._waiting: queue.SimpleQueue[Leaving | Sequence[Measurement] | None] = queue.SimpleQueue()
        self._failed: list[Leaving] = []
        self._shown: set[str] = set()
        self._not_before: dict[Signal, float] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._drained = threading.Event()
        self._off: str | None = None
        if any(exporter.name == "prometheus" for exporter in choice.exporters):
            self._start()

    @property
    def failures(self) -> int:
        """Deliverables that no collector took yet, of those that were tried."""
        return len(self._failed)

    @property
    def off(self) -> str | None:
        """Why nothing can be sent, though it is configured; None where it can."""
        return self._off

    def status(self) -> list[SignalStatus]:
        """Where each signal goes, and how that went last."""
        outcomes = self._record.outcomes()
        return [SignalStatus(each, outcomes.get(each.signal, SignalOutcome())) for each in self._choice.exporters]

    def send(self, leaving: Leaving) -> None:
        """Queue it to be sent. Never waits: where the bounded queue is full it is left for the next start."""
        if self._closing.is_set() or self._waiting.qsize() >= MOST_WAITING:
            return
        self._start()
        self._waiting.put(leaving)

    def count(self, measured: Sequence[Measurement]) -> None:
        """Add values to the instruments. Never waits; they are sent now and kept, should no collector be there."""
        if measured and not self._closing.is_set() and self._waiting.qsize() < MOST_WAITING:
            self._start()
            self._waiting.put(measured)

    def close(self, within: float = CLOSE_WITHIN) -> bool:
        """Flush of what is left, for `within` seconds at most; False when a collector took longer. Blocks that long."""
        self._closing.set()
        if self._thread is None:
            return True
        self._waiting.put(None)
        return self._drained.wait(within)

    def _start(self) -> None:
        """Start of the exporter's daemon thread."""
        if self._thread is None:
            # A daemon: it may hang in a collector's socket, and nobody is to wait for that.
            self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        """Loop of the exporter thread: take from the queue, export, and retry what a collector did not take."""
        try:
            from aurora_deliverables.telemetry.providers import Providers

            providers = Providers(self._choice, self._version)
        except (ImportError, OSError, ValueError) as error:
            logger.warning("telemetry is off", extra={"reason": str(error)})
            self._off = str(error)
            self._closing.set()
            self._drained.set()
            return
        tried = time.monotonic()
        while True:
            try:
                leaving = self._waiting.get(timeout=self._pause())
            except queue.Empty:
                if self._held_off() <= 0 and (self._not_before or time.monotonic() - tried >= AGAIN_AFTER):
                    tried = time.monotonic()
                    self._retry_failed(providers)
                self._tell_totals(providers)
                continue
            if leaving is None:
                break
            if not isinstance(leaving, Leaving):
                self._count_values(leaving, providers)
            elif self._deliver(leaving, providers):
                self._retry_failed(providers)
            elif len(self._failed) < MOST_WAITING:
                self._failed.append(leaving)
        self._drained.set()
        providers.shutdown()  # all was sent, or could not be; nobody waits for the collector's last word

    def _pause(self) -> float:
        """Seconds until something is due though nobody asks."""
        held = self._held_off()
        return min(AGAIN_AFTER, self._interval, held if held > 0 else AGAIN_AFTER)

    def _held_off(self) -> float:
        """Seconds for which a collector asked to be left alone, where something waits for it."""
        if not self._failed:
            return 0.0
        return max((at - self._now() for at in self._not_before.values()), default=0.0)

    def _count_values(self, measured: Sequence[Measurement], providers: Providers) -> None:
        """Add values to what is counted, and tell it; what no collector took now is told with the next."""
        try:
            providers.show(measured)
            if not providers.outs:
                return
            for out in providers.outs:
                self._record.totals(out.stream).add(measured)
            if self._now() >= self._not_before.get("metrics", 0.0):
                self._told_at = time.monotonic()
                self._took_note("metrics", providers.send_totals(self._record))
            self._record.save()
        except Exception:  # a broken exporter must not end the thread: the next values may fare better
            logger.exception("values could not be sent")

    def _retry_failed(self, providers: Providers) -> None:
        """Retry what failed before, until one fails again: the collector is still away then."""
        while self._failed and not self._closing.is_set() and self._deliver(self._failed[0], providers):
            del self._failed[0]

    def _tell_totals(self, providers: Providers) -> None:
        """Periodic export of totals, as collectors take a series that is not told again for gone."""
        if time.monotonic() - self._told_at < self._interval or self._now() < self._not_before.get("metrics", 0.0):
            return
        self._told_at = time.monotonic()
        try:
            attempt = providers.send_totals(self._record, again=True)
        except Exception:  # as below
            logger.exception("telemetry could not be told again")
            return
        if attempt.why is not None:
            self._took_note("metrics", attempt)

    def _deliver(self, leaving: Leaving, providers: Providers) -> bool:
        """Export a deliverable by each signal that has not had it yet; whether all of them have it now."""
        deliverable = leaving.deliverable
        try:
            self._count(leaving, providers)
            for signal in self._wanted:
                self._send(signal, leaving, providers)
            self._record.save()
        except Exception:  # a broken exporter must not end the thread: the next deliverable may fare better
            logger.exception("telemetry could not be sent", extra={"change": deliverable.change_id})
            return False
        left = [signal for signal in self._wanted if signal not in self._record.done(leaving.keys)]
        if not left:
            leaving.sent()
            return True
        logger.warning(
            "the collector did not take a deliverable",
            extra={"change": deliverable.change_id, "signals": left, "why": self._record.outcomes()[left[0]].why},
        )
        return False

    def _count(self, leaving: Leaving, providers: Providers) -> None:
        """Add a deliverable to what is counted, once: that is on the disk before anybody is told."""
        if self._shown.isdisjoint(leaving.keys):
            providers.show(measurements(leaving.deliverable))
        self._shown.update(leaving.keys)
        if "counted" in self._record.done(leaving.keys) or not providers.outs:
            return
        measured = measurements(leaving.deliverable)
        for out in providers.outs:
            self._record.totals(out.stream).add(measured)
        self._record.mark(leaving.keys, "counted")
        self._record.save()

    def _send(self, signal: Signal, leaving: Leaving, providers: Providers) -> None:
        """Export of one signal, unless it was sent already or the collector asked to wait (Retry-After)."""
        if signal in self._record.done(leaving.keys) or self._now() < self._not_before.get(signal, 0.0):
            return
        deliverable = leaving.deliverable
        if signal == "metrics":
            self._told_at = time.monotonic()
            attempt = providers.send_totals(self._record)
        else:
            attempt = providers.send_tree(
                leaving.keys[0],
                lambda: tree_of(deliverable, leaving.events, leaving.repository),
                leaving.workspace,
                deliverable.change_id,
            )
        self._took_note(signal, attempt)
        if attempt.why is None:
            self._record.mark(leaving.keys, signal)

    def _took_note(self, signal: Signal, attempt: ExportAttempt) -> None:
        """Record of an attempt: when to try again, what was rejected."""
        self._not_before.pop(signal, None)
        if attempt.not_before:
            self._not_before[signal] = attempt.not_before
        self._record.outcome(signal, self._now(), attempt.why, attempt.rejected)
        if attempt.rejected:
            logger.warning("the collector rejected a part", extra={"signal": signal, "rejected": attempt.rejected})


def _wanted(exporters: Sequence[Exporter]) -> tuple[Signal, ...]:
    """The signals that are sent; what Prometheus fetches is not."""
    sent = {each.signal for each in exporters if each.name != "prometheus"}
    signals: tuple[Signal, ...] = ("traces", "metrics")
    return tuple(each for each in signals if each in sent)


def interval_of(environ: Mapping[str, str]) -> float:
    """Seconds from one telling of the totals to the next; what is no time above 0 says nothing."""
    said = environ.get(INTERVAL, "").strip()
    milliseconds = int(said) if said.isdecimal() and len(said) < 12 and int(said) > 0 else INTERVAL_MS
    return milliseconds / 1000
