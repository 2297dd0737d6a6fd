"""Deadline (timeout, watchdog) of steps that wait without an end of their own: what is late is ended from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadline:
    """Deadline of `seconds` for each step that `kept` holds; `late` is called, on another thread, when one passes it.

    One thread for all steps, which nobody wakes: it sleeps for as long as no step can be late, since one that begins
    meanwhile has `seconds` from then on. To start a thread, or wake one, for every step costs a turn of the processor,
    which is what there is least of where a step may be late. `close` it.
    """

    def __init__(self, seconds: float, late: Callable[[], None]) -> None:
        self._seconds = seconds
        self._late = late
        self._until: float | None = None
        self._turn = threading.Lock()
        self._ended = threading.Event()
        threading.Thread(target=self._watch, name="deadline of a hub", daemon=True).start()

    def close(self) -> None:
        """Watch no more."""
        self._ended.set()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """One step, which has the deadline's seconds."""
        self._until = time.monotonic() + self._seconds
        try:
            yield
        finally:
            with self._turn:  # a step that has ended is not called late
                self._until = None

    def _watch(self) -> None:
        """Watchdog thread: waits, and ends a step that is late."""
        left = self._seconds
        while not self._ended.wait(left):
            with self._turn:
                left = self._seconds if self._until is None else self._until - time.monotonic()
                if left <= 0.0:
                    self._until, left = None, self._seconds
                    self._late()
