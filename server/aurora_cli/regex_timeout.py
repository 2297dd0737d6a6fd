"""An end to work that may never end: regular expressions of strangers, and a command's own deadline."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from aurora_protocol import SiteError


@contextmanager
def within(seconds: float, otherwise: str) -> Iterator[None]:
    """Raise SiteError(`otherwise`) when the body takes longer. Python's `re` looks at signals while it searches.

    Works in the main thread and where there are interval timers; elsewhere the body has all the time it takes.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SiteError(otherwise)

    started = time.monotonic()
    around = signal.getitimer(signal.ITIMER_REAL)[0]
    if 0 < around <= seconds:  # what is around this ends sooner, and says so
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if around:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, around - (time.monotonic() - started)))


class Deadline:
    """Deadline of a command that asks a site: so many seconds for all of it; waiting for a person does not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._spent = 0.0

    @property
    def left(self) -> float:
        """Seconds that are left. Raises SiteError where there are none."""
        left = self._seconds - self._spent
        if left <= 0:
            raise SiteError(self._told)
        return left

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run. Raises SiteError as soon as nothing is left."""
        left, started = self.left, time.monotonic()
        try:
            with within(left, self._told):
                yield
        finally:
            self._spent += time.monotonic() - started

    @property
    def _told(self) -> str:
        return f"not done within {self._seconds:g} s; try again, or give --timeout"
