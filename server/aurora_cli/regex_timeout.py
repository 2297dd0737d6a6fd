"""An end to work that may never end: regular expressions of strangers."""

from __future__ import annotations

import signal
import threading
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

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
