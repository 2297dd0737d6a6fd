"""A thread that sends ended deliverables, so that nobody waits for a collector; what fails is tried again."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Event
from aurora_deliverables.telemetry.export_settings import Choice
from aurora_deliverables.telemetry.instruments import Measurement, measurements
from aurora_deliverables.telemetry.span_tree import tree_of

if TYPE_CHECKING:
    from aurora_deliverables.telemetry.providers import Providers

logger = logging.getLogger(__name__)

MOST_WAITING = 1000
"""Deliverables that wait at once; more stay where they are remembered until the next start."""
AGAIN_AFTER = 300.0
"""Seconds after which what could not be delivered is tried again, unless another deliverable ends before."""
CLOSE_WITHIN = 0.5
"""Seconds that ending may take. What is not sent by then is remembered as not sent."""


class Leaving(Struct, frozen=True):
    """A deliverable that ended, to be sent; `sent` is called from the thread when a collector has all of it."""

    workspace: str
    deliverable: Deliverable
    events: Sequence[Event]
    sent: Callable[[], None]


class Sender:
    """Starts its thread with the first deliverable, or at once where Prometheus is to fetch."""

    def __init__(self, choice: Choice, version: str) -> None:
        self._choice = choice
        self._version = version
        self._waiting: queue.SimpleQueue[Leaving | Sequence[Measurement] | None] = queue.SimpleQueue()
        self._failed: list[Leaving] = []
        self._counted: set[tuple[str, str]] = set()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._drained = threading.Event()
        if any(exporter.name == "prometheus" for exporter in choice.exporters):
            self._start()

    @property
    def failures(self) -> int:
        """Deliverables that no collector took yet, of those that were tried."""
        return len(self._failed)

    def send(self, leaving: Leaving) -> None:
        """Send it when its turn comes. Never waits."""
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
        """Send what is left, for `within` seconds at most; False when a collector took longer. Blocks that long."""
        self._closing.set()
        if self._thread is None:
            return True
        self._waiting.put(None)
        return self._drained.wait(within)

    def _start(self) -> None:
        if self._thread is None:
            # A daemon: it may hang in a collector's socket, and nobody is to wait for that.
            self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            from aurora_deliverables.telemetry.providers import Providers

            providers = Providers(self._choice, self._version)
        except (ImportError, OSError, ValueError) as error:
            logger.warning("telemetry is off", extra={"reason": str(error)})
            self._closing.set()
            self._drained.set()
            return
        while True:
            try:
                leaving = self._waiting.get(timeout=AGAIN_AFTER)
            except queue.Empty:
                self._again(providers)
                continue
            if leaving is None:
                break
            if not isinstance(leaving, Leaving):
                self._count(leaving, providers)
            elif self._deliver(leaving, providers):
                self._again(providers)
            elif len(self._failed) < MOST_WAITING:
                self._failed.append(leaving)
        self._drained.set()
        providers.shutdown()  # all was sent, or could not be; nobody waits for the collector's last word

    def _count(self, measured: Sequence[Measurement], providers: Providers) -> None:
        try:
            providers.record(measured)
            providers.flush_metrics()
        except Exception:  # a broken exporter must not end the thread: the next values may fare better
            logger.exception("values could not be sent")

    def _again(self, providers: Providers) -> None:
        """Try what failed before, until one fails again: the collector is still away then."""
        while self._failed and self._deliver(self._failed[0], providers):
            del self._failed[0]

    def _deliver(self, leaving: Leaving, providers: Providers) -> bool:
        from aurora_deliverables.telemetry.span_emitter import emit

        deliverable = leaving.deliverable
        key = (leaving.workspace, deliverable.change_id)
        try:
            if key not in self._counted:  # the instruments keep what they were told, delivered or not
                self._counted.add(key)
                providers.record(measurements(deliverable))
            providers.traced.begin()
            if providers.tracer is not None:
                tree = tree_of(deliverable, leaving.events)
                emit(providers.tracer, providers.ids, tree, leaving.workspace, deliverable.change_id)
            traced = providers.flush_spans()
            delivered = providers.flush_metrics() and traced
        except Exception:  # a broken exporter must not end the thread: the next deliverable may fare better
            logger.exception("telemetry could not be sent", extra={"change": deliverable.change_id})
            return False
        if delivered:
            leaving.sent()
        else:
            logger.warning("the collector did not take a deliverable", extra={"change": deliverable.change_id})
        return delivered
